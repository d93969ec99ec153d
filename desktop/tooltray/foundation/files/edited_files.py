"""Replaces files that people also edit, without ever undoing a concurrent save of their editor; the content before each change is stored.

A change reads the file, computes the new content, and replaces the file: optimistic concurrency. Between reading and replacing, an editor
may save, and a rename cannot be made conditional. So the new and the old file are swapped in one step, and the file that came out is
compared with the content that was read. If it differs, the two are swapped back and the change is retried on the newer content. Editors
save in two ways:

- They rename a new file over the old one. The swap then takes out the editor's file.
- They write into the existing file. The file taken out then has a different content, or is still open for writing.

During the second kind of save the file is empty or truncated for a moment, so it is given time to become complete. Where files cannot be
swapped (NFS, some FUSE file systems, Windows), the old file is kept under a second name while it is replaced: a save of the second kind is
restored, and one of the first kind is lost only if it falls between two system calls.
"""

import errno
import hashlib
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from tooltray.foundation.files.atomic_file import finish_replacement, replace, write_atomically, write_beside
from tooltray.foundation.regular_file import open_regular, read_regular

logger = logging.getLogger(__name__)
T = TypeVar("T")
AGAIN_AFTER_S = 0.02  # most editors are done by then
MOST_WAITS = 50  # one second in all for a file to become complete: a person waits, too
MOST_TRIES = 2 * MOST_WAITS  # a program that still saves after that saves all the time
SAVED_WITHIN_S = 2.0  # a file unmodified for this long is not in the middle of being saved
VERSIONS = 10  # of each file
MOST_FILES = 300  # of all files together: thirty projects
MOST_BYTES = 1024 * 1024  # of one version; settings of hundreds of servers have a tenth of it
_HASH_CHARACTERS = 8
_RENAME_EXCHANGE = 2  # linux/fs.h
_RENAME_SWAP = 2  # sys/stdio.h of macOS
_AT_FDCWD = -100  # paths count from the working directory
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)  # an old kernel, a file system or a sandbox without it


def exchange(one: str, other: str) -> bool:
    """Swaps two files of one folder atomically.

    Returns:
        False if this system or file system cannot; nothing has changed then.

    Raises:
        OSError: one of them is not there, the disk is broken, ...
    """
    if sys.platform == "win32":  # pragma: no cover - one branch per platform
        return False
    import ctypes  # 10 ms, which only a change of a file costs

    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":  # pragma: no cover - one branch per platform
            failed = libc.renamex_np(ours, theirs, _RENAME_SWAP)
        else:
            failed = libc.renameat2(_AT_FDCWD, ours, _AT_FDCWD, theirs, _RENAME_EXCHANGE)
    except AttributeError:  # pragma: no cover - a C library from before 2018
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), other)


def is_open_for_writing(path: str) -> bool:
    """Returns whether a program has the file open for writing. Linux grants a read lease only if none has; elsewhere False.

    Args:
        path: a name that no other program knows, so that none has to wait for the end of the lease.
    """
    if sys.platform != "linux":  # pragma: no cover - one branch per platform
        return False
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # ignored by default; the usual SIGIO would end the process
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN  # anything else: another user's file, or a file system that has no leases
    finally:
        os.close(descriptor)
    return False


