"""Finds out why a server does not run, without starting anything or sending a request."""

import asyncio
import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.settings.expansion import (
    ResolvedServer,
    SecretSource,
    needed_variables,
    project_remark,
    resolve,
    secrets_in,
    variable_names,
    variables_in,
)
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.secret_looks import HIDDEN, KEY_IN_PATH, hidden, hidden_words
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.launch.child_environment import folder_of, placeholder_variables, prepare_launch
from tooltray.servers.launch.command_lookup import Lookup, look_up, not_found, not_found_title
from tooltray.servers.launch.login_shell import LoginShell
from tooltray.servers.launch.variable_sources import ServerEnvironment
from tooltray.servers.transports.server_output import last_attempt
from tooltray.servers.transports.transport_table import leads_back, refusal
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.doctor.remedies import Remedies
from tooltray.sources.projects.projects import ProjectSnapshots

STDERR_LINES = 10
ANY_PROJECT = SessionProject("{project_path}", "{project_name}", "person")  # its placeholders stay unchanged


class Reached(msgspec.Struct, frozen=True):
    """How far a connection to a remote server gets; empty for a local server."""

    proxy: str = ""
    words: str = ""
    problem: Problem | None = None


class Doctor:
    def __init__(
        self,
        *,
        secrets: SecretSource,
        login_shell: LoginShell,
        environment: ServerEnvironment,
        remedies: Remedies,
        refusals: Refusals,
        moving_line: Callable[[str], str],
        folder: Path,
    ) -> None:
        """
        Args:
            secrets: resolves names without asking providers for values.
            environment: knows the origins of variables.
            moving_line: see the function of this name in `remedies`.
            folder: the folder for servers without `cwd`.
        """
        self._secrets, self._login_shell, self._environment = secrets, login_shell, environment
        self._remedies, self._folder = remedies, folder
        self._refusals, self._moving_line = refusals, moving_line

    async def examine(
        self,
        server: ManagedServer,
        *,
        tool_count: int,
        is_listed: bool = True,
        detail: str = "",
        list_problem: Problem | None = None,
        flaws: tuple[str, ...] = (),
    ) -> Diagnosis:
        """Examines a server.

        Args:
            is_listed: whether its tools are known.
            detail: its current step, or what it waits for.
            list_problem: why some of its lists are not offered.
            flaws: sentences about corrected or left-out definitions.
        """
        lookup: Lookup | None = None
        reached = Reached()
        problem = server.problem
        config = server.config
        cwd = "" if config.transport in ("http", "sse") else str(config.cwd or folder_of(server.file, str(self._folder)))
        if config.transport == "stdio":
            try:
                lookup, cwd = await self._look_up(server)
                if not lookup.resolved:  # it may have been installed since the shell was asked
                    self._login_shell.expire()
                    lookup, cwd = await self._look_up(server)
                if not lookup.resolved:
                    problem = not_found(lookup).problem
                elif problem and problem.title == not_found_title(lookup.command):
                    problem = _was_not_found(lookup)
            except TooltrayError as error:
                problem = error.problem
        elif config.transport in ("http", "sse") and not server.config.disable:
            try:
                reached = await self._reach(server)
                problem = problem or reached.problem
            except TooltrayError as error:
                problem = error.problem
        problem = problem or _switched_off(server) or list_problem
        client = server.client
        return Diagnosis(
            server=server.name,
            is_ok=problem is None and server.state not in (ServerState.ERROR, ServerState.NEEDS_SIGN_IN),
            transport=config.transport,
            state=server.state.value,
            detail=detail,
            target=_target(config),
            command=tuple(hidden_words([config.command, *config.arguments])) if config.command else (),
            resolved_command=lookup.resolved if lookup else "",
            searched=lookup.searched if lookup else (),
            path=lookup.path if lookup else "",
            cwd=cwd,
            proxy=reached.proxy,
            reached=reached.words,
            saved_processes=server.saved_processes * len(server.pids),
            exit_code=server.first.exit_code if server.first and not client else None,
            stderr=tuple(map(hidden, tuple(last_attempt(server.log))[-STDERR_LINES:])),
            noise_lines=client.noise_lines if client else 0,
            tool_count=tool_count,
            is_listed=is_listed,
            problem=_without_secrets(problem) if problem else None,
            remedies=(*self._moving(server.name), *await self._remedies.propose(server, problem, lookup)),
            remark=project_remark(config) or await self._needs(server),
            projects=tuple(_words_of(copy) for copy in server.copies) if server.by_project else (),
            flaws=flaws,
            variables=variable_origins(config, server.file, await self._login_shell.environ(), self._environment.origin),
        )

    def _moving(self, server: str) -> Iterator[Remedy]:
        """Yields the remedy for a known server that was not allowed to change a file: moving the file to another place, which widens
        nothing.
        """
        is_kept = any(each.kind == "path" and each.is_write for each in self._refusals.of(server))
        if is_kept and (line := self._moving_line(server)):
            yield Remedy("give_variables", Phrase("Keep its file where it may write"), line)

    async def _needs(self, server: ManagedServer) -> str:
        """Returns a sentence about variables that a known server usually needs and does not get; empty if it gets all."""
        environ = await self._login_shell.environ()
        missing = self._remedies.usually_missing(server, environ)
        options = " ".join(f"--secret {variable}" for variable in missing)
        return f"it usually needs {', '.join(missing)}; add it with {options}" if missing else ""

    async def _look_up(self, server: ManagedServer) -> tuple[Lookup, str]:
        environ = await self._login_shell.environ()
        resolved = await self._resolve(server, environ)
        command = resolved.command or ""
        if leads_back(command, resolved.args):
            raise refusal(server.name)
        launch = prepare_launch(resolved, environ=environ, variables={}, folder=str(self._folder), file=server.file)
        cwd = launch.cwd if server.config.confinement.is_open or server.config.cwd else ""
        return await asyncio.to_thread(look_up, command, env=launch.env, cwd=launch.cwd), cwd

    async def _resolve(self, server: ManagedServer, environ: Mapping[str, str]) -> ResolvedServer:
        """Resolves a server's entry as for a start; an unknown project keeps its placeholders."""
        project = _project_of(server)
        variables = placeholder_variables(server.file, environ)
        return await resolve(server.config, secrets=self._secrets, environ=variables, server=server.name, project=project)

    async def _reach(self, server: ManagedServer) -> Reached:
        """Tries to connect to a remote server, and sends nothing."""
        environ = await self._login_shell.environ()
        resolved = await self._resolve(server, environ)
        places = (ANY_PROJECT.path, ANY_PROJECT.name)
        if _project_of(server) is ANY_PROJECT and any(place in (server.config.base_url or "") for place in places):
            return Reached(words="not tried: its URL depends on the project, and no project is known")
        for module in ("tooltray.servers.transports.http.http_connections", "tooltray.servers.transports.http.certificate_trust"):
            await asyncio.to_thread(importlib.import_module, module)
        from tooltray.servers.transports.http.certificate_trust import tls_context
        from tooltray.servers.transports.http.http_connections import reach

        trust = await asyncio.to_thread(tls_context, environ)
        found = await reach(resolved.url or "", environ=environ, trust=trust)
        problem = None if found.is_open else Problem(found.words, "", Phrase("Check its URL and your network."))
        return Reached(found.proxy, found.words, problem)


