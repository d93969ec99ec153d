"""Routes to tools: where a call of each goes and whether it goes, and what AI clients see of a server's tools.

Above it: ToolManager, which has one `OfferedTools` for each server, and all who ask it where a call goes. Below it: the rules for tools
(approval, filter, overrides, definitions). Pure: nothing here asks a server or keeps anything.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw

from tooltray.catalogue import approval, token_counts, tool_settings
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.offer import TOOLS, listing_of
from tooltray.settings.server_config import ToolOverride
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

    def published(self, name: str) -> Raw:
        """The definition as AI clients get it, under a name."""
        return self.definition.renamed(name, self.override.description if self.override else None)


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


def route_to(managed: ManagedServer, definition: ToolDefinition, *, is_listed: bool = True) -> Route:
    auto_approve = ("all",) if managed.is_builtin else managed.config.auto_approve
    decision = approval.decide(managed.name, definition.name, definition.annotations, auto_approve)
    override = managed.config.tool_overrides.get(definition.name)
    return Route(managed.name, definition, decision, override, managed.config_hash, is_listed)


def _entry(name: str, route: Route) -> Entry:
    """Of a client that has one server alone; verbatim where nothing is to be changed."""
    return Entry(name, route, route.published(name) if route.override else route.definition.publishable)


def joint_listing(named: Iterable[tuple[str, Route]]) -> tuple[tuple[Entry, ...], Raw]:
    """The tools of all servers under their names, one by one and as a list."""
    entries = tuple(Entry(name, route, route.published(name)) for name, route in named)
    return entries, listing_of(TOOLS, (entry.definition for entry in entries))


def size_of(offered: OfferedTools) -> tuple[int, int]:
    sizes = (route.published(name) if route.override else route.definition.raw for name, route in offered.routes.items())
    return len(offered.routes), sum(map(token_counts.counted_size, sizes))


def overrides_of(offered: OfferedTools) -> list[ToolOverride | None]:
    return [route.override for route in offered.routes.values()]
