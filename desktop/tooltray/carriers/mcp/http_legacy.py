"""HTTP for legacy clients: streamable HTTP (2025-03-26 to 2025-11-25), and HTTP with SSE (2024-11-05). Callers authenticate requests.

Streamable HTTP: POST a message, GET unsolicited messages, DELETE the session. A single reply that comes within a moment is the POST's whole
response, as JSON. Otherwise the response becomes a stream of events, which the client may resume by a GET with the id of the last event it
saw. A client that leaves before that loses the reply; the request continues.

HTTP with SSE: one GET is the session, and messages come by POST beside it. The first event contains the address for POSTs.
"""

import secrets
from collections.abc import Callable

import msgspec
from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.answers import (
    KEEPALIVE_S,
    Event,
    EventQueue,
    Pressure,
    check_accept,
    cut_of,
    json_reply,
    no_batches,
    read_message,
    start_events,
    unreadable,
    write_events,
    write_parts,
)
from tooltray.carriers.http_server.guard import Refused, accepted
from tooltray.carriers.mcp.http_sessions import (
    CLIENT_GONE,
    MAX_SESSIONS,
    SESSION_ID_BYTES,
    HttpSession,
    HttpSessions,
    Stream,
)
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.protocol import envelope, eras
from tooltray.protocol.batches import MOST_REFUSED
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import CANCELLED, RawDispatcher
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_REQUEST, Envelope, MalformedFrame
from tooltray.protocol.eras import HEADER_MISMATCH, Era
from tooltray.protocol.event_stream import event_parts
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.routing_headers import VERSION_HEADER

SESSION_HEADER, LAST_EVENT_HEADER = "Mcp-Session-Id", "Last-Event-ID"
JSON_ONLY_WITHIN_S = 0.1  # then a client that can resume gets an id to resume from; nearly all calls are answered sooner
RETRY_MS = 1000  # then a client whose stream has ended reconnects
METHODS = "GET, POST, DELETE"
GET_METHODS, POST_METHODS = "GET", "POST"


class Posted(msgspec.Struct):
    """The content of a POST's body.

    Attributes:
        is_modern: a request in it names a version that has no sessions.
        requests: ids of the requests in it.
        cancelled: ids of requests that it cancels.
    """

    body: bytearray
    is_batch: bool = False
    is_initialize: bool = False
    is_modern: bool = False
    requests: list[bytes] = msgspec.field(default_factory=list)
    cancelled: list[bytes] = msgspec.field(default_factory=list)

    def take_body(self) -> bytearray:
        """Returns the body and drops it: large arguments would otherwise stay in memory for as long as the call runs."""
        body, self.body = self.body, bytearray()
        return body