def _project_of(server: ManagedServer) -> SessionProject | None:
    """Returns the project for which a server is examined: a project that it runs for, if possible."""
    found = next((copy.project for copy in server.copies if copy.project), None)
    if (by_project := server.by_project) is None:
        return found
    return None if by_project.is_without_project else found or by_project.chosen or ANY_PROJECT


def _target(config: MCPServerConfig) -> str:
    """Returns the command line or URL without secrets."""
    if config.transport in ("http", "sse"):
        return "/".join(HIDDEN if KEY_IN_PATH.fullmatch(part) else part for part in config.target.split("/"))
    return joined(hidden_words([config.command or "", *config.arguments]))


def _without_secrets(problem: Problem) -> Problem:
    """Returns the problem without secrets; a text from which a secret was removed is not translated any more."""
    texts = {name: text for name in ("title", "message", "hint") if (text := hidden(getattr(problem, name))) != getattr(problem, name)}
    return msgspec.structs.replace(problem, **texts)


def _words_of(copy: ServerCopy) -> str:
    state = copy.state.value.replace("_", " ")
    return f"{copy.project.name} ({copy.project.path}): {state}" if copy.project else f"started without a project: {state}"


def _was_not_found(lookup: Lookup) -> Problem:
    return Problem(
        Phrase("command '{command}' was not found at the last start", command=lookup.command),
        Phrase("it is at {path} now", path=lookup.resolved),
        Phrase("Start it again."),
    )


