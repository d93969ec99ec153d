"""The instances of a server that serve the same AI clients.

A connection to a server has one era for good, and what a server offers differs by era (a dual-era server opened modern has no
`logging/setLevel`, asks no client, keeps no subscriptions). So legacy AI clients get a legacy instance, started when the first of them
connects; a server that speaks only one era has one instance, which serves all. With `isolation: session` every AI client's session has
further instances of its own, opened as the client introduces itself and ended with it; the shared instance is still the one that is listed.

A copy for a project has no second instance for clients of the other era: it is one process, since what a server holds of a project (an
index, locks, language servers) must not exist twice. It is opened in the era of the first client that wants it, if the server speaks that
era, and serves clients of both.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.transports.transport import RefusedRequests
from tooltray.servers.upstream.instance import Instance, not_running
from tooltray.servers.upstream.instance_status import Status
from tooltray.servers.upstream.mcp_client import McpClient

if TYPE_CHECKING:
    from tooltray.servers.upstream.managed_server import ManagedServer

MakeInstance = Callable[["ServerCopy", Era, Session | None], Instance]
"""Makes an instance for an era, for one session or shared by all."""


class ServerCopy:
    """A server's copy for all sessions, for the sessions of one project, or for those without one. Belongs to the engine's loop.

    Attributes:
        server: the server of the settings.
        project: the project for which the copy runs; None if it runs for no project or for all.
        first: the instance whose lists and state represent the copy.
        prefers_legacy: the shared instance is opened in the legacy era if the server speaks it.
        is_for_requests: requests without a lasting session have used the copy; their clients are never seen to disconnect.
    """

    def __init__(self, server: "ManagedServer", project: SessionProject | None, make_instance: MakeInstance) -> None:
        self.server, self.project, self._make_instance = server, project, make_instance
        self.refused = RefusedRequests()
        self.is_for_requests = self.prefers_legacy = False
        # whether the first instance serves all clients, as there is no legacy one
        self._is_for_both_eras = server.config.deferred_startup or server.config.only_era is Era.MODERN
        self.first = make_instance(self, Era.MODERN, None)
        self._legacy: Instance | None = None
        self._own: dict[Session, dict[Era, Instance]] = {}  # instances for only one session

    @property
    def groups(self) -> list[Sequence[Instance]]:
        """The instances in groups that serve the same clients: the shared ones first, then the instances of each session."""
        shared = (self.first, self._legacy) if self._legacy else (self.first,)
        return [shared, *(tuple(own.values()) for own in self._own.values())]

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(instance for group in self.groups for instance in group)

    @property
    def copies(self) -> tuple["ServerCopy"]:
        """The copies of the server: only this one."""
        return (self,)

    @property
    def status(self) -> Status:
        return self.first.status

    @property
    def state(self) -> ServerState:
        return self.first.state

    @property
    def is_stopped(self) -> bool:
        """Reports whether the user stopped the copy."""
        return self.first.status.is_stopped

    @property
    def shown_state(self) -> ServerState:
        """The state for screens. A restart is a restart of the whole server."""
        return self.server.shown(self.state)

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(pid for instance in self.instances for pid in instance.pids)

    @property
    def eras(self) -> frozenset[str]:
        """The known eras. An instance that was opened in the legacy era for a client does not show what else the server speaks."""
        telling = (instance for instance in self.instances if not (instance is self.first and self.prefers_legacy))
        return frozenset(instance.client.era.value for instance in telling if instance.client)

    @property
    def is_idle(self) -> bool:
        """Reports whether the copy has no process, and is not about to have one."""
        return all(instance.is_idle for instance in self.instances)

    @property
    def idle_s(self) -> float:
        """Returns for how many seconds no part of the copy was used; 0 while the copy starts."""
        return min(0.0 if instance.status.is_busy else instance.usage.idle_s for instance in self.instances)

    @property
    def is_called(self) -> bool:
        """Reports whether a call of this copy runs, perhaps from a session that works on another project by now."""
        return any(instance.usage.is_needed for instance in self.instances)

    def prefer(self, era: Era) -> None:
        """Notes the era of a client that wants the copy. The copy is opened in that era, unless it is already open."""
        if self.first.is_idle:
            self.prefers_legacy = era is Era.LEGACY

    def client_for(self, era: Era, session: Session | None = None) -> McpClient | None:
        """Returns the connection for an AI client's requests of an era; None if it is not open yet."""
        if session is not None and self._has_own(session):
            own = self._own.get(session, {}).get(era)
            if own is None or not own.status.is_era_refused:
                return own.client if own else None
        client = self.first.client
        if client is None or era is Era.MODERN or client.era is Era.LEGACY or self._is_for_both_eras:
            return client
        return self._legacy.client if self._legacy else None

    async def running(self, era: Era, *, timeout_s: float, session: Session | None = None) -> McpClient:
        """Returns the connection for an AI client's requests of an era, started if needed.

        Raises:
            TooltrayError: the server does not run after `timeout_s`; the error gives the reason.
        """
        self.server.is_used = True
        if client := self.client_for(era, session):
            return client
        self.server.check_may_start()
        self._check_has_not_failed(self.first)
        if session is not None and self._has_own(session):
            own = self._own.setdefault(session, {})
            if era not in own:
                own[era] = self._make_instance(self, era, session)
            if client := await self._unless_refused(own[era], timeout_s):
                return client
        first = await self.first.running(timeout_s=timeout_s)
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

    def _check_has_not_failed(self, instance: Instance) -> None:
        """Raises a failed start's error. The first instance decides for all on a sign-in; after that, others may try again.

        After another failure each call tries to start a copy for a project again.
        """
        needs_sign_in = self.first.state is ServerState.NEEDS_SIGN_IN
        failed = self.first if needs_sign_in else instance
        has_failed = needs_sign_in or (failed.state is ServerState.ERROR and not self.server.config.deferred_startup)
        if has_failed and (problem := failed.problem):
            raise not_running(self.server.name, problem)

    def _has_own(self, session: Session) -> bool:
        return self.server.config.isolation == "session" and session.is_lasting and not self.server.is_builtin

    def require_sign_in(self, problem: Problem) -> None:
        """Closes all connections until the user has signed in."""
        for instance in self.instances:
            instance.require_sign_in(problem)
        if self.first.state is ServerState.ON_DEMAND:
            self.first.start()  # an instance for one session needed the sign-in; now all see that

    async def end_session(self, session: Session) -> None:
        """Ends the instances that an AI client had for itself."""
        own = self._own.pop(session, {})
        await asyncio.gather(*(instance.stop() for instance in own.values()))

    def set_idle_state(self, state: ServerState, *, since: float | None = None) -> None:
        """Sets the state while nothing runs. `since`: unix seconds, 0: unknown; None: from now on."""
        self.first.set_idle_state(state, since=since)

    def start(self) -> None:
        """Starts the copy without waiting."""
        self.first.start()

    async def run(self, *, timeout_s: float) -> None:
        """Starts the copy for the user and waits for the outcome.

        Raises:
            TooltrayError: the copy does not run after `timeout_s`; the error gives the reason.
        """
        self.server.is_used = True
        await self.first.running(timeout_s=timeout_s)

    async def stop(self, *, then: ServerState) -> None:
        """Ends all instances together; bounded. `then` is the state afterwards."""
        if ending := self.start_stopping(then=then):
            await asyncio.wait(ending)
        self.drop_idle()

    def start_stopping(self, *, then: ServerState) -> set[asyncio.Task[None]]:
        """Starts to stop all instances together. Returns the tasks that end with their processes."""
        return {owner for instance in self.instances if (owner := instance.start_stopping(then=then))}

    def drop_idle(self) -> None:
        """Drops idle instances. An instance that was called while it ended has started again, and stays."""
        if self._legacy and self._legacy.is_idle:
            self._legacy = None
        for own in self._own.values():
            for era in [era for era, instance in own.items() if instance.is_idle]:
                del own[era]
        self._own = {session: own for session, own in self._own.items() if own}
