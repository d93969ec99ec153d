"""Streamable HTTP for modern clients (2026-07-28): each POST is independent, and its response is the whole answer.

Responses have no session id and cannot be resumed: a client that closes the response has cancelled its request. Between two requests only a
client's held calls last. Callers have authenticated the request.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

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
    read_message,
    start_events,
    unreadable,
    write_events,
)
from tooltray.carriers.http_server.guard import Refused
from tooltray.carriers.mcp.http_sessions import CLIENT_GONE
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.protocol import envelope, eras
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Envelope, failure
from tooltray.protocol.eras import HANDSHAKE_VERSIONS, HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION
from tooltray.protocol.routing_headers import VERSION_HEADER, argument_fault, fault_of, version_fault
from tooltray.servers.relay.held_calls import HeldCalls

MAX_EXCHANGES = 1024  # requests of modern clients being answered at once
MAX_OF_ONE = 512  # of these, for one client: its open requests do not keep others from calling
MAX_LISTENING = 256  # of these, notification streams, which stay open: they do not block the client's own calls
LISTEN = "subscriptions/listen"
METHODS = "POST"
# the HTTP status of a response with only an error, by the error's code; 200 for all other responses
STATUS_OF: Mapping[int, int] = MappingProxyType(
    {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        MISSING_CLIENT_CAPABILITY: 400,
        UNSUPPORTED_PROTOCOL_VERSION: 400,
        METHOD_NOT_FOUND: 404,
    }
)
ToolSchema = Callable[[str, str | None], Raw | None]
"""The `inputSchema` of a tool by the name that clients use, of all servers or one; None if it is not known."""


class ResponseChannel:
    """The channel of one request's dispatcher: its messages go into one response, and its reply is the last of them."""

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue

    def send(self, message: Outgoing) -> None:
        if message.method and message.id:
            return  # a server's request; such clients get requests only in results
        self._queue.put(Event(message))
        if not message.method:
            self._queue.end()

    def close(self) -> None:
        self._queue.end()


class ModernHttp:
    """The endpoint of one address."""

    def __init__(self, opens: Sessions, *, held_calls_of: Callable[[str], HeldCalls], tool_schema: ToolSchema, anonymous: str = "") -> None:
        """
        Args:
            held_calls_of: returns a client's held calls, by the name of its token.
            anonymous: the name of the client that sends requests without a token; empty: each of them has a client of its own.
        """
        self._opens, self._held_calls_of, self._tool_schema, self._anonymous = opens, held_calls_of, tool_schema, anonymous
        self._exchanges: dict[RawDispatcher, str] = {}  # with their owners
        self._open: Counter[tuple[str, bool]] = Counter()  # number of requests by owner, and by whether they are streams of notifications

    def dispatchers(self, owner: str | None = None) -> list[RawDispatcher]:
        """Returns the dispatchers of one owner's requests, or all."""
        return [dispatcher for dispatcher, whose in self._exchanges.items() if owner in (None, whose)]

    async def post(self, request: web.Request, owner: str, server: str | None) -> web.StreamResponse:
        """
        Raises:
            Refused: the request cannot be answered.
        """
        check_accept(request)
        begun = self._begin(request, await read_message(request), owner, server)
        if begun is None:
            return web.Response(status=202)  # a notification; this version has no notification for servers
        dispatcher, queue, kind = begun
        self._exchanges[dispatcher] = owner
        self._open[kind] += 1
        try:
            return await self._answer(request, queue)
        finally:
            del self._exchanges[dispatcher]
            self._leave(kind)
            dispatcher.connection_lost(CLIENT_GONE)
            queue.discard()

    def _begin(
        self, request: web.Request, body: bytearray, owner: str, server: str | None
    ) -> tuple[RawDispatcher, EventQueue, tuple[str, bool]] | None:
        """Hands a request on; returns None for a notification. Keeps nothing of the body, which may be large."""
        asked = self._read(request, body)
        if asked is None:
            return None
        if fault := self._fault(request, asked, server):
            raise refused(asked.id, fault)
        kind = owner, asked.method == LISTEN
        if full := self._why_full(*kind):
            raise Refused(503, full, code=INTERNAL_ERROR, id=asked.id)
        held = self._held_calls_of(owner)
        dispatcher = self._opens.open_client(server, is_lasting=False, client=owner or self._anonymous, held=held).dispatcher
        queue = EventQueue(Pressure(dispatcher), cut=cut_of(request))
        dispatcher.attach_messages(ResponseChannel(queue))
        dispatcher.receive(body)
        return dispatcher, queue, kind

    def _why_full(self, owner: str, is_listening: bool) -> str:
        """Returns why no further request is accepted; empty if it is."""
        if len(self._exchanges) >= MAX_EXCHANGES:
            return "too many requests are in flight"
        listening = self._open[owner, True]
        if is_listening and listening >= MAX_LISTENING:
            return "this client has too many notification streams open"
        return "too many requests of this client are in flight" if listening + self._open[owner, False] >= MAX_OF_ONE else ""

    def _leave(self, kind: tuple[str, bool]) -> None:
        self._open[kind] -= 1
        if not self._open[kind]:
            del self._open[kind]

    async def _answer(self, request: web.Request, queue: EventQueue) -> web.StreamResponse:
        await queue.news(within_s=KEEPALIVE_S)
        if only := queue.only:
            return await json_reply(request, only.message, status=status_of(only.message))
        response = await start_events(request)
        await write_events(response, queue)
        return response

    def _read(self, request: web.Request, body: bytearray) -> Envelope | None:
        try:
            message = envelope.decode(body)
            envelope.check_request(message)
        except envelope.MalformedFrame as error:
            raise unreadable(error, body) from None
        if not message.method:
            raise Refused(400, "the body must be one request or notification")
        if message.id:
            return message
        if fault := version_fault(request.headers.get(VERSION_HEADER, "")):
            raise refused(message.id, fault)
        return None

    def _fault(self, request: web.Request, asked: Envelope, server: str | None) -> Envelope | None:
        if fault := fault_of(asked, eras.read_head(asked.params), request.headers):
            return fault
        if asked.method == "initialize":
            return failure(METHOD_NOT_FOUND, "Method not found", asked.method)  # modern clients do not initialize
        if asked.method == "tools/call":
            return argument_fault(asked, request.headers, lambda name: self._tool_schema(name, server))
        return None


def is_modern(request: web.Request) -> bool:
    """Reports whether the headers name a version without a handshake."""
    version = request.headers.get(VERSION_HEADER)
    return version is not None and version not in HANDSHAKE_VERSIONS


def status_of(reply: Outgoing) -> int:
    """Returns the HTTP status of a reply that is the whole response."""
    return STATUS_OF.get(eras.error_code(reply.payload), 200) if reply.parts[0].endswith(b'"error":') else 200


def refused(id: Raw, fault: Envelope) -> Refused:
    """Builds the refusal of a request that was not begun."""
    return Refused(STATUS_OF[eras.error_code(fault.error)], "", reply=fault, id=id)
