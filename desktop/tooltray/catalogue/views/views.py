"""What one session sees of everything that is offered: lazy servers as one tool each until they are activated, the servers and tools of its
profile, and the tools that find and call others. Sessions are notified when what they see changes.
"""

from collections.abc import Callable, Sequence

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.offer import KINDS, PROMPTS, TOOLS
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.modes import ModesChanged
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.session_view import SessionView, SessionViews, own_copy
from tooltray.catalogue.views.view_lists import ViewLists
from tooltray.foundation.events import EventBus, ServerRemoved
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionMoved, SessionState, SessionStates
from tooltray.servers.upstream.managed_server import ServersConfigured, ServerStateChanged
from tooltray.servers.upstream.server_manager import ServerManager

CALLS_WITHOUT_LISTING = 3  # of a client that was notified of changed tools; one that lists again does so sooner
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
        views: SessionViews,
        lists: ViewLists,
        bus: EventBus,
    ) -> None:
        self._servers, self._tools, self._profiles, self._states = servers, tools, profiles, states
        self._views, self._lists = views, lists
        self.is_plain = views.is_plain  # used with every call
        self._followers: dict[str, dict[Tell, SessionState]] = {}  # by the session's id: its connections
        self._seen: dict[str, SessionView] = {}  # the view of which followers were last notified
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
        while view != (now := self._views.of(state)):  # the view may change while a list is made
            view, client = now, own_copy(self._servers, exchange.server, exchange.era, exchange.session)
            if view.is_whole:
                listing = await self._tools.listing(exchange.server, client=client, terms=view.terms, era=exchange.era)
            else:
                listing = await self._lists.listing(view, state, client=client, era=exchange.era)
        self._on_listed(state, view)
        return listing

    def _on_listed(self, state: SessionState, view: SessionView) -> None:
        self._views.keep(state)
        if view.shows_views:
            state.listed_views = self._tools.view_servers
        if state.id in self._followers:
            self._have_listed.add(state.id)
        if len(followers := self._followers.get(state.id, {})) > 1:  # only one of its connections knows now
            self._tell_if_changed(state)
        elif followers:
            self._seen[state.id] = view

    async def at_start(self, state: SessionState) -> Raw:
        """Returns the tools for models of a present or future session, without counting as a list request."""
        view = replace(self._views.of(state), shows_views=False)
        if view.is_whole:
            return await self._tools.listing(state.server, terms=view.terms)
        return await self._lists.listing(view, state, client=None)

    def room_of(self, state: SessionState) -> int:
        """Returns how many characters a session's client accepts for a name; see SessionView."""
        return self._views.room_of(state)

    def shown_servers(self, state: SessionState) -> Callable[[str], bool] | None:
        """Returns which servers' prompts and resources are listed to a session; None: all."""
        view = self._views.of(state)
        if not view.hidden and not view.is_bounded:
            return None
        return lambda server: server not in view.hidden and self.reaches(state, server)

    def shows(self, state: SessionState, server: str, changed: str) -> bool:
        """Reports whether a change of a server's list concerns a session. `changed`: the notification of the change."""
        if not self.reaches(state, server):
            return False
        view = self._views.of(state)
        if changed == TOOLS.changed:  # also of a hidden server: its description changes with them
            return not view.is_search or self._is_builtin(server)
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
        if self._views.hides(state, server):
            state.activated.add(server)
            self._states.tell_changed()
            self._tell_if_changed(state)

    # notifications
    def follow(self, state: SessionState, tell: Tell) -> Callable[[], None]:
        """Calls `tell` whenever what a session sees has changed for this session only; returns a function that ends this."""
        self._followers.setdefault(state.id, {})[tell] = state
        self._seen.setdefault(state.id, self._views.of(state))

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
            self._seen[state.id] = self._views.of(state)

    def named(self, state: SessionState) -> None:
        """Handles a new client name of a session: the client may accept other lengths of names."""
        if state.id in self._have_listed:
            self._tell_if_changed(state)
        elif state.id in self._seen:
            self._seen[state.id] = self._views.of(state)

    def _tell_if_changed(self, state: SessionState, *, has_moved: bool = False) -> None:
        before, view = self._seen.get(state.id), self._views.of(state)
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
        return self._lists.changed_with(before.hidden ^ view.hidden | (before.own ^ view.own if has_moved else frozenset()))

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

    def _is_builtin(self, server: str) -> bool:
        managed = self._servers.find(server)
        return managed is not None and managed.is_builtin
