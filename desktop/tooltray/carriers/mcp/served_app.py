"""A config's endpoint at one open address, with and without sessions. ServedListener imports this when the first endpoint opens.

A client that shows a right token is served whatever its `Host` and `Origin` are: users reach such a proxy by many names, and no web page
knows the token. If no token is needed, `Host` and `Origin` keep web pages out. A request that the browser marks as sent by a page of
another site is always refused.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from urllib.parse import quote

from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.answers import (
    KEEPALIVE_S,
    EventQueue,
    Pressure,
    cut_of,
    json_reply,
    read_message,
    refusal,
    start_events,
    write_events,
)
from tooltray.carriers.http_server.guard import Guard, Refused, accepted, check_browser
from tooltray.carriers.http_server.site import HttpSite, answer_all_else
from tooltray.carriers.mcp import http_legacy
from tooltray.carriers.mcp.http_app import McpEndpoints, not_allowed
from tooltray.carriers.mcp.http_legacy import SESSION_HEADER, Posted, read_posted
from tooltray.carriers.mcp.http_modern import MAX_EXCHANGES, ResponseChannel, ToolSchema, is_modern
from tooltray.carriers.mcp.http_sessions import CLIENT_GONE, HttpSessions
from tooltray.carriers.mcp.served_routes import Route, find
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.config.settings.file_server import Endpoint
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INTERNAL_ERROR
from tooltray.servers.relay.held_calls import HeldCalls

ANONYMOUS = "served "  # the owner of requests without a token; names of other owners never end in a space
PLAIN, STREAMABLE, EVENTS, MESSAGES = "", "mcp", "sse", "message"
END_GRACE_S = 0.5  # for requests in flight, as when the hub ends
SERVER_GONE = "this server was removed from the config of this endpoint"
TOKEN_GONE = "this token was removed from the config"
CLOSED = "the endpoint was closed or moved"


class ReplyAlone(ResponseChannel):
    """An exchange with a client that reads only plain JSON."""

    def send(self, message: Outgoing) -> None:
        if not message.method:
            super().send(message)


class Sessionless:
    """Answers requests of legacy clients that name no session, as the proxy with this kind of config does, which has no sessions.

    Some of its clients send no `initialize`, some do not send back the session id, and some read plain JSON but no events. Requests without
    a session share one state per token, and requests without a token share one: a lazy server that one request has activated is active for
    all of these, also for modern clients with the same token. Each server has its own Sessionless. Belongs to the engine's loop.
    """

    def __init__(self, opens: Sessions, *, held_calls_of: Callable[[str], HeldCalls]) -> None:
        self._opens, self._held_calls_of = opens, held_calls_of
        self._exchanges: dict[RawDispatcher, str] = {}  # with their owners

    def dispatchers(self, owner: str | None = None) -> list[RawDispatcher]:
        """Returns the dispatchers of one owner's requests, or all."""
        return [dispatcher for dispatcher, whose in self._exchanges.items() if owner in (None, whose)]

    async def answer(self, request: web.Request, posted: Posted, owner: str, server: str) -> web.StreamResponse:
        """
        Raises:
            Refused: too many requests are in progress.
        """
        if not posted.requests:
            return web.Response(status=202)  # only for sessions, which do not exist here
        if len(self._exchanges) >= MAX_EXCHANGES:
            raise Refused(503, "too many requests are in flight", code=INTERNAL_ERROR, id=Raw(posted.requests[0]))
        held = self._held_calls_of(owner)
        dispatcher = self._opens.open_client(server, is_lasting=False, client=owner or ANONYMOUS, held=held).dispatcher
        queue = EventQueue(Pressure(dispatcher), cut=cut_of(request))
        takes_events = takes_events_too(request)
        dispatcher.attach_messages(ResponseChannel(queue) if takes_events else ReplyAlone(queue))
        self._exchanges[dispatcher] = owner
        try:
            dispatcher.receive(posted.take_body())
            return await _answered(request, queue, takes_events=takes_events)
        finally:
            del self._exchanges[dispatcher]
            dispatcher.connection_lost(CLIENT_GONE)
            queue.discard()


def is_sessionless(request: web.Request, posted: Posted) -> bool:
    """Returns whether a legacy POST is answered without a session: it neither names nor begins a session, or its client cannot read
    events.
    """
    if SESSION_HEADER in request.headers or posted.is_modern or posted.is_batch:
        return False
    return not posted.is_initialize or not takes_events_too(request)


def takes_events_too(request: web.Request) -> bool:
    """Returns whether a client accepts events besides plain JSON."""
    return accepted(request.headers.get("Accept")) == (True, True)


async def _answered(request: web.Request, queue: EventQueue, *, takes_events: bool) -> web.StreamResponse:
    await queue.news(within_s=KEEPALIVE_S if takes_events else None)
    if only := queue.only:
        return await json_reply(request, only.message)
    response = await start_events(request)
    await write_events(response, queue)
    return response


