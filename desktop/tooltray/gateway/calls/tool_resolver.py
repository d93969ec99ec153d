"""Finds the server and tool for a tool call, or the reason why the call cannot be carried out.

Views of MCP Apps call tools by their own server's names, and the client passes these on; such a call does not show that a view makes it, or
which one. So a name leads to the only server that has a tool of this name and may have an open view; if several servers are possible, the
call is refused. Thus a view cannot reach another server's tool while its own server has one of that name. JointListing makes sure that a
client's list has no name that a view could use for another tool.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine
from functools import partial

from msgspec.structs import replace

from tooltray.catalogue.call_routes import CallRoutes
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.meta_tools import HubTools
from tooltray.catalogue.views.views import Views
from tooltray.config.naming import tool_settings
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, Envelope, failure
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

LISTED = "the names in the tool list are unambiguous"


class ToolResolver:
    """The lookup of a call's tool. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        call_routes: CallRoutes,
        views: Views,
        rules: ApprovalRules,
        look_at_project: Callable[[Session], Awaitable[None]],
        is_paused: Callable[[], bool],
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
            is_paused: whether the user has paused everything.
        """
        self._servers, self._tools, self._routes, self._views, self._rules = servers, tools, call_routes, views, rules
        self._look_at_project, self._is_paused = look_at_project, is_paused

    def resolve(self, exchange: Exchange) -> Route | None:
        """Returns the listed tool that is called; None if it is not known without waiting."""
        return self._routes.route_now(exchange)

    async def resolve_late(self, exchange: Exchange) -> Route | None:
        """Returns a tool that is not known yet, or that is missing in the list of the session's only server."""
        if route := await self._routes.route(exchange) or await self._in_project(exchange):
            return route
        server, is_reached = exchange.server, partial(self._views.reaches, exchange.session.state)
        unlisted = self._routes.unlisted_route(exchange.head.name, server) if server and is_reached(server) else None
        if unlisted and self._rules.allow(unlisted, exchange.session.state, exchange.request.params):
            return unlisted
        if self._is_paused():  # starts and asks no server
            return unlisted
        return await self._routes.late_route(exchange, is_reached=is_reached) or unlisted

    async def after_mismatch(self, route: Route, exchange: Exchange) -> Route | None:
        """Returns the newly listed tool after its server refused a call's headers; None if it is unchanged, or may not be called."""
        found = await self._routes.relisted(route, exchange)
        is_other = found is not None and found.definition.raw != route.definition.raw
        return found if is_other and found and self._rules.allow(found, exchange.session.state, exchange.request.params) else None

    async def _in_project(self, exchange: Exchange) -> Route | None:
        """Returns a tool of the session's own project, which a client may know by heart before the project's file was read."""
        await self._look_at_project(exchange.session)
        if not self._servers.own(exchange.session.state):
            return None
        await self._tools.listing(exchange.server)
        return await self._routes.route(exchange)

    async def refuse(self, exchange: Exchange) -> Envelope:
        """Returns the error with the reason why a call has no tool."""
        name, state = exchange.head.name, exchange.session.state
        target = self._tools.target(name, exchange.server)
        if target and self._views.reaches(state, target[0]) and (managed := self._servers.find(target[0])):
            if managed.state is not ServerState.RUNNING and managed.problem:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is not running: {state.words(managed.problem)}")
            if refusal := managed.refusal:
                return failure(CONNECTION_CLOSED, state.words(refusal))
            if not tool_settings.is_enabled(target[1], managed.config):
                return failure(INVALID_PARAMS, f"the tool '{name}' is disabled in Tooltray")
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")


class Offering:
    """A stage without a state of its own: a tool that a session's profile leaves out is unknown to it."""

    def __init__(self, *, views: Views, resolver: ToolResolver) -> None:
        self._views, self._resolver = views, resolver

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return rest(terms) if terms.is_plain else partial(self._offered, terms.route, rest(terms))

    def _offered(self, route: Route, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        return then(exchange) if self._views.offers(exchange.session.state, route) else self._resolver.refuse(exchange)


class AppCalls:
    """Calls that a view of MCP Apps may have made. Has no state of its own."""

    def __init__(self, *, tools: ToolManager, views: Views, hub_tools: HubTools) -> None:
        self._tools, self._views, self._hub_tools = tools, views, hub_tools

    def resolve(self, exchange: Exchange) -> Envelope | None:
        """Replaces the tool's name in a `tools/call` from an open view, which uses its server's own name, by the published name.

        Returns:
            An error if several servers whose views are open have such a tool; None: the call continues.
        """
        state, name = exchange.session.state, exchange.head.name
        if exchange.server is not None:
            return None
        may_call = {route.server: route for route in self._tools.called_by_views(name) if self._views.offers(state, route)}
        at_rest = [server for server in state.seen_views if server not in may_call and self._tools.may_be_of_view(server, name)]
        if not (may_call or at_rest) or self._hub_tools.key(name, None):
            return None
        found = self._meant(name, [*may_call, *at_rest], state)
        if len(found) > 1:
            servers = ", ".join(f"'{server}'" for server in found)
            return failure(INVALID_PARAMS, f"'{name}' may be a tool of {servers}, and the request does not name a view; {LISTED}")
        if found[0] in at_rest and (target := self._tools.target(name, None)) and target[0] != found[0]:
            return failure(INVALID_PARAMS, f"'{name}' may be a tool of '{found[0]}', whose view is open, and is not offered now; {LISTED}")
        if route := may_call.get(found[0]):
            exchange.head = replace(exchange.head, name=self._tools.published_name(route) or name)
        return None

    def _meant(self, name: str, may_call: Collection[str], state: SessionState) -> list[str]:
        """Returns the servers that may have this tool."""
        if shown := state.showing(may_call):  # other views cannot call: they were not opened or read
            return shown
        target = self._tools.target(name, None)
        if target is None or target[0] not in self._tools.server_names:
            return list(may_call)
        others = [server for server in may_call if server != target[0]]
        is_listed_so = state.listed_views is not None and state.listed_views.isdisjoint(others)
        return [target[0]] if is_listed_so else [target[0], *others]
