"""What `uvx NAME` would run, where `uv tool install NAME` has installed it.

Above it: direct_start. Below it: the file system alone; nothing is changed there.

What uv does (0.13): a tool that the person installed is run as it is, with the folder of its environment first on the PATH, unless a
version, an index or another Python is asked for. Anything else is resolved anew at each start, so what it would run is not known here.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from tooltray.launch.command_lookup import look_up
from tooltray.launch.program_launch import DirectProgram, Launch

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")  # written as uv writes it itself, without extras or a version
_SETTINGS = ("/etc/uv/uv.toml", "uv/uv.toml", "uv/.python-version")  # the relative ones in each folder of settings
_MACHINES_FOLDER = "/etc/xdg"  # of the machine's settings, where no variable says another


def uvx_program(launch: Launch) -> DirectProgram | None:
    """The program that uvx would run, or None where that is not certain."""
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
    """Whether there are settings of uv, of which many decide what is run."""
    persons = Path(launch.env.get("XDG_CONFIG_HOME") or home / ".config")
    machines = (launch.env.get("XDG_CONFIG_DIRS") or _MACHINES_FOLDER).split(":")
    folders = (persons, *map(Path, filter(None, machines)))
    has_file = any(os.path.lexists(folder / file) for folder in folders for file in _SETTINGS)
    return has_file or any(name.startswith("UV_") for name in launch.env)


def _is_plain(receipt: Any, name: str) -> bool:
    """Whether a tool was installed by its name alone, and has a program of that name."""
    tool = receipt.get("tool")
    if (
        not isinstance(tool, dict)
        or tool.keys() - {"requirements", "python", "entrypoints"}
        or tool.get("requirements") != [{"name": name}]
    ):
        return False
    entrypoints = tool.get("entrypoints")
    return isinstance(entrypoints, list) and any(isinstance(each, dict) and each.get("name") == name for each in entrypoints)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode())
    except (OSError, ValueError, RecursionError):
        return {}
