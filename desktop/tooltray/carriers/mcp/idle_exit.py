"""Ends an unused hub: some time after its last AI client has left, or after its start if no client connects."""

import asyncio
from collections.abc import Callable

from tooltray.foundation.events import EventBus, SessionsChanged


class IdleExit:
    """The timer for an unused hub. Belongs to the engine's loop."""

    def __init__(self, *, after_s: float | None, end: Callable[[], None], bus: EventBus) -> None:
        """
        Args:
            after_s: how long no AI client must be connected; None: the hub stays.
        """
        self._after_s, self._end = after_s, end
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        bus.subscribe(SessionsChanged, lambda event: self._count(event.session_count))

    def start(self) -> None:
        """Starts the timer; no client is connected yet."""
        self._count(0)

    def _count(self, sessions: int) -> None:
        self._cancel()
        if sessions == 0 and self._after_s is not None and not self._is_closed:
            self._timer = asyncio.get_running_loop().call_later(self._after_s, self._end)

    def close(self) -> None:
        """Cancels the timer, since the hub ends anyway."""
        self._is_closed = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
