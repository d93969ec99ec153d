"""The selection of all offers that one session sees: lazy servers as one tool each until they are activated, the servers and tools of its
profile, and the tools that find and call others. Sessions are notified when what they see changes.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.offer import KINDS, PROMPTS, TOOLS, listing_of
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Entry, ListTerms, Route
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.meta_tools import HubTools
from tooltray.catalogue.views.modes import Modes, ModesChanged, SessionView, own_copy
from tooltray.catalogue.views.profiles import Profiles
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus, ServerRemoved
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionMoved, SessionState, SessionStates
from tooltray.servers.upstream.managed_server import ServersConfigured, ServerStateChanged
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

MOST_KEPT = 64  # listings; sessions that activate one server after the other have a few dozen


_Key = tuple[SessionView, str | None, str, Era]
"""The common facts of sessions that share a listing: view, server, client if it matters, era."""


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
        clients: KnownClients,
        hub_tools: HubTools,
    ) -> None:
        self._config, self._servers, self._tools, self._offers = config, servers, tools, offers
        self._profiles, self._clients, self._hub_tools = profiles, clients, hub_tools
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
        """Caches a listing, and drops the oldest one if there are too many."""
        self._listings.pop(key, None)
        self._listings[key] = made
        if len(self._listings) > MOST_KEPT:
            del self._listings[next(iter(self._listings))]

    async def compact(self, view: SessionView, state: SessionState) -> tuple[dict[str, Raw], list[Raw]]:
        """Returns the tool that would represent each server of a compact listing, and the tools that would be listed beside these."""
        made = self._meta_definitions(view, state, await self._tools.entries(state.server, terms=view.terms))
        servers = [server for server in view.lazy if self._servers.find(server)]
        return dict(zip(servers, made, strict=False)), made[len(servers) :]

    async def for_models(
        self, state: SessionState, *, client: McpClient | None, terms: ListTerms, server: str | None = None
    ) -> list[Entry]:
        """Returns the tools that a session's model may call, listed or not. `server`: only this one's."""
        entries = await self._tools.entries(state.server, client=client, terms=terms)
        return [entry for entry in entries if server in (None, entry.route.server) and self._is_for_model(state, entry)]

    def awaited(self, state: SessionState) -> list[str]:
        """Returns the servers of a session that have not listed their tools yet, by name."""
        return [name for name in self._tools.awaited() if state.server in (None, name) and self._profiles.includes(state, name)]

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
        if view.is_search and not self.is_builtin(server):
            return False
        return server not in view.hidden and self.includes(state, entry)

    def _definition(self, view: SessionView, state: SessionState, entry: Entry) -> Raw:
        """Returns the definition of a tool, without its output schema if its results may lack structured content: clients refuse a result
        that does not satisfy the schema.
        """
        if not (view.reads_results or view.leaves_structure_out) or b'"outputSchema"' not in bytes(entry.definition):
            return entry.definition
        if not self._clients.cuts_results_of(entry.route, state):
            return entry.definition
        return closed({name: value for name, value in opened(entry.definition).items() if name != "outputSchema"})

    def is_builtin(self, server: str) -> bool:
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


CALLS_WITHOUT_LISTING = 3  # seconds after a notification of changed tools; clients that list again do so sooner
EVERY_LIST = tuple(dict.fromkeys(kind.changed for kind in (TOOLS, *KINDS)))

Tell = Callable[[str], None]
"""Takes the notification of the list that has changed."""


class Views:
    """The lists and notifications for all sessions. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        profiles: Profiles,
        states: SessionStates,
        modes: Modes,
        lists: ViewLists,
        bus: EventBus,
    ) -> None:
        self._servers, self._tools, self._profiles, self._states = servers, tools, profiles, states
        self._modes, self._lists = modes, lists
        self.is_plain = modes.is_plain  # used with every call
        self._followers: dict[str, dict[Tell, SessionState]] = {}  # by the session's id: its connections
        self._seen: dict[str, SessionView] = {}  # the view that followers were last notified of
        self._have_listed: set[str] = set()  # ids of sessions with followers
        for kind in (ServersConfigured, ModesChanged):
            bus.subscribe(kind, lambda event: self.invalidate())
        bus.subscribe(SessionMoved, lambda event: self.moved(event.state))
        bus.subscribe(ServerRemoved, self._on_server_removed)
        self._offering: dict[str, bool] = {}  # whether a server's tools may be listed, as of its last change
        bus.subscribe(ServerStateChanged, self._on_server_changed)

    # lists

    async def listing(self, exchange: Exchange) -> Raw:
        """Returns the result of `tools/list` for a session."""
        state, view = exchange.session.state, None
        while view != (now := self._modes.view(state)):  # the view may change while a list is made
            view, client = now, own_copy(self._servers, exchange.server, exchange.era, exchange.session)
            if view.is_whole:
                listing = await self._tools.listing(exchange.server, client=client, terms=view.terms, era=exchange.era)
            else:
                listing = await self._lists.listing(view, state, client=client, era=exchange.era)
        self._on_listed(state, view)
        return listing

    def _on_listed(self, state: SessionState, view: SessionView) -> None:
        self._modes.keep(state)
        if view.shows_views:
            state.listed_views = self._tools.view_servers
        if state.id in self._followers:
            self._have_listed.add(state.id)
        if len(followers := self._followers.get(state.id, {})) > 1:  # only one of its connections has the new list
            self._tell_if_changed(state)
        elif followers:
            self._seen[state.id] = view

    async def at_start(self, state: SessionState) -> Raw:
        """Returns the tools for models of a present or future session, without counting as a list request."""
        view = replace(self._modes.view(state), shows_views=False)
        if view.is_whole:
            return await self._tools.listing(state.server, terms=view.terms)
        return await self._lists.listing(view, state, client=None)

    async def if_compact(self, state: SessionState) -> tuple[dict[str, Raw], list[Raw]]:
        """Returns the tools that a compact listing would have for a session: see ViewLists.compact. Tools listed already are left out of
        the second.
        """
        servers, others = await self._lists.compact(self._modes.compact_view(state), state)
        return servers, [] if self._modes.view(state).has_search else others

    async def if_full(self, state: SessionState) -> list[Raw]:
        """Returns the tools of Tooltray's own that a full listing would have for a session beside the tools of servers."""
        return (await self._lists.compact(self._modes.full_view(state), state))[1]

    def room_of(self, state: SessionState) -> int:
        """Returns how many characters a session's client accepts for a name; see SessionView."""
        return self._modes.view(state).room

    def shown_servers(self, state: SessionState) -> Callable[[str], bool] | None:
        """Returns which servers' prompts and resources are listed to a session; None: all."""
        view = self._modes.view(state)
        if not view.hidden and not view.is_bounded:
            return None
        return lambda server: server not in view.hidden and self.reaches(state, server)

    def shows(self, state: SessionState, server: str, changed: str) -> bool:
        """Reports whether a change of a server's list concerns a session. `changed`: the notification of the change."""
        if not self.reaches(state, server):
            return False
        view = self._modes.view(state)
        if changed == TOOLS.changed:  # also of a hidden server: its description changes with them
            return not view.is_search or self._lists.is_builtin(server)
        return server not in view.hidden

    # calls

    def offers(self, state: SessionState, route: Route) -> bool:
        """Reports whether a session may call a tool, even if the tool is not listed to it yet."""
        return self._profiles.includes(state, route.server, route.definition.name)

    def reaches(self, state: SessionState, server: str) -> bool:
        """Reports whether a session may use a server's prompts and resources."""
        return self._profiles.includes(state, server)

    def used(self, state: SessionState, server: str) -> None:
        """Records that a session calls a tool, or gets a prompt or a resource: a hidden server counts as activated from now on."""
        if self._modes.hides(state, server):
            state.activated.add(server)
            self._states.tell_changed()
            self._tell_if_changed(state)

    # notifications
    def follow(self, state: SessionState, tell: Tell) -> Callable[[], None]:
        """Subscribes to later changes that only this session sees; returns a function that unsubscribes."""
        self._followers.setdefault(state.id, {})[tell] = state
        self._seen.setdefault(state.id, self._modes.view(state))

        def end() -> None:
            followers = self._followers.get(state.id, {})
            followers.pop(tell, None)
            if not followers:
                self._followers.pop(state.id, None)
                self._seen.pop(state.id, None)
                self._have_listed.discard(state.id)

        return end

    def invalidate(self) -> None:
        """Notifies the sessions whose view has changed."""
        for followers in list(self._followers.values()):
            self._tell_if_changed(next(iter(followers.values())))

    def moved(self, state: SessionState) -> None:
        """Handles a session's move to another project. A session that has not listed yet has no outdated list."""
        if state.id in self._have_listed:
            self._tell_if_changed(state, has_moved=True)
        elif state.id in self._seen:
            self._seen[state.id] = self._modes.view(state)

    def named(self, state: SessionState) -> None:
        """Handles a new client name of a session: the client may accept other lengths of names."""
        if state.id in self._have_listed:
            self._tell_if_changed(state)
        elif state.id in self._seen:
            self._seen[state.id] = self._modes.view(state)

    def _tell_if_changed(self, state: SessionState, *, has_moved: bool = False) -> None:
        before, view = self._seen.get(state.id), self._modes.view(state)
        if before is None or before == view:
            return
        self._seen[state.id] = view
        news = self._news(before, view, has_moved=has_moved)
        for tell in list(self._followers[state.id]):
            for changed in news:
                tell(changed)

    def _news(self, before: SessionView, view: SessionView, *, has_moved: bool) -> Sequence[str]:
        """Returns which lists have changed. A new or removed server of the session's own project is announced with its lists, and a server
        of another project is not announced at all.
        """
        if (before.profile, before.included) != (view.profile, view.included):
            return EVERY_LIST
        if before.room != view.room:
            return (TOOLS.changed, PROMPTS.changed)
        if not has_moved and replace(before, own=view.own, lacks_any=view.lacks_any, shows_views=view.shows_views) == view:
            return ()
        return self._lists.changed_with(before.hidden ^ view.hidden | before.own ^ view.own)

    def told(self, state: SessionState) -> None:
        """Records that a session's client was notified of changed tools."""
        state.calls_since_told = 0

    def asked(self, state: SessionState, method: str) -> None:
        """Observes a request of a session that was notified: its requests show whether the client obeys."""
        if method == TOOLS.method:
            self._observed(state, True)
        elif method == "tools/call":
            state.calls_since_told = (state.calls_since_told or 0) + 1
            if state.calls_since_told >= CALLS_WITHOUT_LISTING:
                self._observed(state, False)

    def _observed(self, state: SessionState, obeys: bool) -> None:
        state.calls_since_told = None
        if state.obeys_changes is not obeys:
            state.obeys_changes = obeys
            self._states.tell_changed()
            self._tell_if_changed(state)

    def _on_server_changed(self, event: ServerStateChanged) -> None:
        """Updates the views when a server that was never listed starts or stops: it has no list that changes, only the tool that activates
        it.
        """
        name = event.server.name
        if self._servers.find(name) is None:
            return
        is_offering = self._tools.is_offering(event.server)
        if self._offering.get(name, True) is not is_offering:
            self.invalidate()
        self._offering[name] = is_offering

    def _on_server_removed(self, event: ServerRemoved) -> None:
        self._offering.pop(event.name, None)
        for state in self._states:
            state.activated.discard(event.name)
