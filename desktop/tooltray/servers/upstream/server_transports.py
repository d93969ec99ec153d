"""What an instance of a server is connected through: made anew for each start, from the server's settings with everything filled in.

Above it: ServerManager. Below it: the secrets, variables and folders that settings name, and the transports. Knows nothing of the lives of
servers.
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
from tooltray.servers.transports.authorization import Authorization
from tooltray.servers.transports.transport import Transport, TransportOrder
from tooltray.servers.transports.transports import make_transport
from tooltray.servers.upstream.managed_server import ManagedServer


class StartProcess(Protocol):
    """Makes the transport of a server that is a process of its own."""

    def __call__(self, *, name: str, launch: Launch, log: deque[str], mask: Callable[[str], str]) -> Transport: ...


class Authorize(Protocol):
    """Gives what lets requests to a server elsewhere in; None where its settings do."""

    async def __call__(
        self, server: str, config: MCPServerConfig, resolved: ResolvedServer, environ: Mapping[str, str]
    ) -> Authorization | None: ...


class RegistryVariables(Protocol):
    """Gives the variables that make a server's npm, uv and pip use the registry that was chosen."""

    async def __call__(self, config: MCPServerConfig, environ: Mapping[str, str]) -> Mapping[str, str]: ...


class ProgramStarts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How servers that run on this machine are started.

    Attributes:
        folder: where servers without `cwd` run.
        registry_variables: tells them where their packages come from.
        confined: starts those that may do less than their person.
        check_files: asked last of all about a server of a project's own file; raises CannotStart where what it starts has changed.
        packages: a folder in which servers inside Tooltray are looked for, too; None: there is none.
    """

    login_shell: LoginShell
    folder: Path
    registry_variables: RegistryVariables
    start_process: StartProcess
    confined: ConfinedStarts
    check_files: Callable[[FileServer], Awaitable[None]]
    packages: Path | None = None


class ServerTransports:
    """Belongs to the engine's loop."""

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
            provided: secrets by the names that entries have for them.
            mask: takes secrets out of a text.
            authorize: asked for each connection to a server elsewhere.
            tool_schema: the `inputSchema` that a server listed for a tool, as far as it is known.
            own_url: where the hub itself listens for AI clients, without a path; None if it does not.
            may_run: whether a person said yes to this entry, if it is one that needs a yes.
        """
        self._secrets, self._mask, self._starts, self._authorize = provided, mask, program_starts, authorize
        self._tool_schema, self._own_url, self._may_run = tool_schema, own_url, may_run
        self._direct_starts = DirectStarts()

    def forget_environment(self) -> None:
        """The person's variables are read anew: what was missing may have been installed, and PATH be another one."""
        self._starts.login_shell.expire()

    async def make(self, server: ManagedServer) -> Transport:
        """
        Raises:
            TooltrayError: it cannot be started with its settings as they are; says why.
        """
        config = server.config
        if not self._may_run(server.name, config):
            title = Phrase("'{name}' waits for your yes", name=server.name)
            message = Phrase("It runs inside Tooltray and can read every secret")
            raise CannotStart(title, message, Phrase("Look at it in the window, or with: tooltray trust"))
        environ = await self._starts.login_shell.environ()
        variables = placeholder_variables(server.whole.file, environ)
        resolved = await resolve(config, secrets=self._secrets, environ=variables, server=server.name, project=server.project)
        order = TransportOrder(
            name=server.name,
            config=config,
            resolved=resolved,
            environ=environ,
            own_url=self._own_url(),
            mask=self._mask,
            tool_schema=partial(self._tool_schema, server.name),
            prepare_launch=partial(self._prepare_launch, server, resolved, environ),
            start_process=lambda launch: self._starts.start_process(name=server.name, launch=launch, log=server.log, mask=self._mask),
            authorize=partial(self._authorize, server.name, config, resolved, environ),
            refused=server.refused,
            log=server.log,
            packages=self._starts.packages,
        )
        return await make_transport(order)

    async def _prepare_launch(self, server: ManagedServer, resolved: ResolvedServer, environ: Mapping[str, str]) -> Launch:
        variables, folder = await self._starts.registry_variables(server.config, environ), str(self._starts.folder)
        confined = await self._starts.confined.begin(server.name, server.config, _project_of(server), environ)
        if confined:
            environ, variables, folder = confined.environment, confined.variables(variables), confined.folder
        launch = prepare_launch(resolved, environ=environ, variables=variables, folder=folder, file=server.whole.file)
        launch = confined.put_around(launch) if confined else launch
        if server.config.direct_start and is_launcher(launch.command):
            launch = await finish_in_thread(self._direct_starts.shorten, launch)
        server.whole.saved_processes = launch.saved_processes
        if server.whole.file:
            await self._starts.check_files(server.whole.file)
        return launch


def _project_of(server: ManagedServer) -> str:
    """The folder that it works for: of a copy its project, of a server of a project's own file that project; empty: none."""
    file = server.whole.file
    return server.project.path if server.project else file.folder if file and file.origin == "project" else ""
