"""Starts a server's own program in the place of npx or uvx, where its package is unpacked already and they would run exactly that.

A launcher stays beside the server for as long as that runs, asks the network before each start, and passes on nothing. Without it a start
is quicker, works offline, and needs less memory. It is left out only where the outcome cannot differ; in doubt it stays. A server that
exits without output is started with its launcher the next time, which shows whether the launcher was missing.

uv (0.13) runs a tool that the user installed as it is, with the folder of its environment first on the PATH, unless a version, an index or
another Python is requested. uv resolves anything else at each start, so what it would run is not known here.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.servers.launch.command_lookup import look_up, program_name
from tooltray.servers.launch.npx import npx_program
from tooltray.servers.launch.program_launch import DirectProgram, Launch

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")  # in uv's own spelling, without extras or a version
_SETTINGS = ("/etc/uv/uv.toml", "uv/uv.toml", "uv/.python-version")  # the relative ones in each folder of settings
_MACHINES_FOLDER = "/etc/xdg"  # of the machine's settings, where no variable names another


def uvx_program(launch: Launch) -> DirectProgram | None:
    """Returns the program that uvx would run, or None where that is not certain."""
    name, args = (launch.args[0], tuple(launch.args[1:])) if launch.args else ("", ())
    home = Path(launch.env.get("HOME", ""))
    uvx = look_up(launch.command, env=launch.env, cwd=launch.cwd).resolved
    uv = Path(os.path.realpath(uvx)).parent / "uv"
    if not _NAME.fullmatch(name) or not uvx or not uv.is_file() or not home.is_absolute() or _is_told_otherwise(launch, home):
        return None
    folder = Path(launch.env.get("XDG_DATA_HOME") or home / ".local" / "share", "uv", "tools", name)
    program = folder / "bin" / name
    has_python = (folder / "bin" / "python").is_file()  # a link, which an update of Python may have left dangling
    if not has_python or not os.access(program, os.X_OK) or not _is_plain(_read(folder / "uv-receipt.toml"), name):
        return None
    path = os.pathsep.join([str(program.parent), launch.env.get("PATH", "")])
    return DirectProgram(str(program), args, {"PATH": path, "UV": str(uv)}, saved_processes=1)


def _is_told_otherwise(launch: Launch, home: Path) -> bool:
    """Reports whether there are settings of uv, many of which decide what is run."""
    persons = Path(launch.env.get("XDG_CONFIG_HOME") or home / ".config")
    machines = (launch.env.get("XDG_CONFIG_DIRS") or _MACHINES_FOLDER).split(":")
    folders = (persons, *map(Path, filter(None, machines)))
    has_file = any(os.path.lexists(folder / file) for folder in folders for file in _SETTINGS)
    return has_file or any(name.startswith("UV_") for name in launch.env)


def _is_plain(receipt: Mapping[str, object], name: str) -> bool:
    """Reports whether a tool was installed only by its name, and has a program of that name."""
    tool = receipt.get("tool")
    if (
        not isinstance(tool, dict)
        or tool.keys() - {"requirements", "python", "entrypoints"}
        or tool.get("requirements") != [{"name": name}]
    ):
        return False
    entrypoints = tool.get("entrypoints")
    return isinstance(entrypoints, list) and any(isinstance(each, dict) and each.get("name") == name for each in entrypoints)


def _read(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_bytes().decode())
    except (OSError, ValueError, RecursionError):
        return {}


FINDERS: Mapping[str, Callable[[Launch], DirectProgram | None]] = {"npx": npx_program, "uvx": uvx_program}


class _Key(msgspec.Struct, frozen=True):
    command: str
    args: tuple[str, ...]
    cwd: str


class DirectStarts:
    """A memory of which servers did not run without their launcher. `shorten` looks at the file system and may be called in any thread."""

    def __init__(self) -> None:
        self._failed: set[_Key] = set()

    def shorten(self, launch: Launch) -> Launch:
        """Returns the launch without its launcher where that is safe, else as it is."""
        found = _find(launch)
        if found is None:
            return launch
        key = _Key(launch.command, tuple(launch.args), launch.cwd)
        if key in self._failed:
            return replace(launch, on_silent_end=lambda: self._failed.discard(key))  # then the missing launcher was not the cause
        return replace(
            launch,
            command=found.program,
            args=found.args,
            env={**launch.env, **found.env},
            saved_processes=found.saved_processes,
            on_silent_end=lambda: self._failed.add(key),
        )


def _find(launch: Launch) -> DirectProgram | None:
    finder = FINDERS.get(program_name(launch.command))
    try:
        return finder(launch) if finder else None
    except (OSError, ValueError):  # what cannot be read is not certain
        return None
