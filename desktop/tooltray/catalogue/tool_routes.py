"""Routes to tools: where a call of each goes and whether it goes, and what AI clients see of a server's tools.

Above it: ToolManager, which has one `OfferedTools` for each server, and all who ask it where a call goes. Below it: the rules for tools
(approval, settings, definitions, published names). Nothing here asks a server.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.catalogue import approval, token_counts, tool_settings
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.offer import TOOLS, listing_of
from tooltray.catalogue.published_names import PublishedNames
from tooltray.catalogue.published_uris import PublishedUris
from tooltray.catalogue.resource_uris import ResourceUris
from tooltray.catalogue.tool_view import NO_VIEW, with_uris
from tooltray.long_lived import keep_for_long
from tooltray.settings.server_config import ToolOverride
from tooltray.tasks import SLICE, finish_in_thread
from tooltray.upstream.managed_server import ManagedServer


class Route(msgspec.Struct, frozen=True):
    """Where a call of one tool goes, and whether it goes.

    Attributes:
        definition: as the server wrote it; whatever is decided of the tool goes by this.
        override: what AI clients see in the place of the server's own words.
        origin: another one for another program, or another address, under the server's name.
        is_listed: the server has it in its list; else it is called all the same, by a client that has this server alone.
    """

    server: str
    definition: ToolDefinition
    decision: approval.Decision
    override: ToolOverride | None = None
    origin: str = ""
    is_listed: bool = True

    @property
    def description(self) -> str:
        """As AI clients see it."""
        own = self.override.description if self.override else None
        return self.definition.description if own is None else own

    def published(self, name: str, uris: ResourceUris | None = None) -> Raw:
        """The definition as AI clients get it, under a name.

        Args:
            uris: of all servers together; None: its server's own stay.
        """
        definition = self.definition.renamed(name, self.override.description if self.override else None)
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
    """

    routes: Mapping[str, Route]
    entries: tuple[Entry, ...]
    names: frozenset[str]
    listing: Raw


NOTHING_OFFERED = OfferedTools({}, (), frozenset(), listing_of(TOOLS, ()))


def offered_tools(managed: ManagedServer, definitions: Iterable[ToolDefinition]) -> OfferedTools:
    kept = frozenset(tool_settings.enabled((each.name for each in definitions), managed.config))
    enabled = [each for each in definitions if each.name in kept]
    shown = tool_settings.names_alone([each.name for each in enabled], managed.config)
    entries = tuple(_entry(shown[each.name], route_to(managed, each)) for each in enabled)
    routes = {entry.route.definition.name: entry.route for entry in entries}
    names = frozenset(entry.name for entry in entries)
    return OfferedTools(routes, entries, names, listing_of(TOOLS, (entry.definition for entry in entries)))


def rules_of(managed: ManagedServer) -> tuple[str, ...]:
    """What of a server goes through unasked; of what comes with Tooltray, everything."""
    return ("all",) if managed.is_builtin else tuple(managed.config.auto_approve)


def route_to(managed: ManagedServer, definition: ToolDefinition, *, is_listed: bool = True) -> Route:
    decision = approval.decide(managed.name, definition.name, definition.annotations, rules_of(managed))
    override = managed.config.tool_overrides.get(definition.name)
    return Route(managed.name, definition, decision, override, managed.config_hash, is_listed)


def _entry(name: str, route: Route) -> Entry:
    """Of a client that has one server alone; verbatim where nothing is to be changed."""
    return Entry(name, route, route.published(name) if route.override else route.definition.publishable)


def size_of(offered: OfferedTools) -> tuple[int, int]:
    """How many tools models are told of, and how large their definitions are."""
    routes = {name: route for name, route in offered.routes.items() if route.definition.view.is_for_models}
    sizes = (route.published(name) if route.override else route.definition.raw for name, route in routes.items())
    return len(routes), sum(map(token_counts.counted_size, sizes))


def views_of(offered: OfferedTools) -> list[str]:
    """The URIs of all views of a server's tools, as the server wrote them."""
    return [uri for route in offered.routes.values() for uri in route.definition.view.uris]


def overrides_of(offered: OfferedTools) -> list[ToolOverride | None]:
    return [route.override for route in offered.routes.values()]


class Listed(msgspec.Struct, frozen=True):
    """Tools of all servers under their names, one by one and as the result of `tools/list`."""

    entries: tuple[Entry, ...]
    listing: Raw


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

    def __init__(self, names: PublishedNames, routes: Callable[[], Iterable[Route]], uris: PublishedUris) -> None:
        """
        Args:
            routes: to all tools that are offered at this moment.
        """
        self._names, self._routes, self._uris = names, routes, uris
        self._made: JointLists | None = None
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

    async def made(self) -> JointLists:
        """Of all servers, as far as it is known now."""
        async with self._lock:
            while self._made is None:
                await self._make()
            return self._made

    async def _make(self) -> None:
        changes = self._changes
        named, uris = await self.callable_together(), self._uris.now
        plain = [each for each in named if each[1].definition.view.is_for_models]
        made = await finish_in_thread(_listed, plain, uris) if len(named) > SLICE else _listed(plain, uris)
        lists = JointLists(made, made)
        if any(route.definition.view is not NO_VIEW for _, route in named):
            lists = JointLists(made, _listed(await self._told_apart(named), uris))
        if changes == self._changes:
            self._made = lists
            keep_for_long(len(named))

    async def _told_apart(self, named: Sequence[tuple[str, Route]]) -> list[tuple[str, Route]]:
        """With other names for tools that have the own name of another server's, which views of that server may call."""
        have_views = {route.server for _, route in named if route.definition.view.uris}
        called: dict[str, set[str]] = {}
        for _, route in named:
            if route.server in have_views and route.definition.view.is_for_apps:
                called.setdefault(route.definition.name, set()).add(route.server)
        met = {name: route for name, route in named if called.get(name, set()) - {route.server}}
        keys = {name: tool_settings.other_key(route.server, route.definition.name, name) for name, route in met.items()}
        given = await finish_in_thread(self._names.publish, keys.values()) if keys else {}
        told = [(given[keys[name]] if name in keys else name, route) for name, route in named]
        return sorted(told, key=_by_name)

    async def callable_together(self) -> list[tuple[str, Route]]:
        """The tools that a client of all servers can call: tasks it cannot have of many servers at once."""
        return await self.named(route for route in self._routes() if not route.definition.is_task_only)

    async def named(self, routes: Iterable[Route]) -> list[tuple[str, Route]]:
        """Routes with their published names, sorted by them."""
        routes = list(routes)

        def publish() -> list[tuple[str, Route]]:
            tools = [tool_settings.key(route.server, route.definition.name, route.override) for route in routes]
            names = self._names.publish(tools)
            return sorted(((names[tool], route) for tool, route in zip(tools, routes, strict=True)), key=_by_name)

        return await finish_in_thread(publish)


def _listed(named: Iterable[tuple[str, Route]], uris: ResourceUris) -> Listed:
    entries = tuple(Entry(name, route, route.published(name, uris)) for name, route in named)
    return Listed(entries, listing_of(TOOLS, (entry.definition for entry in entries)))


def _by_name(named: tuple[str, Route]) -> str:
    return named[0]
