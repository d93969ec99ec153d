"""The engine's event loop: asyncio's own, which polls the system less often while it has work.

asyncio polls before every round of callbacks, even while callbacks are ready. A call takes five rounds, and each poll releases Python's
lock, which a busy window in another thread then holds for a whole switch interval.
"""

import asyncio
import os
import selectors
import sys

ROUNDS_WITHOUT_NEWS = 3  # at most, in a row: enough for all that a reply sets off, and new connections wait no longer than this


class _BusySelector(selectors.DefaultSelector):
    """A selector that skips some polls while callbacks are ready (asyncio then polls with a timeout of 0), but few in a row."""

    _rounds = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0 and self._rounds < ROUNDS_WITHOUT_NEWS:
            self._rounds += 1
            return []
        self._rounds = 0
        return super().select(timeout)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Makes the loop, for `asyncio.Runner(loop_factory=...)`."""
    if sys.platform == "win32":  # pragma: no cover - its loop waits for results and not for readiness
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(_BusySelector())


def use_pidfd_watcher() -> None:
    """Makes asyncio wait for child processes through the kernel. Before Python 3.12 it starts a thread for each of them."""
    if sys.platform == "linux" and sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.get_event_loop_policy().set_child_watcher(watcher)
