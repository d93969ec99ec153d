"""The script `bin/tooltray-bridge` that AI clients start on Linux and macOS: it becomes the bridge of the first installation that exists.

It is plain POSIX `sh`, needs no PATH and no variable, and costs some 2 ms. Without any installation it answers each request with an error,
so that the AI client shows the user what to do. bridge_file_windows has the same names.
"""

import os
import shlex
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.regular_file import read_regular

NAME = "tooltray-bridge"
MODE = 0o755

NO_INSTALLATION = -32000
"""The JSON-RPC code of that error: the first one that servers may use for their own."""

_HEAD = """\
#!/bin/sh
# Made by Tooltray. AI clients start this file; it starts the bridge of the installation in use, or else of another one.
# Look at it and mend it with `tooltray doctor`; choose an installation with `tooltray bridge use`.
"""
_TAIL = """\
# none of them is there: answer, so that the AI client says what to do
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
    "No installation of Tooltray is there any more. Install Tooltray again, or remove this entry from the AI client. "
    "If it is installed, start it once, or run: tooltray doctor"
)


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


def write(path: Path, bridges: Iterable[Sequence[str]]) -> bool:
    """Writes the script if the file differs from it; returns whether it was written.

    Args:
        bridges: commands of bridges, the one in use first.

    Raises:
        OSError: it cannot be written.
    """
    wanted = os.fsencode(script(bridges))
    if _is_so(path, wanted):
        return False
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink():  # the link's target is not ours
        path.unlink()
    write_atomically(path, wanted, MODE)
    return True


def can_write() -> bool:
    """Returns True: the script needs no file of the installation."""
    return True


def _is_so(path: Path, wanted: bytes) -> bool:
    try:
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == MODE and read_regular(path) == wanted
    except OSError:
        return False
