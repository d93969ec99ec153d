"""The remedies for a server that does not run: found from facts, offered as data, carried out when the user chooses one.

A remedy changes only one server's entry, so users can see and undo it there.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from tooltray.catalogue.known_servers import KnownServers
from tooltray.config.secrets.providers import reference_of
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import store_command
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.diagnosis import Remedy
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.profiles import state_folder
from tooltray.servers.launch.command_lookup import COMMON, Lookup, comes_with, find_elsewhere, runs_by_name
from tooltray.servers.launch.npm_config import NPM
from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries
from tooltray.servers.transports.server_output import last_attempt
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

PAGES = {
    "Node.js": "https://nodejs.org/en/download",
    "uv": "https://docs.astral.sh/uv/getting-started/installation/",
    "Bun": "https://bun.sh/docs/installation",
    "Docker": "https://docs.docker.com/get-started/get-docker/",
    "Python": "https://www.python.org/downloads/",
}
"""Pages for downloading runtimes: each maker's own page, for all systems."""

_NPM_FAILED = re.compile(
    r"npm (?:error|ERR!) (?:code|errno) (?:E404|E5\d\d|ETARGET|ETIMEDOUT|ECONN\w+|ENOTFOUND|EAI_AGAIN|ERR_SOCKET_TIMEOUT|EINTEGRITY)"
    r"|npm (?:error|ERR!) network"
)


