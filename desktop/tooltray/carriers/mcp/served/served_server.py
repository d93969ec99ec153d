"""One server of a config at its own paths: both transports with sessions, and requests without.

Above it: served_app, which has checked who asks. Below it: streamable_http, sse, http_modern, sessionless.

What a client wants shows in what it asks: a GET that names no session begins one of HTTP+SSE, a POST beside such a session goes to its
`message` path, everything else is streamable HTTP. So both kinds of client are served at a plain `/NAME/`, whatever the file's `type` is.
"""

import asyncio

from aiohttp import web

from tooltray.carriers.http_server.answers import check_accept, read_message
from tooltray.carriers.http_server.guard import Refused
from tooltray.carriers.mcp import sse
from tooltray.carriers.mcp.http_mcp import answer_mcp, not_allowed
from tooltray.carriers.mcp.http_modern import ModernHttp, ToolSchema, is_modern
from tooltray.carriers.mcp.http_sessions import HttpSessions, OpensClients
from tooltray.carriers.mcp.served.sessionless import NOBODYS, Sessionless, is_sessionless
from tooltray.carriers.mcp.sse import SseHttp
from tooltray.carriers.mcp.streamable_http import SESSION_HEADER, StreamableHttp, read_posted
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.servers.relay.held_calls import HeldCalls

PLAIN, STREAMABLE, EVENTS, MESSAGES = "", "mcp", "sse", "message"


class ServedServer:
    """Belongs to the engine's loop."""

    def __init__(self, server: str, *, opens: OpensClients, tool_schema: ToolSchema, deadlines: DeadlineWheel, spawn: Spawn) -> None:
        """
        Args:
            server: its name here.
        """
        self._server, self._deadlines, self._spawn = server, deadlines, spawn
        self._held: dict[str, HeldCalls] = {}
        self._streamable = StreamableHttp(HttpSessions(opens, deadlines=deadlines))
        self._modern = ModernHttp(opens, held_calls_of=self._held_calls_of, tool_schema=tool_schema, nobody=NOBODYS)
        self._sessionless = Sessionless(opens, held_calls_of=self._held_calls_of)
        self._sse = SseHttp(opens)

    async def answer(self, request: web.Request, owner: str, tail: str, path: str) -> web.StreamResponse:
        """Answers a request.

        Args:
            owner: whose token came with it.
            tail: what of its path stands behind the server's name.
            path: the server's own, percent-encoded, without a slash at its end.

        Raises:
            Refused: the request is not one that can be answered.
        """
        if tail == MESSAGES:
            if request.method != "POST":
                raise not_allowed(sse.POST_METHODS)
            return await self._sse.post(request, owner, self._server)
        if tail in (PLAIN, EVENTS) and _begins_events(request):
            return await self._sse.get(request, owner, self._server, f"{path}/{MESSAGES}")
        if tail == EVENTS:
            raise not_allowed(sse.GET_METHODS)
        if tail not in (PLAIN, STREAMABLE):
            raise Refused(404, f"there is nothing at this path; see {path}/{STREAMABLE} and {path}/{EVENTS}")
        if request.method == "POST" and not is_modern(request):
            return await self._post(request, owner)
        return await answer_mcp(request, owner, self._server, streamable=self._streamable, modern=self._modern)

    async def end_of(self, owner: str | None, reason: str, *, grace_s: float) -> None:
        """Ends what the clients with one token have open, or all: requests in flight may finish within `grace_s`, in seconds."""
        parts = (self._streamable, self._modern, self._sessionless, self._sse)
        dispatchers = [dispatcher for part in parts for dispatcher in part.dispatchers(owner)]
        await asyncio.gather(*(dispatcher.close(reason, grace_s=grace_s) for dispatcher in dispatchers))
        for whose in [whose for whose in self._held if owner in (None, whose)]:
            self._held.pop(whose).close()

    async def _post(self, request: web.Request, owner: str) -> web.StreamResponse:
        posted = read_posted(await read_message(request))
        if is_sessionless(request, posted):
            return await self._sessionless.answer(request, posted, owner, self._server)
        check_accept(request)
        return await self._streamable.take(request, posted, owner, self._server)

    def _held_calls_of(self, owner: str) -> HeldCalls:
        if owner not in self._held:
            self._held[owner] = HeldCalls(deadlines=self._deadlines, spawn=self._spawn)
        return self._held[owner]


def _begins_events(request: web.Request) -> bool:
    return request.method == "GET" and SESSION_HEADER not in request.headers and not is_modern(request)
