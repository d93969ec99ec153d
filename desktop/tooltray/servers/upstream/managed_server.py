"""One server of the settings: its instances, as one thing with one state.

A connection to a server has one era for good, and what a server offers differs by era (a dual-era server opened modern has no
`logging/setLevel`, asks no client, keeps no subscriptions). So legacy AI clients get a legacy instance, started when the first of them
comes; a server that speaks one era only has one instance, which serves everybody. With `isolation: session` every AI client's session has
instances of its own besides, opened as the client introduces itself and ended with it; the shared one is still the one that is listed. A
server that starts for a project is one of these for each project, see deferred_server.

Above it: ServerManager, and subscribers to the events about servers, which carry objects of the engine and never leave the process. Below
it: Instance.
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
from tooltray.servers.upstream.idle_stop import IdleStop
from tooltray.servers.upstream.instance import Instance, not_running
from tooltray.servers.upstream.mcp_client import McpClient

RESTARTED_THROUGH = frozenset(
    {
        *(ServerState.STOPPING, ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING),
        *(ServerState.STARTING, ServerState.INSTALLING),
    }
)
"""The states that a restart which somebody asked for passes. They are shown as RESTARTING, which by itself is what comes after a death."""


class ServerEntry(msgspec.Struct, frozen=True, eq=False):
    """What the settings say of a server.

    Attributes:
        config_hash: another one means another program.
        file: where the entry stands, if that is another file than the settings.
        is_builtin: it comes with Tooltray, and no entry stands anywhere.
    """

    name: str
    config: MCPServerConfig
    config_hash: str
    file: FileServer | None = None
    is_builtin: bool = False


class ManagedServer:
    """Methods may be called from any task of the loop."""

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
            idle_state: what it is while it does not run and nobody stopped it.
            make_instance: makes an instance for an era and, if it is not for all, for one session.
            make_idle_stop: makes what stops instances that nobody uses.
        """
        self.name, self.config, self.config_hash, self.log = entry.name, entry.config, entry.config_hash, log
        self.file, self.is_builtin = entry.file, entry.is_builtin
        self.refused = RefusedRequests()
        self._make_instance = make_instance
        self.idle_stop = make_idle_stop(self)
        self._first = make_instance(self, Era.MODERN, None)
        self._legacy: Instance | None = None
        self._own: dict[Session, dict[Era, Instance]] = {}  # instances for one session alone
        self._is_for_both_eras = (
            entry.config.only_era is Era.MODERN
        )  # whether the first instance serves all clients, as there is no legacy one
        self.is_known = False  # whether it was listed before; if not, a launcher is installing it
        self.is_used = False  # somebody wanted it since it was last stopped
        self.saved_processes = 0  # of a launcher, by each instance that runs without it
        self.restarts = 0  # that a person has asked for, and that neither run nor have failed yet
        self.idle_state = ServerState.STOPPED
        self.rest(idle_state)

    @property
    def whole(self) -> "ManagedServer":
        """The server of the settings: this one, or the deferred server whose copy for one project this is."""
        return self

    @property
    def project(self) -> SessionProject | None:
        """For which it runs, if for one."""
        return None

    @property
    def prefers_legacy(self) -> bool:
        """Whether what serves all is opened in the legacy era if the server speaks it."""
        return False

    @property
    def first(self) -> Instance:
        """The instance whose lists and state stand for the server."""
        return self._first

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(instance for group in self.groups for instance in group)

    @property
    def groups(self) -> list[Sequence[Instance]]:
        """The same, those together that serve the same clients: the shared ones first, then those of each session."""
        shared = (self._first, self._legacy) if self._legacy else (self._first,)
        return [shared, *(tuple(own.values()) for own in self._own.values())]

    @property
    def state(self) -> ServerState:
        return self.first.state

    @property
    def shown_state(self) -> ServerState:
        """As a person sees it: all steps of a restart are one. See `RESTARTED_THROUGH`."""
        return ServerState.RESTARTING if self.restarts and self.state in RESTARTED_THROUGH else self.state

    @property
    def problem(self) -> Problem | None:
        return self.first.problem

    @property
    def needs_secrets(self) -> bool:
        """Whether its settings name secrets."""
        return "${secret:" in json.dumps(self.config.to_entry())

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(pid for instance in self.instances for pid in instance.pids)

    @property
    def eras(self) -> frozenset[str]:
        """What is known of the eras it speaks, after it ran."""
        eras = {instance.client.era.value for instance in self.instances if instance.client}
        return frozenset(eras)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Whether a connection of this server is one that an AI client's session may hear of."""
        return client.owner in (None, session)

    def adopt(self, config: MCPServerConfig, file: FileServer | None = None) -> None:
        """Other settings that do not change what runs."""
        self.config, self.file = config, file
        self.idle_stop.follow()

    def client_for(self, era: Era, session: Session | None = None) -> McpClient | None:
        """The connection for an AI client's requests of an era, where it is there already."""
        if session is not None and self._has_own(session):
            own = self._own.get(session, {}).get(era)
            if own is None or not own.is_refused:
                return own.client if own else None
        client = self._first.client
        if client is None or era is Era.MODERN or client.era is Era.LEGACY or self._is_for_both_eras:
            return client
        return self._legacy.client if self._legacy else None

    async def running(self, era: Era, *, timeout_s: float, session: Session | None = None) -> McpClient:
        """The connection for an AI client's requests of an era, started if need be.

        Raises:
            TooltrayError: it does not run after `timeout_s`; says why.
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
        """The connection of an instance; None if the server does not speak the era that it is to be opened in."""
        if instance.is_refused:
            return None
        self._check_has_not_failed(instance)
        try:
            return await instance.running(timeout_s=timeout_s)
        except TooltrayError:
            if instance.is_refused:
                return None
            raise

    async def end_session(self, session: Session) -> None:
        """Ends what an AI client had for itself."""
        own = self._own.pop(session, {})
        await asyncio.gather(*(instance.stop() for instance in own.values()))

    def _has_own(self, session: Session) -> bool:
        return self.config.isolation == "session" and session.is_lasting and not self.is_builtin

    def keep_stopped(self, since: float) -> None:
        """A person has stopped it in an earlier life: only a person starts it. `since`: unix seconds; 0: nobody knows."""
        self._first.rest(ServerState.STOPPED, since=since)

    def rest(self, idle_state: ServerState) -> None:
        """What it is while it does not run; a server that a person stopped stays stopped until this changes."""
        if idle_state is not self.idle_state:
            self.idle_state = idle_state
            self._first.rest(idle_state)

    def start(self) -> None:
        """Begins to run; does not wait."""
        self._first.start()

    async def run(self, *, timeout_s: float) -> None:
        """A person wants it to run: starts it and waits for the outcome.

        Raises:
            TooltrayError: it does not run after `timeout_s`; says why.
        """
        self.is_used = True
        await self._first.running(timeout_s=timeout_s)

    def is_news(self, instance: Instance) -> bool:
        """Whether a person should hear how an instance of it is now."""
        return True

    def require_sign_in(self, problem: Problem) -> None:
        """Gives up all its connections until a person has signed in."""
        for instance in self.instances:
            instance.require_sign_in(problem)
        if self._first.state is ServerState.ON_DEMAND:
            self._first.start()  # it was an instance for one session; now all see what the server wants

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends its instances together, from this moment on; bounded. `then` is the state afterwards."""
        self.is_used = False
        ending = {owner for instance in self.instances if (owner := instance.begin_stop(then=then))}
        if ending:
            await asyncio.wait(ending)
        self._forget_at_rest()

    def _forget_at_rest(self) -> None:
        """Who was called for while it ended has begun again, and stays."""
        if self._legacy and self._legacy.is_at_rest:
            self._legacy = None
        for own in self._own.values():
            for era in [era for era, instance in own.items() if instance.is_at_rest]:
                del own[era]
        self._own = {session: own for session, own in self._own.items() if own}

    @property
    def refusal(self) -> TooltrayError | None:
        """Why no AI client starts it, and how a person does; None if one may."""
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
        """The first instance decides for all whether a person has to sign in; others that waited for it may try again when one has."""
        needs_sign_in = self._first.state is ServerState.NEEDS_SIGN_IN
        failed = self._first if needs_sign_in else instance
        if (needs_sign_in or failed.state is ServerState.ERROR) and (problem := failed.problem):
            raise not_running(self.name, problem)


class ServerStateChanged(Event, frozen=True):
    """Something that a card shows of a server changed: its state, its instances, a problem, a sign-in. It may have been removed."""

    server: ManagedServer


class InstanceOpened(Event, frozen=True):
    """An instance of a server is connected, for the first time or again."""

    server: ManagedServer
    client: McpClient


class ServerNotified(Event, frozen=True):
    """A server sent a notification that belongs to no call, or would have sent it if it could."""

    client: McpClient
    method: str
    params: Raw


class ServersConfigured(Event, frozen=True):
    """ServerManager has the servers of the settings as they are since the last ConfigChanged."""