def _switched_off(server: ManagedServer) -> Problem | None:
    if not server.config.disable:
        return None
    return Problem(
        Phrase("'{name}' is disabled", name=server.name),
        Phrase("`disable` is true in its settings"),
        Phrase("Enable it in Tooltray or in settings.json."),
    )


class CheckUp:
    """The examination of one or all servers; belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, project_snapshots: ProjectSnapshots, doctor: Doctor) -> None:
        self._servers, self._tools = servers, tools
        self._projects, self._doctor = project_snapshots, doctor

    async def diagnose(self, server: str | None, wait_s: float) -> list[Diagnosis]:
        """Examines one server, or all.

        Args:
            wait_s: the longest wait for starting servers.

        Raises:
            TooltrayError: the server does not exist.
        """
        servers = [self._servers.get(server)] if server else list(self._servers)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await asyncio.gather(*(each.settled() for each in servers))
        return await asyncio.gather(*map(self._examine, servers))  # all at once, since each may wait for a hanging keyring

    async def _examine(self, server: ManagedServer) -> Diagnosis:
        return await self._doctor.examine(
            server,
            tool_count=self._tools.tool_count(server.name),
            is_listed=self._tools.is_listed(server.name),
            detail=self._projects.detail(server),
            list_problem=self._tools.list_problem(server.name),
            flaws=self._tools.list_flaws(server.name),
        )


def variable_origins(
    config: MCPServerConfig, file: FileServer | None, environ: Mapping[str, str], origin: Callable[[str], str]
) -> tuple[str, ...]:
    """Returns a line for each variable that the entry sets or fills in.

    Args:
        file: the file with the entry, if it is not in the settings.
        environ: the user's environment.
        origin: returns where a variable of the environment came from.
    """
    entry = Phrase("the entry in {file}", file=file.file) if file else Phrase("the entry")
    return (*_set(config, entry), *_filled_in(config, file, environ, origin))


def _set(config: MCPServerConfig, entry: str) -> Iterator[str]:
    for name, value in config.env.items():
        secrets, variables = secrets_in(value), variables_in(value)
        if secrets:
            yield _from(name, Phrase("the secret {secret}", secret=", ".join(secrets)))
        elif not variables:
            yield _from(name, entry)
        elif variables != (name,):
            yield _from(name, Phrase("{entry}, with {variables} filled in", entry=entry, variables=", ".join(variables)))


def _filled_in(config: MCPServerConfig, file: FileServer | None, environ: Mapping[str, str], origin: Callable[[str], str]) -> Iterator[str]:
    needed = needed_variables(config)
    for name in variable_names(config):
        if file and name in file.entry.variables:
            yield _from(name, file.file)
        elif name not in needed and not environ.get(name):
            yield Phrase("{name}: not set; the entry's default is used", name=name)
        elif name in environ:
            yield _from(name, origin(name))
        else:
            yield Phrase("{name}: not set", name=name)


def _from(name: str, origin: str) -> Phrase:
    return Phrase("{name} comes from {origin}", name=name, origin=origin)
