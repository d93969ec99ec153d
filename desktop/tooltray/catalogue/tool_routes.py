"""Routes to tools: where a call of each goes and whether it goes, and what AI clients see of a server's tools.

Above it: ToolManager, which has one `OfferedTools` for each server, and all who ask it where a call goes. Below it: the rules for tools
(approval, settings, definitions, published names). Nothing here asks a server.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter

import msgspec
from msgspec import Raw

from tooltray.catalogue import approval, token_counts, tool_words
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.offer import TOOLS, listing_of
from tooltray.catalogue.published_uris import PublishedUris
from tooltray.catalogue.resource_uris import ResourceUris
from tooltray.catalogue.tool_view import NO_VIEW, with_uris
from tooltray.config.naming import tool_settings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.long_lived import keep_for_long
from tooltray.foundation.tasks import SLICE, finish_in_thread
from tooltray.protocol.eras import Era
from tooltray.protocol.output_schemas import LegacyOutput
from tooltray.servers.upstream.managed_server import ManagedServer


class Route(msgspec.Struct, frozen=True):
    """Where a call of one tool goes, and whether it goes.

    Attributes:
        definition: as the server wrote it; whatever is decided of the tool goes by this.
        override: what AI clients see in the place of the server's own words.
        origin: another one for another program, or another address, under the server's name.
        is_listed: the server has it in its list; else it is called all the same, by a client that has this server alone.
        result_limit: tokens of its results that clients get at once, as its own or its server's settings say; None: all.
    """

    server: str
    definition: ToolDefinition
    decision: approval.Decision
    override: ToolOverride | None = None
    origin: str = ""
    is_listed: bool = True
    result_limit: int | None = None

    @property
    def description(self) -> str:
        """As AI clients see it."""
        own = self.override.description if self.override else None
        return self.definition.description if own is None else own

    @property
    def hints(self) -> object:
        """By which rules decide whether a call goes through unasked."""
        return tool_words.hints_for_rules(self.override, self.definition.annotations)

    def published(self, name: str, uris: ResourceUris | None = None) -> Raw:
        """The definition as AI clients get it, under a name.

        Args:
            uris: of all servers together; None: its server's own stay.
        """
        definition = self.definition.renamed(name, tool_words.replaced(self.override, self.definition.annotations))
        if uris and any(uris.published_uri(self.server, uri) != uri for uri in self.definition.view.uris):
            return with_uris(definition, partial(uris.published_uri, self.server))
        return definition


class Entry(msgspec.Struct, frozen=True):
    """One tool in a list.

    Attributes:
        name: by which AI clients see it.
        route: where calls of it go.
        definition: as they get it.
    """

    name: str
    route: Route
    definition: Raw


class OfferedTools(msgspec.Struct, frozen=True):
    """What AI clients may see of one server.

    Attributes:
        routes: by original name.
        entries: for an AI client that has this server alone.
        names: of these.
        listing: the result of `tools/list` for such a client.
        legacy: entries and listing for a legacy one, of a modern server whose results are not all objects; None: the same.
    """

    routes: Mapping[str, Route]
    entries: tuple[Entry, ...]
    names: frozenset[str]
    listing: Raw
    legacy: "Listed | None" = None

    def alone(self, era: Era) -> "Listed":
        """Returns what a client of an era gets that has this server alone."""
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
    """What of a server goes through unasked; of what comes with Tooltray, everything."""
    return ("all",) if managed.is_builtin else tuple(managed.config.auto_approve)


def route_to(managed: ManagedServer, definition: ToolDefinition, *, is_listed: bool = True) -> Route:
    override = managed.config.tool_overrides.get(definition.name)
    hints = tool_words.hints_for_rules(override, definition.annotations)
    decision = approval.decide(managed.name, definition.name, hints, rules_of(managed))
    limit = override.result_limit if override and override.result_limit else managed.config.result_limit
    return Route(managed.name, definition, decision, override, managed.config_hash, is_listed, limit)


def _entry(name: str, route: Route) -> Entry:
    """Of a client that has one server alone; verbatim where nothing is to be changed."""
    return Entry(name, route, route.published(name) if route.override else route.definition.raw)


def size_of(offered: OfferedTools) -> tuple[int, int]:
    """How many tools models are told of, and how large their definitions are."""
    routes = {name: route for name, route in offered.routes.items() if route.definition.view.is_for_models}
    sizes = (route.published(name) if route.override else route.definition.raw for name, route in routes.items())
    return len(routes), sum(map(token_counts.counted_size, sizes))


def views_of(offered: OfferedTools) -> list[str]:
    """The URIs of all views of a server's tools, as the server wrote them."""
    return [uri for route in offered.routes.values() for uri in route.definition.view.uris]


def called_by_views(known: Iterable[ToolDefinition]) -> frozenset[str]:
    """The tools of a server that its own views may call, if it has any, by its own names; also of those that are not offered now."""
    if not any(each.view.uris for each in known):
        return frozenset()
    return frozenset(each.name for each in known if each.view.is_for_apps)


