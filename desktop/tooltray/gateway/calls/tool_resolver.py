"""Where a tool call goes: to which tool of which server, and why nowhere."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial

from tooltray.catalogue.call_routes import CallRoutes
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.views import Views
from tooltray.config.naming import tool_settings
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, Envelope, failure
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager


class ToolResolver:
    """Has no state of its own."""

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
        """Returns the listed tool that is called; None where that is not known without waiting."""
        return self._routes.route_now(exchange)

    def server_of(self, route: Route) -> ManagedServer:
        """
        Raises:
            NotFound: the server was removed.
        """
        return self._servers.get(route.server)

    async def resolve_late(self, exchange: Exchange) -> Route | None:
        """Returns a tool that is not known yet, or that the session's one server keeps out of its list."""
        if route := await self._routes.route(exchange) or await self._in_project(exchange):
            return route
        server, is_reached = exchange.server, partial(self._views.reaches, exchange.session.state)
        unlisted = self._routes.unlisted_route(exchange.head.name, server) if server and is_reached(server) else None
        if unlisted and self._rules.allow(unlisted, exchange.session.state, exchange.request.params):
            return unlisted
        if self._is_paused():  # nothing is started or asked
            return unlisted
        return await self._routes.late_route(exchange, is_reached=is_reached) or unlisted

    async def after_mismatch(self, route: Route, exchange: Exchange) -> Route | None:
        """Returns the tool of a call whose headers its server refused, as it is listed now; None if it is the same or may not be called."""
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
        """Returns the error that says why a call goes nowhere."""
        name, state = exchange.head.name, exchange.session.state
        target = self._tools.target(name, exchange.server)
        if target and self._views.reaches(state, target[0]) and (managed := self._servers.find(target[0])):
            if managed.state is not ServerState.RUNNING and managed.problem:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is not running: {state.words(managed.problem)}")
            if refusal := managed.refusal:
                return failure(CONNECTION_CLOSED, state.words(refusal))
            if not tool_settings.is_enabled(target[1], managed.config):
                return failure(INVALID_PARAMS, f"the tool '{name}' is switched off in Tooltray")
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")


class Offering:
    """A stage without a state of its own: a tool that a session's profile leaves out is unknown to it."""

    def __init__(self, *, views: Views, resolver: ToolResolver) -> None:
        self._views, self._resolver = views, resolver

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return rest(terms) if terms.is_plain else partial(self._offered, terms.route, rest(terms))

    def _offered(self, route: Route, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        return then(exchange) if self._views.offers(exchange.session.state, route) else self._resolver.refuse(exchange)
