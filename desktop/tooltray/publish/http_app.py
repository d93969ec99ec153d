"""The HTTP endpoints behind one open address: which path is what, and what is looked at first.

Above it: http_listener, which imports this when the first address opens: aiohttp takes a moment. Below it: the transports, http_guard.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import quote

from aiohttp import web

from tooltray.publish import http_modern, http_sse, streamable_http
from tooltray.publish.http_answers import refusal
from tooltray.publish.http_guard import Guard, Refused
from tooltray.publish.http_modern import ModernHttp, is_modern
from tooltray.publish.http_sse import SseHttp
from tooltray.publish.streamable_http import SESSION_HEADER, StreamableHttp
from tooltray.wire.protocol import MODERN_VERSIONS
from tooltray.wire.routing_headers import VERSION_HEADER

logger = logging.getLogger(__name__)
BACKLOG = 128  # connections that were not accepted yet
RESPONSES_END_WITHIN_S = 1.0  # twice at most: what was answered is read by then, and who does not read is cut off
MAX_HEADER_BYTES = 65536  # modern clients repeat arguments in headers
IDLE_CONNECTION_S = 75.0  # clients keep one for the next request

Handler = Callable[[web.Request, str], Awaitable[web.StreamResponse]]


class HttpApp:
    """One open address. Belongs to the engine's loop; `close` may be called twice."""

    def __init__(
        self, *, guard: Guard, has_server: Callable[[str], bool], streamable: StreamableHttp, modern: ModernHttp, sse: SseHttp
    ) -> None:
        self._guard, self._has_server = guard, has_server
        self._streamable, self._modern, self._sse = streamable, modern, sse
        self._site: web.SockSite | None = None
        self._runner = web.AppRunner(
            self._application(),
            access_log=None,
            handle_signals=False,
            handler_cancellation=True,  # a client that leaves ends what waits for it
            shutdown_timeout=RESPONSES_END_WITHIN_S,
            keepalive_timeout=IDLE_CONNECTION_S,
            max_field_size=MAX_HEADER_BYTES,
        )

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._runner.setup()
        self._site = web.SockSite(self._runner, place, backlog=BACKLOG)
        await self._site.start()

    async def stop_taking(self) -> None:
        """Takes no connection any more, and no request on those that are idle; responses go on. May be called twice."""
        site, self._site = self._site, None
        if site:
            await site.stop()

    async def end_of(self, owner: str | None, reason: str, *, grace_s: float) -> None:
        """Ends what one client has open, or all: requests in flight may finish within `grace_s`, then they are answered with `reason`."""
        parts = (self._streamable, self._modern, self._sse)
        dispatchers = [dispatcher for part in parts for dispatcher in part.dispatchers(owner)]
        await asyncio.gather(*(dispatcher.close(reason, grace_s=grace_s) for dispatcher in dispatchers))

    async def close(self) -> None:
        """Ends the connections; what was answered is still read, for a bounded time."""
        await self.stop_taking()
        await self._runner.cleanup()

    # paths

    def _application(self) -> web.Application:
        app = web.Application()
        app.router.add_route("GET", "/healthz", self._healthz)
        for path, handler in (
            ("/mcp", self._mcp),
            ("/servers/{name}/mcp", self._mcp),
            ("/servers/{name}/sse", self._sse_stream),
            ("/servers/{name}/messages", self._sse_messages),
            ("/{elsewhere:.*}", _nothing_here),  # the last: the first that fits counts
        ):
            app.router.add_route("*", path, partial(self._serve, handler))
        app.on_response_prepare.append(_say_nothing_of_us)
        return app

    async def _serve(self, handler: Handler, request: web.Request) -> web.StreamResponse:
        try:
            self._guard.check_place(request.headers.get("Host"), request.headers.get("Origin"))
            owner = self._guard.owner(request.headers.get("Authorization"))
            return await handler(request, owner)
        except Refused as refused:
            return refusal(refused)

    async def _mcp(self, request: web.Request, owner: str) -> web.StreamResponse:
        server = self._server_of(request) if "name" in request.match_info else None
        if is_modern(request):
            if request.method == "POST":
                return await self._modern.post(request, owner, server)
            raise _not_spoken(request)
        match request.method:
            case "POST":
                return await self._streamable.post(request, owner, server)
            case "GET":
                return await self._streamable.get(request, owner, server)
            case "DELETE":
                return await self._streamable.delete(request, owner, server)
        raise _not_allowed(streamable_http.METHODS)

    async def _sse_stream(self, request: web.Request, owner: str) -> web.StreamResponse:
        server = self._server_of(request)
        if request.method != "GET":
            raise _not_allowed(http_sse.GET_METHODS)
        return await self._sse.get(request, owner, server, f"/servers/{quote(server, safe='')}/messages")

    async def _sse_messages(self, request: web.Request, owner: str) -> web.StreamResponse:
        if request.method != "POST":
            raise _not_allowed(http_sse.POST_METHODS)
        return await self._sse.post(request, owner, self._server_of(request))

    async def _healthz(self, request: web.Request) -> web.StreamResponse:
        """Whether we are there; says nothing else, and asks for no token."""
        try:
            self._guard.check_place(request.headers.get("Host"), request.headers.get("Origin"))
        except Refused as refused:
            return refusal(refused)
        return web.json_response({"status": "ok"})

    def _server_of(self, request: web.Request) -> str:
        name = request.match_info["name"]
        if not self._has_server(name):
            raise Refused(404, "Tooltray has no server of this name")
        return name


async def _nothing_here(request: web.Request, owner: str) -> web.StreamResponse:
    raise Refused(404, "there is nothing at this path; see /mcp and /servers/NAME/mcp")


def _not_allowed(methods: str) -> Refused:
    return Refused(405, "method not allowed", headers={"Allow": methods})


def _not_spoken(request: web.Request) -> Refused:
    """A GET or DELETE that names a version without sessions, or none that there is."""
    if request.headers[VERSION_HEADER] in MODERN_VERSIONS or SESSION_HEADER not in request.headers:
        return _not_allowed(http_modern.METHODS)
    return Refused(400, "the protocol version is not known")


async def _say_nothing_of_us(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
