"""McpPresenter: the façade over servers and tools. Sessions, command line, control channel and desktop call this and nothing behind it.

Here stand what sessions ask on behalf of AI clients, and the verbs about the hub as a whole. All other verbs stand by subject in the
modules `*_verbs` and are mixed in; `verbs.VERBS` lists those that others may call by name. Below it: ServerManager, ToolManager, and the
parts that each subject is about.
"""

import asyncio
import contextlib
from collections.abc import Iterable

from tooltray import __version__
from tooltray.access.http_access import HttpAccess
from tooltray.activity.recent_calls import RecentCalls
from tooltray.approvals.api import ApprovalVerbs
from tooltray.approvals.approvals import Approvals
from tooltray.calls.elicitations import Elicitations
from tooltray.calls.request_router import RequestRouter
from tooltray.calls.tool_call import ToolCalls
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.doctor.diagnosis import Diagnosis
from tooltray.doctor.doctor import Doctor
from tooltray.doctor.remedies import Remedies
from tooltray.entries.api import ServerVerbs
from tooltray.entries.proposals import Proposals
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.entries.setup import Setup
from tooltray.entries.setup_api import SetupVerbs
from tooltray.events import EventBus, SessionsChanged
from tooltray.feedback.api import FeedbackVerbs
from tooltray.feedback.feedbacks import Feedbacks
from tooltray.formats.api import FormatVerbs
from tooltray.formats.tool_formats import ToolFormats
from tooltray.launch.server_environment import ServerEnvironment
from tooltray.moments import Moment
from tooltray.presenter.access_api import AccessVerbs
from tooltray.presenter.files_api import FileVerbs
from tooltray.presenter.notices import Notices
from tooltray.presenter.offers_api import OfferVerbs
from tooltray.presenter.server_snapshots import ServerSnapshots
from tooltray.presenter.settings_api import SettingsVerbs
from tooltray.presenter.tools_api import ToolVerbs
from tooltray.projects.api import ProjectVerbs
from tooltray.projects.projects import Projects
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.eras import ClientInfo, Era
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.secrets.secrets import SecretStore
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.caller import Session
from tooltray.sessions.own_caller import OwnCaller
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.sign_ins.api import SignInVerbs
from tooltray.sign_ins.sign_ins import SignIns
from tooltray.snapshots.hub import HubSnapshot
from tooltray.snapshots.servers import ServerState
from tooltray.tasks import Spawn
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.api import ViewVerbs
from tooltray.views.introduction import Introduction
from tooltray.views.modes import Modes
from tooltray.views.profiles import Profiles
from tooltray.views.tool_costs import ToolCosting


