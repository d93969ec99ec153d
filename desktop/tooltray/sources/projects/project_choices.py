"""What a person chooses about projects: which folders are allowed, which server starts for which, on what a session works.

Above it: ProjectsApi, where each verb is described. Below it: ProjectFolders, ProjectSources, ProjectCopies, and the settings.
"""

import asyncio
from collections.abc import Iterator

from tooltray.config.settings.expansion import project_remark
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.sessions.session_state import SessionMoved, SessionState, SessionStates
from tooltray.servers.upstream.project_folder import project_name, shown
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager
from tooltray.sources.projects.project_copies import ProjectCopies
from tooltray.sources.projects.project_folders import ProjectFolders
from tooltray.sources.projects.project_sources import ProjectSources
from tooltray.sources.projects.projects import OWN

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
