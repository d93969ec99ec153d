"""The HTTP endpoints behind one open address: the routes, and the checks before them.

Imported when the first address opens, because aiohttp takes a moment.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol
from urllib.parse import quote

from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.acceptor import Strangers
from tooltray.carriers.http_server.answers import refusal
from tooltray.carriers.http_server.guard import Guard, Refused
from tooltray.carriers.http_server.site import HttpSite, answer_all_else, expect
from tooltray.carriers.mcp import http_legacy, http_modern
from tooltray.carriers.mcp.http_legacy import SESSION_HEADER, Posted, SseHttp, StreamableHttp
from tooltray.carriers.mcp.http_modern import ModernHttp, ToolSchema, is_modern
from tooltray.carriers.mcp.http_sessions import HttpSessions
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import MODERN_VERSIONS
from tooltray.protocol.routing_headers import VERSION_HEADER
from tooltray.servers.relay.held_calls import HeldCalls

Handler = Callable[[web.Request, str], Awaitable[web.StreamResponse]]
Api = Callable[[web.Request, Guard], Awaitable[web.StreamResponse]]


class HasDispatchers(Protocol):
    """A transport of one address, which can name the connections of its clients."""

    def dispatchers(self, owner: str | None = None) -> list[RawDispatcher]: ...


class McpEndpoints:
    """The transports of MCP at one address, or of one served server. Callers have authenticated the requests.

    Attributes:
        parts: the transports; their requests and sessions end together.
    """

    def __init__(
        self, opens: Sessions, legacy: HttpSessions, *, deadlines: DeadlineWheel, spawn: Spawn, tool_schema: ToolSchema, anonymous: str = ""
    ) -> None:
        """
        Args:
            anonymous: see ModernHttp.
        """
        self._deadlines, self._spawn = deadlines, spawn
        self._held: dict[str, HeldCalls] = {}
        self._streamable, self.sse = StreamableHttp(legacy), SseHttp(opens)
        self._modern = ModernHttp(opens, held_calls_of=self.held_calls_of, tool_schema=tool_schema, anonymous=anonymous)
        self.parts: list[HasDispatchers] = [self._streamable, self._modern, self.sse]

    async def answer(self, request: web.Request, owner: str, server: str | None, posted: Posted | None = None) -> web.StreamResponse:
        """Answers a request over streamable HTTP, of either era.

        Args:
            owner: the client whose token came with it.
            server: the one server of this path; None: all.
            posted: the body of a legacy POST, if it was read already.

        Raises:
            Refused: the request cannot be answered.
        """
        if is_modern(request):
            if request.method == "POST":
                return await self._modern.post(request, owner, server)
            raise _not_spoken(request)
        match request.method:
            case "POST":
                return await self._streamable.post(request, owner, server, posted)
            case "GET":
                return await self._streamable.get(request, owner, server)
            case "DELETE":
                return await self._streamable.delete(request, owner, server)
        raise not_allowed(http_legacy.METHODS)

    def held_calls_of(self, owner: str) -> HeldCalls:
        """Returns a client's calls that wait for an answer, by the name of its token."""
        if owner not in self._held:
            self._held[owner] = HeldCalls(deadlines=self._deadlines, spawn=self._spawn)
        return self._held[owner]

    async def end_of(self, owner: str | None, reason: str, *, grace_s: float) -> None:
        """Ends the requests and sessions of one client, or of all: requests in flight may finish within `grace_s`, then they are answered
        with `reason`.
        """
        dispatchers = [dispatcher for part in self.parts for dispatcher in part.dispatchers(owner)]
        await asyncio.gather(*(dispatcher.close(reason, grace_s=grace_s) for dispatcher in dispatchers))
        for each in [each for each in self._held if owner in (None, each)]:
            self._held.pop(each).close()


