"""A `tools/call` from its client to its server and back, in four stages: resolve, authorize, forward, record.

Above it: the router, and McpPresenter for calls of our own. Below it: ToolManager, which knows the routes; Views, which knows what a
session may see; Approvals, which asks the person; and ServerRelay.
"""

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from tooltray.activity.call_stats import CallStats
from tooltray.approvals.approvals import Approvals
from tooltray.catalogue import tool_settings
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.events import EventBus, ServerRemoved, ToolCallResult
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.sessions.caller import Session
from tooltray.sessions.exchange import Exchange, Work
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.calls import MCPToolResponse
from tooltray.snapshots.servers import ServerState
from tooltray.upstream.relay import ServerRelay, paused
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.views import Views

SEARCHED_FOR_ERROR_BYTES = 512  # at either end of a large result
OK, ERROR, REFUSED, CANCELLED = "ok", "error", "refused", "cancelled"  # how a call ends, for the record

OwnTool = Work
"""A tool of a built-in server that has to know who calls: the hub answers it itself."""


class ToolCalls:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        views: Views,
        approvals: Approvals,
        relay: ServerRelay,
        own: Mapping[tuple[str, str], OwnTool],
        look_at_project: Callable[[Session], Awaitable[None]],
        config: McpConfHelper,
        stats: CallStats,
        bus: EventBus,
    ) -> None:
        """
        Args:
            own: by (built-in server, tool); they may wait for a person.
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._look_at_project = look_at_project
        self._servers, self._tools, self._views, self._approvals, self._relay = servers, tools, views, approvals, relay
        self._own, self._config, self._stats, self._bus = own, config, stats, bus
        bus.subscribe(ServerRemoved, lambda event: stats.forget(event.name))

    async def call(self, exchange: Exchange, *, on_record: Callable[[MCPToolResponse], None] | None = None) -> Envelope:
        """Carries out one `tools/call` of an AI client.

        Args:
            on_record: gets the record of the call, as everybody else does; a tool that is not known leaves none.
        """
        started_at, state = time.perf_counter(), exchange.session.state
        route = self._tools.route_now(exchange)  # resolve
        if route is None:
            if meta := self._views.meta_tool(exchange.head.name, state):
                return await meta(exchange)
            route = await self._resolve_late(exchange)
        is_plain = self._views.is_plain(state)
        if route is None or not (is_plain or self._views.offers(state, route)):
            return self._unknown(exchange)
        outcome, reply = CANCELLED, None
        try:
            is_free = self._is_authorized(route, state)  # authorize
            if not is_free and (reply := await self._authorize(route, exchange)):
                outcome = REFUSED
                return reply
            if not is_free:
                started_at = time.perf_counter()  # a person's time is not the server's
            if not (is_free and is_plain):  # the settings may have changed while a person was asked
                self._views.used(state, route.server)
            reply = await self._forward(route, exchange)  # forward
            if not is_free:
                self._approvals.answered(route, exchange, reply)
            outcome = ERROR if is_error(reply) else OK
            return reply
        finally:
            self._record(route, exchange, reply, outcome, time.perf_counter() - started_at, on_record)  # record

    # resolve: where the call goes

    def target(self, exchange: Exchange) -> tuple[str, str] | None:
        """The server whose tool is called, and its own name for it; None where that is not known yet."""
        return self._tools.target(exchange.head.name, exchange.server)

    async def _resolve_late(self, exchange: Exchange) -> Route | None:
        """To a tool that is not known yet, or that its one server keeps out of its list."""
        if route := await self._tools.route(exchange) or await self._resolve_in_project(exchange):
            return route
        server, is_reached = exchange.server, partial(self._views.reaches, exchange.session.state)
        alone = self._tools.unlisted_route(exchange.head.name, server) if server and is_reached(server) else None
        if alone and self._is_authorized(alone, exchange.session.state):
            return alone
        if not self._config.settings.mcp_enabled:  # nothing is started or asked
            return alone
        return await self._tools.late_route(exchange, is_reached=is_reached) or alone

    async def _resolve_in_project(self, exchange: Exchange) -> Route | None:
        """To a tool of the session's own project, which a client may know by heart before anybody here has read the project's file."""
        await self._look_at_project(exchange.session)
        if not self._servers.own(exchange.session.state):
            return None
        await self._tools.listing(exchange.server)
        return await self._tools.route(exchange)

    def _unknown(self, exchange: Exchange) -> Envelope:
        name, target = exchange.head.name, self.target(exchange)
        if target and self._views.reaches(exchange.session.state, target[0]) and (managed := self._servers.find(target[0])):
            if managed.state is not ServerState.RUNNING and managed.problem:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is not running: {managed.problem}")
            if refusal := managed.refusal:
                return failure(CONNECTION_CLOSED, str(refusal))
            if not tool_settings.is_enabled(target[1], managed.config):
                return failure(INVALID_PARAMS, f"the tool '{name}' is switched off in Tooltray")
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")

    # authorize: whether it goes

    def _is_authorized(self, route: Route, state: SessionState) -> bool:
        """Whether a call needs nobody's yes, so that nothing is waited for."""
        return self._config.settings.mcp_enabled and self._approvals.decision(route, state).is_approved

    async def _authorize(self, route: Route, exchange: Exchange) -> Envelope | None:
        return await self._approvals.refusal(route, exchange) if self._config.settings.mcp_enabled else paused()

    # forward: who answers it

    def _forward(self, route: Route, exchange: Exchange) -> Coroutine[Any, Any, Envelope]:
        request, own_name = exchange.request, route.definition.name
        if own := self._own.get((route.server, own_name)):  # one that asks, asks a modern client in the modern way
            return exchange.held.run(own, exchange, owner=route.server) if exchange.era is Era.MODERN else own(exchange)
        if exchange.head.name != own_name or eras.may_repeat_name(request.params):
            request.params = eras.named_once(request.params, "name", name=dump(own_name))
        return self._relay.send_with_retry(self._servers.get(route.server), exchange)

    # record: what is known of it afterwards

    def _record(
        self,
        route: Route,
        exchange: Exchange,
        reply: Envelope | None,
        outcome: str,
        duration_s: float,
        on_record: Callable[[MCPToolResponse], None] | None,
    ) -> None:
        if outcome != REFUSED:
            waits_for_person = (route.server, route.definition.name) in self._own
            self._stats.add(route.server, None if waits_for_person else duration_s, time.time())
        size = len(memoryview(reply.result or reply.error)) if reply else 0
        arguments_size = len(memoryview(exchange.request.params))
        record = MCPToolResponse(exchange.head.name, route.server, exchange.client, outcome, duration_s, arguments_size, size)
        if on_record:
            on_record(record)
        self._bus.publish(ToolCallResult(record))


def is_error(reply: Envelope) -> bool:
    """Whether a reply says that the call failed; looks at the ends of large results only, where every known server writes it."""
    if reply.error:
        return True
    view = memoryview(reply.result)
    edge = SEARCHED_FOR_ERROR_BYTES
    ends = bytes(view) if len(view) <= 2 * edge else bytes(view[:edge]) + bytes(view[-edge:])
    return b'"isError"' in ends and b'"isError":true' in ends.replace(b" ", b"")
