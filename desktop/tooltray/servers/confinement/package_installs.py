"""Installs the package of a server that npx or uvx would start, into a folder of its own.

npx and uvx ask their registry at each start. For a server without it the package is installed once, into a folder that the server may read
and not change, and then run without them. Only known options are read here; with any other option the start is left to npx or uvx.

An installation may write the one folder that it makes new, and no other: files of earlier ones may be shared with other servers. Caches and
temporary files are in a folder inside, which goes with it.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tooltray.foundation.files.atomic_file import read_own
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.servers.confinement.profiles import MODULES
from tooltray.servers.confinement.shared_files import SharedFiles
from tooltray.servers.launch.command_lookup import LauncherLine, program_name, read_launcher_line
from tooltray.servers.launch.direct_starts import bin_of
from tooltray.servers.launch.program_launch import CannotStart

NAME_DIGITS = 16  # of a package's digest in the name of its folder
_DONE = "installed"  # the file that marks a completed installation
_TEMPORARY = ".installing"
_PYTHON = "python"
MOST_BYTES = 2**24  # of a package.json, or of npm's list of all packages, which has half a kilobyte for each
_EARLIER_CACHES = ("npm-cache", "uv-cache")  # beside the folder of a package, where earlier versions kept them
_FLAGS = frozenset({"-y", "--yes", "-q", "--quiet", "--isolated"})
_NPX_OPTIONS = {"-p": "package", "--package": "package"}
_UVX_OPTIONS = {"--from": "from", "--with": "with", "-p": "python", "--python": "python", "-w": "with"}
_UV_NAME = lazy_pattern(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:[\[@=<>~!].*)?")


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """An installation of a package, and how to find the program in it.

    Attributes:
        command, args: install the package.
        env: variables for that.
        folder: of the package; an installation replaces all of it.
        find: returns the program in the package; empty: the package has no program of that name.
        archived: yields the files that are as they were in the archives of the packages.
        rest: the arguments of the server.
    """

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    find: Callable[[], str]
    archived: Callable[[], Iterator[str]]
    rest: tuple[str, ...]

    @property
    def temporary(self) -> Path:
        """Returns the folder of what is needed only during the installation."""
        return self.folder / _TEMPORARY

    def installed(self) -> str:
        """Returns the program of a completed installation, and deletes what a killed one has left over; empty: it has to be installed, for
        the first time or because a part is missing."""
        program = self._program() if (self.folder / _DONE).is_file() else ""
        for each in (self.temporary, *(self.folder.parent / name for name in _EARLIER_CACHES)) if program else ():
            shutil.rmtree(each, ignore_errors=True)
        return program

    def begin(self) -> None:
        """Removes the remains of an installation that was not completed."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.temporary.mkdir(mode=0o700, parents=True)
        self.folder.chmod(0o700)

    def finish(self, shared: SharedFiles | None) -> str:
        """Returns the program that the package brings, and marks the installation as completed.

        Args:
            shared: takes the files that other servers' packages may have, too; None: they stay this server's own.

        Raises:
            CannotStart: the package has no program.
        """
        program = self._program()
        if not program:
            raise CannotStart(Phrase("the package has no program to run"), "", Phrase("Check the package's name in its arguments."))
        if shared:
            shared.share(self.archived())
        done = self.folder / _DONE
        done.unlink(missing_ok=True)  # a script may have made a link of this name
        done.touch(exist_ok=False)
        shutil.rmtree(self.temporary, ignore_errors=True)
        return program

    def separate(self, shared: SharedFiles) -> None:
        """Gives the server files of its own in place of shared ones.

        Raises:
            CannotStart: a file cannot be copied.
        """
        try:
            shared.separate(self.folder)
        except OSError as error:
            reason = Phrase("{path}: {reason}", path=error.filename or str(self.folder), reason=error.strerror or "")
            raise CannotStart(Phrase("the packages of this server cannot be copied"), reason) from None

    def _program(self) -> str:
        found = self.find()
        return found if found and os.path.realpath(found).startswith(os.path.realpath(self.folder) + os.sep) else ""


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
    return digest_of(parts)[:NAME_DIGITS]


def _of_npx(wanted: LauncherLine, packages: Path) -> Preparation:
    named = wanted.options.get("package", ())
    specs = named or (wanted.word,)
    folder = packages / f"npm-{_digest(specs)}"
    return Preparation(
        command="npm",
        args=("install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-package-lock", "--", *specs),
        env={"npm_config_cache": str(folder / _TEMPORARY / "npm"), "npm_config_global": "false"},
        folder=folder,
        find=lambda: _npm_program(folder, wanted.word if named else ""),
        archived=lambda: _archived_of_npm(folder),
        rest=wanted.rest,
    )


def _npm_program(folder: Path, name: str) -> str:
    modules = folder / MODULES
    if not name:
        [package] = list(_json(folder / "package.json").get("dependencies") or {"": ""})[:1]
        name = bin_of(_json(modules / package / "package.json"))[0]
    program = modules / ".bin" / name
    return str(program) if name and os.path.basename(name) == name and program.exists() else ""


def _archived_of_npm(folder: Path) -> Iterator[str]:
    """Yields the files of packages that have no script for their installation; npm lists all packages in a file of its own."""
    packages = _json(folder / MODULES / ".package-lock.json").get("packages")
    if not isinstance(packages, dict):
        return
    scripted = {str(folder / name) for name, about in packages.items() if not isinstance(about, dict) or about.get("hasInstallScript")}
    for top, folders, names in os.walk(folder):
        is_between = top == str(folder) or os.path.basename(top) == MODULES  # here npm and scripts keep files that are of no package
        folders[:] = [each for each in folders if os.path.join(top, each) not in scripted and not (is_between and each.startswith("."))]
        if not is_between:
            yield from (os.path.join(top, name) for name in names)


def _archived_of_uv(folder: Path) -> Iterator[str]:
    """Yields the files that uv has linked from the archives in its cache, and all files of a Python that it has installed."""
    for top, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != _TEMPORARY]
        is_python = Path(top).is_relative_to(folder / _PYTHON)
        yield from (file for name in names if os.lstat(file := os.path.join(top, name)).st_nlink > 1 or is_python)


def _json(file: Path) -> dict[str, dict[str, str]]:
    try:
        found = json.loads(read_own(file, MOST_BYTES))
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
            "UV_PYTHON_INSTALL_DIR": str(folder / _PYTHON),
            "UV_CACHE_DIR": str(folder / _TEMPORARY / "uv"),
        },
        folder=folder,
        find=lambda: str(program) if (program := folder / "bin" / found[1]).exists() else "",
        archived=lambda: _archived_of_uv(folder),
        rest=wanted.rest,
    )
