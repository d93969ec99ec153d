"""The API about projects, and servers that start for a project."""

import asyncio
from typing import TYPE_CHECKING

from tooltray.foundation.confirm_widening import confirm_widening, note_narrowing
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.verbs import JsonMapping, verb
from tooltray.protocol.sessions.session_state import SessionMoved, SessionState, SessionStates
from tooltray.servers.upstream.project_folder import project_name, shown
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager
from tooltray.sources.projects.project_sources import OWN, ProjectFolders

if TYPE_CHECKING:
    from tooltray.config.settings.mcp_conf_helper import McpConfHelper
    from tooltray.sources.projects.project_sources import ProjectSources
    from tooltray.sources.projects.projects import ProjectCopies

ALLOWING = Phrase("Allowing a folder")
SAID_BY = {
    "feedback": "its model named it",
    "roots": "the client named it",
    "folder": "the client was started there",
    "person": "the user chose it",
}


def _changes_arguments(part: "ProjectsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token to change deferred arguments, which are part of the command."""
    return arguments.get("template") is not None or bool(arguments["deferred"])


class ProjectsApi:
    def __init__(
        self,
        *,
        config: "McpConfHelper",
        servers: ServerManager,
        states: SessionStates,
        folders: ProjectFolders,
        sources: "ProjectSources",
        copies: "ProjectCopies",
        bus: EventBus,
    ) -> None:
        self._config, self._servers = config, servers
        self._states, self._bus = states, bus
        self._folders, self._sources, self._copies = folders, sources, copies

    async def get_allowed_folders(self) -> list[str]:
        """Returns the absolute paths of the folders that the user has allowed as projects."""
        return self._folders.listed()

    async def allow_folder(self, path: str) -> str:
        """Allows a folder, and what is in it, as a project; returns its real path.

        Raises:
            TooltrayError: the folder cannot be a project, or the settings cannot be written.
        """
        return await self._folders.allow(await self._confirmed(path))

    async def disallow_folder(self, path: str) -> None:
        """Revokes that a folder is a project; servers that run for it are stopped.

        Raises:
            TooltrayError: it was not allowed, or the settings cannot be written.
        """
        await self._folders.disallow(path)
        await self._copies.drain()
        await note_narrowing(ALLOWING, folder=path)

    async def start_for_project(self, server: str, path: str) -> None:
        """Starts a deferred server for a folder, which thereby becomes allowed, and waits for the outcome.

        Sessions without a known project use it from now on.

        Raises:
            TooltrayError: the deferred server does not exist, the folder cannot be a project, or the server does not start.
        """
        await self._start(server, await self._confirmed(path))

    async def start_without_project(self, server: str) -> None:
        """Starts a deferred server with its plain `args`, for sessions without a known project.

        Raises:
            TooltrayError: the deferred server does not exist, its settings require a project, or it does not start; with the reason.
        """
        await self._start(server, None)

    async def set_session_project(self, session: str, path: str) -> None:
        """Chooses the folder on which a session works.

        Args:
            session: its id, as `get_sessions` gives it.

        Raises:
            NotFound: the session does not exist.
            TooltrayError: the folder cannot be a project; the error has the reason.
        """
        folder = await self._folders.real(path) if self._states.find(session) else path
        await confirm_widening(Phrase("Choosing a project for an AI client"), session=session, folder=folder)
        state = self._states.find(session)
        if state is None:
            title = Phrase("session '{session}' not found", session=shown(session))
            raise NotFound(title, hint=Phrase("List the sessions: tooltray sessions"))
        folder = await self._folders.real(folder)
        if (known := state.project) and known.source != "person" and known.path != folder:
            title = Phrase("This AI client works on '{name}' already", name=known.name)
            raise Conflict(
                title, f"{SAID_BY[known.source]}: {known.path}", Phrase("A project chosen by the client overrides the user's choice.")
            )
        self._sources.set(state, "person", SessionProject(folder, project_name("", folder), "person"))

    async def reset_deferred_state(self) -> None:
        """Stops every copy of every deferred server and drops the projects of the copies: the servers wait again."""
        servers = self._servers.deferred()
        await asyncio.gather(*(server.end(server.copies, then=ServerState.STOPPED) for server in servers))
        for server in servers:
            server.forget()

    @verb(trusted=_changes_arguments)
    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None = None) -> None:
        """Chooses whether a server waits for a project, and the arguments with which it is started for a project.

        Args:
            template: arguments, with {project_path} and {project_name} for the project's; None: its `args`.

        Raises:
            TooltrayError: the settings have no such server, or the settings cannot be written.
        """
        fields = {"startup_args_template": template} if deferred or template is not None else {}
        await self._config.change_server(server, deferred_startup=deferred or None, **fields)

    async def _start(self, server: str, folder: str | None) -> None:
        """Starts a deferred server for a folder, or without a project for None."""
        deferred = self._servers.find_deferred(server)
        if deferred.server.config.disable:
            raise TooltrayError(Phrase("server '{server}' is disabled", server=server), hint=Phrase("Enable it first."))
        if folder is None:
            deferred.check_needs_no_project()
            project = deferred.chosen = None
        else:
            folder = await self._folders.allow(folder)
            project = deferred.chosen = SessionProject(folder, project_name("", folder), "person")
        deferred.is_without_project = folder is None
        await self._servers.allow_start(deferred.server)
        deferred.wake()
        for state in [state for state in self._states if state.project is None]:
            self._bus.publish(SessionMoved(state))
        self._copies.refresh_leases()
        await deferred.run_for(project, timeout_s=STARTED_BY_HAND_WAIT_S)

    async def _confirmed(self, path: str) -> str:
        """Returns the folder to which a path leads, once the user has confirmed it: by then the path may lead elsewhere.

        A folder in one that is allowed already widens nothing, and needs no confirmation.
        """
        folder = await self._folders.real(path)
        if not await self._folders.is_permitted(folder, SessionState(OWN)):
            await confirm_widening(ALLOWING, folder=folder)
        return folder
