"""The hub's `instructions` for one session that has all servers together, and what its servers declare. Only what is known at the moment is
used; nothing waits.
"""

from functools import partial

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.hub_tools import HubTools
from tooltray.catalogue.views.instructions import Introduced, ServerInstructions, instructions
from tooltray.catalogue.views.meta_tools import CALL_KEY, FIND_KEY, key_of
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.server_declarations import ServerDeclarations
from tooltray.catalogue.views.session_view import SessionViews
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin import hub_server
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager


class Introduction:
    """The greeting for sessions. Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        profiles: Profiles,
        views: SessionViews,
        hub_tools: HubTools,
        said: ServerInstructions,
        declared: ServerDeclarations,
    ) -> None:
        self._servers, self._tools, self._profiles, self._views = servers, tools, profiles, views
        self._hub_tools, self._said, self._declared = hub_tools, said, declared

    def of(self, state: SessionState) -> str:
        """Returns the text for a session as it is now."""
        view = self._views.of(state)
        seen = sorted(filter(partial(self._is_seen, state), self._servers), key=lambda server: server.name)
        about = [tool for tool in hub_server.ABOUT_SERVERS if self._profiles.includes(state, hub_server.NAME, tool)]
        told = Introduced(
            servers=[server.name for server in seen],
            said={server.name: self._said.of(server) for server in seen},
            on_demand={server: self._hub_tools.likely_name(key_of(server)) for server in sorted(view.lazy)},
            find=self._hub_tools.likely_name(FIND_KEY) if view.has_search else "",
            call=self._hub_tools.likely_name(CALL_KEY) if view.has_search else "",
            is_search=view.is_search,
            about=[self._hub_tools.likely_name((hub_server.NAME, tool)) for tool in about],
        )
        return instructions(told)

    def capabilities(self, session: Session, era: Era, server: str | None = None) -> Declarations:
        """Returns the joined declarations of a session's servers beyond the hub's own: of servers that run, and of those that would if
        used.

        Args:
            server: only this one.
        """
        seen = [each for each in self._servers if server in (None, each.name) and self._is_seen(session.state, each)]
        return self._declared.joined(seen, era, session)

    def _is_seen(self, state: SessionState, server: ManagedServer) -> bool:
        return not server.is_builtin and self._profiles.includes(state, server.name) and self._tools.is_offering(server)