class HttpApp:
    """The application at one open address. Belongs to the engine's loop; `close` may be called twice.

    Attributes:
        endpoints: the transports of AI clients.
    """

    def __init__(
        self,
        *,
        guard: Guard,
        has_server: Callable[[str], bool],
        endpoints: McpEndpoints,
        note_refusal: Callable[[Raw, Envelope], None],
        api: Api | None = None,
    ) -> None:
        """
        Args:
            note_refusal: called with the message's id and the error that answered it.
            api: answers everything under `/api`, and authenticates callers itself; without it those paths do not exist.
        """
        self._guard, self._has_server, self._api = guard, has_server, api
        self.endpoints, self._note_refusal = endpoints, note_refusal
        strangers = Strangers()
        guard.welcome = strangers.welcome
        self._site = HttpSite(self._application(), strangers)

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._site.open(place)

    async def stop_taking(self) -> None:
        """Accepts no more connections, and no requests on idle ones; responses continue. May be called twice."""
        await self._site.stop_taking()

    async def close(self) -> None:
        """Ends the connections after clients had a bounded time to read their responses."""
        await self._site.close()

    # paths

    def _application(self) -> web.Application:
        app = web.Application()
        app.router.add_route("GET", "/healthz", self._healthz, expect_handler=expect)
        if self._api:
            for path in ("/api", r"/api/{elsewhere:[\s\S]*}"):
                app.router.add_route("*", path, self._ask_api, expect_handler=expect)
        for path, handler in (
            ("/mcp", self._mcp),
            ("/servers/{name}/mcp", self._mcp),
            ("/servers/{name}/sse", self._sse_stream),
            ("/servers/{name}/messages", self._sse_messages),
        ):
            for written in (path, f"{path}/"):
                app.router.add_route("*", written, partial(self._serve, handler), expect_handler=expect)
        answer_all_else(app, partial(self._serve, _nothing_here))
        return app

    async def _serve(self, handler: Handler, request: web.Request) -> web.StreamResponse:
        try:
            self._guard.check(request.headers)
            owner = self._guard.owner(request.headers.get("Authorization"))
            self._guard.welcome(request.transport)
        except Refused as refused:
            return refusal(refused)
        try:
            return await handler(request, owner)
        except Refused as refused:
            if request.method == "POST":
                for id in refused.ids or (refused.id,):
                    self._note_refusal(id, refused.reply)
            return refusal(refused)

    async def _mcp(self, request: web.Request, owner: str) -> web.StreamResponse:
        server = self._server_of(request) if "name" in request.match_info else None
        return await self.endpoints.answer(request, owner, server)

    async def _sse_stream(self, request: web.Request, owner: str) -> web.StreamResponse:
        server = self._server_of(request)
        if request.method != "GET":
            raise not_allowed(http_legacy.GET_METHODS)
        return await self.endpoints.sse.get(request, owner, server, f"/servers/{quote(server, safe='')}/messages")

    async def _sse_messages(self, request: web.Request, owner: str) -> web.StreamResponse:
        if request.method != "POST":
            raise not_allowed(http_legacy.POST_METHODS)
        return await self.endpoints.sse.post(request, owner, self._server_of(request))

    async def _ask_api(self, request: web.Request) -> web.StreamResponse:
        assert self._api
        return await self._api(request, self._guard)

    async def _healthz(self, request: web.Request) -> web.StreamResponse:
        """Reports only that the hub runs; needs no token."""
        try:
            self._guard.check(request.headers)
        except Refused as refused:
            return refusal(refused)
        return web.json_response({"status": "ok"})

    def _server_of(self, request: web.Request) -> str:
        name = request.match_info["name"]
        if not self._has_server(name):
            raise Refused(404, "Tooltray has no server of this name")
        return name


async def _nothing_here(request: web.Request, owner: str) -> web.StreamResponse:
    raise Refused(404, "no endpoint at this path; see /mcp and /servers/NAME/mcp")


def not_allowed(methods: str) -> Refused:
    return Refused(405, "method not allowed", headers={"Allow": methods})


def _not_spoken(request: web.Request) -> Refused:
    """Builds the refusal of a GET or DELETE that names a version without sessions, or an unknown one."""
    if request.headers[VERSION_HEADER] in MODERN_VERSIONS or SESSION_HEADER not in request.headers:
        return not_allowed(http_modern.METHODS)
    return Refused(400, "unknown protocol version")
