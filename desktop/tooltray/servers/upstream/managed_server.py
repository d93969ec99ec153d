"""One server of the settings: its copies and their instances, as one thing with one state. The events about servers carry objects of the
engine and never leave the process.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Raw

from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import Event
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.transports.server_output import LOG_LINES, SEPARATOR
from tooltray.servers.upstream.copies_by_project import CopiesByProject
from tooltray.servers.upstream.idle_stop import IdleStop
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.instance_status import IDLE, STARTS, Status
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_copy import ServerCopy

RESTARTED_THROUGH = frozenset({ServerState.STOPPING, *IDLE, *STARTS})
"""The states that a requested restart passes. They are shown as RESTARTING, which is otherwise the state after an unexpected end."""


class ServerEntry(msgspec.Struct, frozen=True, eq=False):
    """An entry of the settings for one server.

    Attributes:
        config_hash: another hash means another program.
        file: the file that has the entry, if that is another file than the settings.
        is_builtin: the server comes with Tooltray, and has no entry in any file.
    """

    name: str
    config: MCPServerConfig
    config_hash: str
    file: FileServer | None = None
    is_builtin: bool = False


class ManagedServer:
    """One server of the settings: one copy for all sessions, or copies by project. Methods may be called from any task of the loop.

    Attributes:
        idle_state: the server's state while it does not run and the user has not stopped it.
        is_known: it was listed before; if not, a launcher is installing it.
        is_used: it was used since it was last stopped.
        saved_processes: processes of a launcher, which each instance that runs without it saves.
        restarts: how many the user has requested that neither run nor have failed yet.
        by_project: the copies of a server that starts for projects; None for any other server.
    """

    def __init__(
        self,
        entry: ServerEntry,
        *,
        log: deque[str],
        make_copies: Callable[["ManagedServer"], ServerCopy | CopiesByProject],
        make_idle_stop: Callable[["ManagedServer"], IdleStop],
    ) -> None:
        """Args:
        make_copies: makes the server's copy for all sessions, or its copies by project.
        make_idle_stop: makes the IdleStop that ends idle instances.
        """
        self.name, self.config, self.config_hash, self.log = entry.name, entry.config, entry.config_hash, log
        self.file, self.is_builtin = entry.file, entry.is_builtin
        self.idle_stop = make_idle_stop(self)
        self.is_known = self.is_used = False
        self.saved_processes = self.restarts = 0
        self._runs = runs = make_copies(self)
        self.by_project = runs if isinstance(runs, CopiesByProject) else None
        self.idle_state = _idle_state(entry.config)
        runs.set_idle_state(self.idle_state)

    @property
    def copies(self) -> Sequence[ServerCopy]:
        """The copies that may run: one for all sessions, or one for each project."""
        return self._runs.copies

    @property
    def first(self) -> Instance | None:
        """The instance whose lists and state represent the server; None for a server that starts for projects while it does not run."""
        return self._runs.first

    @property
    def client(self) -> McpClient | None:
        """The connection whose lists represent the server, while it is open."""
        return first.client if (first := self._runs.first) else None

    @property
    def status(self) -> Status:
        return self._runs.status

    @property
    def groups(self) -> list[Sequence[Instance]]:
        """The instances in groups that serve the same clients."""
        return [group for copy in self.copies for group in copy.groups]

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(instance for group in self.groups for instance in group)

    @property
    def state(self) -> ServerState:
        return self.status.state

    @property
    def shown_state(self) -> ServerState:
        return self.shown(self.state)

    def shown(self, state: ServerState) -> ServerState:
        """Returns a state as screens show it: all steps of a restart are one. See `RESTARTED_THROUGH`."""
        return ServerState.RESTARTING if self.restarts and state in RESTARTED_THROUGH else state

    @property
    def problem(self) -> Problem | None:
        return self.status.problem

    @property
    def needs_secrets(self) -> bool:
        """Reports whether the server's settings name secrets."""
        return "${secret:" in json.dumps(self.config.to_entry())

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(pid for copy in self.copies for pid in copy.pids)

    @property
    def eras(self) -> frozenset[str]:
        """The eras that the server is known to speak by its open connections."""
        return frozenset(era for copy in self.copies for era in copy.eras)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Reports whether an AI client's session uses this connection of the server, and so may get its notifications."""
        return client.owner in (None, session) and (self.by_project is None or self.by_project.serves(client, session))

    def adopt(self, config: MCPServerConfig, file: FileServer | None = None) -> None:
        """Takes other settings that do not change what runs."""
        self.config, self.file = config, file
        self.idle_stop.follow()
        if (idle_state := _idle_state(config)) is not self.idle_state:  # a server that the user stopped stays stopped until then
            self.idle_state = idle_state
            self._runs.set_idle_state(idle_state)

    def client_for(self, era: Era, session: Session | None = None) -> McpClient | None:
        """Returns the connection for an AI client's requests of an era; None if it is not open yet."""
        return self._runs.client_for(era, session)

    async def running(self, era: Era, *, timeout_s: float, session: Session | None = None) -> McpClient:
        """Returns the connection for an AI client's requests of an era, started if needed.

        Raises:
            TooltrayError: the server does not run after `timeout_s`; the error gives the reason.
        """
        return await self._runs.running(era, timeout_s=timeout_s, session=session)

    async def settled(self) -> None:
        """Waits until the server is not on its way to running."""
        if first := self._runs.first:
            await first.settled()

    async def end_session(self, session: Session) -> None:
        """Ends the instances that an AI client had for itself."""
        await asyncio.gather(*(copy.end_session(session) for copy in self.copies))

    def keep_stopped(self, since: float) -> None:
        """Marks the server as stopped by the user in an earlier run: only the user starts it. `since`: unix seconds; 0: unknown."""
        self._runs.set_idle_state(ServerState.STOPPED, since=since)

    def start(self) -> None:
        """Starts the server without waiting. Copies by project start if they ran before and have ended or failed."""
        self._runs.start()

    async def run(self, *, timeout_s: float) -> None:
        """Starts the server for the user and waits for the outcome.

        Raises:
            TooltrayError: the server waits for a project, or does not run after `timeout_s`; the error gives the reason.
        """
        await self._runs.run(timeout_s=timeout_s)

    def require_sign_in(self, problem: Problem) -> None:
        """Closes all connections of the server until the user has signed in."""
        for copy in self.copies:
            copy.require_sign_in(problem)

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends the server's instances together, from this moment on; bounded. `then` is the state afterwards."""
        self.is_used = False
        await self._runs.stop(then=then)

    @property
    def is_stopped(self) -> bool:
        """Reports whether the user stopped the server, so that no AI client starts it."""
        return self._runs.is_stopped

    @property
    def refusal(self) -> TooltrayError | None:
        """The reason why no AI client starts the server, and how the user does; None if a client may start it."""
        if self.config.disable:
            return TooltrayError(Phrase("server '{name}' is disabled", name=self.name), hint=Phrase("Enable it in Tooltray."))
        if self.is_stopped:
            hint = Phrase("Start it in Tooltray.")
            return TooltrayError(Phrase("server '{name}' is stopped", name=self.name), Phrase("you stopped it"), hint)
        return None

    def check_may_start(self) -> None:
        """
        Raises:
            TooltrayError: no AI client starts the server; the error gives the reason.
        """
        if refusal := self.refusal:
            raise refusal


def _idle_state(config: MCPServerConfig) -> ServerState:
    """Returns the state of a server that was neither started nor stopped."""
    if config.disable:
        return ServerState.STOPPED
    return ServerState.WAITING if config.deferred_startup else ServerState.ON_DEMAND


class ServerStateChanged(Event, frozen=True):
    """The event that a server's card changed: its state, its instances, a problem, a sign-in. The server may have been removed."""

    server: ManagedServer


class InstanceOpened(Event, frozen=True):
    """The event that an instance of a server is connected, for the first time or again."""

    server: ManagedServer
    client: McpClient


class ServerNotified(Event, frozen=True):
    """The event that a server sent a notification that belongs to no call, or would have sent it if it could."""

    client: McpClient
    method: str
    params: Raw


class ServersConfigured(Event, frozen=True):
    """The event that ServerManager has taken over the settings of the last ConfigChanged."""


class ServerLog(deque[str]):
    """The last lines of one server. Belongs to the engine's loop."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        """
        Args:
            keep: called with each line, except the line that separates one process from the next.
        """
        super().__init__(maxlen=LOG_LINES)
        self._keep = keep

    def append(self, line: str) -> None:
        super().append(line)
        if not line.startswith(SEPARATOR):
            self._keep(line)
