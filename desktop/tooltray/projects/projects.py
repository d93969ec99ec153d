"""Which project each session works on, which folders may be one, and the servers that start for them.

Above it: McpPresenter, and the tool by which models report. Below it: ServerManager, SessionStates, the settings; and the parts of this:
ProjectFolders (what is allowed), ProjectSources (what clients say), ProjectLeases (what nobody needs any more).
"""

import asyncio
import contextlib
import logging
import shlex
from collections.abc import Callable, Iterator, Sequence

import msgspec

from tooltray.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.events import ConfigChanged, Event, EventBus, ResourceListChanged
from tooltray.phrases import Phrase
from tooltray.projects.project_folders import ProjectFolders
from tooltray.projects.project_leases import ProjectLeases
from tooltray.projects.project_sources import ProjectSources
from tooltray.projects.root_rounds import RootRounds
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.sessions.caller import Session
from tooltray.sessions.session_state import (
    SessionConnected,
    SessionDisconnected,
    SessionForgotten,
    SessionMoved,
    SessionState,
    SessionStates,
)
from tooltray.settings.expansion import project_remark, shown_target
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.clients import SessionProject
from tooltray.snapshots.servers import ProjectCopySnapshot, ServerState
from tooltray.tasks import Spawn
from tooltray.upstream.deferred_server import DeferredServer, ProjectCopy
from tooltray.upstream.managed_server import InstanceOpened, ManagedServer, ServerStateChanged
from tooltray.upstream.project_folder import is_inside, project_name, shown
from tooltray.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager

logger = logging.getLogger(__name__)
OWN = "tooltray"  # the name of who calls where no AI client does, see OwnCaller
SAID_BY = {
    "feedback": "its model has said so",
    "roots": "the client has said so",
    "folder": "the client was started there",
    "person": "a person has said so",
}


class ProjectReport(msgspec.Struct, frozen=True):
    """What came of a model's word on its project.

    Attributes:
        started: names of the servers that run for it now, in the settings' order.
        failed: name and reason of those that do not.
        warning: why nothing was started; empty if the folder may be a project.
    """

    started: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    warning: str = ""


