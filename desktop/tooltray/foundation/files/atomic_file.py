"""Writes a file atomically: a reader finds the whole old content or the whole new content, also after a power cut.

Blocks for as long as the disk takes; on the engine's loop, call it with `asyncio.to_thread`. Files that people also edit are written by
edited_files instead.
"""

import os
import re
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.lazy_loggers import lazy_logger
from tooltray.foundation.regular_file import check_regular, open_regular

StrPath = str | os.PathLike[str]
logger = lazy_logger(__name__)
STALE_AFTER_S = 60.0  # a write takes far less; an older temporary file was left by a process that was killed in the middle
BROKEN = ".broken-"
_TEMPORARY = re.compile(r"\..+\.(?:(\d+)-)?[a-z0-9_]{8}\.tmp")  # as `write_beside` names them, with the writer's pid


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replaces a file's content.

    A symbolic link stays a link: its target is replaced. After a failure the old content is in place and no temporary file is left.

    Args:
        path: the file; its folder must exist.
        data: the whole new content.
        mode: permission bits of the new file; the old file's are not kept.

    Raises:
        OSError: the disk is full, the folder is read-only, ...
    """
    target = Path(os.path.realpath(path))
    temporary = write_beside(target, data, mode)
    try:
        replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    finish_replacement(target)


def write_beside(target: Path, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> str:
    """Writes and syncs a temporary file in the target's folder, ready to be renamed over it; returns its path.

    Args:
        owner: user and group id for the new file, applied if this process may change them; None: this process's own.

    Raises:
        OSError: as `write_atomically`; the temporary file is removed.
    """
    from tempfile import mkstemp  # commands that write nothing can do without its random numbers

    descriptor, temporary = mkstemp(dir=target.parent, prefix=f"{_prefix(target)}{os.getpid()}-", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if owner and sys.platform != "win32":
            with suppress(PermissionError):
                os.chown(temporary, *owner)
        os.chmod(temporary, mode)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def finish_replacement(target: Path) -> None:
    """Syncs the folder after the rename, so that it survives a power cut, and removes temporary files of writers that were killed."""
    _sync_folder(target.parent)
    _sweep(target)


def _prefix(target: Path) -> str:
    return f".{target.name[:50]}."  # a file name has at most 255 bytes, a character up to 4, and behind this come 20


def _sync_folder(folder: Path) -> None:
    """Syncs the folder, so that the rename survives a power cut. Windows cannot open a folder, and does not need it."""
    if os.name != "posix":  # pragma: no cover - one branch per platform
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(target: Path) -> None:
    """Removes temporary files of earlier writers of the same file that were killed."""
    with os.scandir(target.parent) as entries:
        leftovers = [entry for entry in entries if entry.name.startswith(_prefix(target)) and entry.name.endswith(".tmp")]
    for entry in leftovers:
        with suppress(OSError):  # another writer's file, finished or swept in this moment
            if entry.stat(follow_symlinks=False).st_mtime < time.time() - STALE_AFTER_S:
                os.unlink(entry.path)


def read_own(path: Path, most_bytes: int) -> bytes:
    """Reads a file that Tooltray wrote, with checks, because something else may have replaced it.

    Args:
        most_bytes: the largest size that Tooltray writes there.

    Raises:
        OSError: it is not a regular file, or cannot be read.
        ValueError: it is larger than `most_bytes`.
    """
    with open(path, "rb", opener=open_regular) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError("too large")
    return content


def set_aside(path: Path) -> Path:
    """Renames an unusable file, so that nothing in it is lost; returns its new path, or the old one if the rename fails."""
    aside = path.with_name(f"{path.name}{BROKEN}{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        path.replace(aside)
    except OSError as error:
        logger.info("%s could not be set aside: %s", path, error)
        return path
    return aside


def all_set_aside(path: Path) -> list[Path]:
    """Returns the files that `set_aside` made of this one and that still exist, oldest first."""
    with suppress(OSError):
        return sorted(each for each in path.parent.iterdir() if each.name.startswith(path.name + BROKEN))
    return []


def remove_leftovers(root: Path, besides: Path | None = None) -> None:
    """Removes temporary files of killed writers from a folder and its subfolders, because one may contain a token.

    A file is left over if its writer's process has ended, or if it is older than STALE_AFTER_S. One that cannot be removed stays.

    Args:
        besides: a folder to skip, because it contains many files of other programs.
    """
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if os.path.join(folder, each) != str(besides)]
        for name in names:
            if found := _TEMPORARY.fullmatch(name):
                with suppress(OSError):  # its writer has just finished
                    _remove_if_left(os.path.join(folder, name), int(found[1] or 0))


def _remove_if_left(path: str, writer: int) -> None:
    status = os.lstat(path)
    is_ours = stat.S_ISREG(status.st_mode) and (sys.platform == "win32" or status.st_uid == os.getuid())
    is_old = status.st_mtime < time.time() - STALE_AFTER_S  # counts even if another process has the writer's pid now
    if is_ours and (is_old or (writer and not _is_running(writer))):
        os.unlink(path)


if sys.platform == "win32":
    from tooltray.foundation.platform.win32.processes import is_running as _is_running

    REPLACE_TRIES, REPLACE_EVERY_S = 200, 0.01  # a reader is done within milliseconds, a virus scanner within a second or two

    def replace(temporary: StrPath, target: StrPath) -> None:
        """Renames a file over another one, and retries while that one is open: Windows lets no program replace a file that is being read.

        Raises:
            OSError: another program does not close it, the folder is read-only, ...
        """
        for _ in range(REPLACE_TRIES):
            with suppress(PermissionError):
                os.replace(temporary, target)
                return
            time.sleep(REPLACE_EVERY_S)
        os.replace(temporary, target)
else:

    def replace(temporary: StrPath, target: StrPath) -> None:
        """Renames a file over another one. Devices and pipes stay: if root wrote to /dev/null, it would be gone for all programs.

        Raises:
            NotRegular: the target is a folder, a device, a pipe or a socket.
            OSError: the folder is read-only, ...
        """
        with suppress(FileNotFoundError):
            check_regular(os.stat(target).st_mode, target)
        os.replace(temporary, target)

    def _is_running(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):  # another user's
            return True
        return True
