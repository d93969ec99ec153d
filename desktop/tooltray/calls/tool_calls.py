"""The calls of tools: published name -> (server, original name) -> route with its decision -> approval -> connection -> raw result.

Above it: McpPresenter and the router. Below it: ToolManager, which knows the routes; Views, which knows what a session may see; Approvals,
which asks the person; and Relay.
"""

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Protocol

from tooltray.activity.call_stats import CallStats
from tooltray.approvals.approvals import Approvals
from tooltray.catalogue import tool_filter
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.events import EventBus, ServerRemoved, ToolCallResult
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, Envelope, dump, failure
from tooltray.protocol.eras import Era, Head
from tooltray.sessions.caller import Caller, Session
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.calls import MCPToolResponse
from tooltray.snapshots.servers import ServerState
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.relay import Relay, paused
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.views import Views

SEARCHED_FOR_ERROR_BYTES = 512  # at either end of a large result


class OwnTool(Protocol):
    """A tool of a built-in server that has to know who calls: the hub answers it itself."""

    def __call__(self, request: Envelope, head: Head, caller: Caller) -> Coroutine[Any, Any, Envelope]: ...


class ToolCalls:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        views: Views,
        approvals: Approvals,
        relay: Relay,
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

    async def call(
        self,
        request: Envelope,
        head: Head,
        caller: Caller,
        held: HeldCalls,
        *,
        server: str | None,
        client: str,
        on_record: Callable[[MCPToolResponse], None] | None = None,
    ) -> Envelope:
        """Carries out one `tools/call` of an AI client.

        Args:
            held: the session's calls that wait for an answer of its person.
            server: only this one's tools, under their own names.
            client: who calls, for the record.
            on_record: gets the record of the call, as everybody else does; a tool that is not known leaves none.
        """
        started_at, state = time.perf_counter(), caller.session.state
        route = self._tools.route_now(head.name, head, caller, server=server)
        if route is None:
            if meta := self._views.meta_tool(head.name, state):
                return await meta(request, head, caller, held, client=client)
            route = await self._route(head, caller, server)
        is_plain = self._views.is_plain(state)
        if route is None or not (is_plain or self._views.offers(state, route)):
            return self._unknown(head.name, self._tools.target(head.name, server), state)
        outcome, reply = "cancelled", None
        try:
            is_free = self._goes_through(route, state)
            if not is_free:
                reply = await self._refusal(route, request, head, caller, held, client)
                is_plain = False  # the settings may have changed while a person was asked
            outcome = "refused"
            if reply is None:
                outcome = "cancelled"
                if not is_free:
                    started_at = time.perf_counter()  # a person's time is not the server's
                if not is_plain:
                    self._views.used(state, route.server)
                reply = await self._carry(route, request, head, caller, held)
                if not is_free:
                    self._approvals.answered(route, request, head, caller, reply, client=client)
                outcome = "error" if is_error(reply) else "ok"
            return reply
        finally:
            duration_s = time.perf_counter() - started_at
            if outcome != "refused":
                waits_for_person = (route.server, route.definition.name) in self._own
                self._stats.add(route.server, None if waits_for_person else duration_s, time.time())
            size = len(memoryview(reply.result or reply.error)) if reply else 0
            arguments_size = len(memoryview(request.params))
            record = MCPToolResponse(head.name, route.server, client, outcome, duration_s, arguments_size, size)
            if on_record:
                on_record(record)
            self._bus.publish(ToolCallResult(record))

    async def _route(self, head: Head, caller: Caller, server: str | None) -> Route | None:
        """To a tool that is not known yet, or that its one server keeps out of its list."""
        state = caller.session.state
        if route := await self._tools.route(head.name, head, caller, server=server) or await self._route_in_project(head, caller, server):
            return route
        is_reached = partial(self._views.reaches, state)
        alone = self._tools.unlisted_route(head.name, server) if server and is_reached(server) else None
        if alone and self._goes_through(alone, state):
            return alone
        if not self._config.settings.mcp_enabled:  # nothing is started or asked
            return alone
        return await self._tools.late_route(head.name, head, caller, server=server, is_reached=is_reached) or alone

    async def _route_in_project(self, head: Head, caller: Caller, server: str | None) -> Route | None:
        """To a tool of the session's own project, which a client may know by heart before anybody here has read the project's file."""
        await self._look_at_project(caller.session)
        if not self._servers.own(caller.session.state):
            return None
        await self._tools.listing(server)
        return await self._tools.route(head.name, head, caller, server=server)

    def _goes_through(self, route: Route, state: SessionState) -> bool:
        """Whether a call needs nobody's yes, so that nothing is waited for."""
        return self._config.settings.mcp_enabled and self._approvals.decision(route, state).is_approved

    async def _refusal(self, route: Route, request: Envelope, head: Head, caller: Caller, held: HeldCalls, client: str) -> Envelope | None:
        if not self._config.settings.mcp_enabled:
            return paused()
        return await self._approvals.refusal(route, request, head, caller, held, client=client)

    async def _carry(self, route: Route, request: Envelope, head: Head, caller: Caller, held: HeldCalls) -> Envelope:
        if own := self._own.get((route.server, route.definition.name)):
            if head.era is Era.MODERN:  # it asks in the modern way
                return await held.run(partial(own, request, head), request, head, caller, owner=route.server)
            return await own(request, head, caller)
        managed = self._servers.get(route.server)
        if head.name != route.definition.name or eras.may_repeat_name(request.params):
            request.params = eras.named_once(request.params, "name", name=dump(route.definition.name))
        return await self._relay.to(managed, request, head, caller, held)

    def _unknown(self, name: str, target: tuple[str, str] | None, state: SessionState) -> Envelope:
        if target is not None and self._views.reaches(state, target[0]) and (managed := self._servers.find(target[0])):
            if managed.state is not ServerState.RUNNING and managed.problem:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is not running: {managed.problem}")
            if refusal := managed.refusal:
                return failure(CONNECTION_CLOSED, str(refusal))
            if not tool_filter.is_enabled(target[1], managed.config):
                return failure(INVALID_PARAMS, f"the tool '{name}' is switched off in Tooltray")
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")


def is_error(reply: Envelope) -> bool:
    """Whether a reply says that the call failed; looks at the ends of large results only, where every known server writes it."""
    if reply.error:
        return True
    view = memoryview(reply.result)
    edge = SEARCHED_FOR_ERROR_BYTES
    ends = bytes(view) if len(view) <= 2 * edge else bytes(view[:edge]) + bytes(view[-edge:])
    return b'"isError":true' in ends.replace(b" ", b"")
