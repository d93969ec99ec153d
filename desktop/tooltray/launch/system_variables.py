"""What the system itself gives to a person's session, for a hub that was started outside of it.

Above it: variable_sources. Below it: systemctl, `/etc/environment` and launchctl. Knows no server. Runs in a thread. Nothing here is an
error: a place that is not there, does not answer in time or makes no sense has nothing.
"""

import contextlib
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tooltray.files.atomic_file import read_own

ANSWER_S = 1.0  # systemctl takes 10 ms; a server's start waits for it
MAX_FILE_BYTES = 64 * 1024  # of a file that has a few lines
ETC_ENVIRONMENT = Path("/etc/environment")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_FOR_SYSTEMCTL = ("HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")

Run = Callable[[list[str], Mapping[str, str], float], str]
"""Runs a command with an environment, for so many seconds; returns what it prints."""
Found = Mapping[str, tuple[str, str]]
"""Values by name, each with the place that it is from."""


def run_program(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
    """
    Raises:
        OSError, subprocess.SubprocessError: it is not there, fails, or takes too long.
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
    """
    Args:
        names: which variables are wanted.
        environ: the person's environment: it says where their session is.
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
    """It is asked for one after the other, all within the time of one answer."""
    found, ends_at = {}, time.monotonic() + ANSWER_S
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        for name in names:
            found[name] = run(["launchctl", "getenv", name], environ, max(0.0, ends_at - time.monotonic())).rstrip("\n")
    return {name: value for name, value in found.items() if value}


def _of_file(path: Path) -> dict[str, str]:
    """As PAM reads it: assignments, perhaps in quotes, perhaps with `export` in front, and comments."""
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
    """systemctl writes `$'...'` around what has spaces in it."""
    if value[:2] == "$'" or value[:1] in ("'", '"'):
        with contextlib.suppress(ValueError):
            return "".join(shlex.split(value.removeprefix("$")))
    return value