class Projects:
    """Belongs to the engine's loop.

    Attributes:
        sources: what clients say of themselves.
        rounds: asks those that are asked by results.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        states: SessionStates,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        home: str,
        includes: Callable[[SessionState, str], bool],
    ) -> None:
        """
        Args:
            home: the person's own folder.
            includes: whether a session's profile has a server in it.
        """
        self._includes = includes
        self._config, self._servers, self._states, self._bus, self._spawn = config, servers, states, bus, spawn
        self._looks: dict[str, asyncio.Task[TooltrayError | None]] = {}  # by folder, those that are under way
        self._folders = ProjectFolders(config=config, home=home)
        self._leases = ProjectLeases(servers=servers, states=states, deadlines=deadlines, spawn=spawn)
        self.sources = ProjectSources(
            folders=self._folders, states=states, spawn=spawn, is_wanted=lambda: bool(servers.deferred()), bus=bus
        )
        self.rounds = RootRounds(sources=self.sources, servers=servers, config=config, deadlines=deadlines, bus=bus)
        self._allowed = set(self._folders.allowed())
        self._withdrawals: set[asyncio.Task[None]] = set()
        servers.projects = self
        bus.subscribe(ConfigChanged, self._on_config_changed)
        bus.subscribe(InstanceOpened, self._on_instance_opened)
        for kind in (ServerStateChanged, SessionConnected, SessionDisconnected, SessionForgotten, SessionMoved):
            bus.subscribe(kind, self._look_at_leases)

    def _look_at_leases(self, event: Event) -> None:
        self._leases.look()

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """What the first instance lists is announced anyway; the resources of another are those of its project."""
        if isinstance(event.server, DeferredServer) and event.client is not event.server.first.client:
            self._bus.publish(ResourceListChanged(event.server.name))

    # what sessions work on (ProjectSource)

    def is_settled(self, session: Session) -> bool:
        return self.sources.is_settled(session)

    async def settle(self, session: Session) -> None:
        await self.sources.settle(session)

    async def check(self, project: SessionProject) -> None:
        """Servers that start together share one look, and go on in their order."""
        look = self._looks.get(project.path)
        if look is None:
            look = self._looks[project.path] = self._spawn(self._look(project.path), name=f"look at '{project.path}'")
        if error := await asyncio.shield(look):
            raise TooltrayError(error.problem.title, error.problem.message, error.problem.hint)

    async def _look(self, folder: str) -> TooltrayError | None:
        try:
            await self._folders.check(folder)
        except TooltrayError as error:
            return error
        finally:
            del self._looks[folder]
        return None

    def missing(self, server: str, session: Session) -> TooltrayError:
        why = self.sources.refusal(session.state) or "this AI client has not said which folder it works on"
        if session.name == OWN:
            hint = f"Name one: tooltray tools call --project DIR TOOL. Or choose one: tooltray projects start {shlex.quote(server)} DIR"
            return TooltrayError(f"server '{server}' waits for a project", "none was named", hint)
        report = "Call collect_feedback with project_path, or ask" if self._config.settings.publish.feedback else "Ask"
        by_hand = f"to choose a folder on its card in Tooltray, or to run: tooltray projects start {shlex.quote(server)} DIR"
        error = TooltrayError(f"server '{server}' waits for a project", why, f"{report} the person {by_hand}")
        logger.warning("%s: %s", session.name, error)
        return error

    def take_roots(self, session: Session) -> None:
        """A legacy client is ready to be asked for its roots, or has others than before; does not wait."""
        self.sources.ask(session)

    async def before_listing(self, session: Session, only: str | None) -> None:
        """Begins to start, for a session's project, what was never listed: its tools are not known otherwise.

        Args:
            only: the session has this server alone.
        """
        lazy = self._config.settings.publish.lazy_load
        startable = (each for each in self._startable(session.state) if not each.is_stopped and not each.config.is_lazy(lazy))
        unlisted = [each for each in startable if not each.is_known and only in (None, each.name)]
        if not unlisted or not self._config.settings.mcp_enabled:
            return
        await self.sources.settle(session)
        if project := session.state.project:
            for server in unlisted:
                with contextlib.suppress(TooltrayError):  # it has too many copies: a call says so
                    server.copy_for(project).start()

    async def reported(self, state: SessionState, name: str, path: str) -> ProjectReport:
        """A model says on which project its session works: starts the deferred servers for it, and waits for the outcome.

        Args:
            name: of the project; empty: its folder's.
            path: of its folder; empty if the model did not say.
        """
        if path:
            try:
                folder = await self._folders.permitted(path, state)
            except TooltrayError as error:
                logger.warning("%s reported a project: %s", state.client or state.id, error)
                return ProjectReport(warning=str(error))
            self.sources.set(state, "feedback", SessionProject(folder, project_name(name, folder), "feedback"))
        servers = self._startable(state)
        if not servers:
            return ProjectReport()
        if state.project is None:
            warning = "no server was started, since project_path was not given"
            logger.warning("%s reported: %s", state.client or state.id, warning)
            return ProjectReport(warning=warning)
        if not self._config.settings.mcp_enabled:
            return ProjectReport(warning="no server was started, since Tooltray is paused")
        return await self._start_all(servers, state.project)

    async def _start_all(self, servers: Sequence[DeferredServer], project: SessionProject) -> ProjectReport:
        reasons = await asyncio.gather(*(self._why_not_started(server, project) for server in servers))
        outcomes = [(server.name, reason) for server, reason in zip(servers, reasons, strict=True)]
        return ProjectReport(tuple(name for name, reason in outcomes if not reason), tuple(each for each in outcomes if each[1]))

    async def _why_not_started(self, server: DeferredServer, project: SessionProject) -> str:
        try:
            await server.run_for(project, timeout_s=STARTED_BY_HAND_WAIT_S)
        except TooltrayError as error:
            return str(error)
        return ""

    def _startable(self, state: SessionState) -> list[DeferredServer]:
        """Of those that a session has."""
        return [server for server in self._servers.deferred() if not server.config.disable and self._has(state, server)]

    def _has(self, state: SessionState, server: ManagedServer) -> bool:
        return state.server in (None, server.name) and self._includes(state, server.name)

    # what people choose (see ProjectsApi)

    def allowed(self) -> list[str]:
        """See ProjectsApi.get_allowed_folders."""
        return self._folders.listed()

    def problems(self) -> Iterator[Problem]:
        """What the settings say of projects, and what is not so."""
        yield from self._folders.problems()
        for server in self._servers.deferred():
            if remark := project_remark(server.config):
                hint = "Correct its settings, if one of these is meant: tooltray servers add --replace, or settings.json."
                yield Problem(f"'{server.name}' is not given all that its settings ask for", remark, hint)

    async def is_allowed(self, path: str) -> bool:
        """Whether a folder lies in one that a person has allowed.

        Raises:
            TooltrayError: it may never be a project; says why.
        """
        return await self._folders.is_permitted(await self._folders.real(path), SessionState(OWN))

    async def allow(self, path: str) -> str:
        """See ProjectsApi.allow_folder."""
        return await self._folders.allow(path)

    async def disallow(self, path: str) -> None:
        """See ProjectsApi.disallow_folder."""
        await self._folders.disallow(path)
        await asyncio.gather(*self._withdrawals)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        """Also where somebody has edited the file."""
        before, self._allowed = self._allowed, set(self._folders.allowed())
        if self._allowed - before:
            for state in self._states:
                self.sources.look_at_folder(state)
        for folder in before - self._allowed:
            withdrawal = self._spawn(self._withdraw(folder), name=f"withdraw '{folder}'")
            self._withdrawals.add(withdrawal)
            withdrawal.add_done_callback(self._withdrawals.discard)

    async def _withdraw(self, folder: str) -> None:
        for state in list(self._states):
            for source, project in list(state.projects.items()):
                if is_inside(project.path, folder) and not await self._folders.is_permitted(project.path, state):
                    self.sources.set(state, source, None)
        for server in self._servers.deferred():
            server.give_up(folder)
            await server.end(copy for copy in server.copies if copy.project and is_inside(copy.project.path, folder))

    async def named(self, path: str) -> SessionProject:
        """The project in a folder that a person names for one call.

        Raises:
            TooltrayError: it may not be one, or nobody has allowed it.
        """
        folder = await self._folders.permitted(path, SessionState(OWN))
        return SessionProject(folder, project_name("", folder), "person")

    async def start(self, server: str, path: str | None) -> None:
        """See ProjectsApi.start_for_project; None: start_without_project."""
        deferred = self._servers.find_deferred(server)
        if deferred.config.disable:
            raise TooltrayError(f"server '{server}' is switched off", hint="Switch it on first.")
        if path is None:
            deferred.check_needs_no_project()
            project = deferred.chosen = None
        else:
            folder = await self.allow(path)
            project = deferred.chosen = SessionProject(folder, project_name("", folder), "person")
        deferred.is_without_project = path is None
        await self._servers.allow_start(deferred)
        deferred.wake()
        for state in [state for state in self._states if state.project is None]:
            self._bus.publish(SessionMoved(state))
        self._leases.look()
        await deferred.run_for(project, timeout_s=STARTED_BY_HAND_WAIT_S)

    async def choose(self, session: str, path: str) -> None:
        """See ProjectsApi.set_session_project."""
        state = self._states.find(session)
        if state is None:
            raise NotFound(f"there is no session '{shown(session)}'", hint="See which there are: tooltray sessions")
        folder = await self._folders.real(path)
        if (known := state.project) and known.source != "person" and known.path != folder:
            title = f"This AI client works on '{known.name}' already"
            raise Conflict(title, f"{SAID_BY[known.source]}: {known.path}", "What a client says goes before what a person chooses.")
        self.sources.set(state, "person", SessionProject(folder, project_name("", folder), "person"))

    async def reset(self) -> None:
        """See ProjectsApi.reset_deferred_state."""
        servers = self._servers.deferred()
        await asyncio.gather(*(server.stop(then=ServerState.STOPPED if server.is_stopped else server.idle_state) for server in servers))
        for server in servers:
            server.forget()

    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None) -> None:
        """See ProjectsApi.set_deferred."""
        fields = {"startup_args_template": template} if deferred or template is not None else {}
        await self._config.change_server(server, deferred_startup=deferred or None, **fields)

    # how it is shown

    def detail(self, server: ManagedServer) -> str:
        """What a server does at the moment, or waits for."""
        if server.state is not ServerState.WAITING:
            return server.first.detail
        sessions = [state for state in self._states if state.connections and self._has(state, server)]
        if names := sorted({state.project.name for state in sessions if state.project}):
            if len(names) == 1:
                return Phrase("Starts for {project} when it is first used", project=names[0])
            return Phrase("Starts for each project when it is first used")
        match len(sessions):
            case 0:
                return Phrase("No AI client is connected")
            case 1:
                return Phrase("1 AI client is connected, and names no folder")
        return Phrase("{count} AI clients are connected, none names a folder", count=len(sessions))

    def copies(self, server: ManagedServer) -> tuple[ProjectCopySnapshot, ...]:
        """The copies of a server, one for each project."""
        return tuple(self._copy_snapshot(copy, server) for copy in server.copies) if isinstance(server, DeferredServer) else ()

    def _copy_snapshot(self, copy: ProjectCopy, server: DeferredServer) -> ProjectCopySnapshot:
        project = copy.project or SessionProject("", "", "person")
        users = [state for state in self._states if state.connections and server.uses(state, copy)]
        return ProjectCopySnapshot(
            path=project.path,
            name=project.name,
            state=copy.state,
            session_count=len(users),
            target=shown_target(copy.config, copy.project),
            problem=copy.problem,
            pids=copy.pids,
        )
