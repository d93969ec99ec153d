"""Requests in flight on one connection: ours that wait for replies, and the peer's that are being answered or wait for their turn."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.protocol import envelope
from tooltray.protocol.channels import LOOKED_AT_BYTES
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import CONNECTION_CLOSED, REQUEST_TIMEOUT, Envelope, failure, not_delivered

MAX_BACKLOG_BYTES = 64 * 2**20  # the same limit as in the other direction (unsent); an empty queue takes a larger message
MESSAGE_BYTES = 500  # memory of a message besides its parameters
MAX_IN_FLIGHT = 256  # further requests wait in the backlog
FIRST_IN_FLIGHT = 4  # for a client that has read nothing yet: four results of 20 MB keep a server busy for a third of a second
BY_REPLIES = 32  # the limit up to which replies raise it
GROWS_EVERY_S = 0.25  # the limit doubles at this interval while requests wait


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

    The peer is still read while its requests wait here, because its replies and cancellations come on the same stream; so a message that
    does not fit is refused, not left in the pipe.

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


class Pace:
    """The limit of one peer's requests in flight (slow start).

    An AI client that requests hundreds of results and reads none of them would keep a server busy in vain, and every other client of that
    server would wait. So a client starts with a small limit; each reply that it reads raises the limit by one, and time raises it further,
    because calls may wait for each other, or for the user.

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


class PendingCall:
    """A request of ours that waits for its reply."""

    __slots__ = ("deadline", "id", "is_cancellable", "is_undelivered", "max_reply_bytes", "questions", "reply")

    def __init__(self, id: Raw, is_cancellable: bool, max_reply_bytes: int | None = None) -> None:
        self.id, self.is_cancellable = id, is_cancellable
        self.max_reply_bytes = max_reply_bytes  # a much larger reply is dropped as it arrives; None: only the bound of all messages
        self.is_undelivered = False  # the peer certainly does not have it
        self.questions = 0  # from the peer, shown to the user: their time does not count as the peer's
        self.reply: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self.deadline: Deadline | None = None

    def settle(self, reply: Envelope) -> None:
        if not self.reply.done():
            self.reply.set_result(reply)

    def progressed(self) -> None:
        """Restarts the call's timeout, because the peer reports that it works on it."""
        if self.deadline:
            self.deadline.restart()


