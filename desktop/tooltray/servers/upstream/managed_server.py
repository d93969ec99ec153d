"""One server of the settings: its instances, as one thing with one state.

A connection to a server has one era for good, and what a server offers differs by era (a dual-era server opened modern has no
`logging/setLevel`, asks no client, keeps no subscriptions). So legacy AI clients get a legacy instance, started when the first of them
connects; a server that speaks only one era has one instance, which serves all. With `isolation: session` every AI client's session has
instances of its own besides, opened as the client introduces itself and ended with it; the shared instance is still the one that is listed.
A server that starts for a project has one ManagedServer for each project, see deferred_server. The events about servers carry objects of
the engine and never leave the process.
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
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.transports.refused_requests import RefusedRequests
from tooltray.servers.transports.server_output import LOG_LINES, SEPARATOR
from tooltray.servers.upstream.idle_stop import IdleStop
from tooltray.servers.upstream.instance import Instance, not_running
from tooltray.servers.upstream.mcp_client import McpClient

RESTARTED_THROUGH = frozenset(
    {
        *(ServerState.STOPPING, ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING),
        *(ServerState.STARTING, ServerState.INSTALLING),
    }
)
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
    """One server of the settings. Methods may be called from any task of the loop."""

    def __init__(
        self,
        entry: ServerEntry,
        *,
        log: deque[str],
        idle_state: ServerState,
        make_instance: Callable[["ManagedServer", Era, Session | None], Instance],
        make_idle_stop: Callable[["ManagedServer"], IdleStop],
    ) -> None:
        """
        Args:
            idle_state: the server's state while it does not run and the user has not stopped it.
            make_instance: makes an instance for an era, for one session or shared by all.
            make_idle_stop: makes the IdleStop that ends idle instances.
        """
        self.name, self.config, self.config_hash, self.log = entry.name, entry.config, entry.config_hash, log
        self.file, self.is_builtin = entry.file, entry.is_builtin
        self.refused = RefusedRequests()
        self._make_instance = make_instance
        self.idle_stop = make_idle_stop(self)
        self._legacy: Instance | None = None
        self._own: dict[Session, dict[Era, Instance]] = {}  # instances for only one session
        self._is_for_both_eras = (
            entry.config.only_era is Era.MODERN
        )  # whether the first instance serves all clients, as there is no legacy one
        self.is_known = False  # whether it was listed before; if not, a launcher is installing it
        self.is_used = False  # it was used since it was last stopped
        self.saved_processes = 0  # processes of a launcher, which each instance that runs without it saves
        self.restarts = 0  # that the user has requested, and that neither run nor have failed yet
        self.idle_state = ServerState.STOPPED
        self._first = make_instance(self, Era.MODERN, None)
        self.set_idle_state(idle_state)

    @property
    def whole(self) -> "ManagedServer":
        """The server of the settings: this one, or the deferred server whose copy for one project this is."""
        return self

    @property
    def project(self) -> SessionProject | None:
        """The project for which the server runs; None if it runs for no project or for all."""
        return None

    @property
    def prefers_legacy(self) -> bool:
        """Reports whether the shared instance is opened in the legacy era if the server speaks it."""
        return False

    @property
    def first(self) -> Instance:
        """The instance whose lists and state represent the server."""
        return self._first

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(instance for group in self.groups for instance in group)

    @property
    def groups(self) -> list[Sequence[Instance]]:
        """The instances in groups that serve the same clients: the shared ones first, then the instances of each session."""
        shared = (self._first, self._legacy) if self._legacy else (self._first,)
        return [shared, *(tuple(own.values()) for own in self._own.values())]

    @property
    def state(self) -> ServerState:
        return self.first.state

    @property
    def shown_state(self) -> ServerState:
        """The state for screens: all steps of a restart are one. See `RESTARTED_THROUGH`."""
        return ServerState.RESTARTING if self.restarts and self.state in RESTARTED_THROUGH else self.state

    @property
    def problem(self) -> Problem | None:
        return self.first.problem

    @property
    def needs_secrets(self) -> bool:
        """Reports whether the server's settings name secrets."""
        return "${secret:" in json.dumps(self.config.to_entry())

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(pid for instance in self.instances for pid in instance.pids)

    @property
    def eras(self) -> frozenset[str]:
        """The eras that the server's connected instances speak."""
        eras = {instance.client.era.value for instance in self.instances if instance.client}
        return frozenset(eras)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Reports whether a connection of this server is one that an AI client's session may hear of."""
        return client.owner in (None, session)

    def adopt(self, config: MCPServerConfig, file: FileServer | None = None) -> None:
        """Takes other settings that do not change what runs."""
        self.config, self.file = config, file
        self.idle_stop.follow()

    def client_for(self, era: Era, session: Session | None = None) -> McpClient | None:
        """Returns the connection for an AI client's requests of an era; None if it is not open yet."""
        if session is not None and self._has_own(session):
            own = self._own.get(session, {}).get(era)
            if own is None or not own.status.is_era_refused:
                return own.client if own else None
        client = self._first.client
        if client is None or era is Era.MODERN or client.era is Era.LEGACY or self._is_for_both_eras:
            return client
        return self._legacy.client if self._legacy else None

    async def running(self, era: Era, *, timeout_s: float, session: Session | None = None) -> McpClient:
        """Returns the connection for an AI client's requests of an era, started if needed.

        Raises:
            TooltrayError: the server does not run after `timeout_s`; the error gives the reason.
        """
        self.is_used = True
        if client := self.client_for(era, session):
            return client
        self._check_may_start()
        if session is not None and self._has_own(session):
            own = self._own.setdefault(session, {})
            if era not in own:
                own[era] = self._make_instance(self, era, session)
            if client := await self._unless_refused(own[era], timeout_s):
                return client
        first = await self._first.running(timeout_s=timeout_s)
        if self.client_for(era) is first:
            return first
        if self._legacy is None:
            self._legacy = self._make_instance(self, Era.LEGACY, None)
        if client := await self._unless_refused(self._legacy, timeout_s):
            return client
        self._is_for_both_eras = True
        return first

    async def _unless_refused(self, instance: Instance, timeout_s: float) -> McpClient | None:
        """Returns the connection of an instance; None if the server does not speak the era that the instance wants."""
        if instance.status.is_era_refused:
            return None
        self._check_has_not_failed(instance)
        try:
            return await instance.running(timeout_s=timeout_s)
        except TooltrayError:
            if instance.status.is_era_refused:
                return None
            raise

    async def end_session(self, session: Session) -> None:
        """Ends the instances that an AI client had for itself."""
        own = self._own.pop(session, {})
        await asyncio.gather(*(instance.stop() for instance in own.values()))

    def _has_own(self, session: Session) -> bool:
        return self.config.isolation == "session" and session.is_lasting and not self.is_builtin

    def keep_stopped(self, since: float) -> None:
        """Marks the server as stopped by the user in an earlier run: only the user starts it. `since`: unix seconds; 0: unknown."""
        self._first.set_idle_state(ServerState.STOPPED, since=since)

    def set_idle_state(self, idle_state: ServerState) -> None:
        """Sets the server's state while it does not run; a server that the user stopped stays stopped until this state changes."""
        if idle_state is not self.idle_state:
            self.idle_state = idle_state
            self._first.set_idle_state(idle_state)

    def start(self) -> None:
        """Starts the server without waiting."""
        self._first.start()

    async def run(self, *, timeout_s: float) -> None:
        """Starts the server for the user and waits for the outcome.

        Raises:
            TooltrayError: the server does not run after `timeout_s`; the error gives the reason.
        """
        self.is_used = True
        await self._first.running(timeout_s=timeout_s)

    def require_sign_in(self, problem: Problem) -> None:
        """Closes all connections of the server until the user has signed in."""
        for instance in self.instances:
            instance.require_sign_in(problem)
        if self._first.state is ServerState.ON_DEMAND:
            self._first.start()  # an instance for one session needed the sign-in; now all see that

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends the server's instances together, from this moment on; bounded. `then` is the state afterwards."""
        self.is_used = False
        ending = {owner for instance in self.instances if (owner := instance.start_stopping(then=then))}
        if ending:
            await asyncio.wait(ending)
        self._drop_idle()

    def _drop_idle(self) -> None:
        """Drops idle instances. An instance that was called while it ended has started again, and stays."""
        if self._legacy and self._legacy.is_idle:
            self._legacy = None
        for own in self._own.values():
            for era in [era for era, instance in own.items() if instance.is_idle]:
                del own[era]
        self._own = {session: own for session, own in self._own.items() if own}

    @property
    def refusal(self) -> TooltrayError | None:
        """The reason why no AI client starts the server, and how the user does; None if a client may start it."""
        if self.config.disable:
            return TooltrayError(Phrase("server '{name}' is switched off", name=self.name), hint=Phrase("Switch it on in Tooltray."))
        if self._first.is_stopped:
            hint = Phrase("Start it in Tooltray.")
            return TooltrayError(Phrase("server '{name}' is stopped", name=self.name), Phrase("a person stopped it"), hint)
        return None

    def _check_may_start(self) -> None:
        if refusal := self.refusal:
            raise refusal
        self._check_has_not_failed(self._first)

    def _check_has_not_failed(self, instance: Instance) -> None:
        """Raises a failed start's error. The first instance decides for all on a sign-in; after that, others may try again."""
        needs_sign_in = self._first.state is ServerState.NEEDS_SIGN_IN
        failed = self._first if needs_sign_in else instance
        if (needs_sign_in or failed.state is ServerState.ERROR) and (problem := failed.problem):
            raise not_running(self.name, problem)


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
