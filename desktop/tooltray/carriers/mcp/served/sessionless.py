"""Requests of legacy clients that name no session: each POST stands for itself, as at the proxy whose config is served.

That proxy keeps no sessions over streamable HTTP. So some of its clients send no `initialize`, some do not send back the session id that
they are given, and some read plain JSON but no events. Requests without a session share one state for each token, and one for those that
have none: a lazy server that one of them has activated is activated for all, for modern clients with the same token too.

Above it: served_server. Below it: http_modern's exchanges, http_server/answers, the hub's Sessions.
"""

from collections.abc import Callable

from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.answers import cut_of, json_reply, start_events, write_events
from tooltray.carriers.http_server.event_streams import KEEPALIVE_S, EventQueue, Pressure
from tooltray.carriers.http_server.guard import Refused, accepted
from tooltray.carriers.mcp.http_modern import MAX_EXCHANGES, Exchange
from tooltray.carriers.mcp.http_session import CLIENT_GONE, Dispatcher
from tooltray.carriers.mcp.http_sessions import OpensClients
from tooltray.carriers.mcp.streamable_http import SESSION_HEADER, Posted
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.envelope import INTERNAL_ERROR
from tooltray.servers.relay.held_calls import HeldCalls

NOBODYS = "served "  # whose requests those without a token are; no token's owner has a name that ends in a space


class ReplyAlone(Exchange):
    """For a client that reads plain JSON alone."""

    def send(self, message: Outgoing) -> None:
        if not message.method:
            super().send(message)


class Sessionless:
    """One server's. Belongs to the engine's loop."""

    def __init__(self, opens: OpensClients, *, held_calls_of: Callable[[str], HeldCalls]) -> None:
        self._opens, self._held_calls_of = opens, held_calls_of
        self._exchanges: dict[Dispatcher, str] = {}  # and whose they are

    def dispatchers(self, owner: str | None = None) -> list[Dispatcher]:
        """Those of one owner's requests, or all."""
        return [dispatcher for dispatcher, whose in self._exchanges.items() if owner in (None, whose)]

    async def answer(self, request: web.Request, posted: Posted, owner: str, server: str) -> web.StreamResponse:
        """
        Raises:
            Refused: there is too much to do.
        """
        if not posted.requests:
            return web.Response(status=202)  # it concerns a session, and there is none
        if len(self._exchanges) >= MAX_EXCHANGES:
            raise Refused(503, "too many requests are in flight", code=INTERNAL_ERROR, id=Raw(posted.requests[0]))
        held = self._held_calls_of(owner)
        dispatcher = self._opens.open_client(server, is_lasting=False, client=owner or NOBODYS, held=held).dispatcher
        queue = EventQueue(Pressure(dispatcher), cut=cut_of(request))
        takes_events = takes_events_too(request)
        dispatcher.attach_messages(Exchange(queue) if takes_events else ReplyAlone(queue))
        self._exchanges[dispatcher] = owner
        try:
            dispatcher.receive(posted.take_body())
            return await _answered(request, queue, takes_events=takes_events)
        finally:
            del self._exchanges[dispatcher]
            dispatcher.connection_lost(CLIENT_GONE)
            queue.discard()


def is_sessionless(request: web.Request, posted: Posted) -> bool:
    """Whether a legacy POST stands for itself: it names no session, and begins none, or could not read what belongs to one."""
    if SESSION_HEADER in request.headers or posted.is_modern or posted.is_batch:
        return False
    return not posted.is_initialize or not takes_events_too(request)


def takes_events_too(request: web.Request) -> bool:
    """Whether a client reads both forms of an answer."""
    return accepted(request.headers.get("Accept")) == (True, True)


async def _answered(request: web.Request, queue: EventQueue, *, takes_events: bool) -> web.StreamResponse:
    await queue.news(within_s=KEEPALIVE_S if takes_events else None)
    if only := queue.only:
        return await json_reply(request, only.message)
    response = await start_events(request)
    await write_events(response, queue)
    return response
