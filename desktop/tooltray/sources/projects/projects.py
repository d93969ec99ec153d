"""Which project each session works on, the deferred servers that start for it, and what the user chooses about both."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence

import msgspec

from tooltray.config.settings.expansion import project_remark
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, NotFound, Problem, TooltrayError, words_for_model
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionMoved, SessionState, SessionStates
from tooltray.servers.upstream.deferred_server import DeferredServer
from tooltray.servers.upstream.project_folder import project_name, shown
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager
from tooltray.sources.projects.project_copies import Includes, ProjectCopies, has_server
from tooltray.sources.projects.project_folders import ProjectFolders
from tooltray.sources.projects.project_sources import ProjectSources, RootRounds

logger = logging.getLogger(__name__)
OWN = "tooltray"  # the name of who calls where no AI client does, see OwnCaller


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
        self._config, self._servers, self._folders, self._includes, self._spawn = config, servers, folders, includes, spawn
        self.sources, self.rounds = sources, rounds
        self._looks: dict[str, asyncio.Task[TooltrayError | None]] = {}  # by folder, those that are under way

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
        why = self.sources.refusal(session.state) or Phrase("this AI client has not said which folder it works on")
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

    async def _start_all(self, servers: Sequence[DeferredServer], project: SessionProject) -> ProjectReport:
        reasons = await asyncio.gather(*(self._why_not_started(server, project) for server in servers))
        outcomes = [(server.name, reason) for server, reason in zip(servers, reasons, strict=True)]
        return ProjectReport(tuple(name for name, reason in outcomes if not reason), tuple(each for each in outcomes if each[1]))

    async def _why_not_started(self, server: DeferredServer, project: SessionProject) -> str:
        try:
            await server.run_for(project, timeout_s=STARTED_BY_HAND_WAIT_S)
        except TooltrayError as error:
            return words_for_model(error)
        return ""

    def _startable(self, state: SessionState) -> list[DeferredServer]:
        """Of those that a session has."""
        return [server for server in self._servers.deferred() if not server.config.disable and has_server(state, server, self._includes)]

    async def named(self, path: str) -> SessionProject:
        """The project in a folder that a person names for one call.

        Raises:
            TooltrayError: it may not be one, or nobody has allowed it.
        """
        folder = await self._folders.permitted(path, SessionState(OWN))
        return SessionProject(folder, project_name("", folder), "person")


SAID_BY = {
    "feedback": "its model has said so",
    "roots": "the client has said so",
    "folder": "the client was started there",
    "person": "a person has said so",
}


class ProjectChoices:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        states: SessionStates,
        folders: ProjectFolders,
        sources: ProjectSources,
        copies: ProjectCopies,
        bus: EventBus,
    ) -> None:
        self._config, self._servers, self._states, self._bus = config, servers, states, bus
        self._folders, self._sources, self._copies = folders, sources, copies

    def allowed(self) -> list[str]:
        """See ProjectsApi.get_allowed_folders."""
        return self._folders.listed()

    def problems(self) -> Iterator[Problem]:
        """What the settings say of projects, and what is not so."""
        yield from self._folders.problems()
        for server in self._servers.deferred():
            if remark := project_remark(server.config):
                hint = Phrase("Correct its settings, if one of these is meant: tooltray servers add --replace, or settings.json.")
                yield Problem(Phrase("'{name}' is not given all that its settings ask for", name=server.name), remark, hint)

    def has(self, session: str) -> bool:
        """Whether there is a session of this id."""
        return self._states.find(session) is not None

    async def real(self, path: str) -> str:
        """The folder to which a path leads.

        Raises:
            TooltrayError: it may never be a project; says why.
        """
        return await self._folders.real(path)

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
        await self._copies.settle()

    async def start(self, server: str, path: str | None) -> None:
        """See ProjectsApi.start_for_project; None: start_without_project."""
        deferred = self._servers.find_deferred(server)
        if deferred.config.disable:
            raise TooltrayError(Phrase("server '{server}' is switched off", server=server), hint=Phrase("Switch it on first."))
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
        self._copies.look()
        await deferred.run_for(project, timeout_s=STARTED_BY_HAND_WAIT_S)

    async def choose(self, session: str, path: str) -> None:
        """See ProjectsApi.set_session_project."""
        state = self._states.find(session)
        if state is None:
            raise NotFound(
                Phrase("there is no session '{session}'", session=shown(session)), hint=Phrase("See which there are: tooltray sessions")
            )
        folder = await self._folders.real(path)
        if (known := state.project) and known.source != "person" and known.path != folder:
            title = Phrase("This AI client works on '{name}' already", name=known.name)
            raise Conflict(title, f"{SAID_BY[known.source]}: {known.path}", Phrase("What a client says goes before what a person chooses."))
        self._sources.set(state, "person", SessionProject(folder, project_name("", folder), "person"))

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