class McpPresenter(
    ServerVerbs,
    OfferVerbs,
    ToolVerbs,
    AccessVerbs,
    SetupVerbs,
    SignInVerbs,
    FormatVerbs,
    ViewVerbs,
    ProjectVerbs,
    ApprovalVerbs,
    FeedbackVerbs,
    FileVerbs,
    SettingsVerbs,
):
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        pid: int,
        config: McpConfHelper,
        secrets: SecretStore,
        servers: ServerManager,
        tools: ToolManager,
        calls: ToolCalls,
        prompts: PromptManager,
        resources: ResourceManager,
        router: RequestRouter,
        introduction: Introduction,
        doctor: Doctor,
        snapshots: ServerSnapshots,
        notices: Notices,
        http: HttpAccess,
        elicitations: Elicitations,
        formats: ToolFormats,
        registries: NpmRegistries,
        sign_ins: SignIns,
        setup: Setup,
        remedies: Remedies,
        modes: Modes,
        profiles: Profiles,
        costs: ToolCosting,
        projects: Projects,
        approvals: Approvals,
        feedbacks: Feedbacks,
        files: ServerFiles,
        proposals: Proposals,
        server_secrets: ServerSecrets,
        recent: RecentCalls,
        environment: ServerEnvironment,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
    ) -> None:
        self._pid, self._config, self._secrets, self._bus = pid, config, secrets, bus
        self._prompts, self._resources, self._router, self._introduction = prompts, resources, router, introduction
        self._servers, self._tools, self._doctor, self._snapshots, self._notices = servers, tools, doctor, snapshots, notices
        self._http, self._elicitations = http, elicitations
        self._formats, self._registries, self._sign_ins, self._setup, self._remedies = formats, registries, sign_ins, setup, remedies
        self._calls, self._modes, self._profiles, self._costs = calls, modes, profiles, costs
        self._projects, self._approvals, self._feedbacks, self._files = projects, approvals, feedbacks, files
        self._recent, self._environment = recent, environment
        self._server_secrets, self._proposals = server_secrets, proposals
        self._started_at = Moment()
        self._session_count = 0
        bus.subscribe(SessionsChanged, self._on_sessions_changed)
        self._caller = OwnCaller()
        self._own_calls = HeldCalls(deadlines=deadlines, spawn=spawn)

    async def initialize(self) -> None:
        """Measures npm registries and starts what starts with the hub, both in the background; a paused hub starts nothing.

        May be called again: what runs already is left as it is.
        """
        self._registries.start()
        if self._config.settings.mcp_enabled:
            self._servers.start_defaults()
            self._tools.list_unknown_servers()

    def begin_to_start(self, servers: Iterable[str]) -> None:
        """Starts, of servers that are new here, those that start with the hub, and once each that was never listed; does not wait."""
        self._servers.start_defaults(servers)
        self._tools.list_unknown_servers()

    # for sessions of AI clients: raw, and never blocking one another

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
        self._router.end_session(session)
        await self._servers.end_session(session)

    def name_client(self, state: SessionState, info: ClientInfo) -> None:
        """An AI client has said who it is."""
        self._modes.named(state, info)

    def instructions(self, state: SessionState) -> str:
        """What a session that has all servers together is told for its model when it connects."""
        return self._introduction.of(state)

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

    # verbs: the hub

    async def get_snapshot(self) -> HubSnapshot:
        return self.snapshot()

    def snapshot(self) -> HubSnapshot:
        """The hub at this moment; for callers on the loop's own thread."""
        return HubSnapshot(
            pid=self._pid,
            version=__version__,
            is_paused=not self._config.settings.mcp_enabled,
            session_count=self._session_count,
            started_at=self._started_at.unix,
            servers=(*(self._snapshots.of(server) for server in self._servers), *self._proposals.snapshots()),
            notices=tuple(self._notices),
        )

    async def get_mcp_enabled(self) -> bool:
        return self._config.settings.mcp_enabled

    async def set_mcp_enabled(self, enabled: bool) -> None:
        """Off is a pause: lists stay, calls are refused, nothing new starts."""
        await self._config.set_enabled(enabled)
        if enabled:
            await self.initialize()

    async def diagnose(self, server: str | None = None, wait_s: float = 0.0) -> list[Diagnosis]:
        """What the doctor finds.

        Args:
            wait_s: how long it waits, at most, for servers that are on their way to running: of a hub that has just been started all are.

        Raises:
            TooltrayError: there is no such server.
        """
        servers = [self._servers.get(server)] if server else list(self._servers)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await asyncio.gather(*(each.first.settled() for each in servers))
        return [
            await self._doctor.examine(
                each,
                tool_count=self._tools.tool_count(each.name),
                is_listed=self._tools.is_listed(each.name),
                detail=self._projects.detail(each),
                list_problem=self._tools.list_problem(each.name),
            )
            for each in servers
        ]

    # inside

    def _on_sessions_changed(self, event: SessionsChanged) -> None:
        self._session_count = event.session_count

    def _retry_failed(self) -> None:
        """A secret is there that was missing before: servers that gave up get another chance."""
        for server in self._servers:
            needs_secrets = server.needs_secrets or self._sign_ins.is_signed_in(server.name)
            if server.state is ServerState.ERROR and needs_secrets:
                server.start()