class FileHistory:
    """The stored versions of all edited files: plain files in the home, `<file>.<hash of its path>.<time>`.

    A version that cannot be stored is logged and dropped, and the change continues.

    Args:
        folder: where versions are stored; created with the first one.
        clean: returns the content without its secrets, or None if it cannot find them; then no version is stored.
        clock: unix nanoseconds.
    """

    def __init__(self, folder: Path, clean: Callable[[bytes], bytes | None], *, clock: Callable[[], int] = time.time_ns) -> None:
        self._folder, self._clean, self._clock = folder, clean, clock

    def save(self, path: Path, content: bytes) -> None:
        """Adds a version, unless it equals the last one.

        Args:
            path: the file, absolute.
            content: its content before the change.
        """
        if len(content) > MOST_BYTES or (kept := self._clean(content)) is None:
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            others = self.versions(path)
            if not others or read_regular(others[-1]) != kept:
                write_atomically(self._folder / f"{self._prefix(path)}{_in_order(self._clock())}", kept)
                self._prune(path)
        except OSError as error:
            logger.info("the previous content of %s was not saved: %s", path, error.strerror or error)

    def versions(self, path: Path) -> list[Path]:
        """Returns the versions of one file, oldest first."""
        with suppress(FileNotFoundError):
            return sorted(each for each in self._folder.iterdir() if each.name.startswith(self._prefix(path)))
        return []

    def _prefix(self, path: Path) -> str:
        return f"{path.name}.{hashlib.sha256(str(path).encode('utf-8', 'surrogateescape')).hexdigest()[:_HASH_CHARACTERS]}."

    def _prune(self, path: Path) -> None:
        for each in self.versions(path)[:-VERSIONS]:
            each.unlink()
        everything = sorted(self._folder.iterdir(), key=lambda each: each.name.rpartition(".")[2])
        for each in everything[:-MOST_FILES]:
            each.unlink()


def _in_order(now: int) -> str:
    """Formats a time to the nanosecond, so that names sort by it and two versions within a second are two files."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9)) + f"-{now % 10**9:09}"


class FileChanged(Exception):
    """A save of the file by another program after it was read; its content was left as saved."""


def digest_of_bytes(content: bytes | None) -> str:
    """Returns the SHA-256 of a file's content as 64 hex digits; empty if the file does not exist."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


class _FileState(msgspec.Struct, frozen=True):
    """A file's content and metadata at one moment; `content` is None if the file does not exist."""

    content: bytes | None = None
    key: tuple[int, ...] = ()
    mode: int = 0
    owner: tuple[int, int] | None = None


