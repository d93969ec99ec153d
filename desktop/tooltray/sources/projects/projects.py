"""The project of each session, and the deferred servers that start for it. The user's choices are in api.py."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence

import msgspec

from tooltray.config.settings.expansion import project_remark
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError, words_for_model
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.copies_by_project import CopiesByProject
from tooltray.servers.upstream.project_folder import project_name
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager
from tooltray.sources.projects.project_copies import Includes, has_server
from tooltray.sources.projects.project_folders import OWN, ProjectFolders
from tooltray.sources.projects.project_sources import ProjectSources, RootRounds

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
