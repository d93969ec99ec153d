"""The project of each session, and the deferred servers that start for it, with a copy for each project: ends unneeded copies, and
describes them all. The user's choices are in api.py.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from tooltray.config.settings.expansion import project_remark, shown_target
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError, words_for_model
from tooltray.foundation.events import ConfigChanged, Event, EventBus, ResourceListChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerState
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import (
    KEPT_FOR_S,
    SessionConnected,
    SessionDisconnected,
    SessionForgotten,
    SessionMoved,
    SessionState,
    SessionStates,
)
from tooltray.servers.upstream.copies_by_project import CopiesByProject
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServerStateChanged
from tooltray.servers.upstream.project_folder import is_inside, project_name
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager
from tooltray.sources.projects.project_sources import OWN, ProjectFolders, ProjectSources, RootRounds

UNUSED_S = 60.0  # a restarted client reconnects sooner, and some servers take long to start
UNCALLED_S = KEPT_FOR_S  # for independent requests, whose client is remembered as long

Includes = Callable[[SessionState, str], bool]
"""Returns whether a session's profile contains a server."""


class ProjectCopies:
    """The end of copies for projects on which no session works any more, and for folders that are not allowed any more.

    Belongs to the engine's loop.
    """

    def __init__(
        self,
        *,
        servers: ServerManager,
        states: SessionStates,
        folders: ProjectFolders,
        sources: ProjectSources,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        bus: EventBus,
    ) -> None:
        self._servers, self._states = servers, states
        self._folders, self._sources = folders, sources
        self._deadlines, self._spawn, self._bus = deadlines, spawn, bus
        self._leases: dict[ServerCopy, Deadline] = {}  # deadlines of copies that no session needs
        self._allowed = set(folders.allowed())
        self._withdrawals: set[asyncio.Task[None]] = set()
        bus.subscribe(ConfigChanged, self._on_config_changed)
        bus.subscribe(InstanceOpened, self._on_instance_opened)
        for kind in (ServerStateChanged, SessionConnected, SessionDisconnected, SessionForgotten, SessionMoved):
            bus.subscribe(kind, self._on_changed)

    async def drain(self) -> None:
        """Waits until nothing runs any more for folders that are not allowed."""
        await asyncio.gather(*self._withdrawals)

    def refresh_leases(self) -> None:
        """Gives each copy that no session needs a deadline, and cancels the deadlines of copies that are needed again."""
        unneeded = self._unneeded()
        for copy in [copy for copy in self._leases if copy not in unneeded]:
            self._leases.pop(copy).cancel()
        for copy, copies in unneeded.items():
            if copy not in self._leases:
                self._add(copy, copies, UNCALLED_S if copy.is_for_requests else UNUSED_S)

    def _unneeded(self) -> dict[ServerCopy, CopiesByProject]:
        worked_on = {state.project.path for state in self._states.connected if state.project}
        return {copy: copies for copies in self._servers.deferred() for copy in copies.copies if _is_unneeded(copy, copies, worked_on)}

    def _add(self, copy: ServerCopy, copies: CopiesByProject, seconds: float) -> None:
        self._leases[copy] = self._deadlines.add(seconds, partial(self._on_over, copy, copies))

    def _on_over(self, copy: ServerCopy, copies: CopiesByProject) -> None:
        del self._leases[copy]
        left_s = UNCALLED_S - copy.idle_s if copy.is_for_requests else UNUSED_S if copy.is_called else 0.0
        if left_s > 0:
            self._add(copy, copies, left_s)
        else:
            self._spawn(self._end(copy, copies), name=f"end '{copy.server.name}' for a project")

    async def _end(self, copy: ServerCopy, copies: CopiesByProject) -> None:
        if copy not in self._unneeded():
            return  # a session has moved here in this moment
        await copies.end([copy])
        self.refresh_leases()  # while it ended, it may have got a deadline again

    def _on_changed(self, event: Event) -> None:
        self.refresh_leases()

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """Announces the resources of a further instance, which belong to its project; a first instance is announced anyway."""
        if event.server.by_project and event.client is not event.server.client:
            self._bus.publish(ResourceListChanged(event.server.name))

    def _on_config_changed(self, event: ConfigChanged) -> None:
        before, self._allowed = self._allowed, set(self._folders.allowed())
        if self._allowed - before:
            for state in self._states:
                self._sources.look_at_folder(state)
        for folder in before - self._allowed:
            withdrawal = self._spawn(self._withdraw(folder), name=f"withdraw '{folder}'")
            self._withdrawals.add(withdrawal)
            withdrawal.add_done_callback(self._withdrawals.discard)

    async def _withdraw(self, folder: str) -> None:
        for state in list(self._states):
            for source, project in list(state.projects.items()):
                if is_inside(project.path, folder) and not await self._folders.is_permitted(project.path, state):
                    self._sources.set(state, source, None)
        for by_project in self._servers.deferred():
            by_project.give_up(folder)
            copies = [copy for copy in by_project.copies if copy.project and is_inside(copy.project.path, folder)]
            await by_project.end(copies, then=ServerState.STOPPED)  # a waiting call does not start the copy again


