"""How tools are shown to each AI client, and why: everything, lazily, or only by search; without a user's choice, the size decides. The
view of one session is a short value: sessions with equal views get equal lists.
"""

from collections.abc import Hashable

import msgspec
from msgspec.structs import replace

from tooltray.catalogue import token_counts
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import ListTerms, Route
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.profiles import Profiles
from tooltray.config.settings.call_rule import CallRule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import Settings
from tooltray.config.settings.settings_reading import UNREADABLE_PROFILE
from tooltray.foundation.events import ConfigChanged, Event, EventBus, ToolListChanged
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.eras import ClientInfo, Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState, SessionStates
from tooltray.servers.builtin.hub_server import NAME as HUB
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.servers.upstream.visibility import EVERYBODY

AUTOMATIC_TOKENS = 10_000  # a twentieth of the context of today's models; beyond it, tools are searched
MOST_VIEWS = 1000  # kept; one for each kind of client, as long as clients call themselves the same each time
NAMES_IN_REASON = 3
EVERYTHING, SEARCH = "everything", "search"


class Shown(msgspec.Struct, frozen=True):
    """How tools are shown to a session.

    Attributes:
        mode: "everything", "lazy" or "search".
        reason: why, in words for a user; a Phrase.
        lazy_by_default: the default for a server without its own setting; None: no server is lazy.
        is_automatic: the decision also depends on the present tools.
    """

    mode: str
    reason: str
    lazy_by_default: bool | None
    is_automatic: bool


class _Key(msgspec.Struct, frozen=True):
    """The facts that decide how tools are shown to a session."""

    client: str
    server: str | None
    profile: str
    place: str | None
    kept: str


class SessionView(msgspec.Struct, frozen=True):
    """The view of one session: what is listed to it.

    Attributes:
        profile: the name of its profile; empty: no profile.
        included: the contents of the profile, to detect changes.
        own: the servers that it has because of its project.
        lacks_any: some servers do not exist for it.
        shows_views: its client shows views of tools, and gets the tools that only views may call.
        leaves_structure_out: its client reads only the text of results that have the same content twice.
        reads_results: a result may be cut for it, so the tool that reads the rest is listed.
        room: how many characters its client accepts for a name of a tool; 0 if it has only one server, whose names are unchanged.
        is_search: tools of servers are found only by search.
        lazy: the servers that show one tool until they are activated, and all their tools from then on.
        hidden: the lazy servers that are not activated.
        has_search: the tools that find and call others are listed.
        has_steps: the tool that makes several calls is listed.
    """

    profile: str
    included: Hashable
    own: frozenset[str]
    lacks_any: bool
    shows_views: bool
    reads_results: bool
    leaves_structure_out: bool
    room: int
    is_search: bool = False
    lazy: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    has_search: bool = False
    has_steps: bool = False

    @property
    def terms(self) -> ListTerms:
        """The terms that decide which tools of all servers its client sees."""
        return ListTerms(self.room, self.shows_views)

    @property
    def is_whole(self) -> bool:
        """Whether everything is listed, and nothing else."""
        differs = self.is_search or self.profile or self.lazy or self.lacks_any or self.reads_results or self.leaves_structure_out
        return not (differs or self.has_steps)

    @property
    def is_bounded(self) -> bool:
        """Whether it leaves out servers permanently, not only until they are activated."""
        return bool(self.profile) or self.lacks_any


class ModesChanged(Event, frozen=True):
    """An event: sessions may see other lists, because tools have changed. For other parts of the engine."""


