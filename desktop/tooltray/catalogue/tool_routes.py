"""Routes to tools: the destination of each tool's calls and whether they are allowed, and the tools as AI clients see them. This module
asks no server.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter

import msgspec
from msgspec import Raw

from tooltray.catalogue import auto_approve, token_counts, tool_words
from tooltray.catalogue.definition import NO_VIEW, ToolDefinition, fingerprint, with_uris
from tooltray.catalogue.offer import TOOLS, listing_of
from tooltray.catalogue.resource_uris import PublishedUris, ResourceUris
from tooltray.config.naming import tool_settings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.runtime import freeze_if_large
from tooltray.foundation.tasks import SLICE, finish_in_thread
from tooltray.protocol.eras import Era
from tooltray.protocol.output_schemas import LegacyOutput
from tooltray.servers.upstream.managed_server import ManagedServer


class Route(msgspec.Struct, frozen=True):
    """The destination of calls of one tool, and whether they are allowed.

    Attributes:
        definition: as the server wrote it; every decision about the tool uses it.
        override: texts that AI clients see instead of the server's own.
        origin: identifies the server's program or address, and changes with it.
        is_listed: the server has the tool in its list; if not, only clients that have just this server can call it.
        result_limit: the most tokens of a result that clients get at once, by its own or its server's settings; None: no limit.
        csv_tables: whether tables in its results are given as CSV, by its own or its server's settings; None: as the client's define.
    """

    server: str
    definition: ToolDefinition
    decision: auto_approve.Decision
    override: ToolOverride | None = None
    origin: str = ""
    is_listed: bool = True
    result_limit: int | None = None
    csv_tables: bool | None = None

    @property
    def mark(self) -> str:
        """The mark that an approval is bound to: of the tool's definition, and of its server's program or address."""
        return f"{fingerprint(self.definition)}.{self.origin}"

    @property
    def description(self) -> str:
        """The description as AI clients see it."""
        own = self.override.description if self.override else None
        return self.definition.description if own is None else own

    @property
    def hints(self) -> object:
        """The hints by which rules decide whether a call runs without asking."""
        return tool_words.hints_for_rules(self.override, self.definition.annotations)

    def published(self, name: str, uris: ResourceUris | None = None) -> Raw:
        """Returns the definition as AI clients get it, under a name.

        Args:
            uris: of all servers together; None: the server's own URIs stay.
        """
        definition = self.definition.renamed(name, tool_words.replaced(self.override, self.definition.annotations))
        if uris and any(uris.published_uri(self.server, uri) != uri for uri in self.definition.view.uris):
            return with_uris(definition, partial(uris.published_uri, self.server))
        return definition


class Entry(msgspec.Struct, frozen=True):
    """One tool in a list.

    Attributes:
        name: the tool's name for AI clients.
        route: the route of the tool's calls.
        definition: as clients get it.
    """

    name: str
    route: Route
    definition: Raw


class OfferedTools(msgspec.Struct, frozen=True):
    """The tools of one server that AI clients may see.

    Attributes:
        routes: by original name.
        entries: for an AI client that has only this server.
        names: of these entries.
        listing: the result of `tools/list` for such a client.
        legacy: entries and listing for a legacy client, if a modern server has results that are not objects; None: the same.
    """

    routes: Mapping[str, Route]
    entries: tuple[Entry, ...]
    names: frozenset[str]
    listing: Raw
    legacy: "Listed | None" = None

    def alone(self, era: Era) -> "Listed":
        """Returns the list for a client of an era that has only this server."""
        return self.legacy if self.legacy and era is Era.LEGACY else Listed(self.entries, self.listing)


def offered_tools(managed: ManagedServer, definitions: Iterable[ToolDefinition]) -> OfferedTools:
    kept = frozenset(tool_settings.enabled((each.name for each in definitions), managed.config))
    enabled = [each for each in definitions if each.name in kept]
    shown = tool_settings.names_alone([each.name for each in enabled], managed.config)
    entries = tuple(_entry(shown[each.name], route_to(managed, each)) for each in enabled)
    routes = {entry.route.definition.name: entry.route for entry in entries}
    names = frozenset(entry.name for entry in entries)
    alone = listed(entries, is_output_read=lambda output: output.schema is None)  # a legacy server's own bytes stay
    return OfferedTools(routes, entries, names, alone.listing, alone.legacy)


def rules_of(managed: ManagedServer) -> tuple[str, ...]:
    """Returns the rules for calls that run without asking; for servers that come with Tooltray, these allow everything."""
    return ("all",) if managed.is_builtin else tuple(managed.config.auto_approve)


def route_to(managed: ManagedServer, definition: ToolDefinition, *, is_listed: bool = True) -> Route:
    override = managed.config.tool_overrides.get(definition.name)
    hints = tool_words.hints_for_rules(override, definition.annotations)
    decision = auto_approve.decide(managed.name, definition.name, hints, rules_of(managed))
    limit = override.result_limit if override and override.result_limit else managed.config.result_limit
    csv_tables = override.csv_tables if override and override.csv_tables is not None else managed.config.csv_tables
    return Route(managed.name, definition, decision, override, managed.config_hash, is_listed, limit, csv_tables)


def _entry(name: str, route: Route) -> Entry:
    """Returns the entry for a client that has only one server; the definition is verbatim unless an override changes it."""
    return Entry(name, route, route.published(name) if route.override else route.definition.raw)


def size_of(offered: OfferedTools) -> tuple[int, int]:
    """Returns how many tools models can see, and how large their definitions are."""
    routes = {name: route for name, route in offered.routes.items() if route.definition.view.is_for_models}
    sizes = (route.published(name) if route.override else route.definition.raw for name, route in routes.items())
    return len(routes), sum(map(token_counts.counted_size, sizes))


def views_of(offered: OfferedTools) -> list[str]:
    """Returns the URIs of all views of a server's tools, as the server wrote them."""
    return [uri for route in offered.routes.values() for uri in route.definition.view.uris]


