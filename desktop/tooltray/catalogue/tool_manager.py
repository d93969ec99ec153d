"""The tools of all servers, and their names. Names are given when an AI client lists, not before: tools that appear together are then named
together. The module does not know calls.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Raw

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.offer import TOOLS, OfferKind
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.resource_uris import PublishedUris, ViewsMoved
from tooltray.catalogue.server_lists import ServerLists
from tooltray.catalogue.tool_copies import ToolCopies
from tooltray.catalogue.tool_routes import (
    NOTHING_OFFERED,
    PLAIN_TERMS,
    Entry,
    JointListing,
    Listed,
    ListTerms,
    OfferedTools,
    Route,
    called_by_views,
    offered_tools,
    published_with,
    route_to,
    size_of,
    views_of,
)
from tooltray.config.naming import tool_settings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import Event, EventBus, ToolListChanged
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.tasks import finish_in_thread, in_slices
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import opened
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

TASK_ONLY = "(Can be called as a task only, by AI clients that know tasks.)"


class OffersChanged(Event, frozen=True):
    """An event: a server's tools, or the settings for them, have changed, or names are free again."""


class ToolManager:
    """The tools of all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        lists: ServerLists[ToolDefinition],
        offers: Offers,
        names: PublishedNames,
        published_uris: PublishedUris,
        tool_copies: ToolCopies,
        bus: EventBus,
    ) -> None:
        """
        Args:
            lists: of the tools.
            offers: a server that was started to be listed runs until everything that it offers is listed.
            published_uris: gets the views that tools name, and knows their published URIs.
        """
        self._servers, self._lists, self._offers, self._names, self._bus = servers, lists, offers, names, bus
        self._copies, self._uris = tool_copies, published_uris
        self._offered: dict[str, OfferedTools] = {}
        self._made: dict[str, tuple[Sequence[ToolDefinition], tuple[object, ...], OfferedTools]] = {}  # its inputs, and the result
        self._sizes: dict[str, tuple[OfferedTools, tuple[int, int]]] = {}
        self._view_calls: dict[str, tuple[Sequence[ToolDefinition], frozenset[str]]] = {}  # by server: names of its known tools
        self._joint = JointListing(names, self.all_routes, published_uris, self._called_at_rest)

    async def load(self) -> None:
        """Loads the last known tools of every server from the disk, so that the first list is complete at once."""
        await self._lists.load(on_changed=self._offer, on_forgotten=self._forget, on_other_copy_changed=self._tell, prepare=self._prepare)
        self._bus.subscribe(ViewsMoved, self._on_views_moved)

    def list_unknown_servers(self) -> None:
        """Starts every server that was never listed, to list it once; does not wait."""
        self._lists.list_unknown_servers(beside=self._offers.listed)

    # lists and lookups
    async def listing(
        self, server: str | None = None, *, client: McpClient | None = None, terms: ListTerms = PLAIN_TERMS, era: Era = Era.MODERN
    ) -> Raw:
        """Returns the result of `tools/list`, whole; waits a bounded time for servers that were never listed.

        Args:
            server: only the tools of this server, under their own names, including those for its views.
            client: the instance of that server for the session or its era, which may offer other tools than the first.
            terms: of a client that has all servers.
            era: of the client. If a server has an instance for each era, the client's instance decides which tools the server has.
        """
        if client is not None and (own := await self._of_copy(client)):
            return own.alone(era).listing
        await self.wait_for_first_listings(server)
        return (self._offered.get(server, NOTHING_OFFERED).alone(era) if server else (await self._of_all(terms, era)).of(era)).listing

    async def entries(
        self,
        server: str | None = None,
        *,
        client: McpClient | None = None,
        terms: ListTerms = PLAIN_TERMS,
        era: Era = Era.MODERN,
        is_wanted: Callable[[str], bool] = lambda server: True,
    ) -> tuple[Entry, ...]:
        """Returns the tools of `listing`, one by one. `is_wanted`: whether a server that was never listed is waited for, by its name."""
        if client is not None and (own := await self._of_copy(client)):
            return own.alone(era).entries
        await self.wait_for_first_listings(server, is_wanted)
        if server:
            return self._offered.get(server, NOTHING_OFFERED).alone(era).entries
        return (await self._of_all(terms, era)).of(era).entries

    async def _of_all(self, terms: ListTerms, era: Era) -> Listed:
        """Returns the tools of all servers; an era's instances contribute their own tools if these differ from the first instances'."""
        copies = {server.name: client for server in self._servers if (client := _shared_copy(server, era))}
        told = {name: tools for name, client in copies.items() if (tools := await self._copies.of_shared(client)) is not None}
        of_all = await self._joint.made(terms)
        routes = {name: self._routes_of_copy(name, tools) for name, tools in told.items()}
        others = {name for name, of_copy in routes.items() if of_copy != self._offered.get(name, NOTHING_OFFERED).routes}
        if not others:
            return of_all
        kept = [entry for entry in of_all.entries if entry.route.server not in others]
        return await self._joint.with_others(kept, [route for name in others for route in routes[name].values()], terms)

    def _routes_of_copy(self, server: str, tools: Mapping[str, ToolDefinition]) -> Mapping[str, Route]:
        return offered_tools(self._servers.get(server), tools.values()).routes

    def in_room(self, entry: Entry, terms: ListTerms) -> Entry:
        """Returns a tool of the joint list as it appears to clients that accept longer names."""
        return self._joint.in_room(entry, terms) if terms.room else entry

    def awaited(self) -> list[str]:
        """Returns the names of servers that are starting or running and have not listed their tools yet."""
        return self._lists.awaited()

    async def wait_for_first_listings(self, server: str | None, is_wanted: Callable[[str], bool] = lambda server: True) -> None:
        """Waits, for a bounded time, for the first list of a server, or of those that are wanted."""

        def is_in_answer(name: str) -> bool:
            return name == server if server else is_wanted(name)

        def is_enough() -> bool:
            return any(each.routes and is_in_answer(name) and not self._is_builtin(name) for name, each in self._offered.items())

        await self._lists.wait_for_first_listings(is_in_answer, is_enough=is_enough)

    def _is_builtin(self, name: str) -> bool:
        server = self._servers.find(name)
        return server is not None and server.is_builtin

    def offered_names(self, server: str) -> frozenset[str]:
        """Returns the names of a server's tools for an AI client that has only this server; does not wait."""
        return self._offered.get(server, NOTHING_OFFERED).names

    def is_offering(self, server: ManagedServer) -> bool:
        """Reports whether a server's tools may be listed: not if it is stopped, disabled, or in error for long."""
        return self._lists.is_offering(server)

    def is_listed(self, server: str) -> bool:
        """Reports whether a server's tools are known."""
        return self._lists.is_complete(server)

    def listed(self, server: ManagedServer) -> asyncio.Event:
        """Returns an event that is set while no client need wait for a server's tools: they were listed once, or cannot be."""
        return self._lists.listed(server)

    def list_problem(self, server: str) -> Problem | None:
        """Returns why some of a server's tools, or of its other lists, are not offered."""
        return self._lists.problem(server) or self._offers.problem(server)

    def list_flaws(self, server: str) -> tuple[str, ...]:
        """Returns which of a server's definitions are mended for AI clients or left out, and why, for the server's author."""
        return self._lists.flaws(server) + self._offers.flaws(server)

    def flaw_counts(self, server: str) -> Mapping[str, int]:
        """Returns how many definitions of a server are mended or left out, by MENDED and LEFT_OUT."""
        return self._lists.flaw_counts(server) + self._offers.flaw_counts(server)

    async def published(self, server: str | None = None) -> list[tuple[str, Route]]:
        """Returns all offered tools with their published names, sorted by name; of all servers together, those that can be called there.

        For one server that runs, this waits longer for its tools.
        """
        await self.wait_for_first_listings(server)
        if server and (managed := self._servers.find(server)):
            await self._lists.wait_until_listed(managed)
        return await (self._joint.named(self.all_routes(server)) if server else self._joint.all_named())

    def routes(self, server: str) -> Mapping[str, Route]:
        """Returns the routes to a server's tools that are offered now, by its own names; does not wait."""
        return self._offered.get(server, NOTHING_OFFERED).routes

    def all_routes(self, server: str | None = None) -> Iterator[Route]:
        """Yields the routes to all tools that are offered now, or to one server's tools."""
        for name, offered in self._offered.items():
            if server in (None, name):
                yield from offered.routes.values()

    @property
    def view_servers(self) -> frozenset[str]:
        """The servers that have tools with views."""
        return self._uris.view_servers

    def called_by_views(self, name: str) -> Iterator[Route]:
        """Yields the routes to tools that their servers call by this name and their servers' views may call, as MCP Apps define it."""
        for offered in self._offered.values():
            route = offered.routes.get(name)
            if route and route.definition.view.is_for_apps and views_of(offered):
                yield route

    def may_be_of_view(self, server: str, name: str) -> bool:
        """Reports whether a server's views may call a tool of this name, as far as is known, though the tool is not offered now."""
        return name in self._view_calls_of(server) and name not in self.routes(server)

    def _called_at_rest(self) -> Iterator[tuple[str, str]]:
        for server in self._servers:
            offered = self.routes(server.name)
            yield from ((server.name, name) for name in self._view_calls_of(server.name) if name not in offered)

    def _view_calls_of(self, server: str) -> frozenset[str]:
        known, kept = self.definitions(server), self._view_calls.get(server)
        if kept is None or kept[0] is not known:
            kept = self._view_calls[server] = known, called_by_views(known)
        return kept[1]

    @property
    def are_named(self) -> bool:
        """Whether the tools of all servers have their names: some client has listed them."""
        return self._joint.is_made

    async def name_all(self) -> None:
        """Gives names to tools that have none yet."""
        await self._joint.made(PLAIN_TERMS)

    def published_name(self, route: Route) -> str | None:
        """Returns the name by which clients of all servers know a tool, if it has one yet."""
        return self._names.known(tool_settings.key(route.server, route.definition.name, route.override))

    def size(self, server: str) -> tuple[int, int]:
        """Returns how many tools of a server are offered, and the size of their definitions together, as counted_size counts."""
        offered = self._offered.get(server, NOTHING_OFFERED)
        kept = self._sizes.get(server)
        if kept is None or kept[0] is not offered:
            kept = self._sizes[server] = offered, size_of(offered)
        return kept[1]

    @property
    def server_names(self) -> frozenset[str]:
        """The names of all servers."""
        return frozenset(server.name for server in self._servers)

    def known_names(self, server: str) -> frozenset[str]:
        """Returns a server's own names for its tools, including disabled ones; empty while it was never listed."""
        return frozenset(definition.name for definition in self._lists.known(server, TOOLS))

    def definitions(self, server: str) -> Sequence[ToolDefinition]:
        """Returns the definitions of all known tools of a server, including disabled ones."""
        return self._lists.known(server, TOOLS)

    def tool_count(self, server: str) -> int:
        return len(self._lists.known(server, TOOLS))

    def input_schema(self, server: str, tool: str) -> Raw | None:
        """Returns the listed schema of a tool's arguments, by the server's own name for the tool; None if the tool is not offered.

        An instance for one session may have listed the tool before the first one did.
        """
        route = self._offered.get(server, NOTHING_OFFERED).routes.get(tool)
        definition = route.definition if route else self._copies.tool_of_any(server, tool)
        return opened(definition.raw).get("inputSchema") if definition else None

    def published_schema(self, name: str, server: str | None) -> Raw | None:
        """Returns `input_schema` by the name that AI clients see. `server`: only the tools of this server, under their own names."""
        target = self.target(name, server)
        return self.input_schema(*target) if target else None

    async def snapshots(self, server: str | None = None) -> list[ToolSnapshot]:
        """Returns snapshots of all known tools, including disabled ones."""
        names = dict(await in_slices(_by_tool, await self.published(server)))
        known = [
            (each, definition)
            for each in self._servers
            if server in (None, each.name)
            for definition in self._lists.known(each.name, TOOLS)
        ]
        return await in_slices(lambda each: self._snapshot(*each, names), known)

    def problems(self) -> Iterator[Problem]:
        """Yields the problems of the servers' `autoApprove` and `toolOverrides`."""
        for server in self._servers:
            names = {definition.name for definition in self._lists.known(server.name, TOOLS)}
            if problem := auto_approve.problem_of(server.name, server.config.auto_approve, names):
                yield problem
            yield from tool_settings.problems(server.name, server.config, names)

    async def free_names(self, server: str) -> None:
        """Frees the names of a server that was permanently removed: other tools may get them."""
        await finish_in_thread(self._names.free, server)
        self._bus.publish(OffersChanged())

    async def forget_names(self) -> None:
        """Drops all names; new ones are given at the next list request."""
        await finish_in_thread(self._names.reset)
        self._bus.publish(OffersChanged())
        self._joint.outdate()
        for name, offered in self._offered.items():
            if offered.routes:
                self._tell(name)

    def _snapshot(self, server: ManagedServer, definition: ToolDefinition, names: Mapping[tuple[str, str], str]) -> ToolSnapshot:
        route = route_to(server, definition)
        decision = auto_approve.decide(server.name, definition.name, route.hints, server.config.auto_approve)
        description = route.description
        return ToolSnapshot(
            name=names.get((server.name, definition.name), definition.name),
            server=server.name,
            original_name=definition.name,
            description=f"{TASK_ONLY} {description}".rstrip() if definition.is_task_only else description,
            category=decision.category,
            is_enabled=tool_settings.is_enabled(definition.name, server.config),
            is_approved=decision.is_approved or server.is_builtin,
            has_view=bool(definition.view.uris),
            is_for_views=not definition.view.is_for_models,
            flaws=definition.flaws,
        )

    def target(self, name: str, server: str | None) -> tuple[str, str] | None:
        """Returns the server of a tool's name, and the name that the server offers the tool by, even if the tool is not offered now."""
        if server is None:
            key = self._names.target(name)
            return tool_settings.tool_of(key) if key else None
        managed = self._servers.find(server)
        tools = self._offered.get(server, NOTHING_OFFERED).routes
        return server, tool_settings.tool_alone(name, tools, managed.config) if managed else name

    async def _of_copy(self, client: McpClient) -> OfferedTools | None:
        """Returns the tools that an instance for a session or an era offers now; calls of these are sent to this instance. None if it fails
        to list.
        """
        definitions = await self._copies.listed(client)
        return None if definitions is None else offered_tools(self._servers.get(client.name), definitions)

    # offering tools

    def _offer(self, managed: ManagedServer) -> None:
        """Computes the tools of a server that AI clients may see, and publishes changes."""
        managed.is_known = self._lists.is_up_to_date(managed)  # a known server has been installed by its launcher
        before = self._offered.get(managed.name, NOTHING_OFFERED)
        offered = self._offered[managed.name] = self._made_of(managed, self._lists.offered(managed, TOOLS))
        if offered is before:
            return
        self._uris.name_views(managed.name, views_of(offered))
        self._bus.publish(OffersChanged())
        if offered.listing != before.listing or published_with(offered) != published_with(before):
            self._joint.outdate()
            self._tell(managed.name)

    def _made_of(self, managed: ManagedServer, definitions: Sequence[ToolDefinition]) -> OfferedTools:
        """Returns the tools of a server that AI clients may see; computed again only when its list, or the settings for its tools, have
        changed.
        """
        config = managed.config
        by = (
            config.tool_filter,
            config.disabled_tools,
            config.auto_approve,
            config.tool_overrides,
            config.result_limit,
            config.csv_tables,
            managed.config_hash,
        )
        kept = self._made.get(managed.name)
        if kept is None or kept[0] is not definitions or kept[1] != by:
            kept = self._made[managed.name] = definitions, by, offered_tools(managed, definitions)
        return kept[2]

    def _prepare(self, managed: ManagedServer, definitions: tuple[ToolDefinition, ...]) -> None:
        """Computes, in a thread, the parts of a long list that would block the event loop for long."""
        offered = self._made_of(managed, definitions)
        self._sizes[managed.name] = offered, size_of(offered)

    def _forget(self, server: str) -> None:
        for kept in (self._offered, self._made, self._sizes, self._view_calls):
            kept.pop(server, None)
        self._uris.name_views(server, ())
        self._joint.outdate()
        self._tell(server)

    def _on_views_moved(self, event: ViewsMoved) -> None:
        """Publishes new lists: definitions contain the present URIs of views."""
        self._joint.outdate()
        for server in sorted(event.servers & self._offered.keys()):
            if views_of(self._offered[server]):
                self._tell(server)

    def _tell(self, server: str, kinds: Sequence[OfferKind] = (TOOLS,)) -> None:
        self._bus.publish(ToolListChanged(server))


def _shared_copy(server: ManagedServer, era: Era) -> McpClient | None:
    """Returns the instance that serves all clients of an era, unless it is the first instance, which is always listed."""
    client = server.client_for(era)
    return None if client is server.client else client


def _by_tool(named: tuple[str, Route]) -> tuple[tuple[str, str], str]:
    name, route = named
    return (route.server, route.definition.name), name
