"""Requests of a peer that wait to be handled, and how many of them are handled at once.

The peer is still read while its requests wait in the backlog, because its replies and cancellations come on the same stream; so a message
that does not fit is refused, not left in the pipe.

How many are handled at once is limited (slow start). An AI client that requests hundreds of results and reads none of them would keep a
server busy in vain, and every other client of that server would wait. So a client starts with a small limit; each reply that it reads
raises the limit by one, and time raises it further, because calls may wait for each other, or for the user.
"""

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec

from tooltray.protocol.envelope import Envelope

MAX_BACKLOG_BYTES = 64 * 2**20  # the same limit as in the other direction (unsent); an empty queue takes a larger message
MESSAGE_BYTES = 500  # memory of a message besides its parameters


class AnswerOrder(msgspec.Struct, frozen=True):
    """The rules by which a peer's requests wait for one another.

    Attributes:
        holds_back: methods behind which everything waits until they are answered (`initialize`).
        stays_open: methods whose requests are open as long as the peer wants (`subscriptions/listen`): nothing waits for them, and they are
            not answered when the connection ends, so that the bridge sends the same request to the next hub.
        is_paced: whether only some of the requests sent together begin before the peer has read the first replies; see Pace.
    """

    holds_back: frozenset[str] = frozenset()
    stays_open: frozenset[str] = frozenset()
    is_paced: bool = False


AS_THEY_COME = AnswerOrder()


class Backlog:
    """The peer's requests and notifications that are not being handled yet, bounded in bytes.

    Attributes:
        waiting: oldest first.
    """

    def __init__(self) -> None:
        self.waiting: deque[Envelope] = deque()
        self._bytes = 0

    def add(self, message: Envelope) -> bool:
        """Stores a message for later; returns False if it does not fit."""
        size = _size_of(message)
        if self.waiting and self._bytes + size > MAX_BACKLOG_BYTES:
            return False
        self.waiting.append(message)
        self._bytes += size
        return True

    def next(self) -> Envelope:
        """Removes and returns the oldest message."""
        message = self.waiting.popleft()
        self._bytes -= _size_of(message)
        return message

    def remove(self, key: bytes) -> bool:
        """Removes the request with this id; returns whether there was one."""
        found = next((each for each in self.waiting if each.id and bytes(each.id) == key), None)
        if found is None:
            return False
        self.waiting.remove(found)
        self._bytes -= _size_of(found)
        return True

    def clear(self) -> None:
        self.waiting.clear()
        self._bytes = 0


def _size_of(message: Envelope) -> int:
    return len(memoryview(message.params)) + MESSAGE_BYTES


MAX_IN_FLIGHT = 256  # further requests wait in the backlog
FIRST_IN_FLIGHT = 4  # for a client that has read nothing yet: four results of 20 MB keep a server busy for a third of a second
BY_REPLIES = 32  # the limit up to which replies raise it
GROWS_EVERY_S = 0.25  # the limit doubles at this interval while requests wait


class Pace:
    """The limit of one peer's requests in flight.

    Attributes:
        max_in_flight: each reply adds one, up to BY_REPLIES; the dispatcher does that itself, because a method call would cost more.
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
