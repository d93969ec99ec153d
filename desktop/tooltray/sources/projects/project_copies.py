"""The copies of deferred servers, one for each project: ends unneeded copies, and describes them all."""

import asyncio
from collections.abc import Callable
from functools import partial

from tooltray.config.settings.expansion import shown_target
from tooltray.foundation.events import ConfigChanged, Event, EventBus, ResourceListChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerState
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
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
from tooltray.servers.upstream.project_folder import is_inside
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.projects.project_folders import ProjectFolders
from tooltray.sources.projects.project_sources import ProjectSources

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
        worked_on = {state.project.path for state in self._states if state.connections and state.project}
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
        sessions = [state for state in self._states if state.connections and has_server(state, server, self._includes)]
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
        users = [state for state in self._states if state.connections and copies.uses(state, copy)]
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
