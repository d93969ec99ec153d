"""The HTTP endpoints behind one open address: the routes, and the checks before them.

Imported when the first address opens, because aiohttp takes a moment.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import quote

from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.answers import refusal
from tooltray.carriers.http_server.guard import Guard, Refused
from tooltray.carriers.http_server.site import HttpSite, answer_all_else, expect
from tooltray.carriers.http_server.strangers import Strangers
from tooltray.carriers.mcp import sse
from tooltray.carriers.mcp.http_mcp import answer_mcp, not_allowed
from tooltray.carriers.mcp.http_modern import ModernHttp
from tooltray.carriers.mcp.sse import SseHttp
from tooltray.carriers.mcp.streamable_http import StreamableHttp
from tooltray.protocol.envelope import Envelope

logger = logging.getLogger(__name__)

Handler = Callable[[web.Request, str], Awaitable[web.StreamResponse]]
Api = Callable[[web.Request, Guard], Awaitable[web.StreamResponse]]


class HttpApp:
    """The application at one open address. Belongs to the engine's loop; `close` may be called twice."""

    def __init__(
        self,
        *,
        guard: Guard,
        has_server: Callable[[str], bool],
        streamable: StreamableHttp,
        modern: ModernHttp,
        sse: SseHttp,
        note_refusal: Callable[[Raw, Envelope], None],
        api: Api | None = None,
    ) -> None:
        """
        Args:
            note_refusal: called with the message's id and the error that answered it.
            api: answers everything under `/api`, and authenticates callers itself; without it those paths do not exist.
        """
        self._guard, self._has_server, self._api = guard, has_server, api
        self._streamable, self._modern, self._sse, self._note_refusal = streamable, modern, sse, note_refusal
        strangers = Strangers()
        guard.welcome = strangers.welcome
        self._site = HttpSite(self._application(), strangers)

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._site.open(place)

    async def stop_taking(self) -> None:
        """Accepts no more connections, and no requests on idle ones; responses continue. May be called twice."""
        await self._site.stop_taking()

    async def end_of(self, owner: str | None, reason: str, *, grace_s: float) -> None:
        """Ends the requests and sessions of one client, or of all: requests in flight may finish within `grace_s`, then they are answered
        with `reason`.
        """
        parts = (self._streamable, self._modern, self._sse)
        dispatchers = [dispatcher for part in parts for dispatcher in part.dispatchers(owner)]
        await asyncio.gather(*(dispatcher.close(reason, grace_s=grace_s) for dispatcher in dispatchers))

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
        return await answer_mcp(request, owner, server, streamable=self._streamable, modern=self._modern)

    async def _sse_stream(self, request: web.Request, owner: str) -> web.StreamResponse:
        server = self._server_of(request)
        if request.method != "GET":
            raise not_allowed(sse.GET_METHODS)
        return await self._sse.get(request, owner, server, f"/servers/{quote(server, safe='')}/messages")

    async def _sse_messages(self, request: web.Request, owner: str) -> web.StreamResponse:
        if request.method != "POST":
            raise not_allowed(sse.POST_METHODS)
        return await self._sse.post(request, owner, self._server_of(request))

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
    raise Refused(404, "there is nothing at this path; see /mcp and /servers/NAME/mcp")
