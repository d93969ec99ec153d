"""The tools of all servers: what there is of them, under which names, and where a call of one goes.

Above it: McpPresenter, ToolCalls, Views. Below it: ServerManager, ServerLists, which knows what the servers listed, and the rules in tools/
(names, approval, filter, definitions). Names are given when an AI client lists, not before: what comes together is then named together.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet

from msgspec import Raw

from tooltray.config.server_config import ToolOverride
from tooltray.errors import Problem, TooltrayError
from tooltray.events import EventBus, ToolListChanged
from tooltray.presenter.caller import Caller
from tooltray.presenter.list_pages import list_all
from tooltray.presenter.managed_server import ManagedServer
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.offers import Offers
from tooltray.presenter.relay import START_WAIT_S
from tooltray.presenter.server_lists import ServerLists
from tooltray.presenter.server_manager import ServerManager
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.tasks import finish_in_thread
from tooltray.tools import approval, overrides, tool_filter
from tooltray.tools.definition import ToolDefinition, read_definitions
from tooltray.tools.names import PublishedNames
from tooltray.tools.offer import TOOLS, OfferKind, listing_of
from tooltray.wire.eras import Era, Head
from tooltray.wire.member_scanner import opened


@dataclass(frozen=True)
class Route:
    """Where a call of one tool goes, and whether it goes.

    Attributes:
        definition: as the server wrote it; whatever is decided of the tool goes by this.
        override: what AI clients see in the place of the server's own words.
        origin: another one for another program, or another address, under the server's name.
    """

    server: str
    definition: ToolDefinition
    decision: approval.Decision
    override: ToolOverride | None = None
    origin: str = ""

    @property
    def description(self) -> str:
        """As AI clients see it."""
        own = self.override.description if self.override else None
        return self.definition.description if own is None else own

    def published(self, name: str) -> Raw:
        """The definition as AI clients get it, under a name."""
        return self.definition.renamed(name, self.override.description if self.override else None)


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool in a list.

    Attributes:
        name: by which AI clients see it.
        route: where calls of it go.
        definition: as they get it.
    """

    name: str
    route: Route
    definition: Raw


@dataclass(frozen=True)
class _Offered:
    """What AI clients may see of one server.

    Attributes:
        routes: by original name.
        entries: for an AI client that has this server alone.
        names: of these.
        listing: the result of `tools/list` for such a client.
    """

    routes: Mapping[str, Route]
    entries: tuple[Entry, ...]
    names: frozenset[str]
    listing: Raw


NOTHING_OFFERED = _Offered({}, (), frozenset(), listing_of(TOOLS, ()))


