"""Completes the user's environment with the variables that decide whether a server works, and records the source of each.

The login shell's own value goes first, then the system's, then a remembered one. ServerEnvironment records the values with which each
server works, and shows later changes.
"""

import contextlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from tooltray.config.settings.given_entries import BUILTIN_NAMES
from tooltray.foundation.events import EventBus, ServerStarted
from tooltray.foundation.files.atomic_file import read_own
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import EnvironmentChange, EnvironmentSnapshot, EnvironmentVariable
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.launch.child_environment import with_default_folders
from tooltray.servers.launch.login_shell import LoginShell
from tooltray.servers.launch.remembered_variables import VARIABLES, RememberedVariables, in_environ, meaning, shown

ANSWER_S = 1.0  # systemctl takes 10 ms; a server's start waits for it
MAX_FILE_BYTES = 64 * 1024  # of a file that has a few lines
ETC_ENVIRONMENT = Path("/etc/environment")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_FOR_SYSTEMCTL = ("HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")

Run = Callable[[list[str], Mapping[str, str], float], str]
"""Runs a command with an environment, for at most so many seconds; returns what it prints."""
Found = Mapping[str, tuple[str, str]]
"""Values by name, each with the place where it was found."""


def run_program(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
    """Returns what a command prints; it has no input.

    Raises:
        OSError, subprocess.SubprocessError: it does not exist, fails, or takes too long.
    """
    done = subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=within_s, check=True)
    return done.stdout.decode("utf-8", "replace")


def look_up(
    names: Iterable[str],
    environ: Mapping[str, str],
    *,
    platform: str = sys.platform,
    run: Run = run_program,
    etc_environment: Path = ETC_ENVIRONMENT,
) -> Found:
    """Returns the variables that the system sets, each with its place.

    Args:
        names: which variables are wanted.
        environ: the user's environment, by which their session is found.
    """
    if platform == "win32":  # a session's variables are in every process's environment already
        return {}
    own = {name: environ[name] for name in _FOR_SYSTEMCTL if name in environ} | {"PATH": _SYSTEM_PATH}
    wanted = list(names)
    if platform == "darwin":
        return {name: (value, "launchctl") for name, value in _of_launchd(wanted, own, run).items()}
    of_file = {name: (value, str(etc_environment)) for name, value in _of_file(etc_environment).items()}
    of_session = {name: (value, "systemctl --user") for name, value in _of_systemd(own, run).items()}
    found = of_file | of_session
    return {name: found[name] for name in wanted if name in found}


def _of_systemd(environ: Mapping[str, str], run: Run) -> dict[str, str]:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return _assignments(run(["systemctl", "--user", "show-environment"], environ, ANSWER_S))
    return {}


def _of_launchd(names: list[str], environ: Mapping[str, str], run: Run) -> dict[str, str]:
    """Reads the variables one after the other, all within ANSWER_S."""
    found, ends_at = {}, time.monotonic() + ANSWER_S
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        for name in names:
            found[name] = run(["launchctl", "getenv", name], environ, max(0.0, ends_at - time.monotonic())).rstrip("\n")
    return {name: value for name, value in found.items() if value}


def _of_file(path: Path) -> dict[str, str]:
    """Reads the file as PAM does: assignments, perhaps in quotes, perhaps with `export` in front, and comments."""
    with contextlib.suppress(OSError, ValueError):
        return _assignments(read_own(path, MAX_FILE_BYTES).decode("utf-8", "replace"))
    return {}


