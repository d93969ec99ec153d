"""Why a server does not run, found out without changing anything.

Above it: McpPresenter. Below it: command_lookup and the person's environment. Nothing is started; what is known of the last attempt is
added.
"""

import asyncio
from pathlib import Path

from tooltray.config.expansion import resolve
from tooltray.config.secrets import SecretStore
from tooltray.errors import Problem, TooltrayError
from tooltray.events import ServerState
from tooltray.presenter.managed_server import ManagedServer
from tooltray.servers.command_lookup import Lookup, look_up, not_found
from tooltray.servers.diagnosis import Diagnosis, Remedy
from tooltray.servers.login_shell import LoginShell
from tooltray.servers.self_reference import leads_back, refusal

STDERR_LINES = 10


class Doctor:
    def __init__(self, *, secrets: SecretStore, login_shell: LoginShell, folder: Path) -> None:
        """
        Args:
            folder: where servers without `cwd` run.
        """
        self._secrets, self._login_shell, self._folder = secrets, login_shell, folder

    async def examine(self, server: ManagedServer, *, tool_count: int) -> Diagnosis:
        lookup: Lookup | None = None
        problem = server.problem
        config = server.config
        cwd = str(config.cwd or self._folder)
        if config.transport == "stdio":
            try:
                lookup, cwd = await self._look_up(server)
                problem = problem if lookup.resolved else not_found(lookup).problem
            except TooltrayError as error:
                problem = error.problem
        problem = problem or _switched_off(server)
        client = server.first.client
        return Diagnosis(
            server=server.name,
            is_ok=problem is None and server.state is not ServerState.ERROR,
            transport=config.transport,
            state=server.state.value,
            command=(config.command or "", *config.args) if config.command else (),
            resolved_command=lookup.resolved if lookup else "",
            searched=lookup.searched if lookup else (),
            path=lookup.path if lookup else "",
            cwd=cwd,
            exit_code=server.first.exit_code,
            stderr=tuple(server.log)[-STDERR_LINES:],
            noise_lines=client.noise_lines if client else 0,
            tool_count=tool_count,
            problem=problem,
            remedies=(Remedy("advice", problem.hint),) if problem and problem.hint else (),
        )

    async def _look_up(self, server: ManagedServer) -> tuple[Lookup, str]:
        environ = await self._login_shell.environ()
        resolved = await resolve(server.config, secrets=self._secrets, environ=environ, server=server.name)
        command = resolved.command or ""
        if leads_back(command, resolved.args):
            raise refusal(server.name)
        cwd = resolved.cwd or str(self._folder)
        return await asyncio.to_thread(look_up, command, env={**environ, **resolved.env}, cwd=cwd), cwd


def _switched_off(server: ManagedServer) -> Problem | None:
    if not server.config.disable:
        return None
    return Problem(f"'{server.name}' is switched off", "`disable` is true in its settings", "Switch it on in Tooltray or in settings.json.")
