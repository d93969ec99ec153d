"""The AI clients of sessions: who each says it is, what it is told of the hub, and what ends with it.

Above it: the sessions. Below it: Modes, Profiles and Introduction, which know what a session sees; Projects; Notifications.
"""

from tooltray.catalogue.views.introduction import Introduction
from tooltray.catalogue.views.modes import Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.gateway.calls.notifications import Notifications
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.eras import ClientInfo, Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.client_extensions import ClientExtensions
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.projects.projects import Projects


class SessionClients:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        modes: Modes,
        profiles: Profiles,
        introduction: Introduction,
        client_extensions: ClientExtensions,
        projects: Projects,
        notifications: Notifications,
        servers: ServerManager,
    ) -> None:
        self._modes, self._profiles, self._introduction, self._extensions = modes, profiles, introduction, client_extensions
        self._projects, self._notifications, self._servers = projects, notifications, servers

    def name_client(self, state: SessionState, info: ClientInfo) -> None:
        """An AI client has said who it is."""
        self._modes.named(state, info)
        self._notifications.named(state)

    def declare(self, state: SessionState, declared: Declarations) -> None:
        """An AI client has said which extensions it knows."""
        state.declared = declared
        if declared:
            self._extensions.note(declared)

    def take_roots(self, session: Session) -> None:
        """A legacy client is ready to be asked for its roots, or has others than before; does not wait."""
        self._projects.take_roots(session)

    def instructions(self, state: SessionState) -> str:
        """What a session that has all servers together is told for its model when it connects."""
        return self._introduction.of(state)

    def capabilities(self, session: Session, era: Era, server: str | None) -> Declarations:
        """What a session's servers, or the one that it has, declare besides what the hub does itself, as far as it is known now."""
        return self._introduction.capabilities(session, era, server)

    def profile_refusal(self, name: str) -> str:
        """Why a session cannot have a profile; empty if it can."""
        return self._profiles.refusal(name)

    async def end_session(self, session: Session) -> None:
        """An AI client is gone for good: what was done for it alone ends."""
        self._notifications.end_session(session)
        await self._servers.end_session(session)