class Modes:
    """The view modes and the views of all sessions. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        states: SessionStates,
        clients: KnownClients,
        profiles: Profiles,
        servers: ServerManager,
        tools: ToolManager,
        bus: EventBus,
    ) -> None:
        self._config, self._states, self._clients, self._profiles = config, states, clients, profiles
        self._servers, self._tools, self._visibility, self._bus = servers, tools, profiles.visibility, bus
        self._examined: Settings | None = None
        self._may_hide, self._is_plain = False, True  # by the settings examined
        self._shown: dict[_Key, Shown] = {}
        bus.subscribe(ConfigChanged, self._on_config_changed)
        bus.subscribe(ToolListChanged, self._on_tools_changed)

    # views of sessions

    def view(self, state: SessionState) -> SessionView:
        """Returns a session's present view."""
        profile, terms = self._profiles.of(state), self._clients.list_terms(state)
        view = SessionView(
            profile=profile,
            included=self._profiles.content(profile),
            own=self._visibility.own(state),
            lacks_any=self._visibility.lacks_any(state),
            shows_views=terms.with_views,
            reads_results=self._clients.may_cut(state),
            leaves_structure_out=self._clients.leaves_structure_out(state),
            room=terms.room,
            has_steps=bool(self._clients.has_steps(state)),
        )
        if not self.may_hide():
            return view
        if self.shown(state).mode == SEARCH:
            return replace(view, is_search=True, has_search=True, has_steps=self._clients.has_steps(state) is not False)
        lazy = tuple(server.name for server in self._servers if self._shows_tool_of(server, state))
        hidden = frozenset(lazy) - state.activated
        has_search = bool(hidden) and self.obeys_changes(state) is not True
        return replace(view, lazy=lazy, hidden=hidden, has_search=has_search)

    def compact_view(self, state: SessionState) -> SessionView:
        """Returns a session's view if all servers had a compact tool listing; none has where the servers' own choice does not count."""
        view, has_own = self.view(state), self._clients.settings(state.client).mode or self._config.settings.publish.mode
        can_change = has_own in (None, "lazy") and not view.is_search
        names = (server.name for server in self._servers if can_change and self._is_offered(server, state))
        return replace(view, lazy=tuple(names), has_search=self.obeys_changes(state) is not True, reads_results=False)

    def full_view(self, state: SessionState) -> SessionView:
        """Returns a session's view if its tool listing were full."""
        steps = bool(self._clients.has_steps(state))
        return replace(self.view(state), is_search=False, lazy=(), hidden=frozenset(), has_search=False, has_steps=steps)

    def _is_offered(self, server: ManagedServer, state: SessionState) -> bool:
        is_there = not server.is_builtin and state.server in (None, server.name) and self._tools.is_offering(server)
        return is_there and self._profiles.includes(state, server.name)

    def _shows_tool_of(self, server: ManagedServer, state: SessionState) -> bool:
        """Reports whether a session sees the tool that activates a server."""
        return self._is_lazy(state, server) and self._is_offered(server, state)

    def _is_lazy(self, state: SessionState, server: ManagedServer) -> bool:
        return not server.is_builtin and self.is_lazy(state, server.config)

    def hides(self, state: SessionState, server: str) -> bool:
        """Reports whether a server's tools, prompts and resources are not listed to a session because it has not activated the server."""
        if server in state.activated or not self.may_hide():
            return False
        managed = self._servers.find(server)
        return managed is not None and self._is_lazy(state, managed)

    def shown(self, state: SessionState) -> Shown:
        """Returns how tools are shown to a session now."""
        return self._of_key(self._key(state))

    def is_lazy(self, state: SessionState, server: MCPServerConfig) -> bool:
        """Reports whether a session sees a server's tools only after it has activated it; False if the mode is not "lazy"."""
        return _is_lazy(server, self._of_key(self._key(state)).lazy_by_default)

    def obeys_changes(self, state: SessionState) -> bool | None:
        """Reports whether a session's client lists again after news of a change: as observed, else as documented; None: unknown."""
        if state.obeys_changes is not None:
            return state.obeys_changes
        profile = self._clients.profile(state.client)
        return profile.obeys_changes if profile else None

    def auto_approve(self, state: SessionState) -> tuple[str, ...] | None:
        """Returns which calls of a session's client run without asking, not the servers' own rules; None: the servers' rules count."""
        if not self._config.settings.publish.clients:  # no client has rules: each call skips the rest
            return None
        return self._clients.settings(state.client).auto_approve

    def call_rules(self, state: SessionState) -> tuple[CallRule, ...] | None:
        """Returns the rules on arguments of a session's client, which replace the servers' own; None: the servers' rules count. A client
        with an `autoApprove` of its own, but without such rules, has an empty set.
        """
        if not self._config.settings.publish.clients:
            return None
        settings = self._clients.settings(state.client)
        return settings.call_rules if settings.auto_approve is None else settings.call_rules or ()

    def keep(self, state: SessionState) -> None:
        """Keeps a decision by size for a session that has listed its tools, so that its list does not become another kind of list.

        A list without a tool of any server decides nothing: the servers may not have listed theirs yet.
        """
        key = self._key(state)
        if not state.listed_mode and (shown := self._of_key(key)).is_automatic and self._has_tools(key):
            state.listed_mode = shown.mode

    def summary(self, state: SessionState) -> str:
        """Describes a session's tools and their approximate tokens; a Phrase, empty without tools."""
        key = self._key(state)
        shown, (known, cost) = self._of_key(key), self._size(key)
        count, tokens = f"{known:,}", token_counts.roughly(cost)
        if not known:
            return ""
        if shown.mode == EVERYTHING:
            return Phrase("AI clients get all tools ({count}, about {tokens} tokens).", count=count, tokens=tokens)
        if shown.mode != SEARCH:
            return Phrase("AI clients get a compact list of the tools ({count}, about {tokens} tokens).", count=count, tokens=tokens)
        if shown.is_automatic:
            return Phrase(
                "AI clients search the tools ({count}, about {tokens} tokens); those that search themselves get all.",
                count=count,
                tokens=tokens,
            )
        return Phrase("AI clients search the tools ({count}, about {tokens} tokens).", count=count, tokens=tokens)

    # tools that the settings hide

    def is_plain(self, state: SessionState) -> bool:
        """Reports whether the settings hide no tool from calls of a session: such calls skip the other checks."""
        if (settings := self._config.settings) is not self._examined:
            self._examine(settings)
        return self._is_plain and not state.profile

    def may_hide(self) -> bool:
        """Reports whether the settings hide tools from any client."""
        if (settings := self._config.settings) is not self._examined:
            self._examine(settings)
        return self._may_hide

    def _examine(self, settings: Settings) -> None:
        self._examined, publish = settings, settings.publish
        modes = (_mode_for_all(settings), *(each.mode for each in publish.clients.values()))
        has_modes = any(mode not in (None, EVERYTHING) for mode in modes)
        self._may_hide = has_modes or any(server.is_lazy(publish.lazy_load) for server in settings.mcp_servers.values())
        is_automatic = _mode_for_all(settings) == "automatic"  # this mode changes lists, not calls
        self._is_plain = (is_automatic or not self._may_hide) and not publish.clients and self._visibility.is_plain

    # names of clients
    def named(self, state: SessionState, info: ClientInfo) -> None:
        """Records the name of a session's client; several clients may take turns in one session of HTTP requests."""
        if (state.client, state.version) == (info.name, info.version):
            return
        if state.client != info.name:
            state.obeys_changes, state.listed_mode = None, ""
            self._clients.saw(info.name)
        state.client, state.version = info.name, info.version
        if not state.is_passing:
            self._states.tell_changed()

    # deciding

    def _key(self, state: SessionState) -> _Key:
        place = EVERYBODY if self._visibility.is_plain else self._visibility.place(state)
        return _Key(state.client, state.server, state.profile, place, state.listed_mode)

    def _of_key(self, key: _Key) -> Shown:
        if (shown := self._shown.get(key)) is None:
            if len(self._shown) >= MOST_VIEWS:
                self._shown = {}
            shown = self._shown[key] = self._decide(key)
        return shown

    def _decide(self, key: _Key) -> Shown:
        publish, profile = self._config.settings.publish, self._profile(key)
        own = self._clients.settings(key.client).mode
        mode = own or _mode_for_all(self._config.settings)
        by_default = {"lazy": True, None: publish.lazy_load}.get(mode)
        if mode is None:
            decided, reason = _by_servers(self._lazy(key, by_default), profile)
        elif mode == "automatic":
            decided, reason = self._by_size(key)
        else:
            decided, reason = mode, Phrase("chosen for this AI client") if own else Phrase("chosen for all AI clients")
        if profile and self._profiles.find(profile) is None:
            reason = Phrase("profile '{profile}' not found, so nothing is shown", profile=profile)
            if profile == UNREADABLE_PROFILE:
                reason = Phrase("its settings cannot be read, so nothing is shown")
        return Shown(decided, reason, by_default, mode == "automatic")

    def _lazy(self, key: _Key, by_default: bool | None) -> list[str]:
        """Returns the servers of a session whose tools are listed only after activation."""
        servers, profile = self._config.settings.mcp_servers.items(), self._profile(key)
        lazy = (name for name, config in servers if not config.disable and _is_lazy(config, by_default))
        return sorted(name for name in lazy if key.server in (None, name) and self._has(key, profile, name))

    def _by_size(self, key: _Key) -> tuple[str, str]:
        """Returns the mode and the reason if the number and size of the tools decide."""
        count, size = self._size(key)
        cost = token_counts.roughly(size)
        profile = self._clients.profile(key.client)
        if key.kept:
            return (
                key.kept,
                Phrase("decided when it listed its tools; there are {count} tools now, of about {cost} tokens", count=count, cost=cost),
            )
        if profile and profile.searches:
            return EVERYTHING, Phrase("{client} searches tools itself", client=profile.title)
        if profile and profile.tool_cap and count > profile.tool_cap:
            cap, title = profile.tool_cap, profile.title
            why = Phrase("{client} shows at most {most} tools, there are {count}", client=title, most=cap, count=count)
        elif size > AUTOMATIC_TOKENS:
            most = f"{AUTOMATIC_TOKENS:,}"
            why = Phrase("{count} tools cost about {cost} tokens, more than {most}", count=count, cost=cost, most=most)
        else:
            return EVERYTHING, Phrase("{count} tools cost about {cost} tokens, so that all fit", count=count, cost=cost)
        return SEARCH, Phrase("{why}, so they are searched", why=why)

    def _has_tools(self, key: _Key) -> bool:
        """Reports whether any tools of a session's servers, other than the hub's own server, are known."""
        profile, names = self._profile(key), self._tools.server_names if key.server is None else (key.server,)
        return any(self._tools.size(name)[0] and self._has(key, profile, name) for name in names if name != HUB)

    def _size(self, key: _Key) -> tuple[int, int]:
        """Returns how many tools a session has, and about how many tokens they cost."""
        profile, count, size_bytes = self._profile(key), 0, 0
        for server in self._tools.server_names if key.server is None else (key.server,):
            if not self._has(key, profile, server):
                continue
            if self._profiles.names_tools(profile, server):
                known = (route for route in self._tools.all_routes(server) if route.definition.view.is_for_models)
                routes = [route for route in known if self._has(key, profile, server, route.definition.name)]
                more = len(routes), sum(map(_counted_size, routes))
            else:
                more = self._tools.size(server)
            count, size_bytes = count + more[0], size_bytes + more[1]
        return count, token_counts.estimated(size_bytes)

    def _has(self, key: _Key, profile: str, server: str, tool: str | None = None) -> bool:
        return self._visibility.includes(key.place, server) and self._profiles.has(profile, server, tool)

    def _profile(self, key: _Key) -> str:
        return key.profile or self._clients.settings(key.client).profile or ""

    # changes

    def _on_config_changed(self, event: ConfigChanged) -> None:
        before, self._shown = self._shown, {}
        if any(self._of_key(key) != shown for key, shown in before.items()):
            self._states.tell_changed()

    def _on_tools_changed(self, event: ToolListChanged) -> None:
        before = {key: shown for key, shown in self._shown.items() if shown.is_automatic}
        for key in before:
            del self._shown[key]
        if any(self._of_key(key).mode != shown.mode for key, shown in before.items()):
            self._states.tell_changed()
            self._bus.publish(ModesChanged())


