"""McpPresenter: the façade over servers and tools. Sessions, command line, control channel and desktop call this and nothing behind it.

Below it: ServerManager and ToolManager. The verbs are those of the product's presenter; `verbs.VERBS` lists what others may call by name.
Those that only hand on to one part stand in classes of their own, the modules `*_verbs`, and are mixed in.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Raw

from tooltray import __version__
from tooltray.activity.call_stats import CallStats
from tooltray.activity.recent_calls import RecentCalls
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.secrets import SecretStore
from tooltray.config.server_edits import name_is_taken
from tooltray.errors import Problem, TooltrayError
from tooltray.events import EventBus, ServerChanged, SessionListChanged, SessionsChanged, ToolCallResult, ToolListChanged
from tooltray.presenter import client_snapshots, model_calls
from tooltray.presenter.access_verbs import AccessVerbs
from tooltray.presenter.approval_verbs import ApprovalVerbs
from tooltray.presenter.approvals.approvals import Approvals
from tooltray.presenter.caller import Session
from tooltray.presenter.doctor import Doctor
from tooltray.presenter.elicitations import Elicitations
from tooltray.presenter.feedback.feedbacks import Feedbacks
from tooltray.presenter.feedback_verbs import FeedbackVerbs
from tooltray.presenter.file_verbs import FileVerbs
from tooltray.presenter.files.server_files import ServerFiles
from tooltray.presenter.format_verbs import FormatVerbs
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.http_access import HttpAccess
from tooltray.presenter.managed_server import ManagedServer
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.model_calls import ModelCall
from tooltray.presenter.npm_registries import NpmRegistries
from tooltray.presenter.offer_verbs import OfferVerbs
from tooltray.presenter.own_caller import OwnCaller
from tooltray.presenter.project_verbs import ProjectVerbs
from tooltray.presenter.projects.projects import Projects
from tooltray.presenter.prompt_manager import PromptManager
from tooltray.presenter.remedies import Remedies
from tooltray.presenter.request_router import RequestRouter
from tooltray.presenter.resource_manager import ResourceManager
from tooltray.presenter.server_manager import ServerManager
from tooltray.presenter.session_state import SessionState
from tooltray.presenter.settings_verbs import SettingsVerbs
from tooltray.presenter.setup import Setup
from tooltray.presenter.setup_verbs import SetupVerbs
from tooltray.presenter.sign_in_verbs import SignInVerbs
from tooltray.presenter.sign_ins.sign_ins import SignIns
from tooltray.presenter.tool_calls import ToolCalls
from tooltray.presenter.tool_formats import ToolFormats
from tooltray.presenter.tool_manager import ToolManager
from tooltray.presenter.view_verbs import ViewVerbs
from tooltray.presenter.views.modes import Modes
from tooltray.presenter.views.profiles import Profiles
from tooltray.presenter.views.tool_costs import ToolCosting
from tooltray.servers.diagnosis import Diagnosis
from tooltray.servers.environment.login_shell import LoginShell
from tooltray.snapshots import (
    HubSnapshot,
    McpClientSnapshot,
    MCPToolCall,
    MCPToolResponse,
    ServerEntry,
    ServerSnapshot,
    ServerState,
    ToolSnapshot,
)
from tooltray.tasks import Spawn
from tooltray.wire import envelope
from tooltray.wire.deadlines import DeadlineWheel
from tooltray.wire.envelope import Envelope, dump
from tooltray.wire.eras import ClientInfo, Era, Head

STATS_TOLD_AFTER_S = 1.0  # calls change a card's numbers; nobody reads them faster
LISTS = frozenset({"tools/list", "prompts/list", "resources/list", "resources/templates/list"})  # a first one has the project's servers
OWN_CLIENT_NAME = "tooltray"  # calls of the command line and the desktop, in the records


class McpPresenter(
    AccessVerbs,
    OfferVerbs,
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
        login_shell: LoginShell,
        doctor: Doctor,
        stats: CallStats,
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
        recent: RecentCalls,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        stats_told_after_s: float = STATS_TOLD_AFTER_S,
    ) -> None:
        """
        Args:
            stats_told_after_s: calls within so many seconds become one change of a server's card.
        """
        self._pid, self._config, self._secrets, self._login_shell = pid, config, secrets, login_shell
        self._prompts, self._resources, self._router = prompts, resources, router
        self._servers, self._tools, self._doctor, self._stats, self._bus = servers, tools, doctor, stats, bus
        self._http, self._elicitations = http, elicitations
        self._formats, self._registries, self._sign_ins, self._setup, self._remedies = formats, registries, sign_ins, setup, remedies
        self._calls, self._modes, self._profiles, self._costs = calls, modes, profiles, costs
        self._projects, self._approvals, self._feedbacks, self._files = projects, approvals, feedbacks, files
        self._recent = recent
        self._stats_told_after_s = stats_told_after_s
        self._other_notices: list[Callable[[], Iterable[Problem]]] = []
        self._started_at = time.time()
        self._session_count = 0
        self._changed_stats: set[str] = set()
        self._caller = OwnCaller()
        self._own_calls = HeldCalls(deadlines=deadlines, spawn=spawn)
        servers.listen(on_changed=self._on_server_changed, on_notification=_ignore)
        bus.subscribe(ToolCallResult, self._on_tool_call_result)
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)
        bus.subscribe(SessionListChanged, self._on_session_list_changed)

    def add_notices(self, problems: Callable[[], Iterable[Problem]]) -> None:
        """Asks for more that a person should be told of, each time that the hub is looked at."""
        self._other_notices.append(problems)

    async def initialize(self) -> None:
        """Measures npm registries and starts what starts with the hub, both in the background; a paused hub starts nothing.

        May be called again: what runs already is left as it is.
        """
        self._registries.start()
        if self._config.settings.mcp_enabled:
            self._servers.start_defaults()
            self._tools.list_unknown_servers()

    def begin_to_start(self, servers: Iterable[str]) -> None:
        """Starts, of servers that are new here, those that start with the hub; does not wait."""
        for name in servers:
            self._start_new(name)

    # for sessions of AI clients: raw, and never blocking one another

    async def answer(
        self, request: Envelope, head: Head, session: Session, held: HeldCalls, *, server: str | None, client: str
    ) -> Envelope:
        """Answers a request; see RequestRouter."""
        if request.method in LISTS:
            await self._files.before_listing(session)
        if request.method == "tools/list":
            await self._projects.before_listing(session, server)
        return await self._router.answer(request, head, session, held, server=server, client=client)

    def take_roots(self, session: Session) -> None:
        """A legacy client is ready to be asked for its roots, or has others than before; does not wait."""
        self._projects.take_roots(session)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Whether a connection to a server is one that an AI client's session may hear of."""
        return self._servers.serves(client, session)

    @property
    def news(self) -> RequestRouter:
        """What sessions say and hear outside of requests."""
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

    def set_session_count(self, count: int) -> None:
        """Told by the sessions' registry."""
        self._session_count = count
        self._bus.publish(SessionsChanged(count))

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
            started_at=self._started_at,
            servers=tuple(self._server_snapshot(server) for server in self._servers),
            notices=tuple(self._notices()),
        )

    async def get_mcp_enabled(self) -> bool:
        return self._config.settings.mcp_enabled

    async def set_mcp_enabled(self, enabled: bool) -> None:
        """Off is a pause: lists stay, calls are refused, nothing new starts."""
        await self._config.set_enabled(enabled)
        if enabled:
            await self.initialize()

    async def diagnose(self, server: str | None = None) -> list[Diagnosis]:
        """What the doctor finds.

        Raises:
            TooltrayError: there is no such server.
        """
        servers = [self._servers.get(server)] if server else list(self._servers)
        return [
            await self._doctor.examine(each, tool_count=self._tools.tool_count(each.name), detail=self._projects.detail(each))
            for each in servers
        ]

    # verbs: servers

    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        """The entries of the settings, in the spelling of the file."""
        return self._config.entries

    async def get_server_entry(self, name: str) -> ServerEntry:
        """How a server is described, in whichever file.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it comes with Tooltray, and is in no file.
        """
        self._check_is_in_settings(name)
        return self._config.server_entry(name)

    async def add_mcp_server(self, name: str, config: Mapping[str, Any], is_default: bool = True, project: str = "") -> str:
        """Adds a server and begins to start it; what a person adds may use all its tools unless the entry says otherwise.

        Args:
            project: a folder, into whose own file the entry goes; empty: into the settings.

        Returns:
            Its name here; one of a project may have another one there.

        Raises:
            Conflict: the name is taken.
            TooltrayError: the entry is not valid, the folder cannot be a project, or the file not be written.
        """
        if project:
            return await self._files.add(project, name, config)
        if name in self._config.settings.mcp_servers:
            raise name_is_taken(name)
        await self._config.set_server(name, {"autoApprove": ["all"], **config}, is_default=is_default, is_new=True)
        self._start_new(name)
        return name

    async def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "") -> None:
        """Replaces a server's entry, in the file where it is; a running one is restarted if that changes what runs.

        Args:
            revision: of the entry that is to be replaced, as its snapshot has it; empty: whatever it is.

        Raises:
            NotFound: there is no such server.
            Conflict: its entry is another one by now.
            TooltrayError: the entry is not valid, or the file cannot be written.
        """
        self._check_is_in_settings(name)
        if self._config.file_server(name):
            return await self._files.change(name, config, revision)
        was_off = self._config.settings.mcp_servers[name].disable
        await self._config.set_server(name, config, revision=revision)
        return self._start_new(name, is_new=was_off)

    async def remove_mcp_server(self, name: str, revision: str = "") -> None:
        """Removes a server's entry from the file where it is, and stops it.

        Args:
            revision: as of `update_mcp_server`.

        Raises:
            NotFound: there is no such server.
            Conflict: its entry is another one by now.
            TooltrayError: the file cannot be written.
        """
        self._check_is_not_builtin(name)
        if name not in self._config.own_settings.mcp_servers and self._files.keeps(name):
            await self._files.remove(name, revision)
        else:
            await self._config.remove_server(name, revision=revision)

    async def start_server(self, name: str) -> None:
        """Starts a server and waits until it runs.

        Raises:
            TooltrayError: it does not; says why.
        """
        await self._servers.start(name)

    async def stop_server(self, name: str) -> None:
        await self._servers.stop(name)

    async def restart_server(self, name: str) -> None:
        """
        Raises:
            TooltrayError: it does not run again; says why.
        """
        await self._servers.restart(name)

    async def is_server_running(self, name: str) -> bool:
        """
        Raises:
            TooltrayError: there is no such server.
        """
        return self._servers.get(name).state is ServerState.RUNNING

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        """Every connection to a running server, and what the server says of itself."""
        return [client for server in self._servers for client in self._client_snapshots(server)]

    async def get_server_log(self, name: str, lines: int = 200) -> list[str]:
        """The last lines of a server's stderr, known secrets masked.

        Raises:
            TooltrayError: there is no such server.
        """
        return list(self._servers.get(name).log)[-lines:] if lines > 0 else []

    async def get_mcp_default_servers(self) -> list[str]:
        return list(self._config.settings.default_servers)

    async def add_mcp_default_server(self, name: str) -> None:
        self._check_is_in_settings(name)
        await self._config.set_default(name, True)

    async def remove_mcp_default_server(self, name: str) -> None:
        self._check_is_in_settings(name)
        await self._config.set_default(name, False)

    async def toggle_mcp_default_server(self, name: str) -> bool:
        """Returns whether it starts with the hub now."""
        self._check_is_in_settings(name)
        is_default = name not in self._config.settings.default_servers
        await self._config.set_default(name, is_default)
        return is_default

    # verbs: tools

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        """The definitions that AI clients see, with the names that they see.

        Raises:
            TooltrayError: there is no such server.
        """
        self._check_server(server)
        return [envelope.load(route.published(name)) for name, route in await self._tools.published(server)]

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        """All tools known, also those switched off.

        Raises:
            TooltrayError: there is no such server.
        """
        self._check_server(server)
        return self._approvals.with_held(await self._tools.snapshots(server))

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        """Offers a tool to AI clients or no longer. `tool`: the server's own name for it.

        Raises:
            TooltrayError: there is no such server in the settings.
        """
        self._check_is_in_settings(server)
        disabled = self._config.settings.mcp_servers[server].disabled_tools
        others = [each for each in disabled if each != tool]
        await self._config.change_server(server, disabled_tools=others if enabled else [*others, tool])

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        """Calls a tool by the name that AI clients see, and returns the result object.

        Args:
            project: the folder of the project for which a server that waits for one answers; one that is allowed.

        Raises:
            TooltrayError: there is no such tool, it is not approved, its server failed, or the folder may be no project.
        """
        caller = self._caller
        if project is not None:
            caller = caller.in_project(await self._projects.named(project))
            await self._files.before_listing(caller)
            await self._projects.before_listing(caller, None)
        reply = await self._call(name, arguments, caller=caller)
        if reply.error:
            raise TooltrayError(f"'{name}' could not be called", model_calls.error_message(reply))
        return model_calls.result_of(reply)

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        """Carries out a tool call of a model. What fails is a response too, which the model can read.

        Args:
            call: as one of the formats gave it; its `name` as AI clients see the tool.
        """
        made = ModelCall(call, client=OWN_CLIENT_NAME)
        return made.response(await self._call(call.name, call.arguments, on_record=made.add))

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        """The schema of a tool's arguments, by the name that AI clients see; None if there is no such tool."""
        return self._tools.published_schema(name, server)

    async def reset_tool_names(self) -> None:
        """Forgets the published names; AI clients may then know tools by other names."""
        await self._tools.forget_names()
        await self._prompts.forget_names()

    # inside

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: OwnCaller | None = None,
        on_record: Callable[[MCPToolResponse], None] | None = None,
    ) -> Envelope:
        """A call of a tool for ourselves, by the name that AI clients see."""
        request = Envelope(method="tools/call", params=dump({"name": name, "arguments": dict(arguments)}))
        await self._tools.listing(None)
        return await self._calls.call(
            request, Head(name=name), caller or self._caller, self._own_calls, server=None, client=OWN_CLIENT_NAME, on_record=on_record
        )

    def _notices(self) -> Iterator[Problem]:
        yield from self._config.problems
        yield from self._http.problems
        yield from self._registries.problems
        yield from self._tools.problems()
        yield from self._profiles.problems()
        yield from self._sign_ins.problems
        yield from self._approvals.problems
        yield from self._projects.problems()
        yield from self._files.problems()
        for problems in self._other_notices:
            yield from problems()
        if self._login_shell.problem:
            yield self._login_shell.problem
        for name, config in self._config.settings.mcp_servers.items():
            if any("${secret:" in argument for argument in config.arguments):
                title = f"'{name}' gets a secret in its arguments"
                yield Problem(
                    title, "other programs of this machine can read them", "Pass it in `env`, if the server can take it from there."
                )
            if config.idle_stop and name in self._config.settings.default_servers and not config.deferred_startup:
                title, message = f"'{name}' is not stopped when it is idle", "it has idleStop, and starts with the hub: what does stays up"
                yield Problem(title, message, "Let it start on demand, or take idleStop out of its settings.")

    def _check_is_in_settings(self, name: str) -> None:
        self._servers.get(name)
        self._check_is_not_builtin(name)

    def _check_is_not_builtin(self, name: str) -> None:
        server = self._servers.find(name)
        if server and server.is_builtin:
            raise TooltrayError(f"'{name}' comes with Tooltray", "it has no entry in the settings that could be changed")

    def _start_new(self, name: str, *, is_new: bool = True) -> None:
        """Starts what starts with the hub, and once what was never listed."""
        if self._config.settings.mcp_enabled:
            server = self._servers.get(name)
            if is_new and self._servers.is_default(name) and not server.config.disable:
                server.start()
            self._tools.list_unknown_servers()

    def _retry_failed(self) -> None:
        """A secret is there that was missing before: servers that gave up get another chance."""
        for server in self._servers:
            needs_secrets = server.needs_secrets or self._sign_ins.is_signed_in(server.name)
            if server.state is ServerState.ERROR and needs_secrets:
                server.start()

    def _client_snapshots(self, server: ManagedServer) -> Iterable[McpClientSnapshot]:
        name = server.name
        return client_snapshots.snapshots(
            server, tools=self._tools.tool_count(name), prompts=self._prompts.count(name), resources=self._resources.count(name)
        )

    def _server_snapshot(self, server: ManagedServer) -> ServerSnapshot:
        config, now = server.config, time.time()
        return ServerSnapshot(
            name=server.name,
            transport=config.transport,
            target=config.target,
            state=server.state,
            since=server.first.since,
            is_default=self._servers.is_default(server.name),
            is_disabled=config.disable,
            is_builtin=server.is_builtin,
            icon=config.icons,
            description=config.descriptions,
            tool_count=self._tools.tool_count(server.name),
            calls=self._stats.hours(server.name, now),
            calls_today=self._stats.today(server.name, now),
            p95_ms=self._stats.p95_ms(server.name),
            problem=server.problem,
            detail=self._projects.detail(server),
            pids=server.pids,
            auto_approve=tuple(config.auto_approve),
            isolation=config.isolation,
            idle_stop_s=config.idle_stop,
            saved_processes=server.saved_processes * len(server.pids),
            is_signed_in=self._sign_ins.is_signed_in(server.name),
            has_sign_in_page=self._sign_ins.has_page(server.name),
            is_lazy=self._config.settings.publish.shows_lazily(config) and not server.is_builtin,
            is_deferred=config.deferred_startup,
            startup_template=config.template if config.deferred_startup else (),
            copies=self._projects.copies(server),
            **self._origin(server),
        )

    def _origin(self, server: ManagedServer) -> dict[str, str]:
        revision = self._config.revision(server.name)
        if server.is_builtin:
            return {"origin": server.name}
        if found := self._config.file_server(server.name):
            return {"origin": found.origin, "file": found.file, "project": found.project, "revision": revision}
        return {"revision": revision}

    def _on_server_changed(self, name: str) -> None:
        if server := self._servers.find(name):
            self._bus.publish(ServerChanged(self._server_snapshot(server)))

    def _on_session_list_changed(self, event: SessionListChanged) -> None:
        for server in self._servers.deferred():
            self._on_server_changed(server.name)  # for whom it runs, and whom it waits for

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        self._on_server_changed(event.server)  # its number of tools

    def _on_tool_call_result(self, event: ToolCallResult) -> None:
        if not self._changed_stats:
            asyncio.get_running_loop().call_later(self._stats_told_after_s, self._tell_changed_stats)
        self._changed_stats.add(event.response.server)

    def _tell_changed_stats(self) -> None:
        names, self._changed_stats = self._changed_stats, set()
        for name in names:
            self._on_server_changed(name)


def _ignore(server: str, client: McpClient, method: str, params: Raw) -> None:
    pass
