"""Requests, replies and notifications over one connection, with payloads as bytes.

The channel below carries bytes (a child's pipes, a socket) or whole messages (HTTP). The only MCP method known here is
`notifications/cancelled`, which refers to the table of requests in flight.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Raw

from tooltray.protocol import envelope
from tooltray.protocol.batches import REFUSED, Batches, read_batch, refused_ids
from tooltray.protocol.channels import KEPT_OF_OVERSIZED_BYTES, LOOKED_AT_BYTES, Channel, LineBuffer, MessageChannel, Outgoing, on_one_line
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import (
    CONNECTION_CLOSED,
    NO_REPLY,
    NOTHING,
    Envelope,
    MalformedFrame,
    failure,
    not_delivered,
)
from tooltray.protocol.in_flight import AS_THEY_COME, BY_REPLIES, AnswerOrder, Backlog, Pace, PendingCall, PendingCalls
from tooltray.protocol.member_scanner import opened

logger = logging.getLogger(__name__)
SMALL_BYTES = 4096  # a reply so small that an error in its place would save nothing
JOIN_BELOW_BYTES = 65536  # one write call for small messages, no extra copy for large ones
LOGGED_NOISE_LINES = 20  # of one connection; a server that prints garbage must not fill the log
CANCELLED = "notifications/cancelled"
OPENING_BRACE = ord("{")
OUTER_SPACE_BYTES = 64  # in front of a batch; no peer writes more

Answer = Callable[[Envelope], Awaitable[Envelope]]
Tap = Callable[[bool, bytes | bytearray], None]
"""Called with each message: whether we send it, and its bytes."""


class RawDispatcher:
    """One connection. All methods belong to its event loop.

    Attributes:
        calls: requests of ours that wait; a transport that knows that no reply will come settles them in the peer's place.
    """

    def __init__(
        self,
        *,
        name: str,
        deadlines: DeadlineWheel,
        answer: Answer,
        take_notification: Callable[[Envelope], None],
        order: AnswerOrder = AS_THEY_COME,
        is_server: bool = False,
        max_line_bytes: int,
    ) -> None:
        """
        Args:
            answer: answers a request of the peer, or returns NO_REPLY; cancelled when the peer cancels the request.
            take_notification: called with every notification except cancellations.
            order: which of the peer's requests wait for others.
            is_server: whether the peer is a server: its output other than messages is noise, never answered, and small faults are forgiven.
            max_line_bytes: longer messages of the peer are dropped.
        """
        self.name = name
        self.unsent = deadlines.unsent.of(is_server=is_server)
        self._deadlines = deadlines
        self._answer_request, self._take_notification = answer, take_notification
        self._holds_back, self._stays_open, self._is_server = order.holds_back, order.stays_open, is_server
        self.calls = PendingCalls(name, deadlines, give_up=self._send_cancelled)
        self._lines = LineBuffer(on_oversized=self._on_oversized, max_line_bytes=max_line_bytes, is_unwanted=self.calls.is_unwanted)
        self._channel: Channel | None = None
        self._corked, self._corked_bytes = list[bytes](), 0  # small messages of this turn of the loop
        self._corked_calls: list[PendingCall] = []
        self._messages: MessageChannel | None = None
        self.takes_batches = is_server  # from an AI client only if it speaks the one version that has them
        self._batches = Batches(lambda replies, about: self._send(replies, about=about), self.unsent)
        self._in_flight: dict[bytes, asyncio.Task[None]] = {}
        self._came_with: dict[bytes, Raw] = {}  # by request in flight: the id of our request in whose response it came
        self.receiving_with = NOTHING  # the same for the message that is just being received
        self._open: set[bytes] = set()  # requests in flight that stay open: nothing waits for them
        self._backlog = Backlog()
        self._is_held_back = False
        self._pace = Pace(is_even=not order.is_paced, go_on=self._work_off_backlog)
        self.closed_because = self._ended_because = ""
        self.closed = asyncio.Event()
        self.is_closed = False  # the same, cheap enough to be checked for each message
        self.is_congested = False
        self._reads_no_more = False
        self.noise_lines = 0
        self.farewell: Callable[[Raw], Envelope] | None = None  # answers requests that are still open when we close
        self.note_refusal: Callable[[Raw, Envelope], None] | None = None  # called with errors that `answer` does not see, by id
        self.take_noise: Callable[[bytes | bytearray], None] | None = None  # gets the lines of a server that are no messages
        self.tap: Tap | None = None  # set while the messages are watched

    # called by the channel

    def attach(self, channel: Channel) -> None:
        self._channel = channel

    def attach_messages(self, channel: MessageChannel) -> None:
        """Attaches a channel that carries whole messages, in place of `attach`; its transport then calls `receive` instead of `feed`."""
        self._messages = channel

    def feed(self, chunk: bytes) -> None:
        if self.is_closed:
            return
        for line in self._lines.feed(chunk):
            try:
                self._receive(line)
            except MemoryError:  # only its call fails, not the hub
                self._on_oversized(bytes(line[:KEPT_OF_OVERSIZED_BYTES] + line[-KEPT_OF_OVERSIZED_BYTES:]), len(line))

    def receive(self, message: bytes | bytearray, *, along_with: Raw = NOTHING) -> None:
        """Takes one whole message or batch of the peer, with any kind of white space between its parts.

        Args:
            along_with: the id of the request of ours in whose response it came.
        """
        if not self.is_closed or self.calls:  # a reply still counts, see `connection_lost`
            self.receiving_with = along_with
            if len(message) > LOOKED_AT_BYTES and self.calls.is_unwanted(bytes(message[:KEPT_OF_OVERSIZED_BYTES])):
                self._on_oversized(bytes(message[:KEPT_OF_OVERSIZED_BYTES]), len(message))
            else:
                self._receive(on_one_line(message))
            self.receiving_with = NOTHING

    def came_with(self, id: Raw) -> Raw:
        """Returns the id of the request of ours in whose response a request of the peer came; empty if that is not known."""
        return self._came_with.get(bytes(id), NOTHING)

    def pause_writing(self) -> None:
        """Stops handling further requests of the peer until it reads again."""
        self.is_congested = True
        self._pace.slow_down()

    def resume_writing(self) -> None:
        self.is_congested = False
        self._work_off_backlog()

    def peer_reads_no_more(self) -> None:
        """Records that the last message did not arrive whole and later ones will not be taken; how the connection ends is not known yet."""
        self._reads_no_more = True

    def connection_lost(self, reason: str, *, requests_stay: bool = False) -> None:
        """Ends the connection, because the peer is gone: settles all calls that wait for it.

        Args:
            reason: the text of the callers' errors.
            requests_stay: whether requests of ours keep waiting, because the transport knows whether each was delivered: it settles them
                all, in bounded time. Replies that come meanwhile (`receive`) count.
        """
        if self.is_closed:
            return
        self._is_server = True  # a cut line is not a request: the bridge sends it again to the next hub
        if rest := self._lines.finish():
            self._receive(rest, is_cut=True)
        self._close(reason, requests_stay=requests_stay)

    def end_of_input(self, reason: str, *, grace_s: float) -> None:
        """Closes after `grace_s` at the latest, since the peer sends no more but may still read the replies that it waits for."""
        self._ended_because = reason
        if self._has_work:
            self._deadlines.add(grace_s, partial(self.connection_lost, reason))
        else:
            self.connection_lost(reason)

    # outbound

    @property
    def requests_in_flight(self) -> int:
        """Returns how many requests of the peer are being answered or wait for an answer."""
        return len(self._in_flight) + len(self._backlog.waiting)

    def start_call(
        self,
        method: str,
        params: Raw = NOTHING,
        *,
        timeout_s: float | None = None,
        is_cancellable: bool = True,
        about: Raw = NOTHING,
        max_reply_bytes: int | None = None,
    ) -> PendingCall:
        """Sends a request; `calls.outcome` waits for its reply.

        Args:
            is_cancellable: whether the peer is notified when no caller waits any more; not for `initialize` and what comes before it.
            about: the id of the peer's request that the call belongs to.
            max_reply_bytes: a reply much larger than this is dropped as it arrives, and the outcome is TooLarge.
        """
        if self.is_closed:
            return self.calls.settled(not_delivered(self.closed_because))
        if self.unsent.bytes and not self.unsent.has_room(size := len(memoryview(params))):
            what = f"{method} with {size:,} bytes was not sent"
            return self.calls.settled(failure(CONNECTION_CLOSED, self.unsent.no_room(self.name, what)))
        pending = self.calls.add(method, timeout_s, is_cancellable, max_reply_bytes)
        self._send(envelope.request_parts(bytes(pending.id), method, params), id=pending.id, method=method, about=about)
        if self._corked:
            self._corked_calls.append(pending)
        pending.is_undelivered = self._reads_no_more
        return pending

    async def call(
        self,
        method: str,
        params: Raw = NOTHING,
        *,
        timeout_s: float | None = None,
        is_cancellable: bool = True,
        about: Raw = NOTHING,
        max_reply_bytes: int | None = None,
    ) -> Envelope:
        """Sends a request and waits for its reply, as `calls.outcome` does."""
        pending = self.start_call(
            method, params, timeout_s=timeout_s, is_cancellable=is_cancellable, about=about, max_reply_bytes=max_reply_bytes
        )
        return await self.calls.outcome(pending)

    def send_notification(self, method: str, params: Raw = NOTHING, *, about: Raw = NOTHING) -> None:
        if self.unsent.bytes and method != CANCELLED and not self.unsent.has_room(len(memoryview(params))):
            return
        self._send(envelope.request_parts(b"", method, params), method=method, about=about)

    async def close(self, reason: str, *, grace_s: float = 0.0) -> None:
        """Ends the connection from our side: requests in flight are answered with an error, then the channel is closed.

        Args:
            reason: the text of the errors for the peer and for our own callers.
            grace_s: how long requests in flight may still run before they are answered so.
        """
        if grace_s and self._awaited:
            await asyncio.wait(self._awaited.values(), timeout=grace_s)
        unanswered = [id for id, task in self._awaited.items() if not (task.done() or task.cancelling())]
        waiting = [bytes(each.id) for each in self._backlog.waiting if each.id and each.method not in self._stays_open]
        for id in unanswered + waiting:
            self._reply(Raw(id), self._noted(Raw(id), failure(CONNECTION_CLOSED, reason)))
        if farewell := self.farewell:
            for id in self._open:
                self._reply(Raw(id), farewell(Raw(id)))
        self._close(reason)
        while tasks := [task for task in self._in_flight.values() if task is not asyncio.current_task()]:
            await asyncio.wait(tasks)

    async def idle(self) -> None:
        """Waits until no request of the peer is being answered."""
        while awaited := self._awaited:
            await asyncio.wait(awaited.values())

    @property
    def _awaited(self) -> dict[bytes, asyncio.Task[None]]:
        return {id: task for id, task in self._in_flight.items() if id not in self._open}

    @property
    def _has_work(self) -> bool:
        return bool(self._backlog.waiting) or len(self._in_flight) > len(self._open)

    # inbound

    def _receive(self, line: bytes | bytearray, *, is_cut: bool = False) -> None:
        """Takes one line. `is_cut`: the line is the unfinished rest of a lost connection, and so begins no batch."""
        if self.tap is not None:
            self.tap(False, line)
        try:
            may_be_batch = self.takes_batches or self._is_held_back  # a bridge replays a handshake and the requests behind it in one go
            if may_be_batch and not is_cut and line[0] != OPENING_BRACE and line[:OUTER_SPACE_BYTES].lstrip()[:1] == b"[":
                self._receive_batch(line)
                return
            try:
                message = envelope.decode(line)
                if message.method:
                    envelope.forgive(message) if self._is_server else envelope.check_request(message)
            except MalformedFrame as error:
                self._on_malformed(error, line)
            else:
                if message.method:
                    self._accept(message)
                else:
                    self.calls.take_reply(message)
        except Exception:  # a bug of ours costs one message, not the connection
            logger.exception("%s: a message could not be handled", self.name)

    def _accept(self, message: Envelope) -> None:
        """Begins to handle a request or a notification, or lets it wait for its turn."""
        if self.is_closed:
            return  # nothing is left to answer it
        if message.method == CANCELLED and not message.id:
            self._on_cancelled(message)  # never queued behind the request that it cancels
        elif not (self._backlog.waiting or self._is_held_back or self.is_congested or len(self._in_flight) >= self._pace.max_in_flight):
            self._dispatch(message)
        elif self._backlog.add(message):
            self._work_off_backlog()
        elif message.id:
            self._reply(message.id, failure(CONNECTION_CLOSED, "too many requests are queued; wait for some replies"))

    def _receive_batch(self, line: bytes | bytearray) -> None:
        try:
            messages, refusals = read_batch(line, is_server=self._is_server)
        except MalformedFrame as error:
            self._on_malformed(error, line)
            return
        if not messages and not refusals:
            self._on_malformed(MalformedFrame("an empty array", NOTHING, envelope.INVALID_REQUEST, is_reply=True), line)
        requests = [message.id for message in messages if message.method and message.id and bytes(message.id) not in self._in_flight]
        self._batches.open(requests, [envelope.reply_parts(id, self._noted(id, refusal)) for id, refusal in refusals])
        for message in messages:
            self._accept(message) if message.method else self.calls.take_reply(message)

    def _work_off_backlog(self) -> None:
        waiting = self._backlog.waiting
        while waiting and not (self._is_held_back or self.is_congested or len(self._in_flight) >= self._pace.max_in_flight):
            self._dispatch(self._backlog.next())
        if waiting and not self.is_congested:
            self._pace.grow_later()

    def _dispatch(self, message: Envelope) -> None:
        if not message.id:
            self._take(message)
            return
        key = bytes(message.id)
        if self.receiving_with:
            self._came_with[key] = self.receiving_with
        if key in self._in_flight:
            self._refuse(message.id, failure(envelope.INVALID_REQUEST, "a request with this id is still in flight"))
            return
        self._is_held_back = message.method in self._holds_back
        # the one task that TaskKeeper does not start: it is kept and contained here, and a call is 3 us faster
        self._in_flight[key] = asyncio.get_running_loop().create_task(self._answer(message, key), name=message.method)
        if message.method in self._stays_open:
            self._open.add(key)

    def _take(self, notification: Envelope) -> None:
        try:
            self._take_notification(notification)
        except Exception:  # a bug of ours: later messages are still handled
            logger.exception("%s: %s could not be handled", self.name, notification.method)

    async def _answer(self, request: Envelope, key: bytes) -> None:
        try:
            try:
                reply = await self._answer_request(request)
            except Exception:  # a bug of ours: the peer still gets an answer
                logger.exception("%s: answering %s failed", self.name, request.method)
                reply = failure(envelope.INTERNAL_ERROR, "Internal error")
            if reply is not NO_REPLY:
                self._reply(request.id, reply)
        finally:
            self._on_answered(key, request.method)

    def _reply(self, id: Raw, reply: Envelope) -> None:
        if self.unsent.bytes:
            reply = self._fitting(reply)
        parts = envelope.reply_parts(id, reply)
        if not (self._batches.waiting and self._batches.answer(id, parts)):
            self._send(parts, id=id, about=id)

    def _fitting(self, reply: Envelope) -> Envelope:
        """Returns the reply, or an error if too many bytes wait for the peer already."""
        size = len(memoryview(reply.error or reply.result))
        if size <= SMALL_BYTES or self.unsent.has_room(size):
            return reply
        return failure(CONNECTION_CLOSED, self.unsent.no_room(self.name, f"the result of this call, {size:,} bytes, was dropped"))

    def _on_answered(self, key: bytes, method: str) -> None:
        """Ends a request. Each request's task calls this directly: a callback of the task would cost the loop one turn more."""
        del self._in_flight[key]
        if self._pace.max_in_flight < BY_REPLIES:
            self._pace.max_in_flight += 1
        self._open.discard(key)
        if self._came_with:
            self._came_with.pop(key, None)
        if self._batches.waiting:
            self._batches.leave(key)  # cancelled, so not answered
        if method in self._holds_back:
            self._is_held_back = False
        if self._backlog.waiting:
            self._work_off_backlog()
        if self._ended_because and not self._has_work:
            self.connection_lost(self._ended_because)

    def _on_cancelled(self, message: Envelope) -> None:
        try:
            key = bytes(opened(message.params).get("requestId", NOTHING))
        except ValueError:
            return
        if task := self._in_flight.get(key):
            self._cancel_task(key, task)
        elif self._backlog.remove(key):
            self._batches.leave(key)
        elif (pending := self.calls.find(Raw(key))) and self.calls.is_stream(pending):
            pending.settle(failure(CONNECTION_CLOSED, f"{self.name} cancelled it"))

    def _cancel_task(self, key: bytes, task: asyncio.Task[None]) -> None:
        task.add_done_callback(partial(self._on_cancelled_task, key))
        task.cancel()

    def _on_cancelled_task(self, key: bytes, task: asyncio.Task[None]) -> None:
        """Ends the request of a task that was cancelled before its first step, because such a task never runs, not even its `finally`."""
        if self._in_flight.get(key) is task:
            self._on_answered(key, task.get_name())

    def _on_malformed(self, error: MalformedFrame, line: bytes | bytearray) -> None:
        self.noise_lines += 1
        if self.noise_lines <= LOGGED_NOISE_LINES:
            logger.info("%s: %s (%d bytes)", self.name, error, len(line))
        if self.take_noise:
            self.take_noise(line)
        if error.id and (pending := self.calls.find(error.id)):
            pending.settle(failure(envelope.PARSE_ERROR, f"{self.name} sent a reply that cannot be read: {error}"))
        elif self._is_server or error.is_reply:
            return
        elif ids := [id for id in refused_ids(line) if bytes(id) not in self._in_flight]:
            for id in ids:  # one answer for each request of an array: no peer waits for an answer without an id
                self._refuse(id, failure(envelope.INVALID_REQUEST, REFUSED))
        else:
            self._refuse(error.id, failure(error.code, str(error)))

    def _refuse(self, id: Raw, refusal: Envelope) -> None:
        self._send(envelope.reply_parts(id, self._noted(id, refusal)), id=id, about=id)

    def _noted(self, id: Raw, refusal: Envelope) -> Envelope:
        if self.note_refusal:
            self.note_refusal(id, refusal)
        return refusal

    def _on_oversized(self, ends: bytes, size: int) -> None:
        if self.calls.settle_too_large(ends, size):
            return
        limit = self._lines.max_line_bytes
        reason = f"a message of {size:,} bytes is beyond the limit of {limit:,}"
        if size <= limit:
            reason = f"not enough memory for a message of {size:,} bytes"
        self._on_malformed(MalformedFrame(reason, envelope.find_id(ends), envelope.INVALID_REQUEST), ends)

    def _close(self, reason: str, *, requests_stay: bool = False) -> None:
        if self.is_closed:
            return
        self._uncork()
        self.closed_because = reason
        self.is_closed = True
        self.closed.set()
        self._pace.close()
        self._backlog.clear()
        self._batches.clear()
        if not requests_stay:
            self.calls.settle_all(reason)
        for key, task in self._in_flight.items():
            self._cancel_task(key, task)
        for channel in (self._channel, self._messages):
            if channel:
                channel.close()

    def _send_cancelled(self, pending: PendingCall, reason: str) -> None:
        if pending.is_cancellable:
            self.send_notification(CANCELLED, envelope.dump({"requestId": pending.id, "reason": reason}))

    def _send(self, parts: tuple[bytes, Raw, bytes], *, id: Raw = NOTHING, method: str = "", about: Raw = NOTHING) -> None:
        if self.is_closed:
            return
        if self.tap is not None:
            self.tap(True, b"".join(parts))
        if self._messages is not None:
            self._messages.send(Outgoing(parts, id, method, about))
        if self._channel is None:
            return
        head, payload, tail = parts
        view = memoryview(payload)
        if len(view) < JOIN_BELOW_BYTES:
            data = b"".join((head, view, tail))
            if self._corked or len(self._in_flight) - len(self._open) + len(self.calls) > 1:
                self._cork(data)
            else:
                self._channel.write(data)
            return
        self._uncork()
        for part in (head, view, tail):
            self._channel.write(part)

    def _cork(self, data: bytes) -> None:
        """Keeps a message until the end of this turn of the loop, which may bring more; each write wakes another process."""
        if not self._corked:
            asyncio.get_running_loop().call_soon(self._uncork)
        self._corked.append(data)
        self._corked_bytes += len(data)
        if self._corked_bytes >= JOIN_BELOW_BYTES:
            self._uncork()

    def _uncork(self) -> None:
        if not self._corked or self._channel is None:
            return
        data, calls = b"".join(self._corked), self._corked_calls
        self._corked, self._corked_calls, self._corked_bytes = [], [], 0
        self._channel.write(data)
        if self._reads_no_more:
            for pending in calls:
                pending.is_undelivered = True
