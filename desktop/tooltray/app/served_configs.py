"""Work for the configs that the hub was started with: variables, checks at the start, a line of the log for each call."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.settings.expansion import variable_names
from tooltray.config.settings.file_server import FileEntry, FileReading, Kind
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, ToolCallResult
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.setup import FileProblem
from tooltray.servers.upstream.managed_server import ServerStateChanged
from tooltray.sources.project_files.followed_files import ReadFile

FAILED = frozenset({ServerState.ERROR, ServerState.NEEDS_SIGN_IN, ServerState.RESTARTING})
logger = logging.getLogger(__name__)


def in_surroundings(read: ReadFile, environ: Mapping[str, str]) -> ReadFile:
    """Returns a reader that adds to the entries of configs the variables of `environ` that their placeholders name. A project's own file
    gets no such variables: its placeholders use only the user's usual environment.
    """

    def read_in_surroundings(path: Path, kind: Kind) -> FileReading:
        reading = read(path, kind)
        if kind != "tbxark":
            return reading
        return replace(reading, entries=tuple(_knowing(entry, environ) for entry in reading.entries))

    return read_in_surroundings


def _knowing(entry: FileEntry, environ: Mapping[str, str]) -> FileEntry:
    found = {name: environ[name] for name in variable_names(entry.config) if name in environ}
    return replace(entry, variables={**found, **entry.variables}) if found else entry


def check_served(readings: Iterable[FileReading]) -> None:
    """Checks the configs at the start of a hub: the user who named them is at the terminal and can correct them.

    Raises:
        TooltrayError: a file is malformed, a file that requires all its servers has an unusable one, or two files define an endpoint.
    """
    endpoints = []
    for reading in readings:
        if wrong := list(_fatal(reading)):
            hint = "Correct it; with panicIfInvalid: false the others would run" if reading.is_understood else "Correct it, and start again"
            raise TooltrayError(f"{reading.path} is not served", "; ".join(map(_in_words, wrong)), hint)
        endpoints += [reading.path] if reading.endpoint else []
    if len(endpoints) > 1:
        raise TooltrayError("the configs are not served", f"{' and '.join(endpoints)} each define an endpoint", "Start with one of them")


class RequiredServers:
    """Waits until each server that its config requires ran once. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, bus: EventBus, on_failed: Callable[[TooltrayError], None]) -> None:
        """
        Args:
            on_failed: called once, when a required server does not start; the error names the server and the reason.
        """
        self._config, self._on_failed = config, on_failed
        self._waiting = {name for name, settings in config.settings.mcp_servers.items() if not settings.disable and _must_run(config, name)}
        bus.subscribe(ServerStateChanged, self._on_server_changed)

    def _on_server_changed(self, event: ServerStateChanged) -> None:
        managed, name = event.server, event.server.name
        if name not in self._waiting or name not in self._config.settings.mcp_servers:
            return
        if managed.state is ServerState.RUNNING:
            self._waiting.discard(name)
        elif managed.state in FAILED:
            self._waiting.clear()
            why = str(managed.problem) if managed.problem else f"it is {managed.state.value}"
            hint = "With panicIfInvalid: false Tooltray would run without it"
            self._on_failed(TooltrayError(f"'{name}' does not start, and its config requires it", why, hint))


def _must_run(config: McpConfHelper, name: str) -> bool:
    server = config.file_server(name)
    return server is not None and server.origin == "served" and server.entry.must_run


def _fatal(reading: FileReading) -> Iterator[FileProblem]:
    if not reading.is_understood:
        yield from reading.problems
    elif reading.must_be_valid:
        used = {entry.name for entry in reading.entries}
        has_no_endpoint = reading.endpoint is None
        for problem in reading.problems:
            if problem.entry not in used if problem.entry else has_no_endpoint:
                yield problem


def _in_words(problem: FileProblem) -> str:
    """Returns a problem as text without its hint, which is for a running hub; messages already contain the line."""
    title, message = problem.problem.title, problem.problem.message
    if not message:
        return f"line {problem.line}: {title}" if problem.line else title
    return f"{title}: {message}" if problem.entry else message


class ServedCallLog:
    """Logs the calls of servers whose config asks for it. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, bus: EventBus) -> None:
        self._config = config
        bus.subscribe(ToolCallResult, self._on_call)

    def _on_call(self, event: ToolCallResult) -> None:
        call = event.response
        server = self._config.file_server(call.server)
        if server and server.entry.logs_calls:
            milliseconds = call.duration_s * 1000
            logger.info("%s called %s of '%s': %s after %.0f ms", call.client, call.tool, call.server, call.outcome, milliseconds)
