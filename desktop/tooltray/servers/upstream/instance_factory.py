"""Makes the instances of servers, publishes their changes of state, and records the eras that each server speaks."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Raw

from tooltray.foundation.events import ProblemReported, ServerFailed
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.launch.command_lookup import downloads
from tooltray.servers.transports.memory_transport import MemoryServer, MemoryTransport
from tooltray.servers.transports.transport import Transport
from tooltray.servers.transports.transports import is_remote
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.instance_status import Failure, Program
from tooltray.servers.upstream.lifecycle_recorder import LifecycleRecorder
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServerNotified, ServerStateChanged
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.server_transports import ServerTransports
from tooltray.servers.upstream.upstream_services import UpstreamServices

logger = logging.getLogger(__name__)


class InstanceFactory:
    """The maker of all instances. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        transports: ServerTransports,
        services: UpstreamServices,
        is_current: Callable[[ManagedServer], bool],
        before_start: Callable[[ServerCopy], Awaitable[None]],
    ) -> None:
        """
        Args:
            is_current: whether a server is the present one of its name, and not one that is being replaced.
            before_start: awaited before a server is started; may raise TooltrayError.
        """
        self._transports, self._eras, self._services = transports, services.eras, services
        self._is_current, self._before_start = is_current, before_start
        self._recorder = LifecycleRecorder(services.bus)

    def make(self, copy: ServerCopy, era: Era, owner: Session | None, *, builtin: MemoryServer | None) -> Instance:
        """Returns an instance of a copy for an era, for one session or shared by all; the instance does not run yet."""
        return Instance(
            program=partial(self._program_of, copy, owner, builtin),
            wants=era,
            owner=owner,
            services=self._services,
            on_changed=partial(self._on_changed, copy),
            on_failed=partial(self._on_failed, copy),
            on_notification=self._on_notification,
        )

    def _program_of(self, copy: ServerCopy, owner: Session | None, builtin: MemoryServer | None) -> Program:
        server = copy.server
        eras = self._eras.eras(server.config_hash)
        return Program(
            name=server.name,
            make_transport=partial(self._make_transport, copy, builtin),
            is_launcher=downloads(server.config.command or "", server.config.arguments),
            start_timeout_s=server.config.start_timeout,
            is_remote=is_remote(server.config.transport),
            is_isolated=server.config.isolation == "session",
            is_known_legacy=eras == {Era.LEGACY.value} or (owner is None and copy.prefers_legacy),
            only_era=server.config.only_era,
            is_first_start=not eras and not server.is_known,
            is_retried_by_calls=server.config.deferred_startup,
        )

    async def _make_transport(self, copy: ServerCopy, builtin: MemoryServer | None) -> Transport:
        if builtin is not None:
            return MemoryTransport(name=copy.server.name, server=builtin, deadlines=self._services.deadlines)
        await self._before_start(copy)
        return await self._transports.make(copy)

    # events of instances

    def _on_changed(self, copy: ServerCopy, instance: Instance) -> None:
        server, publish = copy.server, self._services.bus.publish
        if not server.is_builtin:
            self._recorder.changed(instance, _project_of(copy))
        server.idle_stop.follow()
        if instance.state is ServerState.RUNNING and (client := instance.client):
            self._remember_eras(server)
            publish(InstanceOpened(server, client))
        self.publish_state(server)
        if instance.problem and _is_problem(copy, instance):
            publish(ProblemReported(instance.problem, server.name, _project_of(copy)))

    def publish_state(self, server: ManagedServer) -> None:
        """Publishes that a server's state changed; if it was replaced, only its successor is shown."""
        if self._is_current(server):
            self._services.bus.publish(ServerStateChanged(server))

    def _on_failed(self, copy: ServerCopy, instance: Instance, failure: Failure) -> None:
        problem, is_start, attempt, exit_code = failure.problem, failure.is_start, failure.attempt, failure.exit_code
        self._services.bus.publish(ServerFailed(copy.server.name, problem, is_start, attempt, exit_code, _project_of(copy)))

    def _on_notification(self, instance: Instance, method: str, params: Raw) -> None:
        if client := instance.client:
            self._services.bus.publish(ServerNotified(client, method, params))

    def _remember_eras(self, server: ManagedServer) -> None:
        eras = server.eras | self._eras.eras(server.config_hash)
        if not server.is_builtin and self._eras.remember(server.config_hash, eras):
            self._services.spawn(finish_in_thread(self._eras.save), name="save eras")


def _project_of(copy: ServerCopy) -> str:
    """Returns the folder of the project for which a copy runs; empty if it runs for no project."""
    return copy.project.path if copy.project else ""


def _is_problem(copy: ServerCopy, instance: Instance) -> bool:
    """Reports whether the user should hear of an instance's state. An instance that does not speak one of two eras is not a problem."""
    if instance.state is ServerState.NEEDS_SIGN_IN:
        return instance is copy.first
    is_only_an_era = instance.owner is not None or (instance.status.is_era_refused and instance is not copy.first)
    return instance.state is ServerState.ERROR and not is_only_an_era and not instance.status.is_repeated