def called_by_views(known: Iterable[ToolDefinition]) -> frozenset[str]:
    """Returns the tools of a server that its own views may call, by its own names, including those not offered now; empty without views."""
    if not any(each.view.uris for each in known):
        return frozenset()
    return frozenset(each.name for each in known if each.view.is_for_apps)


def published_with(offered: OfferedTools) -> list[object]:
    """Returns, for each tool, the members that AI clients get besides its own definition."""
    return [(route.override, route.definition.output) for route in offered.routes.values()]


class Listed(msgspec.Struct, frozen=True):
    """Tools under their names, one by one and as the result of `tools/list`.

    Attributes:
        legacy: the list for legacy clients if they need other output schemas; None: the same list.
    """

    entries: tuple[Entry, ...]
    listing: Raw
    legacy: "Listed | None" = None

    def of(self, era: Era) -> "Listed":
        """Returns the list for clients of an era."""
        return self.legacy if self.legacy and era is Era.LEGACY else self


NOTHING_OFFERED = OfferedTools({}, (), frozenset(), listing_of(TOOLS, ()))


def listed(entries: tuple[Entry, ...], *, is_output_read: Callable[[LegacyOutput], bool] = lambda output: False) -> Listed:
    """Makes lists of tools.

    Args:
        is_output_read: whether these legacy clients read the server's own output schema instead of the replacement.
    """
    legacy = None
    if any((output := entry.route.definition.output) and not is_output_read(output) for entry in entries):
        legacy = _listing(tuple(_of_legacy(entry, is_output_read) for entry in entries))
    return msgspec.structs.replace(_listing(entries), legacy=legacy)


def _listing(entries: tuple[Entry, ...]) -> Listed:
    return Listed(entries, listing_of(TOOLS, (entry.definition for entry in entries)))


def _of_legacy(entry: Entry, is_output_read: Callable[[LegacyOutput], bool]) -> Entry:
    output = entry.route.definition.output
    if output is None or is_output_read(output):
        return entry
    return Entry(entry.name, entry.route, output.replaced(entry.definition))


class ListTerms(msgspec.Struct, frozen=True):
    """The facts about a client that decide which tools of all servers it sees, and under which names.

    Attributes:
        room: how many characters of a name the client accepts, for names that are longer than short ones; 0: it gets short ones.
        with_views: the client shows views of tools, and gets the tools that only views may call.
    """

    room: int = 0
    with_views: bool = False


PLAIN_TERMS = ListTerms()


class JointLists(msgspec.Struct, frozen=True):
    """The lists of all servers' tools.

    Attributes:
        plain: for clients that show no views: without the tools that only views may call.
        with_views: for clients that show views. A tool whose name a view would take for one of its own server has its server's name before
            it here; so only a view uses the bare name.
    """

    plain: Listed
    with_views: Listed


