"""McpPresenter: the façade over servers and tools. Sessions, command line, control channel and desktop call this and nothing behind it.

It has the parts of the API as attributes: `presenter.servers.restart_server(name)`. A caller that has only a verb's name finds it in
`verbs`, and as an attribute: `presenter.restart_server(name)`. What sessions ask on behalf of AI clients are methods of its own.
"""

from typing import TYPE_CHECKING

from msgspec import Raw

from tooltray.api import Api, Verb, verb_table
from tooltray.calls.request_router import RequestRouter
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.presenter.hub_snapshots import HubSnapshots
from tooltray.projects.projects import Projects
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.eras import ClientInfo, Era
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.caller import Session
from tooltray.sessions.session_state import SessionState
from tooltray.snapshots.hub import HubSnapshot
from tooltray.upstream.client_extensions import ClientExtensions
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.introduction import Introduction
from tooltray.views.modes import Modes
from tooltray.views.profiles import Profiles


class McpPresenter(Api):
    """Belongs to the engine's loop.

    Attributes:
        verbs: each verb of every part by its name.
    """

    def __init__(
        self,
        api: Api,
        *,
        servers: ServerManager,
        tools: ToolManager,
        resources: ResourceManager,
        router: RequestRouter,
        introduction: Introduction,
        modes: Modes,
        profiles: Profiles,
        projects: Projects,
        files: ServerFiles,
        snapshots: HubSnapshots,
        client_extensions: ClientExtensions,
    ) -> None:
        super().__init__(**vars(api))
        self.verbs = verb_table(api)
        self._servers, self._tools, self._resources, self._router, self._introduction = servers, tools, resources, router, introduction
        self._modes, self._profiles, self._projects, self._files = modes, profiles, projects, files
        self._snapshots, self._client_extensions = snapshots, client_extensions

    if not TYPE_CHECKING:  # pragma: no branch: our own code names the part, and is checked

        def __getattr__(self, name: str) -> Verb:
            try:
                return self.__dict__["verbs"][name]
            except KeyError:
                raise AttributeError(f"McpPresenter has no verb '{name}'", name=name, obj=self) from None

    def take_roots(self, session: Session) -> None:
        """A legacy client is ready to be asked for its roots, or has others than before; does not wait."""
        self._projects.take_roots(session)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Whether a connection to a server is one that an AI client's session may hear of."""
        return self._servers.serves(client, session)

    @property
    def router(self) -> RequestRouter:
        """What answers sessions' requests, and what they say and hear outside of requests."""
        return self._router

    async def open_server(self, name: str, era: Era, *, session: Session, timeout_s: float) -> McpClient:
        """The connection to one server, for what it says of itself.

        Raises:
            TooltrayError: there is none of this name, or it does not run within `timeout_s`.
        """
        return await self._servers.get(name).running(era, timeout_s=timeout_s, session=session)

    async def end_session(self, session: Session) -> None:
        """An AI client is gone for good: what was done for it alone ends."""
        self._router.notifications.end_session(session)
        await self._servers.end_session(session)

    def name_client(self, state: SessionState, info: ClientInfo) -> None:
        """An AI client has said who it is."""
        self._modes.named(state, info)
        self._router.notifications.named(state)

    def instructions(self, state: SessionState) -> str:
        """What a session that has all servers together is told for its model when it connects."""
        return self._introduction.of(state)

    def capabilities(self, session: Session, era: Era, server: str | None) -> Declarations:
        """What a session's servers, or the one that it has, declare besides what the hub does itself, as far as it is known now."""
        return self._introduction.capabilities(session, era, server)

    def declare(self, state: SessionState, declared: Declarations) -> None:
        """An AI client has said which extensions it knows."""
        state.declared = declared
        if declared:
            self._client_extensions.note(declared)

    def published_uri(self, server: str, uri: str) -> str:
        """The URI by which clients of all servers know a resource of one."""
        return self._resources.published_uri(server, uri)

    def has_server(self, name: str) -> bool:
        """Whether there is a server that every session may have."""
        return self._servers.find(name) is not None and self._servers.is_for_all(name)

    async def finds_server(self, session: Session, name: str) -> bool:
        """Whether a session may have a server, also one of its own project, whose file may not have been read yet."""
        await self._files.before_listing(session)
        return self._servers.find(name) is not None and self._servers.sees(session.state, name)

    def profile_refusal(self, name: str) -> str:
        """Why a session cannot have a profile; empty if it can."""
        return self._profiles.refusal(name)

    @property
    def server_pids(self) -> frozenset[int]:
        """The processes of all servers; each leads a session of its own."""
        return self._servers.pids

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        """The schema of a tool's arguments, by the name that AI clients see; None if there is no such tool."""
        return self._tools.published_schema(name, server)

    def snapshot(self) -> HubSnapshot:
        """The hub at this moment; for callers on the loop's own thread."""
        return self._snapshots.now()
