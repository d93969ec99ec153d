"""The routes of tool calls: to an offered tool, to a tool that its server has only now, or to a tool of a session's own instance. Where a
call must not rely on an old list, the server is listed again. Knows nothing of what AI clients list.
"""

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from tooltray.catalogue.definition import ToolDefinition, unlisted
from tooltray.catalogue.offer import TOOLS
from tooltray.catalogue.second_looks import SecondLooks, never
from tooltray.catalogue.server_lists import ServerLists
from tooltray.catalogue.tool_copies import ToolCopies
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route, route_to
from tooltray.config.naming import tool_settings
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import START_WAIT_S
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

PRESENT_FOR_S = 3.0  # for so long a list is current for calls that the user has allowed, so many calls need one more request


class ConfirmLimits(msgspec.Struct, frozen=True):
    """Limits for a call that the user has allowed.

    Attributes:
        confirmed_within_s: how long the call waits for a server that lists its tools.
        present_for_s: how long a list counts as current for the call.
    """

    confirmed_within_s: float = START_WAIT_S
    present_for_s: float = PRESENT_FOR_S


class CallRoutes:
    """The routes of tool calls; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        tool_lists: ServerLists[ToolDefinition],
        tool_looks: SecondLooks,
        tool_copies: ToolCopies,
        confirm_limits: ConfirmLimits,
    ) -> None:
        self._servers, self._tools, self._lists, self._looks = servers, tools, tool_lists, tool_looks
        self._copies, self._limits = tool_copies, confirm_limits

    def route_now(self, exchange: Exchange) -> Route | None:
        """Returns the route of a call of a listed tool, as `route` does, but without waiting."""
        return self._route_to(self._tools.target(exchange.head.name, exchange.server), exchange)

    async def route(self, exchange: Exchange) -> Route | None:
        """Returns the route of a `tools/call`; None if its tool is not known to be offered."""
        name, server = exchange.head.name, exchange.server
        target = self._tools.target(name, server)
        if target is None and not self._tools.are_named:  # nothing is listed yet, so no names exist: the client remembers an earlier name
            await self._tools.listing()
            target = self._tools.target(name, server)
        route = self._route_to(target, exchange)
        if route is None and server:  # the server may not have listed anything yet
            await self._tools.wait_for_first_listings(server)
            route = self._route_to(target, exchange)
        return route

    async def late_route(self, exchange: Exchange, *, is_reached: Callable[[str], bool]) -> Route | None:
        """Returns the route to a tool that is not known to be offered, after its likely servers are listed again.

        Args:
            is_reached: whether the session may use a server, by its name.
        """
        name, server = exchange.head.name, exchange.server
        target = self._tools.target(name, server)
        managed = self._servers.find(target[0]) if target else None
        if managed and target and not (is_reached(managed.name) and tool_settings.is_enabled(target[1], managed.config)):
            return None

        async def is_found() -> bool:
            if server is None:
                await self._tools.name_all()
            return self.route_now(exchange) is not None

        if managed is None:
            await self._looks.look(TOOLS, self._looks.likely(TOOLS, name, is_reached=is_reached), is_found)
        elif self._looks.is_due(TOOLS, name, server) or self._lists.is_expected(managed):
            await self._open(managed, exchange)
            if not await is_found():
                await self._looks.look(TOOLS, [managed], is_found)
        return self.route_now(exchange)

    async def _open(self, managed: ManagedServer, exchange: Exchange) -> None:
        """Starts a server for a call of one of its tools, even an unlisted one. A session's own instance is listed for its own tools."""
        with contextlib.suppress(TooltrayError):
            client = await managed.running(exchange.era, timeout_s=START_WAIT_S, session=exchange.session)
            if client is not managed.client:
                await self._copies.look(client, max_age_s=self._limits.present_for_s)

    def unlisted_route(self, name: str, server: str) -> Route | None:
        """Returns a route to a tool that its server does not list, or not yet, for a client that has only this server: the server itself
        accepts or refuses the call. Such a tool counts as writing. None if the tool is disabled, or the server does not run because of a
        problem.
        """
        managed = self._servers.find(server)
        if managed is None or managed.is_builtin or not self._tools.is_offering(managed):
            return None
        own = tool_settings.tool_alone(name, self._tools.routes(server), managed.config)
        is_failing = managed.problem is not None and managed.state is not ServerState.RUNNING
        if is_failing or not tool_settings.is_enabled(own, managed.config):
            return None
        return route_to(managed, unlisted(own), is_listed=False)

    def current(self, route: Route, exchange: Exchange) -> Route | None:
        """Returns the route with the tool as it is defined and offered now; None if the tool is not offered any more."""
        now = self._route_to((route.server, route.definition.name), exchange)
        return now if now or route.is_listed else self.unlisted_route(route.definition.name, route.server)

    async def confirmed(self, route: Route, exchange: Exchange) -> Route | None:
        """Returns the route with the tool as the instance that gets the call defines it now. The instance is started if necessary, and
        listed again unless its list is recent.

        Raises:
            TooltrayError: the server does not run, or has not listed its tools in time; the error has the reason.
        """
        managed = self._servers.get(route.server)
        client = await managed.running(exchange.era, timeout_s=START_WAIT_S, session=exchange.session)
        try:
            async with asyncio.timeout(self._limits.confirmed_within_s):
                if client is managed.client:
                    await self._lists.look(managed, max_age_s=self._limits.present_for_s)
                else:
                    await self._copies.look(client, max_age_s=self._limits.present_for_s)
        except TimeoutError:
            title = f"server '{managed.name}' has not listed its tools yet"
            raise TooltrayError(title, "Call again when it has listed them.") from None
        return self.current(route, exchange)

    async def relisted(self, route: Route, exchange: Exchange) -> Route | None:
        """Returns the route of the same call after the tool's server is listed again."""
        await self._looks.look(TOOLS, [self._servers.get(route.server)], never)
        return self.route_now(exchange)

    def is_outdated(self, route: Route, exchange: Exchange) -> bool:
        """Reports whether the instance that gets a call has announced changed tools since it was last listed."""
        managed = self._servers.find(route.server)
        client = managed.client_for(exchange.era, exchange.session) if managed else None
        return client is not None and self._copies.is_outdated(client)

    def _route_to(self, target: tuple[str, str] | None, exchange: Exchange) -> Route | None:
        if target is None:
            return None
        server, name = target
        own = self._own_route(server, name, exchange) if self._copies.are_any else None
        return own or self._tools.routes(server).get(name)

    def _own_route(self, server: str, name: str, exchange: Exchange) -> Route | None:
        """Returns a route to an instance of the session or its era; the settings may have changed since the instance was listed."""
        managed = self._servers.find(server)
        client = managed.client_for(exchange.era, exchange.session) if managed else None
        definition = self._copies.tool(client, name) if client else None
        if managed is None or definition is None or not tool_settings.is_enabled(name, managed.config):
            return None
        return route_to(managed, definition)
