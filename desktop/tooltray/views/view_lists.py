"""The lists of tools that sessions see whose view is not the whole: made once for all sessions with the same view.

Above it: Views. Below it: ToolManager and Offers, which know what there is; Profiles; the published names.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Raw

from tooltray.builtin import hub_server
from tooltray.catalogue.known_servers import KnownServers
from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES, TOOLS, listing_of
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.published_names import PublishedNames
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Entry, ListTerms
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.sessions.client_limits import KnownLimits
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.tasks import finish_in_thread
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.server_manager import ServerManager
from tooltray.views import meta_tools
from tooltray.views.meta_tools import CALL_KEY, FIND_KEY, READ_KEY, LazyServer, key_of
from tooltray.views.profiles import Profiles
from tooltray.views.result_limits import ResultLimits
from tooltray.views.session_view import SessionView, room_of

MOST_KEPT = 64  # listings; sessions that activate one server after the other have a few dozen
_WORDS = {PROMPTS: "prompt", RESOURCES: "resource", TEMPLATES: "resource template"}

Key = tuple[str, str]


class _Kept(NamedTuple):
    """A listing, and what it was made of."""

    entries: Sequence[Entry]
    made_of: tuple[object, ...]
    listing: Raw


class _ById(NamedTuple):
    """Equal to itself alone: settings are replaced as a whole, and comparing them would take long."""

    settings: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.settings is self.settings


class ViewLists:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        offers: Offers,
        profiles: Profiles,
        names: PublishedNames,
        known: KnownServers,
        client_limits: KnownLimits,
        result_limits: ResultLimits,
    ) -> None:
        self._config, self._servers, self._tools, self._offers = config, servers, tools, offers
        self._profiles, self._names, self._known, self._limits = profiles, names, known, client_limits
        self._result_limits = result_limits
        self._given: dict[Key, str] = {}
        self._listings: dict[tuple[SessionView, str | None, str], _Kept] = {}

    async def listing(self, view: SessionView, state: SessionState, *, client: McpClient | None, era: Era = Era.MODERN) -> Raw:
        """The result of `tools/list`. `client`: the copy of the session's one server that is for it alone."""
        is_wanted = partial(self._profiles.includes, state)
        entries = await self._tools.entries(state.server, client=client, terms=view.terms, era=era, is_wanted=is_wanted)
        if await self._give_names(view) and client is None:
            entries = await self._tools.entries(state.server, terms=view.terms, era=era)  # others may have come meanwhile
        made_of, key = self._state_of(view), (view, state.server, state.client if view.reads_results or view.leaves_structure_out else "")
        kept = self._listings.get(key)
        if kept and kept.entries is entries and kept.made_of == made_of:
            return kept.listing
        shown = (self._definition(view, state, entry) for entry in entries if self._is_listed(view, state, entry))
        listing = listing_of(TOOLS, [*self._meta_definitions(view, state, entries), *shown])
        if client is None:
            self._keep(key, _Kept(entries, made_of, listing))
        return listing

    def _keep(self, key: tuple[SessionView, str | None, str], made: _Kept) -> None:
        """Forgets the oldest where there are too many."""
        self._listings.pop(key, None)
        self._listings[key] = made
        if len(self._listings) > MOST_KEPT:
            del self._listings[next(iter(self._listings))]

    async def of_server(self, server: str, state: SessionState, *, client: McpClient | None) -> list[Entry]:
        """Those of one server that a session's model may call."""
        entries = await self._tools.entries(state.server, client=client, terms=ListTerms(self.room_of(state), state.shows_views))
        return [entry for entry in entries if entry.route.server == server and self._is_for_model(state, entry)]

    def is_for_models(self, name: str, server: str | None) -> bool:
        """Whether a model may call what is called `name`, as far as it is known: not a tool for views alone."""
        target = self._tools.target(name, server)
        route = self._tools.routes(target[0]).get(target[1]) if target else None
        return route is None or route.definition.view.is_for_models

    def _is_for_model(self, state: SessionState, entry: Entry) -> bool:
        return entry.route.definition.view.is_for_models and self.includes(state, entry)

    def room_of(self, state: SessionState) -> int:
        """How many characters a session's client takes for a name; see SessionView."""
        return room_of(state, self._limits)

    def includes(self, state: SessionState, entry: Entry) -> bool:
        """Whether a session's profile has a tool."""
        return self._profiles.includes(state, entry.route.server, entry.route.definition.name)

    def key(self, name: str, server: str | None) -> Key | None:
        """Which of the hub's tools about others a session calls by a name; None if it is none. `server`: the session has it alone."""
        target = self._names.target(name) or self._by_heart(name)
        if server is None:
            return target if target and target[0] == hub_server.NAME and meta_tools.is_meta(target) else None
        if name in self._tools.offered_names(server):
            return None
        if target and meta_tools.is_meta(target):
            return target
        return next(
            (key for key in (FIND_KEY, CALL_KEY, READ_KEY, key_of(server)) if key in self._given and self.name(key, server) == name), None
        )

    def _by_heart(self, name: str) -> Key | None:
        """What a name would be given to that was never given, because nobody has listed yet."""
        is_there = name in (FIND_KEY[1], CALL_KEY[1], READ_KEY[1]) or self._servers.find(name.removeprefix(meta_tools.ACTIVATE))
        return (hub_server.NAME, name) if is_there else None

    def name(self, key: Key, server: str | None) -> str:
        """The name of such a tool; one that no tool of the server has, where a session has it alone."""
        name, taken = self._given.get(key, key[1]), self._tools.offered_names(server) if server else frozenset()
        while name in taken:
            name = f"{hub_server.NAME}_{name}"
        return name

    def reader_name(self, server: str | None) -> str:
        """The name of the tool that reads results. `server`: the session has it alone."""
        return self.name(READ_KEY, server)

    def likely_name(self, key: Key) -> str:
        """The name under which a tool of the hub's own is listed, or will be unless another one takes it first."""
        return self._names.known(key) or key[1]

    def changed_with(self, servers: Collection[str]) -> list[str]:
        """The notifications that say which lists are others when these servers are shown or hidden; that of the tools always is."""
        offered = {kind: self._offers.offered(kind) for kind in KINDS}
        changed = [kind.changed for kind in KINDS if any(offered[kind].get(server) for server in servers)]
        return list(dict.fromkeys([TOOLS.changed, *changed]))

    # making lists

    def _is_listed(self, view: SessionView, state: SessionState, entry: Entry) -> bool:
        server = entry.route.server
        if view.is_search and not self._is_builtin(server):
            return False
        return server not in view.hidden and self.includes(state, entry)

    def _definition(self, view: SessionView, state: SessionState, entry: Entry) -> Raw:
        """Clients refuse a result that does not satisfy the tool's own schema, as one without its structured content would not."""
        if not (view.reads_results or view.leaves_structure_out) or b'"outputSchema"' not in bytes(entry.definition):
            return entry.definition
        if not self._result_limits.cuts(entry.route, state):
            return entry.definition
        return closed({name: value for name, value in opened(entry.definition).items() if name != "outputSchema"})

    def _is_builtin(self, server: str) -> bool:
        managed = self._servers.find(server)
        return managed is not None and managed.is_builtin

    def _meta_definitions(self, view: SessionView, state: SessionState, entries: Sequence[Entry]) -> list[Raw]:
        tools: dict[str, list[str]] = {server: [] for server in view.lazy if self._servers.find(server)}
        for entry in entries:
            if entry.route.server in tools and self._is_for_model(state, entry):
                tools[entry.route.server].append(entry.name)
        made = [
            meta_tools.activate_definition(self.name(key_of(server), state.server), self._lazy_server(server, names))
            for server, names in tools.items()
        ]
        if view.has_search:
            call_name = self.name(CALL_KEY, state.server)
            made += [meta_tools.find_definition(self.name(FIND_KEY, state.server), call_name), meta_tools.call_definition(call_name)]
        if view.reads_results:
            made.append(meta_tools.read_definition(self.reader_name(state.server)))
        return made

    def _lazy_server(self, name: str, tools: Sequence[str]) -> LazyServer:
        config = self._servers.get(name).config
        counts = {_WORDS[kind]: len(self._offers.offered(kind).get(name, ())) for kind in KINDS}
        is_known = self._tools.is_listed(name)
        return LazyServer(self._known.title(name, config), self._known.offers(name, config), tools if is_known else None, counts)

    def _state_of(self, view: SessionView) -> tuple[object, ...]:
        """What a listing depends on, besides its view and the tools."""
        return (
            _ById(self._config.settings),
            tuple(self._given.items()),
            tuple(self._offers.changes(kind) for kind in KINDS),
            tuple(self._tools.is_listed(server) for server in view.lazy),
        )

    async def _give_names(self, view: SessionView) -> bool:
        """Gives the tools of a view their names, behind those of the servers' tools; whether any of them had none."""
        keys = [*map(key_of, view.lazy), *((FIND_KEY, CALL_KEY) if view.has_search else ()), *((READ_KEY,) if view.reads_results else ())]
        if all(self._names.target(self._given.get(key, "")) == key for key in keys):
            return False
        self._given |= await finish_in_thread(self._names.publish, keys)
        return True
