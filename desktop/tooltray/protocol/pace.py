"""How many requests of one peer are answered at once.

Above it: dispatcher. Below it: the event loop's timers. An AI client that asks for hundreds of results in one go and reads none of them
would keep a server busy with what nobody wants, and every other client of that server would wait behind it. So a client begins with a few,
each reply that it reads allows one more, and time allows the rest: calls may wait for each other, or for a person.
"""

import asyncio
from collections.abc import Callable

MAX_IN_FLIGHT = 256  # the rest waits its turn
FIRST_IN_FLIGHT = 4  # of a client that has read nothing yet: as many results of 20 MB keep a server busy for a third of a second
BY_REPLIES = 32  # how far replies alone lead
GROWS_EVERY_S = 0.25  # to twice as many, while some wait


class Pace:
    """Of one peer.

    Attributes:
        max_in_flight: each reply adds one to it, up to BY_REPLIES; the dispatcher does that itself, a call of ours would cost more.
    """

    __slots__ = ("_go_on", "_is_even", "_timer", "max_in_flight")

    def __init__(self, *, is_even: bool, go_on: Callable[[], None]) -> None:
        """
        Args:
            is_even: always as many as there may ever be.
            go_on: called when there may be more.
        """
        self._is_even, self._go_on = is_even, go_on
        self.max_in_flight = MAX_IN_FLIGHT if is_even else FIRST_IN_FLIGHT
        self._timer: asyncio.TimerHandle | None = None

    def slow_down(self) -> None:
        """The peer does not read."""
        if not self._is_even:
            self.max_in_flight = FIRST_IN_FLIGHT

    def grow_later(self) -> None:
        """Some of its requests wait for their turn."""
        if self._timer is None and self.max_in_flight < MAX_IN_FLIGHT:
            self._timer = asyncio.get_running_loop().call_later(GROWS_EVERY_S, self._grow)

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _grow(self) -> None:
        self._timer = None
        self.max_in_flight = min(2 * self.max_in_flight, MAX_IN_FLIGHT)
        self._go_on()