class ToolManager:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        lists: ServerLists[ToolDefinition],
        offers: Offers,
        names: PublishedNames,
        bus: EventBus,
        confirmed_within_s: float = START_WAIT_S,
    ) -> None:
        """
        Args:
            confirmed_within_s: how long a call that a person has allowed waits for a server that lists its tools.
            lists: of the tools, for nobody else.
            offers: a server that was started to be listed runs until that is done for everything that it offers.
        """
        self._servers, self._lists, self._offers, self._names, self._bus = servers, lists, offers, names, bus
        self._confirmed_within_s = confirmed_within_s
        self._offered: dict[str, _Offered] = {}
        self._listing: Raw | None = None  # None: to be made when somebody lists
        self._entries: tuple[Entry, ...] = ()  # of the listing
        self._changes = 0  # of what is listed
        self._listing_lock = asyncio.Lock()
        self._of_copies: WeakKeyDictionary[McpClient, Mapping[str, ToolDefinition]] = WeakKeyDictionary()  # besides the first, once listed
        self._settled: WeakSet[McpClient] = WeakSet()  # those of them that have not said since that their tools are others

    async def load(self) -> None:
        """Takes the last known tools of every server from the disk, so that the first list is complete at once."""
        await self._lists.load(on_changed=self._offer, on_forgotten=self._forget, on_other_copy_changed=self._tell)
        self._servers.listen(on_changed=lambda name: None, on_notification=self._on_said)

    def list_unknown_servers(self) -> None:
        """Starts every server that was never listed once, to list it; does not wait."""
        self._lists.list_unknown_servers(beside=self._offers.listed)

    # what there is

    async def listing(self, server: str | None = None, *, client: McpClient | None = None) -> Raw:
        """The result of `tools/list`, whole; waits a bounded time for servers that were never listed.

        Args:
            server: only this one's tools, under their own names.
            client: the copy of that server for the session or its era, which may offer others than the first.
        """
        if client is not None and (own := await self._of_copy(client)):
            return own.listing
        await self._lists.wait_for_first_listings(server)
        if server:
            return self._offered.get(server, NOTHING_OFFERED).listing
        async with self._listing_lock:
            while self._listing is None:
                await self._make_listing()
            return self._listing

    async def entries(self, server: str | None = None, *, client: McpClient | None = None) -> tuple[Entry, ...]:
        """What is in `listing`, one by one."""
        if client is not None and (own := await self._of_copy(client)):
            return own.entries
        if server:
            await self._lists.wait_for_first_listings(server)
            return self._offered.get(server, NOTHING_OFFERED).entries
        await self.listing()
        return self._entries

    def offered_names(self, server: str) -> frozenset[str]:
        """The names of a server's tools for an AI client that has it alone; it does not wait."""
        return self._offered.get(server, NOTHING_OFFERED).names

    def is_offering(self, server: ManagedServer) -> bool:
        """Whether a server's tools may be listed: not those of one that is stopped, switched off, or in error for long."""
        return self._lists.is_offering(server)

    def is_listed(self, server: str) -> bool:
        """Whether it is known which tools a server has."""
        return self._lists.is_complete(server)

    def listed(self, server: ManagedServer) -> asyncio.Event:
        """Set while nobody need wait for a server's tools: they were listed once, or cannot be."""
        return self._lists.listed(server)

    async def published(self, server: str | None = None) -> list[tuple[str, Route]]:
        """All tools offered, with their published names, sorted by them."""
        await self._lists.wait_for_first_listings(server)
        routes = [route for name, offered in self._offered.items() if server in (None, name) for route in offered.routes.values()]
        names = await self._names_of(routes)
        return sorted(zip(names, routes, strict=True), key=_by_name)

    def routes(self, server: str) -> Mapping[str, Route]:
        """To a server's tools that are offered at this moment, by its own names; it does not wait."""
        return self._offered.get(server, NOTHING_OFFERED).routes

    def all_routes(self, server: str | None = None) -> Iterator[Route]:
        """To all tools that are offered at this moment, or those of one server."""
        for name, offered in self._offered.items():
            if server in (None, name):
                yield from offered.routes.values()

    @property
    def server_names(self) -> frozenset[str]:
        """Of all servers there are."""
        return frozenset(server.name for server in self._servers)

    def known_names(self, server: str) -> frozenset[str]:
        """A server's own names for its tools, also for those that are switched off; empty while it was never listed."""
        return frozenset(definition.name for definition in self._lists.known(server, TOOLS))

    def tool_count(self, server: str) -> int:
        return len(self._lists.known(server, TOOLS))

    def input_schema(self, server: str, tool: str) -> Raw | None:
        """What a server listed as the schema of a tool's arguments, by its own name for it; None if the tool is not offered."""
        route = self._offered.get(server, NOTHING_OFFERED).routes.get(tool)
        return opened(route.definition.raw).get("inputSchema") if route else None

    def published_schema(self, name: str, server: str | None) -> Raw | None:
        """The same by the name that AI clients see. `server`: this one's tools, under their own names."""
        target = self.target(name, server)
        return self.input_schema(*target) if target else None

    async def snapshots(self, server: str | None = None) -> list[ToolSnapshot]:
        """Of all tools known, also those switched off."""
        names = {(route.server, route.definition.name): name for name, route in await self.published(server)}
        return [
            self._snapshot(each, definition, names)
            for each in self._servers
            if server in (None, each.name)
            for definition in self._lists.known(each.name, TOOLS)
        ]

    def problems(self) -> Iterator[Problem]:
        """What is to be said of the servers' `autoApprove` and `toolOverrides`."""
        for server in self._servers:
            names = {definition.name for definition in self._lists.known(server.name, TOOLS)}
            if problem := approval.problem_of(server.name, server.config.auto_approve, names):
                yield problem
            yield from overrides.problems(server.name, server.config, names)

    async def forget_names(self) -> None:
        """All names are given anew, when somebody lists."""
        await finish_in_thread(self._names.reset)
        self._outdate_listing()
        for name, offered in self._offered.items():
            if offered.routes:
                self._tell(name)

    def _snapshot(self, server: ManagedServer, definition: ToolDefinition, names: Mapping[tuple[str, str], str]) -> ToolSnapshot:
        decision = approval.decide(server.name, definition.name, definition.annotations, server.config.auto_approve)
        return ToolSnapshot(
            name=names.get((server.name, definition.name), definition.name),
            server=server.name,
            original_name=definition.name,
            description=_route(server, definition).description,
            category=decision.category,
            is_enabled=tool_filter.is_enabled(definition.name, server.config),
            is_approved=decision.is_approved or server.is_builtin,
        )

    # calls

    def route_now(self, name: str, head: Head, caller: Caller, *, server: str | None) -> Route | None:
        """What `route` finds without waiting: where a call of a tool that was listed goes."""
        return self._route_to(self.target(name, server), head, caller)

    async def route(self, name: str, head: Head, caller: Caller, *, server: str | None) -> Route | None:
        """Where a call of a tool goes; None if it is not offered.

        Args:
            name: as the AI client sees it.
            server: only this one's tools, under their own names.
        """
        target = self.target(name, server)
        if target is None and self._listing is None:  # nobody has listed yet, so there are no names: a client that calls by heart
            await self.listing()
            target = self.target(name, server)
        route = self._route_to(target, head, caller)
        if route is None and server:  # it may be on its way to its first list
            await self._lists.wait_for_first_listings(server)
            route = self._route_to(target, head, caller)
        return route

    def current(self, route: Route, head: Head, caller: Caller) -> Route | None:
        """The tool of a route as it is defined and offered now; None if it is not offered any more."""
        return self._route_to((route.server, route.definition.name), head, caller)

    async def confirmed(self, route: Route, head: Head, caller: Caller) -> Route | None:
        """The same as the copy to which a call goes says now; that copy is started if need be, and listed anew if it said nothing yet.

        Raises:
            TooltrayError: it does not run, or has not said in time which tools it has; says why.
        """
        managed = self._servers.get(route.server)
        client = await managed.running(head.era, timeout_s=START_WAIT_S, session=caller.session)
        try:
            async with asyncio.timeout(self._confirmed_within_s):
                await self._settle(managed, client)
        except TimeoutError:
            hint = "Call again when it has."
            raise TooltrayError(f"server '{managed.name}' has not said yet which tools it has now", hint=hint) from None
        return self.current(route, head, caller)

    async def _settle(self, managed: ManagedServer, client: McpClient) -> None:
        if client is managed.first.client:
            await self._lists.settle(managed)
        elif client not in self._settled:
            await self._of_copy(client)

    def is_outdated(self, route: Route, head: Head, caller: Caller) -> bool:
        """Whether the copy to which a call goes has said, since it was listed, that its tools are others now."""
        managed = self._servers.find(route.server)
        client = managed.client_for(head.era, caller.session) if managed else None
        return client is not None and client in self._of_copies and client not in self._settled

    def _on_said(self, name: str, client: McpClient, method: str, params: Raw) -> None:
        if method == TOOLS.changed:
            self._settled.discard(client)

    def target(self, name: str, server: str | None) -> tuple[str, str] | None:
        """Whose tool a name is, and the name that the server offers it by; also of a tool that is not offered now."""
        if server is None:
            key = self._names.target(name)
            return overrides.tool_of(key) if key else None
        managed = self._servers.find(server)
        tools = self._offered.get(server, NOTHING_OFFERED).routes
        return server, overrides.tool_alone(name, tools, managed.config) if managed else name

    def _route_to(self, target: tuple[str, str] | None, head: Head, caller: Caller) -> Route | None:
        if target is None:
            return None
        server, name = target
        own = self._own_route(server, name, head, caller) if self._of_copies else None
        return own or self._offered.get(server, NOTHING_OFFERED).routes.get(name)

    def _own_route(self, server: str, name: str, head: Head, caller: Caller) -> Route | None:
        """To a copy for the session or its era; the settings may be others than when it was listed."""
        managed = self._servers.find(server)
        client = managed.client_for(head.era, caller.session) if managed else None
        definition = self._of_copies.get(client, {}).get(name) if client else None
        if managed is None or definition is None or not tool_filter.is_enabled(name, managed.config):
            return None
        return _route(managed, definition)

    async def _of_copy(self, client: McpClient) -> _Offered | None:
        """What a copy for a session or an era offers now; calls of it then go there. None if it does not say."""
        self._settled.add(client)
        try:
            managed = self._servers.get(client.name)
            definitions, _ = read_tools(TOOLS, await list_all(client, TOOLS.method, TOOLS.member), managed, client)
        except TooltrayError:
            self._settled.discard(client)
            return None
        self._of_copies[client] = {definition.name: definition for definition in definitions}
        return _offered(managed, definitions)

    # offering tools

    def _offer(self, managed: ManagedServer) -> None:
        """Works out what AI clients may see of a server, and tells if that is news."""
        managed.is_known = self._lists.is_up_to_date(managed)  # a launcher has then installed it
        before = self._offered.get(managed.name, NOTHING_OFFERED)
        offered = self._offered[managed.name] = _offered(managed, self._lists.offered(managed, TOOLS))
        if bytes(offered.listing) != bytes(before.listing) or _overrides(offered) != _overrides(before):
            self._outdate_listing()
            self._tell(managed.name)

    def _forget(self, server: str) -> None:
        self._offered.pop(server, None)
        self._outdate_listing()
        self._tell(server)

    def _tell(self, server: str, kinds: Sequence[OfferKind] = (TOOLS,)) -> None:
        self._bus.publish(ToolListChanged(server))

    def _outdate_listing(self) -> None:
        self._listing = None
        self._changes += 1

    async def _make_listing(self) -> None:
        changes = self._changes
        routes = [route for offered in self._offered.values() for route in offered.routes.values()]
        names = await self._names_of(routes)
        if changes == self._changes:
            named = sorted(zip(names, routes, strict=True), key=_by_name)
            self._entries = tuple(Entry(name, route, route.published(name)) for name, route in named)
            self._listing = listing_of(TOOLS, (entry.definition for entry in self._entries))

    async def _names_of(self, routes: Sequence[Route]) -> list[str]:
        tools = [overrides.key(route.server, route.definition.name, route.override) for route in routes]
        names = await finish_in_thread(self._names.publish, tools)
        return [names[tool] for tool in tools]


