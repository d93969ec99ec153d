"""What one session sees, in a few words: its mode, its profile, the servers of its project, which servers are lazy for it, and which of
those it has not activated.

Above it: Views. Below it: Modes, Profiles and Visibility, which decide; the servers; SessionState. Sessions with equal views get equal
lists.
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
    """
    Attributes:
        is_search: tools of servers are found by search alone.
        profile: the name of its profile; empty: none.
        included: what is in that, to tell when it is another thing.
        lazy: the servers that show one tool until they are activated, and beside the others from then on.
        hidden: those of them that are not activated.
        has_search: the tools that find and call others are listed.
        own: the servers that it has because of its project.
        lacks_any: there are servers that do not exist for it.
        shows_views: its client shows views of tools, and gets the tools that are for these alone.
        leaves_structure_out: its client reads the text alone of results that say the same twice.
        reads_results: a result may be cut for it, so the tool that reads the rest is listed.
        room: so many characters its client takes for a name of a tool; 0 where it has one server alone, whose names are as they are.
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
        """What decides the tools of all servers that its client is told of."""
        return ListTerms(self.room, self.shows_views)

    @property
    def is_whole(self) -> bool:
        """Whether everything is listed, and nothing else."""
        return not (self.is_search or self.profile or self.lazy or self.lacks_any or self.reads_results or self.leaves_structure_out)

    @property
    def is_bounded(self) -> bool:
        """Whether there are servers that it leaves out for good, not only until they are activated."""
        return bool(self.profile) or self.lacks_any


def room_of(state: SessionState, limits: KnownLimits) -> int:
    """How many characters a session's client takes for a name of a tool; 0 where names are not the hub's."""
    return 0 if state.server else limits.limits_of(state.client).tool_name


class SessionViews:
    """Works out the view of each session. Belongs to the engine's loop."""

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
        self.is_plain = modes.is_plain  # asked for with every call

    def of(self, state: SessionState) -> SessionView:
        """What a session sees now."""
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
        """What of a session's client decides its list of tools."""
        return ListTerms(self.room_of(state), state.shows_views)

    def room_of(self, state: SessionState) -> int:
        """How many characters a session's client takes for a name; see SessionView."""
        return room_of(state, self._limits)

    def hides(self, state: SessionState, server: str) -> bool:
        """Whether a server's tools, prompts and resources are not listed to a session because it has not activated it."""
        if server in state.activated or not self._modes.may_hide():
            return False
        managed = self._servers.find(server)
        return managed is not None and self.is_lazy(state, managed)

    def is_lazy(self, state: SessionState, server: ManagedServer) -> bool:
        """Whether a session sees a server's tools only when it has activated it."""
        return not server.is_builtin and self._modes.is_lazy(state, server.config)

    def _shows_tool_of(self, server: ManagedServer, state: SessionState) -> bool:
        """Whether a session sees the tool that activates a server."""
        is_there = state.server in (None, server.name) and self._tools.is_offering(server)
        return is_there and self.is_lazy(state, server) and self._profiles.includes(state, server.name)


def own_copy(servers: ServerManager, server: str | None, era: Era, session: Session) -> McpClient | None:
    """A copy of its one server that is for a session, or for its era: it may offer other tools than the one that is always listed."""
    managed = servers.find(server) if server else None
    client = managed.client_for(era, session) if managed else None
    return client if managed and client is not managed.first.client else None