class StreamableHttp:
    """The endpoint of one address."""

    def __init__(self, sessions: HttpSessions) -> None:
        self._sessions = sessions

    def dispatchers(self, owner: str | None = None) -> list[RawDispatcher]:
        """Returns the dispatchers of one owner's sessions, or all; a session ends with its dispatcher."""
        return self._sessions.dispatchers(owner)

    async def post(self, request: web.Request, owner: str, server: str | None, posted: Posted | None = None) -> web.StreamResponse:
        """
        Args:
            posted: the request's body, if it was read already.

        Raises:
            Refused: the request cannot be answered.
        """
        check_accept(request)
        posted = posted or read_posted(await read_message(request))
        session = self._session_for(request, posted, owner, server)
        if not posted.requests:
            return self._take(session, posted)
        self._check(session, posted)
        return await self._answer(request, session, posted)

    async def get(self, request: web.Request, owner: str, server: str | None) -> web.StreamResponse:
        """
        Raises:
            Refused: the request is not for a stream of a session.
        """
        if not accepted(request.headers.get("Accept"))[1]:
            raise Refused(406, "a client must accept text/event-stream")
        session = self._find(request, owner, server)
        last_event = request.headers.get(LAST_EVENT_HEADER, "")
        if last_event:
            stream = session.resume(last_event, cut_of(request))
            if stream is None:
                raise Refused(400, "the stream with this event has ended")
        elif session.is_standing_open:
            raise Refused(409, "this session already has a stream")
        else:
            stream = session.open_standing(cut_of(request))
        return await self._stream(request, session, stream, last_event)

    async def delete(self, request: web.Request, owner: str, server: str | None) -> web.StreamResponse:
        """Raises:
        Refused: the session is unknown.
        """
        self._sessions.end(self._find(request, owner, server))
        return web.Response(status=204)

    # inside

    def _session_for(self, request: web.Request, posted: Posted, owner: str, server: str | None) -> HttpSession:
        if posted.is_modern and not (SESSION_HEADER in request.headers and posted.is_initialize):
            what = "does not match the version in params._meta" if VERSION_HEADER in request.headers else "is missing"
            raise Refused(400, f"the {VERSION_HEADER} header {what}", code=HEADER_MISMATCH, id=Raw(posted.requests[0]))
        if SESSION_HEADER in request.headers or not posted.is_initialize:
            return self._find(request, owner, server)
        session = self._sessions.open(owner, server)
        if session is None:
            raise Refused(503, "too many sessions", code=INTERNAL_ERROR)
        return session

    def _find(self, request: web.Request, owner: str, server: str | None) -> HttpSession:
        id = request.headers.get(SESSION_HEADER)
        if id is None:
            raise Refused(400, f"the {SESSION_HEADER} header is missing")
        session = self._sessions.find(id, owner, server)
        if session is None:
            raise Refused(404, "session not found; initialize a new one")
        return session

    def _take(self, session: HttpSession, posted: Posted) -> web.Response:
        """Feeds notifications and replies to a session."""
        if posted.is_batch and not session.takes_batches:
            raise no_batches()
        session.dispatcher.receive(posted.take_body())
        for key in posted.cancelled:
            session.give_up(key)
        return web.Response(status=202)

    def _check(self, session: HttpSession, posted: Posted) -> None:
        if posted.is_batch and not session.takes_batches:
            raise no_batches([Raw(key) for key in dict.fromkeys(posted.requests[:MOST_REFUSED])])
        if session.is_waiting_for(posted.requests):
            raise Refused(400, "a request with this id is still in flight", id=Raw(posted.requests[0]))
        if session.is_full:
            raise Refused(503, "too many requests of this session are in flight", code=INTERNAL_ERROR, id=Raw(posted.requests[0]))

    async def _answer(self, request: web.Request, session: HttpSession, posted: Posted) -> web.StreamResponse:
        stream = session.begin(posted.requests, is_initialize=posted.is_initialize, cut=cut_of(request))
        queue = stream.queue
        assert queue is not None
        try:
            session.dispatcher.receive(posted.take_body())
            for key in posted.cancelled:
                session.give_up(key)
            await queue.news(within_s=JSON_ONLY_WITHIN_S if session.is_primed else KEEPALIVE_S)
            only = queue.only
            if only is None:
                return await self._stream(request, session, stream, session.make_resumable(stream))
            headers = {SESSION_HEADER: session.id} if session.version else {}
            response = await json_reply(request, only.message, headers=headers)
            queue.written(only)
            return response
        finally:
            session.left(stream, queue)
            self._sessions.touch(session)
            if posted.is_initialize and not session.version:
                self._sessions.end(session)  # the stream has never begun

    async def _stream(self, request: web.Request, session: HttpSession, stream: Stream, last_id: str) -> web.StreamResponse:
        """
        Args:
            last_id: the id from which the client would resume if it reconnected now; empty if it would begin again.
        """
        queue = stream.queue
        assert queue is not None
        try:
            response = await start_events(request, {SESSION_HEADER: session.id})
            if last_id and session.is_primed:
                await write_parts(response, event_parts([b""], id=last_id, retry_ms=RETRY_MS))
            await write_events(response, queue)
            return response
        finally:
            session.left(stream, queue)
            self._sessions.touch(session)


