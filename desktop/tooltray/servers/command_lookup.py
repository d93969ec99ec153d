"""Where a command is found, and where it was looked for if not.

Above it: stdio_transport and the doctor. Pure but for looking at the file system. Works on exact names, never on parts of them.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tooltray.servers.transport import CannotStart

LAUNCHERS = frozenset({"npx", "uvx", "bunx", "pnpx"})  # they download the server at its first start
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"  # where neither the person nor the entry gives one
_COMES_WITH = {
    "npx": "Node.js",
    "node": "Node.js",
    "npm": "Node.js",
    "uvx": "uv",
    "uv": "uv",
    "bunx": "Bun",
    "docker": "Docker",
    "python": "Python",
    "python3": "Python",
}


@dataclass(frozen=True)
class Lookup:
    """The outcome: `resolved` is an absolute path, or empty."""

    command: str
    resolved: str
    searched: tuple[str, ...]
    path: str


def look_up(command: str, *, env: Mapping[str, str], cwd: str) -> Lookup:
    """Finds a command the way a shell would: a path as it is (relative ones from `cwd`), a name on PATH.

    Args:
        env: the environment the command would get; its PATH counts, not ours.
        cwd: absolute folder the command would run in.
    """
    path = env.get("PATH") or DEFAULT_PATH
    if os.sep in command:
        target = Path(cwd, command)
        return Lookup(command, str(target) if target.is_file() and os.access(target, os.X_OK) else "", (str(target.parent),), path)
    folders = tuple(os.path.join(cwd, folder) for folder in path.split(os.pathsep))  # a relative or empty entry is meant from `cwd`
    return Lookup(command, shutil.which(command, path=os.pathsep.join(folders)) or "", folders, path)


def is_launcher(command: str) -> bool:
    """Whether a command downloads what it starts."""
    return Path(command).name in LAUNCHERS


def comes_with(command: str) -> str:
    """What brings a well-known command along; empty for any other."""
    return _COMES_WITH.get(Path(command).name, "")


def not_found(lookup: Lookup) -> CannotStart:
    """The error for a lookup without result, with what to do about it."""
    runtime = comes_with(lookup.command)
    if os.sep in lookup.command:
        return CannotStart(
            f"'{lookup.command}' is not there or may not be run", f"looked in {lookup.searched[0]}", "Correct the command's path."
        )
    missing = f"; {runtime} is not on PATH" if runtime else ""
    install = f"Install {runtime}" if runtime else "Install it"
    return CannotStart(
        f"command '{lookup.command}' not found",
        f"looked in {', '.join(lookup.searched)}{missing}",
        f"{install}, or set the command's full path.",
    )