def published_with(offered: OfferedTools) -> list[object]:
    """Returns what AI clients get of each tool that is not in its own definition."""
    return [(route.override, route.definition.output) for route in offered.routes.values()]


class Listed(msgspec.Struct, frozen=True):
    """Tools under their names, one by one and as the result of `tools/list`.

    Attributes:
        legacy: the same for legacy clients, where these need other output schemas; None: it is the same.
    """

    entries: tuple[Entry, ...]
    listing: Raw
    legacy: "Listed | None" = None

    def of(self, era: Era) -> "Listed":
        """Returns what clients of an era get."""
        return self.legacy if self.legacy and era is Era.LEGACY else self


NOTHING_OFFERED = OfferedTools({}, (), frozenset(), listing_of(TOOLS, ()))


def listed(entries: tuple[Entry, ...], *, is_output_read: Callable[[LegacyOutput], bool] = lambda output: False) -> Listed:
    """Makes lists of tools.

    Args:
        is_output_read: whether these legacy clients read the server's own output schema in the place of what others get for it.
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
    """What of a client decides which tools of all servers it is told of, and under which names.

    Attributes:
        room: so many characters of a name it takes, for names that are longer than short ones; 0: it gets short ones.
        with_views: it shows views of tools, and gets the tools that are for these alone.
    """

    room: int = 0
    with_views: bool = False


PLAIN_TERMS = ListTerms()


class JointLists(msgspec.Struct, frozen=True):
    """
    Attributes:
        plain: for clients that show no views: without the tools that are for views alone.
        with_views: for those that do. A tool whose name a view would take for one of its own server has its server's name before it here;
            so such a name comes from a view alone.
    """

    plain: Listed
    with_views: Listed


class JointListing:
    """The tools of all servers together, made when an AI client lists, and again when one does after a change.

    Names are given here: what comes together is then named together. Belongs to the engine's loop.
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
            routes: to all tools that are offered at this moment.
            at_rest: the servers, and their own names, of the tools that are not and that views may call.
        """
        self._names, self._routes, self._uris, self._at_rest = names, routes, uris, at_rest
        self._made: JointLists | None = None
        self._made_for: dict[ListTerms, Listed] = {}  # a few
        self._called: Mapping[str, set[str]] = {}  # see _called_by_views, of the list that was made
        self._changes = 0
        self._lock = asyncio.Lock()

    @property
    def is_made(self) -> bool:
        """Whether somebody has listed since the last change."""
        return self._made is not None

    def outdate(self) -> None:
        """What is offered, or a name, has changed."""
        self._made = None
        self._changes += 1

    async def made(self, terms: ListTerms) -> Listed:
        """Of all servers, as far as it is known now; clients that see the same names share a list."""
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
        """A tool under its whole name where there is room for it; as it is where not, where it is told apart, or would have to be."""
        key = _key(entry.route)
        name = self._names.whole(key, terms.room) if entry.name == self._names.known(key) else None
        if name and terms.with_views and self._called.get(name, set()) - {entry.route.server}:
            return entry
        return Entry(name, entry.route, entry.route.published(name, self._uris.now)) if name else entry

    async def with_others(self, kept: Iterable[Entry], routes: Iterable[Route], terms: ListTerms) -> Listed:
        """A list of its own: entries of the list of all, and further tools beside them."""
        told_of = [route for route in routes if _is_told_of(route, terms)]
        if terms.with_views:  # views that come with these may call by a name what is there already, and the other way round
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
            keep_for_long(len(named))

    async def _told_apart(self, named: Sequence[tuple[str, Route]]) -> list[tuple[str, Route]]:
        """With other names for tools that have the own name of another server's, which views of that server may call."""
        called = self._called_by_views(named)
        met = {name: route for name, route in named if called.get(name, set()) - {route.server}}
        keys = {name: tool_settings.other_key(route.server, route.definition.name, name) for name, route in met.items()}
        given = await finish_in_thread(self._names.publish, keys.values()) if keys else {}
        told = [(given[keys[name]] if name in keys else name, route) for name, route in named]
        return sorted(told, key=_by_name)

    def _called_by_views(self, named: Sequence[tuple[str, Route]]) -> Mapping[str, set[str]]:
        """The own names of tools that views may call, each with the servers that have it."""
        have_views = {route.server for _, route in named if route.definition.view.uris}
        called: dict[str, set[str]] = {}
        for _, route in named:
            if route.server in have_views and route.definition.view.is_for_apps:
                called.setdefault(route.definition.name, set()).add(route.server)
        for server, name in self._at_rest():
            called.setdefault(name, set()).add(server)
        return called

    async def all_named(self) -> list[tuple[str, Route]]:
        """The tools of all servers."""
        return await self.named(self._routes())

    async def named(self, routes: Iterable[Route]) -> list[tuple[str, Route]]:
        """Routes with their published names, sorted by them."""
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
    """What the name of a tool is given to."""
    return tool_settings.key(route.server, route.definition.name, route.override)


def _by_name(named: tuple[str, Route]) -> str:
    return named[0]
