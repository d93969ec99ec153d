"""Ends the copies of deferred servers whose project nobody works on any more.

Above it: Projects. Below it: ServerManager, the sessions' states, and one deadline for each copy that is not needed.
"""

from functools import partial

from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.sessions.session_state import KEPT_FOR_S, SessionStates
from tooltray.snapshots.servers import ServerState
from tooltray.tasks import Spawn
from tooltray.upstream.deferred_server import DeferredServer, ProjectCopy
from tooltray.upstream.server_manager import ServerManager

UNUSED_S = 60.0  # a client that is started again comes back sooner, and some servers take long to start
UNCALLED_S = KEPT_FOR_S  # the same where each request stands for itself: its client is remembered for so long


class ProjectLeases:
    """Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, states: SessionStates, deadlines: DeadlineWheel, spawn: Spawn) -> None:
        self._servers, self._states, self._deadlines, self._spawn = servers, states, deadlines, spawn
        self._leases: dict[ProjectCopy, Deadline] = {}  # of the copies that nobody needs

    def look(self) -> None:
        """Sessions have come or gone, work on other projects, or copies have started or ended."""
        unneeded = self._unneeded()
        for copy in [copy for copy in self._leases if copy not in unneeded]:
            self._leases.pop(copy).cancel()
        for copy, server in unneeded.items():
            if copy not in self._leases:
                self._add(copy, server, UNCALLED_S if copy.is_for_requests else UNUSED_S)

    def _unneeded(self) -> dict[ProjectCopy, DeferredServer]:
        worked_on = {state.project.path for state in self._states if state.connections and state.project}
        return {copy: server for server in self._servers.deferred() for copy in server.copies if _is_unneeded(copy, server, worked_on)}

    def _add(self, copy: ProjectCopy, server: DeferredServer, seconds: float) -> None:
        self._leases[copy] = self._deadlines.add(seconds, partial(self._on_over, copy, server))

    def _on_over(self, copy: ProjectCopy, server: DeferredServer) -> None:
        del self._leases[copy]
        left_s = UNCALLED_S - copy.idle_s if copy.is_for_requests else UNUSED_S if copy.is_called else 0.0
        if left_s > 0:
            self._add(copy, server, left_s)
        else:
            self._spawn(self._end(copy, server), name=f"end '{server.name}' for a project")

    async def _end(self, copy: ProjectCopy, server: DeferredServer) -> None:
        if copy not in self._unneeded():
            return  # somebody has come in this moment
        await server.end([copy])
        self.look()  # at its end it was looked at, too


def _is_unneeded(copy: ProjectCopy, server: DeferredServer, worked_on: set[str]) -> bool:
    if copy.state is ServerState.STOPPING:
        return False
    if copy.project is None:
        return not server.is_without_project
    is_chosen = server.chosen is not None and server.chosen.path == copy.project.path
    return not is_chosen and copy.project.path not in worked_on