def read_posted(body: bytearray) -> Posted:
    """
    Raises:
        Refused: the body is neither a message nor a batch of messages.
    """
    is_batch = body[:1] != b"{" and body.lstrip()[:1] == b"["
    posted, fault = Posted(body, is_batch), None
    try:
        for text in _elements(body) if is_batch else (body,):
            try:
                _note(posted, _read(text))
            except MalformedFrame as error:
                fault = error
        if fault and not posted.requests:  # otherwise the session answers the invalid members of a batch together with the requests
            raise fault
    except MalformedFrame as error:
        raise unreadable(error) from None
    return posted


def _elements(body: bytearray) -> list[Raw]:
    try:
        elements = msgspec.json.decode(body, type=list[Raw])
    except (ValueError, RecursionError):
        raise MalformedFrame("not JSON") from None
    if not elements:
        raise MalformedFrame("an empty batch", code=INVALID_REQUEST)
    return elements


def _read(text: bytearray | Raw) -> Envelope:
    message = envelope.decode(bytes(text) if isinstance(text, Raw) else text)
    if message.method:
        envelope.check_request(message)
    return message


def _note(posted: Posted, message: Envelope) -> None:
    if message.method and message.id:
        posted.requests.append(bytes(message.id))
        posted.is_initialize = message.method == "initialize" and not posted.is_batch
        head = eras.read_head(message.params)
        posted.is_modern = head is not None and head.era is Era.MODERN
    elif message.method == CANCELLED:
        try:
            posted.cancelled.append(bytes(opened(message.params)["requestId"]))
        except (ValueError, KeyError):
            pass  # it cancels no request


class SseSession:
    """The channel of one client session's dispatcher; everything goes into the one stream."""

    def __init__(self, *, owner: str, server: str, dispatcher: RawDispatcher, cut: Callable[[], object] | None = None) -> None:
        self.owner, self.server, self.dispatcher = owner, server, dispatcher
        self.queue = EventQueue(Pressure(dispatcher), cut=cut)
        dispatcher.attach_messages(self)

    def send(self, message: Outgoing) -> None:
        self.queue.put(Event(message))

    def close(self) -> None:
        self.queue.end()


class SseHttp:
    """The endpoint of one address."""

    def __init__(self, opens: Sessions) -> None:
        self._opens = opens
        self._sessions: dict[str, SseSession] = {}

    async def get(self, request: web.Request, owner: str, server: str, messages_path: str) -> web.StreamResponse:
        """Serves one session, until the response ends.

        Raises:
            Refused: the client does not accept events, or too many sessions.
        """
        if not accepted(request.headers.get("Accept"))[1]:
            raise Refused(406, "a client must accept text/event-stream")
        if len(self._sessions) >= MAX_SESSIONS:
            raise Refused(503, "too many sessions", code=INTERNAL_ERROR)
        id = secrets.token_urlsafe(SESSION_ID_BYTES)
        dispatcher = self._opens.open_client(server).dispatcher
        session = SseSession(owner=owner, server=server, dispatcher=dispatcher, cut=cut_of(request))
        self._sessions[id] = session
        try:
            response = await start_events(request)
            await write_parts(response, event_parts([f"{messages_path}?sessionId={id}".encode()], type="endpoint"))
            await write_events(response, session.queue)
            return response
        finally:
            del self._sessions[id]
            session.dispatcher.connection_lost(CLIENT_GONE)
            session.queue.discard()

    async def post(self, request: web.Request, owner: str, server: str) -> web.StreamResponse:
        """Raises:
        Refused: the session is unknown, or the body is not a message.
        """
        session = self._sessions.get(request.query.get("sessionId", ""))
        if session is None or (session.owner, session.server) != (owner, server):
            raise Refused(404, "session not found")
        body = await read_message(request)
        try:
            envelope.decode(body)
        except envelope.MalformedFrame as error:
            raise unreadable(error, body) from None
        session.dispatcher.receive(body)
        return web.Response(status=202, text="Accepted")

    def dispatchers(self, owner: str | None = None) -> list[RawDispatcher]:
        """Returns the dispatchers of one owner's sessions, or all; a session ends with its dispatcher."""
        return [session.dispatcher for session in self._sessions.values() if owner in (None, session.owner)]
