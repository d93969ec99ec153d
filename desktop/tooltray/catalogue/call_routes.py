"""Where a call of a tool goes: to a tool that is offered, to one that its server has only now, or to one of a copy for a session.

Above it: ToolCalls and Approvals. Below it: ToolManager, which knows what is offered under which names, and the lists of servers, which are
looked at again where a call must not go by an old one. Knows nothing of what AI clients list.
"""

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from tooltray.catalogue.definition import ToolDefinition, unlisted
from tooltray.catalogue.offer import TOOLS
from tooltray.catalogue.second_looks import SecondLooks
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

PRESENT_FOR_S = 3.0  # so long a list counts as the present one for what a person has allowed: one more request of many calls


class ConfirmLimits(msgspec.Struct, frozen=True):
    """Of a call that a person has allowed.

    Attributes:
        confirmed_within_s: how long it waits for a server that lists its tools.
        present_for_s: how long a list counts as the present one for it.
    """

    confirmed_within_s: float = START_WAIT_S
    present_for_s: float = PRESENT_FOR_S


class CallRoutes:
    """Has no state of its own."""

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
        """What `route` finds without waiting: where a call of a tool that was listed goes."""
        return self._route_to(self._tools.target(exchange.head.name, exchange.server), exchange)

    async def route(self, exchange: Exchange) -> Route | None:
        """Where a `tools/call` goes; None if its tool is not offered as far as that is known."""
        name, server = exchange.head.name, exchange.server
        target = self._tools.target(name, server)
        if target is None and not self._tools.are_named:  # nobody has listed yet, so there are no names: a client that calls by heart
            await self._tools.listing()
            target = self._tools.target(name, server)
        route = self._route_to(target, exchange)
        if route is None and server:  # it may be on its way to its first list
            await self._tools.wait_for_first_listings(server)
            route = self._route_to(target, exchange)
        return route

    async def late_route(self, exchange: Exchange, *, is_reached: Callable[[str], bool]) -> Route | None:
        """The same for a tool that is not offered as far as that is known: its likely servers are listed again first.

        Args:
            is_reached: whether the session may have anything of a server, by its name.
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
        """A call of a tool of a server starts it, also of one that is not listed; an instance for the session says itself what it has."""
        with contextlib.suppress(TooltrayError):
            client = await managed.running(exchange.era, timeout_s=START_WAIT_S, session=exchange.session)
            if client is not managed.first.client:
                await self._copies.look(client, max_age_s=self._limits.present_for_s)

    def unlisted_route(self, name: str, server: str) -> Route | None:
        """To a tool that its server does not list, or not yet, for a client that has this server alone: the server knows best what it has.

        Such a tool counts as one that writes. None: it is switched off, or the server does not run and says why.
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
        """The tool of a route as it is defined and offered now; None if it is not offered any more."""
        now = self._route_to((route.server, route.definition.name), exchange)
        return now if now or route.is_listed else self.unlisted_route(route.definition.name, route.server)

    async def confirmed(self, route: Route, exchange: Exchange) -> Route | None:
        """The same as the instance to which a call goes says now; that instance is started if need be, and listed anew unless it just was.

        Raises:
            TooltrayError: it does not run, or has not said in time which tools it has; says why.
        """
        managed = self._servers.get(route.server)
        client = await managed.running(exchange.era, timeout_s=START_WAIT_S, session=exchange.session)
        try:
            async with asyncio.timeout(self._limits.confirmed_within_s):
                if client is managed.first.client:
                    await self._lists.look(managed, max_age_s=self._limits.present_for_s)
                else:
                    await self._copies.look(client, max_age_s=self._limits.present_for_s)
        except TimeoutError:
            title = f"server '{managed.name}' has not said yet which tools it has now"
            raise TooltrayError(title, "Call again when it has.") from None
        return self.current(route, exchange)

    async def relisted(self, route: Route, exchange: Exchange) -> Route | None:
        """Where the same call goes once the server of a tool was listed again."""

        async def is_listed() -> bool:
            return True

        await self._looks.look(TOOLS, [self._servers.get(route.server)], is_listed)
        return self.route_now(exchange)

    def is_outdated(self, route: Route, exchange: Exchange) -> bool:
        """Whether the instance to which a call goes has said, since it was listed, that its tools are others now."""
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
        """To an instance for the session or its era; the settings may be others than when it was listed."""
        managed = self._servers.find(server)
        client = managed.client_for(exchange.era, exchange.session) if managed else None
        definition = self._copies.tool(client, name) if client else None
        if managed is None or definition is None or not tool_settings.is_enabled(name, managed.config):
            return None
        return route_to(managed, definition)