def read_tools(
    kind: OfferKind, raws: Iterable[Raw], server: ManagedServer, client: McpClient | None
) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """What can be used of a server's list, and remarks on the rest, for ServerLists."""
    needs_headers = client is not None and client.era is Era.MODERN and server.config.transport == "http"  # calls repeat arguments in them
    found = read_definitions(raws, needs_headers=needs_headers)
    return found.tools, found.remarks


def _offered(managed: ManagedServer, definitions: Iterable[ToolDefinition]) -> _Offered:
    enabled = [each for each in definitions if tool_filter.is_enabled(each.name, managed.config)]
    shown = overrides.names_alone([each.name for each in enabled], managed.config)
    entries = tuple(_entry(shown[each.name], _route(managed, each)) for each in enabled)
    routes = {entry.route.definition.name: entry.route for entry in entries}
    names = frozenset(entry.name for entry in entries)
    return _Offered(routes, entries, names, listing_of(TOOLS, (entry.definition for entry in entries)))


def _route(managed: ManagedServer, definition: ToolDefinition) -> Route:
    auto_approve = ("all",) if managed.is_builtin else managed.config.auto_approve
    decision = approval.decide(managed.name, definition.name, definition.annotations, auto_approve)
    override = managed.config.tool_overrides.get(definition.name)
    return Route(managed.name, definition, decision, override, managed.config_hash)


def _entry(name: str, route: Route) -> Entry:
    """Of a client that has one server alone; verbatim where nothing is to be changed."""
    return Entry(name, route, route.published(name) if route.override else route.definition.publishable)


def _overrides(offered: _Offered) -> list[ToolOverride | None]:
    return [route.override for route in offered.routes.values()]


def _by_name(named: tuple[str, Route]) -> str:
    return named[0]