class ServedServer:
    """One server of a config at its own paths: both transports with sessions, and requests without.

    A GET without a session begins an HTTP+SSE session, whose POSTs are sent to its `message` path; everything else is streamable HTTP. So
    clients of both transports are served at a plain `/NAME/`, whatever the file's `type` is. Belongs to the engine's loop.

    Attributes:
        endpoints: the transports, requests without sessions included.
    """

    def __init__(self, server: str, *, opens: Sessions, tool_schema: ToolSchema, deadlines: DeadlineWheel, spawn: Spawn) -> None:
        """
        Args:
            server: its name in the hub.
        """
        self._server = server
        legacy = HttpSessions(opens, deadlines=deadlines)
        self.endpoints = McpEndpoints(opens, legacy, deadlines=deadlines, spawn=spawn, tool_schema=tool_schema, anonymous=ANONYMOUS)
        self._sessionless = Sessionless(opens, held_calls_of=self.endpoints.held_calls_of)
        self.endpoints.parts.append(self._sessionless)

    async def answer(self, request: web.Request, owner: str, tail: str, path: str) -> web.StreamResponse:
        """Answers a request.

        Args:
            owner: the owner of the token in the request.
            tail: the rest of the request's path after the server's name.
            path: the server's own path, percent-encoded, without a slash at its end.

        Raises:
            Refused: the request cannot be answered.
        """
        if tail == MESSAGES:
            if request.method != "POST":
                raise not_allowed(http_legacy.POST_METHODS)
            return await self.endpoints.sse.post(request, owner, self._server)
        if tail in (PLAIN, EVENTS) and _begins_events(request):
            return await self.endpoints.sse.get(request, owner, self._server, f"{path}/{MESSAGES}")
        if tail == EVENTS:
            raise not_allowed(http_legacy.GET_METHODS)
        if tail not in (PLAIN, STREAMABLE):
            raise Refused(404, f"no server at this path; see {path}/{STREAMABLE} and {path}/{EVENTS}")
        if request.method == "POST" and not is_modern(request):
            return await self._post(request, owner)
        return await self.endpoints.answer(request, owner, self._server)

    async def _post(self, request: web.Request, owner: str) -> web.StreamResponse:
        posted = read_posted(await read_message(request))
        if is_sessionless(request, posted):
            return await self._sessionless.answer(request, posted, owner, self._server)
        return await self.endpoints.answer(request, owner, self._server, posted)


def _begins_events(request: web.Request) -> bool:
    return request.method == "GET" and SESSION_HEADER not in request.headers and not is_modern(request)


class ServedApp:
    """The application of a config's endpoint. Belongs to the engine's loop; `close` may be called twice."""

    def __init__(self, endpoint: Endpoint, *, host: str, port: int, make_server: Callable[[str], ServedServer]) -> None:
        """
        Args:
            host, port: the address that is actually open.
            make_server: makes the handler of a server, by its name in the hub.
        """
        self._base_path, self._public_host = endpoint.base_path, endpoint.public_host.lower()
        self._guard = Guard(host=host, port=port, requires_token=False, owner_of=lambda token: None)
        self._make_server = make_server
        self._routes: tuple[Route, ...] = ()
        self._servers: dict[str, ServedServer] = {}  # by their names in the hub
        application = web.Application()
        answer_all_else(application, self._serve)
        self._site = HttpSite(application)

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._site.open(place)

    async def use(self, routes: Iterable[Route]) -> None:
        """Sets the servers and tokens; ends requests and sessions that would not be allowed any more."""
        before, self._routes = {route.server: route for route in self._routes}, tuple(routes)
        now = {route.server: route for route in self._routes}
        for route in self._routes:
            if route.server not in self._servers:
                self._servers[route.server] = self._make_server(route.server)
        for server, route in before.items():
            if server not in now:
                await self._servers.pop(server).endpoints.end_of(None, SERVER_GONE, grace_s=END_GRACE_S)
                continue
            for owner in route.owners - now[server].owners:
                await self._servers[server].endpoints.end_of(owner, TOKEN_GONE, grace_s=0)

    async def stop_taking(self) -> None:
        """Accepts no more connections; responses continue. May be called twice."""
        await self._site.stop_taking()

    async def close(self) -> None:
        """Ends the sessions and then the connections, for a bounded time."""
        await self.stop_taking()
        await asyncio.gather(*(server.endpoints.end_of(None, CLOSED, grace_s=END_GRACE_S) for server in self._servers.values()))
        await self._site.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            check_browser(request.headers)
            found = find(request.path, self._base_path, self._routes)
            if found is None or not found[0].needs_token:
                self._check_place(request)
            if found is None:
                raise Refused(404, "no server at this path")
            route, tail = found
            owner = route.owner(request.headers.get("Authorization"))
            return await self._servers[route.server].answer(request, owner, tail, quote(f"{self._base_path}/{route.path}"))
        except Refused as refused:
            return refusal(refused)

    def _check_place(self, request: web.Request) -> None:
        host = request.headers.get("Host")
        is_public = bool(self._public_host) and (host or "").lower() == self._public_host
        self._guard.check(request.headers, host=self._guard.own_host if is_public else host)
