"""The program `bin\\tooltray-bridge.exe` that AI clients start on Windows, and the list of bridges beside it.

The packages contain the launcher (packaging/windows/launcher.c) among their resources. A Python package has none; there an entry names the
interpreter and the script, as in a checkout. The launcher reads the list at each start, so an installation that is added or removed changes
a text and no running program. Windows lets no program overwrite a running one, but it can be renamed: a new launcher takes its place.
bridge_file_posix has the same names.
"""

import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.programs import resource

NAME = "tooltray-bridge.exe"
_OLD = ".old"  # in the names of launchers that ran when another one took their place


def write(path: Path, bridges: Iterable[Sequence[str]]) -> bool:
    """Writes launcher and list if the files differ from them; returns whether they were written.

    Args:
        path: of the launcher.
        bridges: commands of bridges, the one in use first.

    Raises:
        OSError: they cannot be written.
    """
    launcher = _launcher()
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


def can_write() -> bool:
    """Returns whether this installation has a launcher; a Python package has none."""
    return _launcher() is not None


def _launcher() -> bytes | None:
    try:
        return resource("windows", NAME).read_bytes()
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
