"""The transport of an instance: made new for each start, from the server's settings with everything filled in. It knows nothing of the
lives of servers.
"""

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
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.confinement.confined_starts import ConfinedStarts
from tooltray.servers.launch.child_environment import placeholder_variables, prepare_launch
from tooltray.servers.launch.command_lookup import is_launcher
from tooltray.servers.launch.direct_starts import DirectStarts
from tooltray.servers.launch.login_shell import LoginShell
from tooltray.servers.launch.program_launch import CannotStart, Launch
from tooltray.servers.transports.transport import Authorization, Transport, TransportOrder
from tooltray.servers.transports.transports import make_transport
from tooltray.servers.upstream.server_copy import ServerCopy


class StartProcess(Protocol):
    """A function that makes the transport of a server that is a process of its own."""

    def __call__(self, *, name: str, launch: Launch, log: deque[str], mask: Callable[[str], str]) -> Transport: ...


class Authorize(Protocol):
    """A function that returns the authorization of requests to a remote server; None if the server's settings contain it."""

    async def __call__(
        self, server: str, config: MCPServerConfig, resolved: ResolvedServer, environ: Mapping[str, str]
    ) -> Authorization | None: ...


class RegistryVariables(Protocol):
    """A function that returns the variables that make a server's npm, uv and pip use the chosen registry."""

    async def __call__(self, config: MCPServerConfig, environ: Mapping[str, str]) -> Mapping[str, str]: ...


class ProgramStarts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The parts that start servers on this machine.

    Attributes:
        folder: the folder in which servers without `cwd` run.
        registry_variables: returns the variables that name their package registry.
        confined: starts servers that may do less than the user.
        check_files: called last for a server of a project's own file; raises CannotStart if the files that it starts have changed.
        packages: another folder in which servers inside Tooltray are looked for; None: no such folder.
    """

    login_shell: LoginShell
    folder: Path
    registry_variables: RegistryVariables
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
            title = Phrase("'{name}' waits for your yes", name=server.name)
            message = Phrase("It runs inside Tooltray and can read every secret")
            raise CannotStart(title, message, Phrase("Look at it in the window, or with: tooltray trust"))
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
        confined = await self._starts.confined.begin(server.name, server.config, _project_of(copy), environ)
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


def _project_of(copy: ServerCopy) -> str:
    """Returns the folder that a server works for: a copy's project, or the project whose own file has the server; empty: none."""
    file = copy.server.file
    return copy.project.path if copy.project else file.folder if file and file.origin == "project" else ""