class Remedies:
    """The remedies for servers; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        servers: ServerManager,
        registries: NpmRegistries,
        known: KnownServers,
        home: Path,
        common: tuple[str, ...] = COMMON,
    ) -> None:
        """
        Args:
            known: the variables that well-known servers need.
            home: the user's home folder with the user's programs.
            common: folders with programs of all users.
        """
        self._config, self._secrets = config, secrets
        self._servers, self._registries = servers, registries
        self._known, self._home, self._common = known, home, common

    # proposing

    async def propose(self, server: ManagedServer, problem: Problem | None, lookup: Lookup | None) -> tuple[Remedy, ...]:
        """Returns the possible remedies, most promising first; empty for a server without a problem.

        Args:
            problem: the server's problem, as far as known.
            lookup: the search result for its command; None if its settings have no command.
        """
        if problem is None:
            return ()
        found = [remedy async for remedy in self._found(server, lookup)]
        if problem.hint and not _is_repeated(problem.hint, found):
            found.append(Remedy("advice", problem.hint))
        if server.state is ServerState.ERROR:
            found.append(Remedy("start", Phrase("Try again"), is_automatic=True))
        return tuple(found)

    async def _found(self, server: ManagedServer, lookup: Lookup | None) -> AsyncIterator[Remedy]:
        if server.config.disable:
            yield Remedy("switch_on", Phrase("Switch it on"), is_automatic=True)
        if server.state is ServerState.NEEDS_SIGN_IN:
            yield Remedy("sign_in", Phrase("Sign in"), f"tooltray servers sign-in {server.name}")
        if lookup and not lookup.resolved:
            for remedy in await asyncio.to_thread(self._of_command, lookup.command):
                yield remedy
        async for remedy in self._of_secrets(server):
            yield remedy
        for remedy in self._of_variables(server):
            yield remedy
        for remedy in self._of_registry(server):
            yield remedy

    def _of_command(self, command: str) -> list[Remedy]:
        """Returns the remedies for a command that is not on PATH; blocks on the disk."""
        found: list[Remedy] = []
        for path in find_elsewhere(command, home=self._home, common=self._common):
            if runs_by_name(path):  # the path is not enough: its interpreter is in the same folder, and is searched on PATH
                found.append(
                    Remedy(
                        "add_to_path",
                        Phrase("Look in {folder} too", folder=os.path.dirname(path)),
                        os.path.dirname(path),
                        is_automatic=True,
                    )
                )
            else:
                found.append(Remedy("use_absolute_path", Phrase("Use {path}", path=path), path, is_automatic=True))
        if runtime := comes_with(command):
            found.append(Remedy("install_runtime", Phrase("Install {runtime}", runtime=runtime), PAGES[runtime]))
        return found

    async def _of_secrets(self, server: ManagedServer) -> AsyncIterator[Remedy]:
        wanted = [name for name in secret_names(server.config) if reference_of(name) is None]
        try:
            here = await self._secrets.names() if wanted else []
        except TooltrayError:  # its own hint names the remedy
            return
        for name in wanted:
            if name not in here:
                yield Remedy("store_secret", Phrase("Store the secret {name}", name=name), store_command(name))

    def _of_variables(self, server: ManagedServer) -> Iterator[Remedy]:
        """Yields a remedy for a server that ended because variables are missing, which its output or the list of known servers names."""
        failure = server.first.failure if server.first else None
        if failure is None or not server.config.command or server.state is not ServerState.ERROR:
            return
        if missing := failure.variables or self.usually_missing(server, {}):
            options = [word for variable in missing for word in ("--secret", variable)]
            line = joined(["tooltray", "servers", "set", server.name, *options])
            yield Remedy("give_variables", f"Give it {', '.join(missing)}, as a secret", line)

    def _of_registry(self, server: ManagedServer) -> Iterator[Remedy]:
        """Yields other registries for a server whose package could not be downloaded."""
        if not any(_NPM_FAILED.search(line) for line in last_attempt(server.log)):
            return
        status = self._registries.status
        now = server.config.custom_npm_registry or status.url
        for measured in status.measurements:
            is_now = measured.url == now if now else measured.origin == NPM
            if not measured.problem and not is_now:
                yield Remedy("switch_registry", Phrase("Download from {name}", name=measured.name), measured.url, is_automatic=True)

    def usually_missing(self, server: ManagedServer, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Returns the variables that a known server needs, and gets neither from its entry nor from `environ`."""
        usual = self._known.variables(server.name, server.config)
        return tuple(variable for variable in usual if variable not in server.config.env and variable not in environ)

    # carrying out

    async def apply(self, server: str, kind: str, value: str) -> str:
        """Carries out a remedy; the server is started with it.

        Returns:
            A description of what was done.

        Raises:
            TooltrayError: it cannot be carried out, or the settings cannot be written.
        """
        managed = self._servers.get(server)
        if managed.is_builtin:
            raise TooltrayError(
                Phrase("'{server}' comes with Tooltray", server=server), Phrase("it has no entry in the settings that could be changed")
            )
        done = await self._change(managed, kind, value)
        await self._servers.start_soon(server)
        return done

    async def _change(self, server: ManagedServer, kind: str, value: str) -> str:
        name, config = server.name, server.config
        match kind:
            case "use_absolute_path":
                await asyncio.to_thread(_check_program, value, config.command or "")
                await self._config.change_server(name, command=value)
                return f"'{name}' is run as {value}"
            case "add_to_path":
                before = config.env.get("PATH", "")
                await asyncio.to_thread(_check_folder, value)
                await self._config.change_server(name, env={**config.env, "PATH": os.pathsep.join(filter(None, (value, before)))})
                return f"'{name}' looks in {value} too"
            case "switch_registry":
                self._check_registry(value)
                await self._config.change_server(name, custom_npm_registry=value)
                return f"'{name}' downloads from {value}"
            case "switch_on":
                await self._config.change_server(name, disable=None)
                return f"'{name}' is switched on"
            case "start":
                return f"'{name}' is being started"
        raise TooltrayError(
            Phrase("Tooltray cannot do '{kind}' automatically", kind=kind), hint=Phrase("See what to do with: tooltray doctor")
        )

    def _check_registry(self, url: str) -> None:
        if not any(each.url == url and not each.problem for each in self._registries.status.measurements):
            raise NotFound(
                Phrase("{url} is not a measured registry", url=url), hint=Phrase("See which there are: tooltray registry status")
            )


def _is_repeated(hint: str, remedies: list[Remedy]) -> bool:
    """Returns whether a hint only repeats a remedy that stores a secret."""
    return any(each.kind == "store_secret" and hint == Phrase("Store it: {command}", command=each.value) for each in remedies)


def _check_program(path: str, command: str) -> None:
    if not os.path.isabs(path) or os.path.basename(path) != os.path.basename(command) or not os.access(path, os.X_OK):
        raise NotFound(
            Phrase("'{path}' is not the program '{command}'", path=path, command=command),
            hint=Phrase("See what was found with: tooltray doctor"),
        )


def _check_folder(folder: str) -> None:
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        raise NotFound(Phrase("folder '{folder}' not found", folder=folder), hint=Phrase("See what was found with: tooltray doctor"))


def moving_line(server: str, *, config: McpConfHelper, known: KnownServers, home: Home) -> str:
    """Returns the command that moves a sandboxed server's file into its own folder, which it may always write. `known-servers.json` has the
    variables for this. Empty if no variable is known, or the server's entry sets it already.
    """
    entry = config.settings.mcp_servers.get(server)
    own = state_folder(home.confined, server).work
    files = known.files(server, entry) if entry else {}
    options = [word for name, file in files.items() for word in ("--env", f"{name}={own / file}")]
    return joined(["tooltray", "servers", "set", server, *options]) if options else ""