class ProjectSnapshots:
    """The snapshots of deferred servers. Has no state of its own."""

    def __init__(self, *, states: SessionStates, includes: Includes) -> None:
        self._states, self._includes = states, includes

    def detail(self, server: ManagedServer) -> str:
        """Returns a server's current step, or what it waits for, as text."""
        if server.shown_state is not ServerState.WAITING:
            return server.status.detail
        sessions = [state for state in self._states.connected if has_server(state, server, self._includes)]
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
        """Returns the copies of a server, one for each project."""
        by_project = server.by_project
        return tuple(self._copy_snapshot(copy, by_project) for copy in by_project.copies) if by_project else ()

    def _copy_snapshot(self, copy: ServerCopy, copies: CopiesByProject) -> ProjectCopySnapshot:
        project = copy.project or SessionProject("", "", "person")
        users = [state for state in self._states.connected if copies.uses(state, copy)]
        return ProjectCopySnapshot(
            path=project.path,
            name=project.name,
            state=copy.shown_state,
            session_count=len(users),
            target=shown_target(copy.server.config, copy.project),
            problem=copy.first.problem,
            pids=copy.pids,
        )


def has_server(state: SessionState, server: ManagedServer, includes: Includes) -> bool:
    """Returns whether a session has a server."""
    return state.server in (None, server.name) and includes(state, server.name)


def _is_unneeded(copy: ServerCopy, copies: CopiesByProject, worked_on: set[str]) -> bool:
    if copy.state is ServerState.STOPPING:
        return False
    if copy.project is None:
        return not copies.is_without_project
    is_chosen = copies.chosen is not None and copies.chosen.path == copy.project.path
    return not is_chosen and copy.project.path not in worked_on


logger = logging.getLogger(__name__)


class ProjectReport(msgspec.Struct, frozen=True):
    """The outcome of a model's report on its project.

    Attributes:
        started: names of the servers that run for it now, in the settings' order.
        failed: name and reason of the servers that did not start.
        warning: why nothing was started; empty if the folder may be a project.
    """

    started: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    warning: str = ""


