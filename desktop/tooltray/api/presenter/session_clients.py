"""The AI clients of sessions: their names and declarations, the instructions they get, and what ends with them."""

from tooltray.catalogue.views.greetings import Introduction
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
    """The hub's knowledge of sessions' clients. Belongs to the engine's loop."""

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
        """Stores the name that an AI client gave itself."""
        self._modes.named(state, info)
        self._notifications.named(state)

    def declare(self, state: SessionState, declared: Declarations) -> None:
        """Stores the extensions that an AI client declared."""
        state.declared = declared
        if declared:
            self._extensions.note(declared)

    def take_roots(self, session: Session) -> None:
        """Starts to request the roots of a legacy client that is ready for it, or whose roots changed; does not wait."""
        self._projects.take_roots(session)

    def instructions(self, state: SessionState) -> str:
        """Returns the instructions for the model of a client that connects to all servers together."""
        return self._introduction.of(state)

    def capabilities(self, session: Session, era: Era, server: str | None) -> Declarations:
        """Returns the capabilities that a session's servers declare besides the hub's own, as far as they are known now."""
        return self._introduction.capabilities(session, era, server)

    def profile_refusal(self, name: str) -> str:
        """Returns why a session cannot have a profile; empty if it can."""
        return self._profiles.refusal(name)

    async def end_session(self, session: Session) -> None:
        """Ends everything that was done only for an AI client that does not return."""
        self._notifications.end_session(session)
        await self._servers.end_session(session)