class JointListing:
    """The tools of all servers together, made when an AI client lists, and again at the first list request after a change.

    Names are given here: tools that appear together are then named together. Belongs to the engine's loop.
    """

    def __init__(
        self,
        names: PublishedNames,
        routes: Callable[[], Iterable[Route]],
        uris: PublishedUris,
        at_rest: Callable[[], Iterable[tuple[str, str]]],
    ) -> None:
        """
        Args:
            routes: to all tools that are offered now.
            at_rest: the servers, and their own names, of tools that are not offered now and that views may call.
        """
        self._names, self._routes, self._uris, self._at_rest = names, routes, uris, at_rest
        self._made: JointLists | None = None
        self._made_for: dict[ListTerms, Listed] = {}  # a few
        self._called: Mapping[str, set[str]] = {}  # see _called_by_views, of the list that was made
        self._changes = 0
        self._lock = asyncio.Lock()

    @property
    def is_made(self) -> bool:
        """Whether a list was made since the last change."""
        return self._made is not None

    def outdate(self) -> None:
        """Drops the list after a change of offered tools or of a name."""
        self._made = None
        self._changes += 1

    async def made(self, terms: ListTerms) -> Listed:
        """Returns the tools of all servers, as far as they are known now; clients that see the same names share a list."""
        async with self._lock:
            while self._made is None:
                await self._make()
            listed = self._made.with_views if terms.with_views else self._made.plain
            return self._with_whole_names(listed, terms) if terms.room else listed

    def _with_whole_names(self, short: Listed, terms: ListTerms) -> Listed:
        if terms not in self._made_for:
            entries = tuple(sorted((self.in_room(each, terms) for each in short.entries), key=attrgetter("name")))
            same = next((each for each in (short, *self._made_for.values()) if each.entries == entries), None)
            self._made_for[terms] = same or listed(entries)
        return self._made_for[terms]

    def in_room(self, entry: Entry, terms: ListTerms) -> Entry:
        """Returns a tool under its full name if the name fits; unchanged if not, or if the name is or would have to be a distinguishing
        one.
        """
        key = _key(entry.route)
        name = self._names.whole(key, terms.room) if entry.name == self._names.known(key) else None
        if name and terms.with_views and self._called.get(name, set()) - {entry.route.server}:
            return entry
        return Entry(name, entry.route, entry.route.published(name, self._uris.now)) if name else entry

    async def with_others(self, kept: Iterable[Entry], routes: Iterable[Route], terms: ListTerms) -> Listed:
        """Returns a separate list: entries of the joint list, and further tools beside them."""
        told_of = [route for route in routes if _is_told_of(route, terms)]
        if terms.with_views:  # views of these tools may call existing tools by name, and vice versa
            told_of, kept = [*(entry.route for entry in kept), *told_of], ()
        named = await self.named(told_of)
        if terms.with_views:
            named = await self._told_apart(named)
        uris = self._uris.now
        added = [self.in_room(Entry(name, route, route.published(name, uris)), terms) for name, route in named]
        return listed(tuple(sorted((*kept, *added), key=attrgetter("name"))))

    async def _make(self) -> None:
        changes = self._changes
        named, uris = await self.all_named(), self._uris.now
        plain = [each for each in named if each[1].definition.view.is_for_models]
        made = await finish_in_thread(_listed, plain, uris) if len(named) > SLICE else _listed(plain, uris)
        lists = JointLists(made, made)
        if any(route.definition.view is not NO_VIEW for _, route in named) or any(self._at_rest()):
            lists = JointLists(made, _listed(await self._told_apart(named), uris))
        called = self._called_by_views(named)
        if changes == self._changes:
            self._made, self._called = lists, called
            self._made_for.clear()
            freeze_if_large(len(named))

    async def _told_apart(self, named: Sequence[tuple[str, Route]]) -> list[tuple[str, Route]]:
        """Renames tools with the same name as another server's tool that views of that server may call."""
        called = self._called_by_views(named)
        met = {name: route for name, route in named if called.get(name, set()) - {route.server}}
        keys = {name: tool_settings.other_key(route.server, route.definition.name, name) for name, route in met.items()}
        given = await finish_in_thread(self._names.publish, keys.values()) if keys else {}
        told = [(given[keys[name]] if name in keys else name, route) for name, route in named]
        return sorted(told, key=_by_name)

    def _called_by_views(self, named: Sequence[tuple[str, Route]]) -> Mapping[str, set[str]]:
        """Returns the own names of tools that views may call, each with the servers that have such a tool."""
        have_views = {route.server for _, route in named if route.definition.view.uris}
        called: dict[str, set[str]] = {}
        for _, route in named:
            if route.server in have_views and route.definition.view.is_for_apps:
                called.setdefault(route.definition.name, set()).add(route.server)
        for server, name in self._at_rest():
            called.setdefault(name, set()).add(server)
        return called

    async def all_named(self) -> list[tuple[str, Route]]:
        """Returns the tools of all servers, with their published names."""
        return await self.named(self._routes())

    async def named(self, routes: Iterable[Route]) -> list[tuple[str, Route]]:
        """Returns routes with their published names, sorted by name."""
        routes = list(routes)

        def publish() -> list[tuple[str, Route]]:
            tools = [_key(route) for route in routes]
            names = self._names.publish(tools)
            return sorted(((names[tool], route) for tool, route in zip(tools, routes, strict=True)), key=_by_name)

        return await finish_in_thread(publish)


def _listed(named: Iterable[tuple[str, Route]], uris: ResourceUris) -> Listed:
    return listed(tuple(Entry(name, route, route.published(name, uris)) for name, route in named))


def _is_told_of(route: Route, terms: ListTerms) -> bool:
    return terms.with_views or route.definition.view.is_for_models


def _key(route: Route) -> tool_settings.Tool:
    """Returns the key of a tool in the names that were given."""
    return tool_settings.key(route.server, route.definition.name, route.override)


def _by_name(named: tuple[str, Route]) -> str:
    return named[0]
