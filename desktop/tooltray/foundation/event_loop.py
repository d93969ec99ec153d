"""The engine's event loop: asyncio's own, which looks for news of the system less often while it has work. The lowest layer, beside tasks.

asyncio asks the system before every round of callbacks, also when callbacks wait already. A call takes five rounds, and at each question
Python's lock is given away: a window that works in another thread then keeps it for a whole switch interval.
"""

import asyncio
import os
import selectors
import sys

ROUNDS_WITHOUT_NEWS = 3  # at most, in a row: what a reply sets off is done by then, and nobody who knocks waits for more than that


class _BusySelector(selectors.DefaultSelector):
    """Says "nothing new" at once while callbacks wait (asyncio then asks with a timeout of 0), but not for long."""

    _rounds = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0 and self._rounds < ROUNDS_WITHOUT_NEWS:
            self._rounds += 1
            return []
        self._rounds = 0
        return super().select(timeout)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """For `asyncio.Runner(loop_factory=...)`."""
    if sys.platform == "win32":  # pragma: no cover - its loop waits for results and not for readiness
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(_BusySelector())


def use_pidfd_watcher() -> None:
    """Before 3.12 asyncio starts a thread per child process, and can watch children through the kernel instead; later versions do that."""
    if sys.platform == "linux" and sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.get_event_loop_policy().set_child_watcher(watcher)
