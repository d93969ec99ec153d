"""A config's endpoint at one open address: which server a path means, and what is looked at before it is asked.

Above it: served_listener, which imports this when the first endpoint opens. Below it: routes, served_server, http_server/site,
http_server/guard.

A client that shows a right token is served whatever its `Host` and `Origin` say: people reach such a proxy by many names, and no web page
knows the token. Where no token is asked for, `Host` and `Origin` are what keeps web pages out. Nobody is served for whom the browser itself
says that a page of another place has sent the request.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from urllib.parse import quote

from aiohttp import web

from tooltray.carriers.http_server.answers import refusal
from tooltray.carriers.http_server.guard import Guard, Refused, check_browser
from tooltray.carriers.http_server.site import HttpSite, answer_all_else
from tooltray.carriers.mcp.served.routes import Route, find
from tooltray.carriers.mcp.served.served_server import ServedServer
from tooltray.config.settings.file_server import Endpoint

END_GRACE_S = 0.5  # for requests in flight, as when the hub ends
SERVER_GONE = "the config that this endpoint serves has no such server any more"
TOKEN_GONE = "this token is not in the config any more"
CLOSED = "the endpoint was closed or moved"


class ServedApp:
    """Belongs to the engine's loop; `close` may be called twice."""

    def __init__(self, endpoint: Endpoint, *, host: str, port: int, make_server: Callable[[str], ServedServer]) -> None:
        """
        Args:
            host, port: where it is really open.
            make_server: what answers for a server, by its name here.
        """
        self._base_path, self._public_host = endpoint.base_path, endpoint.public_host.lower()
        self._guard = Guard(host=host, port=port, requires_token=False, owner_of=lambda token: None)
        self._make_server = make_server
        self._routes: tuple[Route, ...] = ()
        self._servers: dict[str, ServedServer] = {}  # by their names here
        application = web.Application()
        answer_all_else(application, self._serve)
        self._site = HttpSite(application)

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._site.open(place)

    async def follow(self, routes: Iterable[Route]) -> None:
        """These are the servers and tokens from now on; ends what clients have open that could not open it any more."""
        before, self._routes = {route.server: route for route in self._routes}, tuple(routes)
        now = {route.server: route for route in self._routes}
        for route in self._routes:
            if route.server not in self._servers:
                self._servers[route.server] = self._make_server(route.server)
        for server, route in before.items():
            if server not in now:
                await self._servers.pop(server).end_of(None, SERVER_GONE, grace_s=END_GRACE_S)
                continue
            for owner in route.owners - now[server].owners:
                await self._servers[server].end_of(owner, TOKEN_GONE, grace_s=0)

    async def stop_taking(self) -> None:
        """Takes no connection any more; responses go on. May be called twice."""
        await self._site.stop_taking()

    async def close(self) -> None:
        """Ends the sessions and then the connections, for a bounded time."""
        await self.stop_taking()
        await asyncio.gather(*(server.end_of(None, CLOSED, grace_s=END_GRACE_S) for server in self._servers.values()))
        await self._site.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            check_browser(request.headers)
            found = find(request.path, self._base_path, self._routes)
            if found is None or not found[0].needs_token:
                self._check_place(request)
            if found is None:
                raise Refused(404, "there is no server at this path")
            route, tail = found
            owner = route.owner(request.headers.get("Authorization"))
            return await self._servers[route.server].answer(request, owner, tail, quote(f"{self._base_path}/{route.path}"))
        except Refused as refused:
            return refusal(refused)

    def _check_place(self, request: web.Request) -> None:
        host = request.headers.get("Host")
        is_public = bool(self._public_host) and (host or "").lower() == self._public_host
        self._guard.check(request.headers, host=self._guard.own_host if is_public else host)
