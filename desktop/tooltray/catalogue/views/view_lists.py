"""The lists of tools for sessions whose view is not the whole: made once for all sessions with the same view."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Raw

from tooltray.catalogue.offer import KINDS, TOOLS, listing_of
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Entry, ListTerms
from tooltray.catalogue.views.hub_tools import HubTools
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.result_limits import ResultLimits
from tooltray.catalogue.views.session_view import SessionView
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

MOST_KEPT = 64  # listings; sessions that activate one server after the other have a few dozen


_Key = tuple[SessionView, str | None, str, Era]
"""What sessions that share a listing have in common: view, server, client where that counts, era."""


class _Kept(NamedTuple):
    """A listing, and its inputs."""

    entries: Sequence[Entry]
    made_of: tuple[object, ...]
    listing: Raw


class _ById(NamedTuple):
    """A value that equals only itself: settings are replaced as a whole, and comparing them would take long."""

    settings: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.settings is self.settings


class ViewLists:
    """The lists of all views. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        offers: Offers,
        profiles: Profiles,
        result_limits: ResultLimits,
        hub_tools: HubTools,
    ) -> None:
        self._config, self._servers, self._tools, self._offers = config, servers, tools, offers
        self._profiles, self._result_limits, self._hub_tools = profiles, result_limits, hub_tools
        self._listings: dict[_Key, _Kept] = {}

    async def listing(self, view: SessionView, state: SessionState, *, client: McpClient | None, era: Era = Era.MODERN) -> Raw:
        """Returns the result of `tools/list`. `client`: the session's own instance of its only server."""
        is_wanted = partial(self._profiles.includes, state)
        entries = await self._tools.entries(state.server, client=client, terms=view.terms, era=era, is_wanted=is_wanted)
        if await self._hub_tools.give_names(view) and client is None:
            entries = await self._tools.entries(state.server, terms=view.terms, era=era)  # tools may have been added meanwhile
        client_name = state.client if view.reads_results or view.leaves_structure_out else ""
        made_of, key = self._state_of(view), (view, state.server, client_name, era)
        kept = self._listings.get(key)
        if kept and kept.entries is entries and kept.made_of == made_of:
            return kept.listing
        shown = (self._definition(view, state, entry) for entry in entries if self._is_listed(view, state, entry))
        listing = listing_of(TOOLS, [*self._meta_definitions(view, state, entries), *shown])
        if client is None:
            self._keep(key, _Kept(entries, made_of, listing))
        return listing

    def _keep(self, key: _Key, made: _Kept) -> None:
        """Keeps a listing, and drops the oldest where there are too many."""
        self._listings.pop(key, None)
        self._listings[key] = made
        if len(self._listings) > MOST_KEPT:
            del self._listings[next(iter(self._listings))]

    async def of_server(self, server: str, state: SessionState, *, client: McpClient | None, terms: ListTerms) -> list[Entry]:
        """Returns the tools of one server that a session's model may call."""
        entries = await self._tools.entries(state.server, client=client, terms=terms)
        return [entry for entry in entries if entry.route.server == server and self._is_for_model(state, entry)]

    def _is_for_model(self, state: SessionState, entry: Entry) -> bool:
        return entry.route.definition.view.is_for_models and self.includes(state, entry)

    def includes(self, state: SessionState, entry: Entry) -> bool:
        """Reports whether a session's profile has a tool."""
        return self._profiles.includes(state, entry.route.server, entry.route.definition.name)

    def changed_with(self, servers: Collection[str]) -> list[str]:
        """Returns the notifications for the lists that change when these servers are shown or hidden; the list of tools always does."""
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
        """Returns the definition of a tool, without its output schema if its results may lack structured content: clients refuse a result
        that does not satisfy the schema.
        """
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
        return self._hub_tools.definitions(view, state.server, tools)

    def _state_of(self, view: SessionView) -> tuple[object, ...]:
        """Returns everything that a listing depends on, besides its view and the tools."""
        return (
            _ById(self._config.settings),
            self._hub_tools.given,
            tuple(self._offers.changes(kind) for kind in KINDS),
            tuple(self._tools.is_listed(server) for server in view.lazy),
        )
