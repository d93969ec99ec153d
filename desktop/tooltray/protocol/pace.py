"""Limits how many requests of one peer are in flight (slow start).

Above it: dispatcher. Below it: the event loop's timers. An AI client that requests hundreds of results at once and reads none of them would
keep a server busy in vain, and every other client of that server would wait. So a client starts with a small limit; each reply that it
reads raises it by one, and time raises it further, because calls may wait for each other, or for a person.
"""

import asyncio
from collections.abc import Callable

MAX_IN_FLIGHT = 256  # further requests wait in the backlog
FIRST_IN_FLIGHT = 4  # of a client that has read nothing yet: so many results of 20 MB keep a server busy for a third of a second
BY_REPLIES = 32  # the limit up to which replies raise it
GROWS_EVERY_S = 0.25  # the limit doubles at this interval while requests wait


class Pace:
    """The limit of one peer.

    Attributes:
        max_in_flight: each reply adds one to it, up to BY_REPLIES; the dispatcher does that itself, because a method call would cost more.
    """

    __slots__ = ("_go_on", "_is_even", "_timer", "max_in_flight")

    def __init__(self, *, is_even: bool, go_on: Callable[[], None]) -> None:
        """
        Args:
            is_even: whether the limit is always MAX_IN_FLIGHT.
            go_on: called when the limit has risen.
        """
        self._is_even, self._go_on = is_even, go_on
        self.max_in_flight = MAX_IN_FLIGHT if is_even else FIRST_IN_FLIGHT
        self._timer: asyncio.TimerHandle | None = None

    def slow_down(self) -> None:
        """Resets the limit, because the peer does not read."""
        if not self._is_even:
            self.max_in_flight = FIRST_IN_FLIGHT

    def grow_later(self) -> None:
        """Starts to raise the limit with time, because requests wait."""
        if self._timer is None and self.max_in_flight < MAX_IN_FLIGHT:
            self._timer = asyncio.get_running_loop().call_later(GROWS_EVERY_S, self._grow)

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _grow(self) -> None:
        self._timer = None
        self.max_in_flight = min(2 * self.max_in_flight, MAX_IN_FLIGHT)
        self._go_on()
