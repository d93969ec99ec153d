"""The view of one session, as a short value: its mode, its profile, the servers of its project, which servers are lazy for it, and which of
those it has not activated. Sessions with equal views get equal lists.
"""

from collections.abc import Hashable

import msgspec
from msgspec.structs import replace

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import ListTerms
from tooltray.catalogue.views.modes import SEARCH, Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.result_limits import ResultLimits
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.servers.upstream.visibility import Visibility


class SessionView(msgspec.Struct, frozen=True):
    """What one session sees.

    Attributes:
        is_search: tools of servers are found only by search.
        profile: the name of its profile; empty: no profile.
        included: the contents of the profile, to detect changes.
        lazy: the servers that show one tool until they are activated, and beside the others from then on.
        hidden: those of the lazy servers that are not activated.
        has_search: the tools that find and call others are listed.
        own: the servers that it has because of its project.
        lacks_any: some servers do not exist for it.
        shows_views: its client shows views of tools, and gets the tools that only views may call.
        leaves_structure_out: its client reads only the text of results that have the same content twice.
        reads_results: a result may be cut for it, so the tool that reads the rest is listed.
        room: how many characters its client accepts for a name of a tool; 0 if it has only one server, whose names are unchanged.
    """

    is_search: bool = False
    profile: str = ""
    included: Hashable = None
    lazy: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    has_search: bool = False
    own: frozenset[str] = frozenset()
    lacks_any: bool = False
    shows_views: bool = False
    reads_results: bool = False
    leaves_structure_out: bool = False
    room: int = 0

    @property
    def terms(self) -> ListTerms:
        """The terms that decide which tools of all servers its client sees."""
        return ListTerms(self.room, self.shows_views)

    @property
    def is_whole(self) -> bool:
        """Whether everything is listed, and nothing else."""
        return not (self.is_search or self.profile or self.lazy or self.lacks_any or self.reads_results or self.leaves_structure_out)

    @property
    def is_bounded(self) -> bool:
        """Whether it leaves out servers permanently, not only until they are activated."""
        return bool(self.profile) or self.lacks_any


def room_of(state: SessionState, limits: KnownLimits) -> int:
    """Returns how many characters a session's client accepts for a name of a tool; 0 where names are not the hub's."""
    return 0 if state.server else limits.limits_of(state.client).tool_name


class SessionViews:
    """The views of all sessions. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        modes: Modes,
        profiles: Profiles,
        visibility: Visibility,
        client_limits: KnownLimits,
        result_limits: ResultLimits,
    ) -> None:
        self._servers, self._tools, self._modes, self._profiles = servers, tools, modes, profiles
        self._visibility, self._limits, self._result_limits = visibility, client_limits, result_limits
        self.is_plain = modes.is_plain  # used with every call

    def of(self, state: SessionState) -> SessionView:
        """Returns what a session sees now."""
        profile, visibility = self._profiles.of(state), self._visibility
        included = self._profiles.content(profile)
        own, lacks_any = visibility.own(state), visibility.lacks_any(state)
        terms = self.terms_of(state)
        view = SessionView(
            profile=profile,
            included=included,
            own=own,
            lacks_any=lacks_any,
            shows_views=terms.with_views,
            reads_results=self._result_limits.are_any(state),
            leaves_structure_out=self._result_limits.leaves_structure_out(state),
            room=terms.room,
        )
        if not self._modes.may_hide():
            return view
        if self._modes.shown(state).mode == SEARCH:
            return replace(view, is_search=True, has_search=True)
        lazy = tuple(server.name for server in self._servers if self._shows_tool_of(server, state))
        hidden = frozenset(lazy) - state.activated
        has_search = bool(hidden) and self._modes.obeys_changes(state) is not True
        return replace(view, lazy=lazy, hidden=hidden, has_search=has_search)

    def keep(self, state: SessionState) -> None:
        """Keeps how tools are shown to a session that has listed them, see Modes."""
        self._modes.keep(state)

    def terms_of(self, state: SessionState) -> ListTerms:
        """Returns the facts about a session's client that decide its list of tools."""
        return ListTerms(self.room_of(state), state.shows_views)

    def room_of(self, state: SessionState) -> int:
        """Returns how many characters a session's client accepts for a name; see SessionView."""
        return room_of(state, self._limits)

    def hides(self, state: SessionState, server: str) -> bool:
        """Reports whether a server's tools, prompts and resources are not listed to a session because it has not activated the server."""
        if server in state.activated or not self._modes.may_hide():
            return False
        managed = self._servers.find(server)
        return managed is not None and self.is_lazy(state, managed)

    def is_lazy(self, state: SessionState, server: ManagedServer) -> bool:
        """Reports whether a session sees a server's tools only after it has activated the server."""
        return not server.is_builtin and self._modes.is_lazy(state, server.config)

    def _shows_tool_of(self, server: ManagedServer, state: SessionState) -> bool:
        """Reports whether a session sees the tool that activates a server."""
        is_there = state.server in (None, server.name) and self._tools.is_offering(server)
        return is_there and self.is_lazy(state, server) and self._profiles.includes(state, server.name)


def own_copy(servers: ServerManager, server: str | None, era: Era, session: Session) -> McpClient | None:
    """Returns a session's or its era's own instance of its only server: the instance may offer other tools than the one that is always
    listed.
    """
    managed = servers.find(server) if server else None
    client = managed.client_for(era, session) if managed else None
    return client if managed and client is not managed.first.client else None
