"""Finds programs in usual folders that no PATH names: package managers' folders, and the Node.js and Python of a version manager.

A desktop starts programs without the variables of the user's terminal, and some users' login shell does not have them either: an installer
may write to the rc file of another shell. So these folders are added behind the user's own PATH, which always goes first.
Only folders that exist are added, and a version manager's folders only if the PATH has no `node` (no `python3`) at all: a `npx` of one
version that runs the `node` of another fails in ways that are hard to understand.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

MAX_ALIASES = 8  # nvm's aliases may name each other, also in a circle
MAX_FILE_BYTES = 64 * 1024  # of a version manager's own files, which have a few lines

_IN_HOME = (".local/bin", ".cargo/bin", ".bun/bin", ".volta/bin", ".deno/bin")
_BY_SYSTEM = {
    "darwin": ("/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin", "/opt/local/bin", "/usr/bin", "/bin"),
    "linux": ("/usr/local/bin", "/usr/bin", "/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin", "/run/current-system/sw/bin"),
}
_ON_WINDOWS = (  # a variable, and a folder below the one that it names
    *(("USERPROFILE", folder) for folder in (".local/bin", ".cargo/bin", ".bun/bin", ".deno/bin", "scoop/shims")),
    *(("NVM_SYMLINK", ""), ("APPDATA", "npm"), ("ProgramFiles", "nodejs"), ("LOCALAPPDATA", "Volta/bin")),
    *(("LOCALAPPDATA", "Microsoft/WinGet/Links"), ("ProgramData", "chocolatey/bin")),
)
Manager = Callable[[Mapping[str, str]], Iterator[Path]]  # folders in which a program may be, most likely first
_VERSION = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")


def default_folders(environ: Mapping[str, str], *, system: str = sys.platform, root: str = "/") -> list[str]:
    """Returns the folders to search behind the user's own PATH, most likely first. Looks at the file system.

    Args:
        environ: the user's environment; HOME and the version managers' own variables count.
        system: as `sys.platform`.
        root: the folder in which absolute folders are searched.
    """
    if system == "win32":
        return _existing(Path(environ[name], folder) for name, folder in _ON_WINDOWS if environ.get(name))
    found = _existing(Path(root, folder.lstrip("/")) for folder in _BY_SYSTEM.get(system, _BY_SYSTEM["linux"]))
    if not (home := environ.get("HOME", "")):
        return found
    own = _existing(Path(home, folder) for folder in _IN_HOME)
    path = [*environ.get("PATH", "").split(os.pathsep), *own]
    managed = [*_managed("node", _NODE, environ, path), *_managed("python3", _PYTHON, environ, path)]
    return [*own, *dict.fromkeys(managed), *found]


def _existing(folders: Iterator[Path]) -> list[str]:
    return list(dict.fromkeys(str(folder) for folder in folders if folder.is_dir()))


def _managed(program: str, managers: tuple[Manager, ...], environ: Mapping[str, str], path: list[str]) -> list[str]:
    """Returns the folder of the first version manager that has a program that the path lacks."""
    if any(_has(Path(folder), program) for folder in path if folder):
        return []
    candidates = (folder for manager in managers for folder in manager(environ))
    return [str(folder) for folder in candidates if _has(folder, program)][:1]


def _has(folder: Path, program: str) -> bool:
    try:
        return os.access(folder / program, os.X_OK)
    except ValueError:  # a version manager's file contains a zero character
        return False


# Node.js


def _nvm(environ: Mapping[str, str]) -> Iterator[Path]:
    folder = Path(environ.get("NVM_DIR") or Path(environ["HOME"], ".nvm"))
    versions = folder / "versions" / "node"
    wanted = "default"
    for _ in range(MAX_ALIASES):
        if "*" not in wanted and (alias := _first_line(folder / "alias" / wanted)):
            wanted = alias
        elif wanted == "lts/*":  # nvm keeps the name of the newest version in a file of this name
            wanted = _first_line(folder / "alias" / "lts" / "*")
        else:
            break
    is_number = _VERSION.fullmatch(wanted)
    if wanted != "system" and (version := _newest(versions, wanted if is_number else "") or _newest(versions, "")):
        yield versions / version / "bin"


def _fnm(environ: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environ["HOME"])
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    own = [Path(environ["FNM_DIR"])] if environ.get("FNM_DIR") else []
    for folder in (*own, data / "fnm", home / ".fnm", home / "Library" / "Application Support" / "fnm"):
        yield folder / "aliases" / "default" / "bin"


def _asdf(plugin: str) -> Manager:
    def folders(environ: Mapping[str, str]) -> Iterator[Path]:
        home = Path(environ["HOME"])
        data = Path(environ.get("ASDF_DATA_DIR") or home / ".asdf")
        for line in _lines(home / ".tool-versions"):
            name, *versions = line.split("#")[0].split() or [""]
            if name == plugin:
                yield from (data / "installs" / plugin / version / "bin" for version in versions)

    return folders


def _mise(environ: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environ["HOME"])
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield Path(environ.get("MISE_DATA_DIR") or data / "mise") / "shims"  # a shim finds the version without a shell


# Python


def _pyenv(environ: Mapping[str, str]) -> Iterator[Path]:
    root = Path(environ.get("PYENV_ROOT") or Path(environ["HOME"], ".pyenv"))
    for version in _lines(root / "version"):
        yield root / "versions" / version.strip() / "bin"


_NODE = (_nvm, _fnm, _asdf("nodejs"), _mise)
_PYTHON = (_pyenv, _asdf("python"), _mise)


def _newest(versions: Path, wanted: str) -> str:
    """Returns the newest installed version that matches a number such as `20` or `v20.1`, or the newest of all if `wanted` is empty; empty
    if no version matches."""
    prefix = _numbers(wanted)
    try:
        installed = [entry.name for entry in versions.iterdir() if _VERSION.fullmatch(entry.name)]
    except OSError:
        return ""
    return max((name for name in installed if _numbers(name)[: len(prefix)] == prefix), key=_numbers, default="")


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.fullmatch(version)
    return tuple(int(number) for number in found.groups() if number) if found else ()


def _first_line(file: Path) -> str:
    return next((line.strip() for line in _lines(file)), "")


def _lines(file: Path) -> list[str]:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_FILE_BYTES).decode(errors="replace").splitlines()
    except (OSError, ValueError):
        return []