def _mode_for_all(settings: Settings) -> str | None:
    """Returns the mode of clients without one of their own. None: it depends on each server, since the user has chosen `lazyLoad`."""
    publish = settings.publish
    has_chosen = "lazy_load" in publish.model_fields_set or any(
        server.own_lazy_load is not None for server in settings.mcp_servers.values()
    )
    return publish.mode or (None if has_chosen else "automatic")


def _counted_size(route: Route) -> int:
    """Returns the size that `tooltray tools cost` counts, too."""
    return token_counts.counted_size(route.published(route.definition.name) if route.override else route.definition.raw)


def _is_lazy(server: MCPServerConfig, by_default: bool | None) -> bool:
    """Reports whether a server is lazy; the hub's own server has no entry in the settings, and is never hidden."""
    return by_default is not None and server.transport != "inmemory" and server.is_lazy(by_default)


def _by_servers(names: list[str], profile: str) -> tuple[str, str]:
    """Returns the mode and the reason if the user has chosen no mode. `names`: of the lazy servers."""
    if not names and profile:
        return EVERYTHING, Phrase("everything in the profile '{profile}'", profile=profile)
    if not names:
        return EVERYTHING, Phrase("no tools are hidden by settings")
    named = ", ".join(names[:NAMES_IN_REASON])
    if (more := len(names) - NAMES_IN_REASON) > 0:
        named = Phrase("{names} and {count} more", names=named, count=more)
    return "lazy", Phrase("tools load when used, as set for: {names}", names=named)


def own_copy(servers: ServerManager, server: str | None, era: Era, session: Session) -> McpClient | None:
    """Returns a session's or its era's own instance of its only server: the instance may offer other tools than the one that is always
    listed.
    """
    managed = servers.find(server) if server else None
    client = managed.client_for(era, session) if managed else None
    return client if managed and client is not managed.client else None
