"""Where a command is found, and where it was looked for if not.

Above it: stdio_transport, direct starts and the doctor. Pure but for looking at the file system. Works on exact names, never on parts of
them.
"""

import ntpath
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tooltray.phrases import Phrase
from tooltray.servers.transport import CannotStart

LAUNCHERS = frozenset({"npx", "uvx", "bunx", "pnpx"})  # they download the server at its first start
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"  # where neither the person nor the entry gives one
DEFAULT_PATHEXT = ".COM;.EXE;.BAT;.CMD"  # what Windows itself counts as programs where PATHEXT is not set
IS_WINDOWS = os.name == "nt"
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
    if IS_WINDOWS:  # pragma: no cover - one branch per platform
        return look_up_on_windows(command, env=env, cwd=cwd)
    path = env.get("PATH") or DEFAULT_PATH
    if os.sep in command:
        target = Path(cwd, command)
        return Lookup(command, str(target) if target.is_file() and os.access(target, os.X_OK) else "", (str(target.parent),), path)
    folders = tuple(os.path.join(cwd, folder) for folder in path.split(os.pathsep))  # a relative or empty entry is meant from `cwd`
    return Lookup(command, shutil.which(command, path=os.pathsep.join(folders)) or "", folders, path)


def look_up_on_windows(command: str, *, env: Mapping[str, str], cwd: str, is_file: Callable[[str], bool] = os.path.isfile) -> Lookup:
    """As `look_up`, by the rules of Windows: `npx` is a `npx.cmd` there, and only what PATHEXT names is a program.

    A name without one of those endings is tried with each, in their order; a file of just that name is never run (npm puts a shell script
    `npx` beside `npx.cmd`). The current folder is not searched unless the PATH says so, other than Windows does it.
    """
    variables = {name.upper(): value for name, value in env.items()}
    path = variables.get("PATH", "")
    endings = tuple(ending.lower() for ending in (variables.get("PATHEXT") or DEFAULT_PATHEXT).split(";") if ending)
    names = (command,) if command.lower().endswith(endings) else tuple(command + ending for ending in endings)
    if ntpath.basename(command) != command:
        folders: Sequence[str] = (ntpath.dirname(ntpath.normpath(ntpath.join(cwd, command))),)
        names = tuple(ntpath.basename(name) for name in names)
    else:
        folders = [ntpath.join(cwd, folder.strip('"')) for folder in path.split(";") if folder]
    candidates = (ntpath.join(folder, name) for folder in folders for name in names)
    return Lookup(command, next(filter(is_file, candidates), ""), tuple(folders), path)


def program_name(command: str, *, is_windows: bool = IS_WINDOWS) -> str:
    """The bare name of a command: `npx` for `/usr/bin/npx`, and on Windows for `NPX.CMD`."""
    if not is_windows:
        return Path(command).name
    name, ending = ntpath.splitext(ntpath.basename(command).lower())
    return name if ending.upper() in DEFAULT_PATHEXT.split(";") else name + ending


def is_launcher(command: str) -> bool:
    """Whether a command downloads what it starts."""
    return program_name(command) in LAUNCHERS


def comes_with(command: str) -> str:
    """What brings a well-known command along; empty for any other."""
    return _COMES_WITH.get(program_name(command), "")


def not_found(lookup: Lookup) -> CannotStart:
    """The error for a lookup without result, with what to do about it."""
    runtime = comes_with(lookup.command)
    if os.sep in lookup.command:
        title = Phrase("'{command}' is not there or may not be run", command=lookup.command)
        return CannotStart(title, Phrase("looked in {folders}", folders=lookup.searched[0]), Phrase("Correct the command's path."))
    title, folders = Phrase("command '{command}' not found", command=lookup.command), ", ".join(lookup.searched)
    if runtime:
        message = Phrase("looked in {folders}; {runtime} is not on PATH", folders=folders, runtime=runtime)
        return CannotStart(title, message, Phrase("Install {runtime}, or set the command's full path.", runtime=runtime))
    return CannotStart(title, Phrase("looked in {folders}", folders=folders), Phrase("Install it, or set the command's full path."))