class PendingCalls:
    """The waiting calls of one connection. They belong to its event loop."""

    def __init__(self, name: str, deadlines: DeadlineWheel, *, give_up: Callable[[PendingCall, str], None]) -> None:
        """
        Args:
            name: of the peer, for error messages.
            give_up: notifies the peer that no caller waits for a call any more, and why.
        """
        self._name, self._deadlines, self._give_up = name, deadlines, give_up
        self._last_id = secrets.randbits(30) << 16  # a late answer to an earlier hub must not hit a request of this one
        self._pending: dict[bytes, PendingCall] = {}
        self._streams: set[PendingCall] = set()

    def __bool__(self) -> bool:
        return bool(self._pending)

    def __len__(self) -> int:
        """Returns how many calls wait for a reply; streams of notifications, which stay open, do not count."""
        return len(self._pending) - len(self._streams)

    def keep_open(self, pending: PendingCall) -> None:
        """Records that a call is a stream of the peer's notifications, which the peer may end by a cancellation."""
        self._streams.add(pending)

    def is_stream(self, pending: PendingCall) -> bool:
        return pending in self._streams

    def add(self, method: str, timeout_s: float | None, is_cancellable: bool, max_reply_bytes: int | None) -> PendingCall:
        """Returns a call that is about to be sent; after its timeout it is settled with an error."""
        self._last_id += 1
        id = b"%d" % self._last_id
        pending = self._pending[id] = PendingCall(Raw(id), is_cancellable, max_reply_bytes)
        if timeout_s is not None:
            pending.deadline = self._deadlines.add(timeout_s, partial(self._expire, pending, method))
        return pending

    def settled(self, reply: Envelope) -> PendingCall:
        """Returns a call that is not sent, with an error of our own as its reply."""
        self._last_id += 1
        pending = PendingCall(Raw(b"%d" % self._last_id), is_cancellable=False)
        pending.settle(reply)
        return pending

    async def outcome(self, pending: PendingCall) -> Envelope:
        """Waits for the reply and returns it verbatim; an error of our own after a timeout or a lost connection. Cancelling it notifies the
        peer.
        """
        try:
            return await pending.reply
        except asyncio.CancelledError:
            if pending.reply.cancelled():  # and not answered in the same moment
                self._give_up(pending, "caller cancelled")
            raise
        finally:
            self._pending.pop(bytes(pending.id), None)
            self._streams.discard(pending)
            if pending.deadline:
                pending.deadline.cancel()
                pending.deadline = None  # ends a reference cycle, which would keep a large reply until the next full collection

    def find(self, id: Raw) -> PendingCall | None:
        return self._pending.get(bytes(id).strip(b'"'))  # some peers echo a number as a string

    def take_reply(self, reply: Envelope) -> None:
        """Settles the call that a reply answers; a reply that belongs to no call is dropped."""
        pending = self._pending.get(bytes(reply.id)) or self.find(reply.id)
        if pending and not pending.reply.done():  # as `PendingCall.settle`, without a call
            pending.reply.set_result(reply)

    def settle(self, id: Raw, reply: Envelope) -> None:
        """Answers a call in the peer's place."""
        if pending := self.find(id):
            pending.settle(reply)

    def waits_for(self, id: Raw) -> bool:
        """Returns whether a call has no reply yet."""
        pending = self.find(id)
        return pending is not None and not pending.reply.done()

    def unanswered(self) -> list[Raw]:
        """Returns the ids of the calls that have no reply yet."""
        return [pending.id for pending in self._pending.values() if not pending.reply.done()]

    async def last_replies(self, *, timeout_s: float) -> None:
        """Waits until no call waits any more, at most `timeout_s` seconds."""
        if waiting := [pending.reply for pending in self._pending.values() if not pending.reply.done()]:
            await asyncio.wait(waiting, timeout=timeout_s)

    def settle_rest(self, reason: str) -> None:
        """Settles all calls with an error, because the transport has ended and no reply can come any more."""
        for pending in list(self._pending.values()):
            pending.settle(failure(CONNECTION_CLOSED, reason))

    def settle_all(self, reason: str) -> None:
        """Settles all calls, because the peer is gone; calls that it certainly never received can be sent again."""
        for pending in list(self._pending.values()):
            pending.settle(not_delivered(reason) if pending.is_undelivered else failure(CONNECTION_CLOSED, reason))

    def is_unwanted(self, head: bytes) -> bool:
        """Returns whether a message of more than LOOKED_AT_BYTES with this beginning is a reply for which a smaller limit was set."""
        pending = self.find(envelope.find_id(head))
        return pending is not None and pending.max_reply_bytes is not None and pending.max_reply_bytes < LOOKED_AT_BYTES

    def settle_too_large(self, ends: bytes, size: int) -> bool:
        """Settles the call of a reply that exceeds its own limit; returns whether there was such a call."""
        pending = self.find(envelope.find_id(ends))
        if pending is None or pending.max_reply_bytes is None:
            return False
        pending.settle(envelope.too_large(size))
        return True

    def _expire(self, pending: PendingCall, method: str) -> None:
        seconds = pending.deadline.seconds if pending.deadline else 0
        if pending.questions:
            pending.deadline = self._deadlines.add(seconds, partial(self._expire, pending, method))
            return
        self._give_up(pending, "timed out")
        pending.settle(failure(REQUEST_TIMEOUT, f"{self._name} did not answer {method} within {seconds:g} s"))
