"""The file `bin/tooltray-bridge` that AI clients start: it becomes the bridge of the first installation that exists."""

import os
import shlex
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.programs import resource
from tooltray.foundation.regular_file import read_regular

MODE = 0o755

NO_INSTALLATION = -32000
"""The JSON-RPC code of that error: the first one that servers may use for their own."""

_HEAD = """\
#!/bin/sh
# Made by Tooltray. AI clients start this file; it starts the bridge of the installation in use, or else of another one.
# Check and repair it with `tooltray doctor`; choose an installation with `tooltray bridge use`.
"""
_TAIL = """\
# none of them exists: answer, so that the AI client shows what to do
while IFS= read -r line || [ -n "$line" ]; do
    case $line in *'"method"'*) ;; *) continue ;; esac
    case $line in *'"id":'*) ;; *) continue ;; esac
    id=${line#*'"id":'}
    id=${id#"${id%%[! ]*}"}
    case $id in
    '"'*) id=${id#'"'} id="\\"${id%%'"'*}\\"" ;;
    *) id=${id%%[!0-9.-]*} ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":CODE,"message":"MESSAGE"}}\\n' "${id:-null}"
done
"""
MESSAGE = (
    "Tooltray is not installed any more. Install Tooltray again, or remove this entry from the AI client. "
    "If it is installed, start it once, or run: tooltray doctor"
)
_OLD = ".old"  # in the names of launchers that ran when another one took their place


class BridgeFile(Protocol):
    """One system's kind of this file.

    Attributes:
        name: of the file.
    """

    name: str

    def can_write(self) -> bool:
        """Returns whether this installation has what it needs to write the file."""
        ...

    def write(self, path: Path, bridges: Iterable[Sequence[str]]) -> bool:
        """Writes the file if it differs; returns whether it was written.

        Args:
            bridges: commands of bridges, the one in use first.

        Raises:
            OSError: it cannot be written.
        """
        ...


class BridgeScript:
    """A script for Linux and macOS.

    It is plain POSIX `sh`, needs no PATH and no variable, and costs some 2 ms. Without any installation it answers each request with an
    error, so that the AI client shows the user what to do.
    """

    name = "tooltray-bridge"

    def can_write(self) -> bool:
        return True

    def write(self, path: Path, bridges: Iterable[Sequence[str]]) -> bool:
        wanted = os.fsencode(script(bridges))
        if _has_content(path, wanted):
            return False
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.is_symlink():  # the link's target is not ours
            path.unlink()
        write_atomically(path, wanted, MODE)
        return True


def script(bridges: Iterable[Sequence[str]]) -> str:
    """Returns the text of the script.

    Args:
        bridges: commands of bridges, the one in use first.
    """
    return _HEAD + "".join(map(_line, bridges)) + _TAIL.replace("CODE", str(NO_INSTALLATION)).replace("MESSAGE", MESSAGE)


def _line(bridge: Sequence[str]) -> str:
    program, *arguments = bridge
    tests = [f"[ -x {shlex.quote(program)} ]", *(f"[ -e {shlex.quote(each)} ]" for each in arguments if each.startswith("/"))]
    return f'{" && ".join(tests)} && exec {shlex.join(bridge)} "$@"\n'


def _has_content(path: Path, wanted: bytes) -> bool:
    try:
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == MODE and read_regular(path) == wanted
    except OSError:
        return False


class BridgeLauncher:
    """A program for Windows, and the list of bridges beside it.

    The packages contain the launcher (packaging/windows/launcher.c) among their resources. A Python package has none; there an entry names
    the interpreter and the script, as in a checkout. The launcher reads the list at each start, so an installation that is added or removed
    changes a text and no running program. Windows lets no program overwrite a running one, but it can be renamed: a new launcher takes its
    place.
    """

    name = "tooltray-bridge.exe"

    def can_write(self) -> bool:
        return self._launcher() is not None

    def write(self, path: Path, bridges: Iterable[Sequence[str]]) -> bool:
        import subprocess

        launcher = self._launcher()
        if launcher is None and not path.exists():
            return False
        path.parent.mkdir(mode=0o700, exist_ok=True)
        listed = "".join(f"{bridge[0]}\t{subprocess.list2cmdline(bridge)}\n" for bridge in bridges).encode("utf-8", "replace")
        is_changed = _content(path.with_suffix(".txt")) != listed
        if is_changed:
            write_atomically(path.with_suffix(".txt"), listed)
        if launcher is None or _content(path) == launcher:
            return is_changed
        _put_aside(path)
        write_atomically(path, launcher, 0o755)
        return True

    def _launcher(self) -> bytes | None:
        try:
            return resource("windows", self.name).read_bytes()
        except OSError:
            return None


def _put_aside(path: Path) -> None:
    """Makes the path free, and removes earlier launchers that do not run any more."""
    for old in path.parent.glob(f"*{_OLD}"):
        with suppress(OSError):
            old.unlink()
    names = (path.with_name(f"{path.stem}-{number}{_OLD}") for number in range(1000))
    with suppress(FileNotFoundError):
        path.rename(next(name for name in names if not name.exists()))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


bridge_file: BridgeFile = BridgeLauncher() if sys.platform == "win32" else BridgeScript()
