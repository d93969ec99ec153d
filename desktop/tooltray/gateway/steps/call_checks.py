"""What a chain may call: what one call of `call_tool` may, but neither `call_tool` nor another chain."""

from tooltray.catalogue.call_routes import CallRoutes
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.meta_tools import HubTools
from tooltray.catalogue.views.views import Views
from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.calls.tool_resolver import ToolResolver
from tooltray.gateway.steps.step_values import failed_reason
from tooltray.protocol.sessions.exchange import Exchange


class CallChecks:
    """Checks of the calls of chains. Has no state of its own."""

    def __init__(self, *, hub_tools: HubTools, call_routes: CallRoutes, resolver: ToolResolver, views: Views) -> None:
        self._hub_tools, self._routes, self._resolver, self._views = hub_tools, call_routes, resolver, views

    def check(self, tool: str, server: str | None) -> None:
        """Checks what only concerns calls by another tool; the rest is checked when the call is made.

        Args:
            tool: as AI clients see it.
            server: the session's only server.

        Raises:
            TooltrayError: a chain may not call the tool.
        """
        if self._hub_tools.key(tool, server) in (meta_tools.CALL_KEY, meta_tools.RUN_KEY):
            raise TooltrayError(f"a chain cannot call {tool}", "name the tool to call")
        if not self._hub_tools.is_for_models(tool, server):
            raise TooltrayError(f"{tool} is only for the views of its server")

    def route(self, exchange: Exchange) -> Route | None:
        """Returns the tool that a call names, if it is listed."""
        return self._routes.route_now(exchange)

    async def problem(self, exchange: Exchange) -> str:
        """Returns why a call would be refused, as far as this is known without asking a server; empty if it would not."""
        route = await self._routes.route(exchange)
        is_offered = route is not None and self._views.offers(exchange.session.state, route)
        if is_offered or self._hub_tools.key(exchange.head.name, exchange.server):
            return ""
        return failed_reason(await self._resolver.refuse(exchange))
