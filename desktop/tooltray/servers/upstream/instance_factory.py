"""Makes the instances of servers, and for each start the transport, from the server's settings with everything filled in; publishes changes
of state, and records the eras that each server speaks.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Raw

from tooltray.config.secrets.provided_secrets import ProvidedSecrets
from tooltray.config.settings.expansion import ResolvedServer, resolve
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.events import ProblemReported, ServerFailed
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.confinement.confined_starts import ConfinedStarts
from tooltray.servers.launch.child_environment import placeholder_variables, prepare_launch
from tooltray.servers.launch.command_lookup import downloads, is_launcher
from tooltray.servers.launch.direct_starts import DirectStarts
from tooltray.servers.launch.login_shell import LoginShell
from tooltray.servers.launch.npm_config import progress_variables
from tooltray.servers.launch.program_launch import CannotStart, Launch
from tooltray.servers.transports.transport import Authorization, MemoryServer, MemoryTransport, Transport, TransportOrder
from tooltray.servers.transports.transport_table import is_remote, make_transport
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.instance_status import Failure, Program
from tooltray.servers.upstream.lifecycle_recorder import LifecycleRecorder
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServerNotified, ServerStateChanged
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.upstream_services import UpstreamServices


class StartProcess(Protocol):
    """A function that makes the transport of a server that is a process of its own."""

    def __call__(self, *, name: str, launch: Launch, log: deque[str], mask: Callable[[str], str]) -> Transport: ...


Authorize = Callable[[str, MCPServerConfig, ResolvedServer, Mapping[str, str]], Awaitable[Authorization | None]]
"""Returns the authorization of requests to a remote server by its name, its settings, and the user's environment; None if the settings
contain it."""


class ProgramStarts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The parts that start servers on this machine.

    Attributes:
        folder: the folder in which servers without `cwd` run.
        registry_variables: returns the variables that make a server's npm, uv and pip use the chosen registry, by its settings and the
            user's environment.
        confined: starts servers that may do less than the user.
        check_files: called last for a server of a project's own file; raises CannotStart if the files that it starts have changed.
        packages: another folder in which servers inside Tooltray are looked for; None: no such folder.
    """

    login_shell: LoginShell
    folder: Path
    registry_variables: Callable[[MCPServerConfig, Mapping[str, str]], Awaitable[Mapping[str, str]]]
    start_process: StartProcess
    confined: ConfinedStarts
    check_files: Callable[[FileServer], Awaitable[None]]
    packages: Path | None = None


class ServerTransports:
    """The maker of transports for all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        provided: ProvidedSecrets,
        mask: Callable[[str], str],
        program_starts: ProgramStarts,
        authorize: Authorize,
        tool_schema: Callable[[str, str], Raw | None],
        own_url: Callable[[], str | None],
        may_run: Callable[[str, MCPServerConfig], bool] = lambda name, config: True,
    ) -> None:
        """
        Args:
            provided: secrets by the names that entries use.
            mask: removes secrets from a text.
            authorize: called for each connection to a remote server.
            tool_schema: returns the `inputSchema` that a server listed for a tool, if it is known.
            own_url: the URL at which Tooltray itself listens for AI clients, without a path; None if it does not listen.
            may_run: whether the user has approved this entry, or the entry needs no approval.
        """
        self._secrets, self._mask, self._starts, self._authorize = provided, mask, program_starts, authorize
        self._tool_schema, self._own_url, self._may_run = tool_schema, own_url, may_run
        self._direct_starts = DirectStarts()

    def forget_environment(self) -> None:
        """Drops the user's variables, to be read again: a missing program may have been installed, and PATH may have changed."""
        self._starts.login_shell.expire()

    async def make(self, copy: ServerCopy) -> Transport:
        """
        Raises:
            TooltrayError: the server cannot be started with its present settings; the error gives the reason.
        """
        server, config = copy.server, copy.server.config
        if not self._may_run(server.name, config):
            title = Phrase("'{name}' waits for your approval", name=server.name)
            message = Phrase("It runs inside Tooltray and can read every secret")
            raise CannotStart(title, message, Phrase("Review it in the window, or with: tooltray trust"))
        environ = await self._starts.login_shell.environ()
        variables = placeholder_variables(server.file, environ)
        resolved = await resolve(config, secrets=self._secrets, environ=variables, server=server.name, project=copy.project)
        order = TransportOrder(
            name=server.name,
            config=config,
            resolved=resolved,
            environ=environ,
            own_url=self._own_url(),
            mask=self._mask,
            tool_schema=partial(self._tool_schema, server.name),
            prepare_launch=partial(self._prepare_launch, copy, resolved, environ),
            start_process=lambda launch: self._starts.start_process(name=server.name, launch=launch, log=server.log, mask=self._mask),
            authorize=partial(self._authorize, server.name, config, resolved, environ),
            refused=copy.refused,
            log=server.log,
            packages=self._starts.packages,
        )
        return await make_transport(order)

    async def _prepare_launch(self, copy: ServerCopy, resolved: ResolvedServer, environ: Mapping[str, str]) -> Launch:
        server = copy.server
        variables, folder = await self._starts.registry_variables(server.config, environ), str(self._starts.folder)
        variables = {**progress_variables(server.config.command or "", environ), **variables}
        confined = await self._starts.confined.begin(server.name, server.config, _folder_of(copy), environ)
        if confined:
            environ, variables, folder = confined.environment, confined.variables(variables), confined.folder
        launch = prepare_launch(resolved, environ=environ, variables=variables, folder=folder, file=server.file)
        launch = confined.put_around(launch) if confined else launch
        if server.config.direct_start and is_launcher(launch.command):
            launch = await finish_in_thread(self._direct_starts.shorten, launch)
        server.saved_processes = launch.saved_processes
        if server.file:
            await self._starts.check_files(server.file)
        return launch


def _folder_of(copy: ServerCopy) -> str:
    """Returns the folder that a server works for: a copy's project, or the project whose own file has the server; empty: none."""
    file = copy.server.file
    return copy.project.path if copy.project else file.folder if file and file.origin == "project" else ""


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
            needs_secrets=copy.server.needs_secrets,
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
