"""Reads the messages and writes the responses of the HTTP endpoints: refusals, single JSON replies, streams of events with back pressure.

Payloads are written unchanged, in slices, and never copied as a whole. Imported when the first endpoint opens.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.guard import EVENTS_TYPE, JSON_TYPE, Refused, accepted, is_json
from tooltray.protocol.batches import REFUSED, refused_ids
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import PARSE_ERROR, MalformedFrame, reply_parts
from tooltray.protocol.event_stream import KEEPALIVE, event_parts

MAX_BODY_BYTES = 64 * 1024 * 1024  # the same limit as for a line of an AI client over stdio
BODY_SILENCE_S = 30.0  # clients send a body at once; a request that stalls in its body is not kept open forever
NOT_ACCEPTABLE, REQUEST_TIMEOUT, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE = 406, 408, 413, 415
_UNBUFFERED = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}  # the second is for nginx
KEEPALIVE_S = 15.0  # proxies and clients close a connection that is silent for longer than 30 to 60 s
SLICE_BYTES = 2**18  # as in a socket's Outbox
JOIN_BELOW_BYTES = 65536
PAUSED_ABOVE_BYTES = 2**20  # unsent bytes for a client that does not read: its dispatcher is paused
RESUMED_BELOW_BYTES = 2**18


class Event:
    """One message in a stream. `id` is empty if the stream cannot be resumed after it."""

    __slots__ = ("id", "is_written", "message", "number", "size")

    def __init__(self, message: Outgoing, id: str = "", number: int = 0) -> None:
        self.message, self.id, self.number = message, id, number
        self.size = sum(len(memoryview(part)) for part in message.parts)
        self.is_written = False


class Pressure:
    """Back pressure: counts the unsent bytes for one client over all its responses, and pauses its dispatcher above a limit."""

    def __init__(self, dispatcher: RawDispatcher) -> None:
        self._dispatcher, self._bytes, self._is_paused = dispatcher, 0, False
        self.unsent = dispatcher.unsent

    def add(self, size: int) -> None:
        self._bytes += size
        self.unsent.add(size)
        if self._bytes > PAUSED_ABOVE_BYTES and not self._is_paused:
            self._is_paused = True
            self._dispatcher.pause_writing()

    def take(self, size: int) -> None:
        self._bytes -= size
        self.unsent.take(size)
        if self._is_paused and self._bytes < RESUMED_BELOW_BYTES:
            self._is_paused = False
            self._dispatcher.resume_writing()


class EventQueue:
    """The events that one response has not written yet. One task reads it."""

    def __init__(
        self, pressure: Pressure, on_written: Callable[[Event], None] = lambda event: None, *, cut: Callable[[], object] | None = None
    ) -> None:
        """
        Args:
            cut: aborts the response's connection; called when too much waits for clients that do not read.
        """
        self._pressure, self._on_written, self._cut = pressure, on_written, cut
        if cut:
            pressure.unsent.ends.add(cut)
        self._waiting: deque[Event] = deque()
        self._has_news = asyncio.Event()
        self.is_ended = False

    def put(self, event: Event) -> None:
        self._waiting.append(event)
        self._pressure.add(event.size)
        self._has_news.set()

    def end(self) -> None:
        """Marks the end of the stream; waiting events are still written."""
        self.is_ended = True
        self._has_news.set()

    def discard(self) -> None:
        """Drops the waiting events, since the client has disconnected."""
        self.end()
        if self._cut:
            self._pressure.unsent.ends.discard(self._cut)
        while self._waiting:
            self._pressure.take(self._waiting.popleft().size)

    @property
    def waiting(self) -> tuple[Event, ...]:
        return tuple(self._waiting)

    @property
    def only(self) -> Event | None:
        """The waiting event, if it is the only one of the rest of the stream; else None."""
        return self._waiting[0] if self.is_ended and len(self._waiting) == 1 else None

    async def news(self, *, within_s: float | None) -> bool:
        """Waits for an event or the end of the stream, at most `within_s` seconds (None: no limit); returns whether one of them came."""
        if self._waiting or self.is_ended:
            return True
        self._has_news.clear()
        try:
            async with asyncio.timeout(within_s):
                await self._has_news.wait()
        except TimeoutError:
            return False
        return True

    async def write_to(self, response: web.StreamResponse) -> None:
        """Writes events until the end, and a keep-alive comment after each `KEEPALIVE_S` of silence."""
        while True:
            while self._waiting:
                event = self._waiting[0]
                await write_parts(response, event_parts(message_parts(event.message), id=event.id))
                self.written(event)
            if self.is_ended:
                return
            if not await self.news(within_s=KEEPALIVE_S):
                await response.write(KEEPALIVE)

    def written(self, event: Event) -> None:
        """Removes the oldest waiting event, which was written."""
        if self._waiting and self._waiting[0] is event:  # the event was not discarded meanwhile
            self._waiting.popleft()
            self._pressure.take(event.size)
        event.is_written = True
        self._on_written(event)


def message_parts(message: Outgoing) -> list[memoryview]:
    """Returns the parts of a message's JSON without the final newline."""
    head, payload, tail = message.parts
    return [memoryview(head), memoryview(payload), memoryview(tail)[:-1]]