class Projects:
    """The projects of sessions and the servers that start for them. Belongs to the engine's loop.

    Attributes:
        sources: finds the projects that clients name.
        rounds: asks modern clients for their roots.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        folders: ProjectFolders,
        sources: ProjectSources,
        rounds: RootRounds,
        includes: Includes,
        spawn: Spawn,
    ) -> None:
        self._config, self._servers, self._folders = config, servers, folders
        self._includes, self._spawn = includes, spawn
        self.sources, self.rounds = sources, rounds
        self._looks: dict[str, asyncio.Task[TooltrayError | None]] = {}  # running checks, by folder

    # the projects of sessions (ProjectSource)

    def is_settled(self, session: Session) -> bool:
        return self.sources.is_settled(session)

    async def settle(self, session: Session) -> None:
        await self.sources.settle(session)

    async def check(self, project: SessionProject) -> None:
        """Checks the folder of a project before a server starts for it; servers that start together share one check.

        Raises:
            TooltrayError: the folder does not exist any more, or leads elsewhere now.
        """
        look = self._looks.get(project.path)
        if look is None:
            look = self._looks[project.path] = self._spawn(self._look(project.path), name=f"refresh '{project.path}'")
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
        why = self.sources.refusal(session.state) or Phrase("this AI client has not reported which folder it works on")
        if session.name == OWN:
            hint = Phrase(
                "Name one: tooltray tools call --project DIR TOOL. Or choose one: tooltray projects start {server} DIR",
                server=quoted(server),
            )
            return TooltrayError(Phrase("server '{server}' waits for a project", server=server), Phrase("none was named"), hint)
        report = "Call collect_feedback with project_path, or ask" if self._config.settings.publish.feedback else "Ask"
        told = f"{why}. {report} the user to choose a folder on its card in Tooltray"  # for a model, in English
        error = TooltrayError(Phrase("server '{server}' waits for a project", server=server), told)
        logger.warning("%s: %s", session.name, error)
        return error

    def take_roots(self, session: Session) -> None:
        """Begins to ask a legacy client, which is ready or has changed them, for its roots; does not wait."""
        self.sources.ask(session)

    async def before_listing(self, session: Session, only: str | None) -> None:
        """Begins to start, for a session's project, the servers that were never listed: otherwise their tools stay unknown.

        Args:
            only: the only server of the session; None for a session with all servers.
        """
        lazy = self._config.settings.publish.lazy_load
        startable = (each for each in self._startable(session.state) if not each.is_stopped and not each.server.config.is_lazy(lazy))
        unlisted = [each for each in startable if not each.server.is_known and only in (None, each.server.name)]
        if not unlisted or not self._config.settings.mcp_enabled:
            return
        await self.sources.settle(session)
        if project := session.state.project:
            for server in unlisted:
                with contextlib.suppress(TooltrayError):  # the server has too many copies; a call reports that
                    server.copy_for(project).start()

    async def reported(self, state: SessionState, name: str, path: str) -> ProjectReport:
        """Records the project that a model reports for its session, starts the deferred servers for it, and waits for the outcome.

        Args:
            name: name of the project; empty: the name of its folder.
            path: path of its folder; empty if the model did not name it.
        """
        if path:
            try:
                folder = await self._folders.permitted(path, state)
            except TooltrayError as error:
                logger.warning("%s reported a project: %s", state.client or state.id, error)
                return ProjectReport(warning=state.words(error))
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

    async def _start_all(self, servers: Sequence[CopiesByProject], project: SessionProject) -> ProjectReport:
        reasons = await asyncio.gather(*(self._why_not_started(server, project) for server in servers))
        outcomes = [(each.server.name, reason) for each, reason in zip(servers, reasons, strict=True)]
        return ProjectReport(tuple(name for name, reason in outcomes if not reason), tuple(each for each in outcomes if each[1]))

    async def _why_not_started(self, server: CopiesByProject, project: SessionProject) -> str:
        try:
            await server.run_for(project, timeout_s=STARTED_BY_HAND_WAIT_S)
        except TooltrayError as error:
            return words_for_model(error)
        return ""

    def _startable(self, state: SessionState) -> list[CopiesByProject]:
        """Returns the deferred servers of a session that are not disabled."""
        found = self._servers.deferred()
        return [each for each in found if not each.server.config.disable and has_server(state, each.server, self._includes)]

    async def named(self, path: str) -> SessionProject:
        """Returns the project in a folder that the user names for one call.

        Raises:
            TooltrayError: the folder cannot be a project, or is not allowed.
        """
        folder = await self._folders.permitted(path, SessionState(OWN))
        return SessionProject(folder, project_name("", folder), "person")


def project_problems(folders: ProjectFolders, servers: ServerManager) -> Iterator[Problem]:
    """Yields problems of projects in the settings that Tooltray cannot use."""
    yield from folders.problems()
    for by_project in servers.deferred():
        if remark := project_remark(by_project.server.config):
            hint = Phrase("Correct its settings, if one of these is meant: tooltray servers add --replace, or settings.json.")
            yield Problem(Phrase("'{name}' is not given all that its settings ask for", name=by_project.server.name), remark, hint)
