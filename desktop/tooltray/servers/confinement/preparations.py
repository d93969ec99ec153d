"""Packages of npx and uvx that are installed before their server starts, since the server cannot reach their registry.

npx and uvx ask their registry at each start. For a server without it the package is installed once, into a folder that the server may read
and not change, and then run without them. Only known options are read here; with any other option the start is left to npx or uvx.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular
from tooltray.servers.launch.command_lookup import LauncherLine, program_name, read_launcher_line
from tooltray.servers.launch.direct_starts import bin_of
from tooltray.servers.launch.program_launch import CannotStart

_DONE = "installed"  # the file that marks a completed installation
_FLAGS = frozenset({"-y", "--yes", "-q", "--quiet", "--isolated"})
_NPX_OPTIONS = {"-p": "package", "--package": "package"}
_UVX_OPTIONS = {"--from": "from", "--with": "with", "-p": "python", "--python": "python", "-w": "with"}
_UV_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:[\[@=<>~!].*)?")


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """An installation of a package, and how to find the program in it.

    Attributes:
        command, args: install the package.
        env: variables for that.
        folder: of the package; an installation replaces all of it.
        find: returns the program in the package; empty: the package has no program of that name.
        rest: the arguments of the server.
    """

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    find: Callable[[], str]
    rest: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        return (self.folder / _DONE).is_file()

    def begin(self) -> None:
        """Removes the remains of an installation that was not completed."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700, parents=True)

    def program(self) -> str:
        """Returns the program that the package brings, and marks the installation as completed.

        Raises:
            CannotStart: the package has no program.
        """
        found = self.find()
        if not found or not os.path.realpath(found).startswith(os.path.realpath(self.folder) + os.sep):
            raise CannotStart(Phrase("the package has no program to run"), "", Phrase("Check the package's name in its arguments."))
        (self.folder / _DONE).touch()
        return found


def preparation(command: str, args: Sequence[str], packages: Path) -> Preparation | None:
    """Returns the installation that must precede a server's start; None: npx or uvx does not start it, or has options unknown here.

    Args:
        packages: the server's own folder for them.
    """
    words = [program_name(command), *args]
    if words[:2] == ["npm", "exec"] or words[:2] == ["npm", "x"]:
        words = ["npx", *words[2:]]
    elif words[:3] == ["uv", "tool", "run"]:
        words = ["uvx", *words[3:]]
    if words[0] == "npx" and (wanted := read_launcher_line(words[1:], _NPX_OPTIONS, flags=_FLAGS)):
        return _of_npx(wanted, packages)
    if words[0] == "uvx" and (wanted := read_launcher_line(words[1:], _UVX_OPTIONS, flags=_FLAGS)):
        return _of_uvx(wanted, packages)
    return None


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _of_npx(wanted: LauncherLine, packages: Path) -> Preparation:
    named = wanted.options.get("package", ())
    specs = named or (wanted.word,)
    folder = packages / f"npm-{_digest(specs)}"
    return Preparation(
        command="npm",
        args=("install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-package-lock", "--", *specs),
        env={"npm_config_cache": str(packages / "npm-cache"), "npm_config_global": "false"},
        folder=folder,
        find=lambda: _npm_program(folder, wanted.word if named else ""),
        rest=wanted.rest,
    )


def _npm_program(folder: Path, name: str) -> str:
    modules = folder / "node_modules"
    if not name:
        [package] = list(_json(folder / "package.json").get("dependencies") or {"": ""})[:1]
        name = bin_of(_json(modules / package / "package.json"))[0]
    program = modules / ".bin" / name
    return str(program) if name and os.path.basename(name) == name and program.exists() else ""


def _json(file: Path) -> dict[str, dict[str, str]]:
    try:
        found = json.loads(read_regular(file))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_uvx(wanted: LauncherLine, packages: Path) -> Preparation | None:
    [spec] = wanted.options.get("from", (wanted.word,))[:1]
    found = _UV_NAME.fullmatch(wanted.word)
    if not found:
        return None
    python, extra = wanted.options.get("python", ()), wanted.options.get("with", ())
    folder = packages / f"uv-{_digest(spec, python, extra)}"
    options = [*(word for each in python for word in ("--python", each)), *(word for each in extra for word in ("--with", each))]
    return Preparation(
        command="uv",
        args=("tool", "install", "--no-progress", *options, "--", spec),
        env={
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(folder / "bin"),
            "UV_PYTHON_INSTALL_DIR": str(packages / "uv-python"),
            "UV_CACHE_DIR": str(packages / "uv-cache"),
        },
        folder=folder,
        find=lambda: str(program) if (program := folder / "bin" / found[1]).exists() else "",
        rest=wanted.rest,
    )
