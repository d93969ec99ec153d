"""The one way to write a file: a reader finds the old content or the new one, whole, also after a power cut.

Above it: everything that keeps a file (secrets, names, catalogue, run/hub.json), and edited_files, through which those go that people edit.
Below it: the disk. Knows no format.
Blocks for as long as the disk takes; on the engine's loop, call it with `asyncio.to_thread`.
"""

import errno
import logging
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

logger = logging.getLogger(__name__)
STALE_AFTER_S = 60.0  # a write takes far less; an older temporary file was left by a process that was killed in the middle
_BROKEN = ".broken-"


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replaces a file's content.

    A symbolic link stays a link: what it leads to is replaced. Whatever goes wrong, the old content stays and no temporary file does.

    Args:
        path: the file; its folder must exist.
        data: the whole new content.
        mode: permission bits of the file afterwards, whatever they were before.

    Raises:
        OSError: the disk is full, the folder is read-only, ...
    """
    target = Path(os.path.realpath(path))
    temporary = write_beside(target, data, mode)
    try:
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    settle(target)


def write_beside(target: Path, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> str:
    """Writes a temporary file that is to take a file's place, down to the disk; returns its path.

    Args:
        owner: numbers of the user and the group it is to belong to, as far as this process may give it away; None: its own.

    Raises:
        OSError: as `write_atomically`; there is no temporary file then.
    """
    descriptor, temporary = mkstemp(dir=target.parent, prefix=f"{_prefix(target)}{os.getpid()}-", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if owner:
            with suppress(PermissionError):
                os.chown(temporary, *owner)
        os.chmod(temporary, mode)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def settle(target: Path) -> None:
    """After a file has got a new content: makes that survive a power cut, and removes what killed writers left."""
    _sync_folder(target.parent)
    _sweep(target)


def _prefix(target: Path) -> str:
    return f".{target.name[:50]}."  # a file name has at most 255 bytes, a character up to 4, and behind this come 20


def _sync_folder(folder: Path) -> None:
    """Makes the new name itself survive a power cut. Windows cannot open a folder, and does not need it."""
    if os.name != "posix":  # pragma: no cover - one branch per platform
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(target: Path) -> None:
    """Removes what earlier writers of the same file left when they were killed."""
    with os.scandir(target.parent) as entries:
        leftovers = [entry for entry in entries if entry.name.startswith(_prefix(target)) and entry.name.endswith(".tmp")]
    for entry in leftovers:
        with suppress(OSError):  # another writer's file, finished or swept in this moment
            if entry.stat(follow_symlinks=False).st_mtime < time.time() - STALE_AFTER_S:
                os.unlink(entry.path)


def read_own(path: Path, most_bytes: int) -> bytes:
    """What is in a file that we have written; somebody may have put something else in its place.

    Raises:
        OSError: it is no file, or cannot be read.
        ValueError: it is larger than what we write.
    """
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:  # a pipe would keep us
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError("too large")
    return content


def set_aside(path: Path) -> Path:
    """Renames a file that cannot be used, so that nothing in it is lost; returns where it is now: where it was, if that fails."""
    aside = path.with_name(f"{path.name}{_BROKEN}{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        path.replace(aside)
    except OSError as error:
        logger.info("%s could not be set aside: %s", path, error)
        return path
    return aside


def all_set_aside(path: Path) -> list[Path]:
    """Where `set_aside` has put what was in a file, as far as it is still there; the oldest first."""
    with suppress(OSError):
        return sorted(each for each in path.parent.iterdir() if each.name.startswith(path.name + _BROKEN))
    return []