async def write_parts(response: web.StreamResponse, parts: Iterable[bytes | memoryview]) -> None:
    """Writes small parts together and large ones in slices, as fast as the client reads."""
    views = [memoryview(part) for part in parts]
    if sum(map(len, views)) < JOIN_BELOW_BYTES:
        await response.write(b"".join(views))
        return
    for view in views:
        for start in range(0, len(view), SLICE_BYTES):
            await response.write(view[start : start + SLICE_BYTES])


def refusal(refused: Refused) -> web.Response:
    """Builds the response for a refused request."""
    errors = [b"".join(reply_parts(id, refused.reply))[:-1] for id in refused.ids or (refused.id,)]
    body = b"[%b]" % b",".join(errors) if refused.ids else errors[0]
    return web.Response(status=refused.status, body=body, content_type=JSON_TYPE, headers=refused.headers)


def cut_of(request: web.Request) -> Callable[[], object] | None:
    """Returns a function that aborts a request's connection; None if it has already ended."""
    return request.transport.abort if request.transport else None


async def read_message(request: web.Request) -> bytearray:
    """Reads the body of a POST, without a copy in the request.

    Raises:
        Refused: the body is too large, compressed, incomplete, or not declared as JSON.
    """
    if not is_json(request.headers.get("Content-Type")):
        raise Refused(UNSUPPORTED_MEDIA_TYPE, "a message must be application/json")
    if is_compressed(request):
        raise Refused(UNSUPPORTED_MEDIA_TYPE, "a message must not be compressed")
    too_large = Refused(TOO_LARGE, f"a message may have at most {MAX_BODY_BYTES:,} bytes")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise too_large
    body = bytearray()
    while chunk := await _next_chunk(request):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise too_large
    return body


async def _next_chunk(request: web.Request) -> bytes:
    """Reads the next part of a body; empty at its end.

    Raises:
        Refused: nothing arrives within `BODY_SILENCE_S`.
    """
    if request.content.is_eof():  # the body arrived together with the headers, as nearly all do
        return await request.content.readany()
    try:
        async with asyncio.timeout(BODY_SILENCE_S):
            return await request.content.readany()
    except TimeoutError:
        raise Refused(REQUEST_TIMEOUT, "the rest of the message was not received", headers={"Connection": "close"}) from None


def is_compressed(request: web.Request) -> bool:
    """Reports whether the body has a content encoding, which is not supported here."""
    return request.headers.get("Content-Encoding", "identity").strip().lower() not in ("identity", "")


def check_accept(request: web.Request) -> None:
    """Checks that the client accepts JSON and event streams, since the form of the answer is not known before.

    Raises:
        Refused: it does not accept both.
    """
    if accepted(request.headers.get("Accept")) != (True, True):
        raise Refused(NOT_ACCEPTABLE, "a client must accept both application/json and text/event-stream")


def unreadable(error: MalformedFrame, body: bytes | bytearray = b"") -> Refused:
    """Builds the refusal of a body that is not a valid message; if it is a batch, of each request in it."""
    if ids := refused_ids(body):
        return no_batches(ids)
    what = "Parse error" if error.code == PARSE_ERROR else "Invalid request"
    return Refused(400, f"{what}: {error}", code=error.code, id=error.id)


def no_batches(ids: Sequence[Raw] = ()) -> Refused:
    """Builds the refusal of a batch with these requests, which belongs to another version."""
    return Refused(400, REFUSED, ids=ids)


async def json_reply(
    request: web.Request, message: Outgoing, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.StreamResponse:
    """Sends one message as the whole response; a large payload is not copied, a small one is sent together with the headers."""
    parts = message_parts(message)
    if sum(map(len, parts)) < JOIN_BELOW_BYTES:
        return web.Response(status=status, headers=headers, body=b"".join(parts), content_type=JSON_TYPE)
    response = web.StreamResponse(status=status, headers=headers)
    response.content_type = JSON_TYPE
    response.content_length = sum(map(len, parts))
    await response.prepare(request)
    await write_parts(response, parts)
    await response.write_eof()
    return response


async def start_events(request: web.Request, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """Sends the headers of an event stream."""
    response = web.StreamResponse(headers={**_UNBUFFERED, **(headers or {})})
    response.content_type = EVENTS_TYPE
    await response.prepare(request)
    return response


async def write_events(response: web.StreamResponse, queue: EventQueue) -> None:
    """Writes a queue's events until the end of the stream or until the client disconnects."""
    with contextlib.suppress(ConnectionResetError):  # the client has just disconnected
        await queue.write_to(response)
        await response.write_eof()