class EditedFiles:
    """A writer of edited files that makes one change at a time. All methods block on the disk.

    Args:
        history: stores the content before each change; None: none is stored.
        exchange: swaps two files, see edited_files.
        pause: sleeps for a number of seconds.
    """

    def __init__(
        self,
        history: FileHistory | None = None,
        *,
        exchange: Callable[[str, str], bool] = exchange,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._history, self._exchange, self._pause = history, exchange, pause
        self._waits = 0  # left to the present change for a file that is half written

    def retry_until_kept(self, attempt: Callable[[], T]) -> T:
        """Makes a change and retries it as long as another program saves the file meanwhile.

        Args:
            attempt: reads the file and calls `replace`; may raise FileChanged itself if the file `may_be_half_written`.

        Raises:
            FileChanged: another program kept writing the file through all `MOST_TRIES` attempts.
        """
        self._waits = MOST_WAITS
        for _ in range(MOST_TRIES):
            with suppress(FileChanged):
                return attempt()
            self._waits -= 1
            self._pause(AGAIN_AFTER_S)
        return attempt()

    def may_be_half_written(self, path: Path) -> bool:
        """Returns whether a file that is empty, missing or malformed may be in the middle of a save; for use within `retry_until_kept`."""
        return self._waits > 0 and _is_just_saved(path)

    def replace(self, path: Path, data: bytes, *, based_on: str, new_mode: int = 0o600) -> None:
        """Replaces a file's content if it is still the content that was read. A link stays a link; mode and owner are kept.

        Args:
            based_on: `digest_of_bytes` of the content that was read.
            new_mode: permission bits, if the file is new.

        Raises:
            FileChanged: the content has changed since, or the file is being saved. It is left untouched.
            OSError: the file could not be written; it is as before.
        """
        target = Path(os.path.realpath(path))
        seen = _state_of(target)
        if digest_of_bytes(seen.content) != based_on:
            raise FileChanged
        temporary = write_beside(target, data, seen.mode if seen.owner else new_mode, seen.owner)
        try:
            self._replace_if_unchanged(temporary, str(target), seen)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        finish_replacement(target)
        if self._history and seen.content is not None:
            self._history.save(target, seen.content)

    def move_away(self, path: Path, place: Path, *, based_on: str) -> None:
        """Renames an unusable file, if it still has the unusable content.

        Args:
            path: the file; a link stays where it is, and its target is renamed.
            place: the new path, which must not exist yet.
            based_on: `digest_of_bytes` of the unusable content.

        Raises:
            FileChanged: another program corrected the file meanwhile, or is writing it. It stays where it was.
            OSError: it cannot be renamed.
        """
        target = os.path.realpath(path)
        os.rename(target, place)
        if is_open_for_writing(str(place)) or digest_of_bytes(_state_of(place).content) != based_on:
            with suppress(FileExistsError):  # another program has saved an even newer one
                os.link(place, target)
                os.unlink(place)
            raise FileChanged

    def _replace_if_unchanged(self, temporary: str, target: str, seen: _FileState) -> None:
        if seen.content is None:
            self._create(temporary, target)
            return
        ours = _state_of(temporary)
        if _state_of(target) != seen:  # catches nearly every concurrent save; the rest is for saves from here on
            raise FileChanged
        try:
            is_exchanged = self._exchange(temporary, target)
        except FileNotFoundError:  # an editor that renames the old one first
            raise FileChanged from None
        if not is_exchanged:
            _replace_without_exchange(temporary, target, seen, ours)
        elif _has_changed(temporary, seen):
            self._restore(temporary, target, ours)
            raise FileChanged

    def _create(self, temporary: str, target: str) -> None:
        """Puts the new file where there was none; a file that was created meanwhile is not replaced."""
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise FileChanged from None
        except OSError:  # a file system without hard links
            replace(temporary, target)

    def _restore(self, temporary: str, target: str, expected: _FileState) -> None:
        """Swaps a concurrent save back into its place.

        The file taken out by this swap should be the one put in by the last swap. If not, it is an even newer save: swap again.

        Args:
            expected: the file put in by the last swap.
        """
        for _ in range(MOST_TRIES):
            put = _state_of(temporary)
            try:
                self._exchange(temporary, target)
            except FileNotFoundError:  # an editor has just moved the file away, and will write its own
                self._create(temporary, target)
                return
            if not _has_changed(temporary, expected):
                return
            expected = put


def _replace_without_exchange(temporary: str, target: str, seen: _FileState, ours: _FileState) -> None:
    """Gives the old file a second name before it is replaced, so that a concurrent write into it can be restored."""
    aside = f"{temporary}.tmp"
    try:
        os.link(target, aside)
    except OSError:  # a file system without hard links
        replace(temporary, target)
        return
    try:
        if _state_of(target) != seen:
            raise FileChanged
        replace(temporary, target)
        if _has_changed(aside, seen):
            if _state_of(target) == ours:  # else there is a newer save by now
                replace(aside, target)
            raise FileChanged
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)


def _has_changed(path: str, expected: _FileState) -> bool:
    """Returns whether a file differs from the expected state, or may soon, because a program has it open for writing.

    Args:
        path: a name that no other program knows, so that none can open it from now on.
    """
    return is_open_for_writing(path) or _state_of(path) != expected


def _state_of(path: Path | str) -> _FileState:
    """
    Raises:
        OSError: it is not a regular file, or cannot be read.
    """
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return _FileState()
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        content = file.read()
    key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _FileState(content, key, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


def _is_just_saved(path: Path) -> bool:
    """Returns whether a file was saved a moment ago. A missing file counts: an editor may be about to write it again."""
    try:
        return abs(time.time() - path.stat().st_mtime) < SAVED_WITHIN_S
    except OSError:
        return True
