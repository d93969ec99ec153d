"""McpPresenter: the façade over servers and tools. Sessions, command line, control channel and desktop call only this façade.

It has the parts of the API as attributes: `presenter.servers.restart_server(name)`. A caller that has only a verb's name finds the verb in
`verbs`, and as an attribute: `presenter.restart_server(name)`. Three more parts serve the requests that sessions make for AI clients.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import Raw

from tooltray.api.parts import Api, VerbTable
from tooltray.api.presenter.snapshots import HubSnapshots
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.greetings import Introduction
from tooltray.catalogue.views.modes import Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.verbs import Verb
from tooltray.gateway.calls.notifications import Notifications
from tooltray.gateway.calls.request_router import RequestRouter
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.eras import ClientInfo, Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.client_extensions import ClientExtensions
from tooltray.servers.upstream.mcp_client import McpClient
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


class SessionServers:
    """Lookups for sessions. Belongs to the engine's loop; has no state."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        resources: ResourceManager,
        look_at_project: Callable[[Session], Awaitable[None]],
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._servers, self._tools, self._resources, self._look_at_project = servers, tools, resources, look_at_project

    def has_server(self, name: str) -> bool:
        """Reports whether there is a server that every session may have."""
        return self._servers.find(name) is not None and self._servers.is_for_all(name)

    async def finds_server(self, session: Session, name: str) -> bool:
        """Reports whether a session may have a server, including one of its own project, whose file may not have been read yet."""
        await self._look_at_project(session)
        return self._servers.find(name) is not None and self._servers.sees(session.state, name)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Reports whether an AI client's session may get news from a connection to a server."""
        return self._servers.serves(client, session)

    async def open_server(self, name: str, era: Era, *, session: Session, timeout_s: float) -> McpClient:
        """Returns the connection to one server, for the greeting and declarations of that server.

        Raises:
            TooltrayError: no server has this name, or it does not run within `timeout_s`.
        """
        return await self._servers.get(name).running(era, timeout_s=timeout_s, session=session)

    def published_uri(self, server: str, uri: str) -> str:
        """Returns the URI by which clients of all servers know a server's resource."""
        return self._resources.published_uri(server, uri)

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        """Returns the schema of a tool's arguments, by the name that AI clients see; None if the tool does not exist."""
        return self._tools.published_schema(name, server)

    @property
    def server_pids(self) -> frozenset[int]:
        """The processes of all servers; each leads a process session of its own."""
        return self._servers.pids


class McpPresenter(Api):
    """The façade over a running hub. Belongs to the engine's loop.

    Attributes:
        verbs: each verb of every part by its name.
        router: answers sessions' requests, and carries their messages outside of requests.
        session_servers: which servers sessions have.
        session_clients: what sessions' clients declare about themselves, and what the hub declares to them.
    """

    def __init__(
        self,
        api: Api,
        *,
        router: RequestRouter,
        session_servers: SessionServers,
        session_clients: SessionClients,
        snapshots: HubSnapshots,
    ) -> None:
        super().__init__(**vars(api))
        self.verbs = VerbTable(api)
        self.router, self.session_servers, self.session_clients, self._snapshots = router, session_servers, session_clients, snapshots

    if not TYPE_CHECKING:  # pragma: no branch: our own code names the part, and is checked

        def __getattr__(self, name: str) -> Verb:
            try:
                return self.__dict__["verbs"][name]
            except KeyError:
                raise AttributeError(f"McpPresenter has no verb '{name}'", name=name, obj=self) from None

    def snapshot(self) -> HubSnapshot:
        """Returns a snapshot of the hub now; for callers on the loop's own thread."""
        return self._snapshots.now()