def _assignments(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    """Removes quotes; systemctl writes `$'...'` around a value with spaces in it."""
    if value[:2] == "$'" or value[:1] in ("'", '"'):
        with contextlib.suppress(ValueError):
            return "".join(shlex.split(value.removeprefix("$")))
    return value


SHELL, REMEMBERED = Phrase("the login shell"), "remembered"
OWN = Phrase("the environment that Tooltray was started with")
LookUp = Callable[[Iterable[str], Mapping[str, str]], Found]


class Source(msgspec.Struct, frozen=True):
    """The value of one variable, and where it is from.

    Attributes:
        origin: SHELL, REMEMBERED, or the place in the system.
        since: the day since when it is remembered; empty for any other.
        is_used: whether servers get it; False if the file that it names is gone.
    """

    value: str
    origin: str
    since: str = ""
    is_used: bool = True


class VariableSources:
    """The source of each variable of the user's environment.

    Attributes:
        sources: as of the last `complete`.

    Args:
        look_up: finds variables that the system sets, see `look_up`.
        complete: adds other variables that an environment lacks.
    """

    def __init__(
        self,
        remembered: RememberedVariables,
        *,
        look_up: LookUp = look_up,
        complete: Callable[[Mapping[str, str]], Mapping[str, str]] = with_default_folders,
    ) -> None:
        self._remembered, self._look_up, self._complete = remembered, look_up, complete
        self.sources: Mapping[str, Source] = {}

    def complete(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Returns an environment with the variables that it lacks. Runs in a thread."""
        sources = {name: Source(value, SHELL) for name, value in in_environ(environ).items()}
        system = {name: Source(value, origin) for name, (value, origin) in self._look_up(VARIABLES, environ).items()}
        remembered = {name: Source(each.value, REMEMBERED, each.since) for name, each in self._remembered.variables.items()}
        for further in (system, remembered):
            _add(sources, further)
        self.sources = sources
        return self._complete({**environ, **{name: source.value for name, source in sources.items() if source.is_used}})


def make_login_shell(file: Path, own: Mapping[str, str] = os.environ) -> LoginShell:
    """Returns a LoginShell for a command that works without a hub.

    Args:
        file: of the remembered variables.
        own: see LoginShell.
    """
    remembered = RememberedVariables(file)
    remembered.load()
    return LoginShell(own=own, complete=VariableSources(remembered).complete)


def _add(sources: dict[str, Source], further: Mapping[str, Source]) -> None:
    decided = {meaning(name) for name, source in sources.items() if source.is_used}
    for name, source in further.items():
        if meaning(name) not in decided:
            is_used = VARIABLES[name].can_be_used(source.value)
            if is_used or name not in sources:
                sources[name] = Source(source.value, source.origin, source.since, is_used)


class ServerEnvironment:
    """The environment that servers get, and its changes since each server last worked. Belongs to the engine's loop."""

    def __init__(
        self, *, login_shell: LoginShell, sources: VariableSources, remembered: RememberedVariables, bus: EventBus, spawn: Spawn
    ) -> None:
        self._login_shell, self._sources, self._remembered, self._spawn = login_shell, sources, remembered, spawn
        bus.subscribe(ServerStarted, self._on_started)

    async def snapshot(self) -> EnvironmentSnapshot:
        environ = await self._login_shell.environ()
        variables = [
            EnvironmentVariable(name, shown(each.value), self.origin(name), each.since, each.is_used)
            for name, each in sorted(self._sources.sources.items())
        ]
        changes = [
            EnvironmentChange(server, name, shown(was or ""), shown(environ.get(name, "")))
            for server, had in sorted(self._remembered.worked.items())
            for name, was in sorted(had.items())
            if not environ.get(name) or was not in (None, environ[name])
        ]
        return EnvironmentSnapshot(tuple(variables), tuple(changes))

    def origin(self, name: str) -> str:
        """Returns where a variable of the environment, as of its last reading, came from."""
        source = self._sources.sources.get(name)
        if source and source.origin != SHELL:
            return source.origin
        return OWN if self._login_shell.is_from_own(name) else SHELL

    async def forget(self) -> None:
        """Deletes the remembered variables.

        Raises:
            TooltrayError: the file cannot be removed.
        """
        await finish_in_thread(self._remembered.forget)
        self._login_shell.invalidate()

    def _on_started(self, event: ServerStarted) -> None:
        if event.server_name not in BUILTIN_NAMES:
            self._spawn(self._note(event.server_name), name=f"environment of {event.server_name}")

    async def _note(self, server: str) -> None:
        environ = await self._login_shell.environ()
        await finish_in_thread(self._remembered.note_worked, server, environ)
