"""Requests of ours over one connection, each waiting for its reply, its timeout or the end of the connection."""

import asyncio
import secrets
from collections.abc import Callable
from functools import partial

from msgspec import Raw

from tooltray.protocol import envelope
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import CONNECTION_CLOSED, REQUEST_TIMEOUT, Envelope, failure, not_delivered
from tooltray.protocol.framing import LOOKED_AT_BYTES


class PendingCall:
    """A request of ours that waits for its reply."""

    __slots__ = ("deadline", "id", "is_cancellable", "is_undelivered", "max_reply_bytes", "may_be_ended", "questions", "reply")

    def __init__(self, id: Raw, is_cancellable: bool, max_reply_bytes: int | None = None) -> None:
        self.id, self.is_cancellable = id, is_cancellable
        self.max_reply_bytes = max_reply_bytes  # a much larger reply is dropped as it arrives; None: only the bound of all messages
        self.is_undelivered = False  # the peer certainly does not have it
        self.may_be_ended = False  # by a cancellation from the peer: it is a stream of the peer's notifications
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
        self._next_id = secrets.randbits(30) << 16  # a late answer to an earlier hub must not hit a request of this one
        self._pending: dict[bytes, PendingCall] = {}

    def __bool__(self) -> bool:
        return bool(self._pending)

    def new(self, *, is_cancellable: bool, max_reply_bytes: int | None) -> PendingCall:
        """Returns a call with an id of its own, which is not tracked before `add`."""
        self._next_id += 1
        return PendingCall(Raw(b"%d" % self._next_id), is_cancellable, max_reply_bytes)

    def add(self, pending: PendingCall, method: str, timeout_s: float | None) -> None:
        """Tracks a call that is about to be sent; after its timeout it is settled with an error."""
        self._pending[bytes(pending.id)] = pending
        if timeout_s is not None:
            pending.deadline = self._deadlines.add(timeout_s, partial(self._expire, pending, method))

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
            if pending.deadline:
                pending.deadline.cancel()
                pending.deadline = None  # ends a reference cycle, which would keep a large reply until the next full collection

    def find(self, id: Raw) -> PendingCall | None:
        return self._pending.get(bytes(id).strip(b'"'))  # some peers echo a number as a string

    def take_reply(self, reply: Envelope) -> None:
        """Settles the call that a reply answers; a reply that belongs to no call is dropped."""
        if pending := self._pending.get(bytes(reply.id)) or self.find(reply.id):
            pending.settle(reply)

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
