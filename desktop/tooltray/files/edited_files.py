"""Replaces files that people edit, too: what somebody saves in the same moment is never undone.

Above it: settings_file, project_edits, client_entries. Below it: atomic_file, file_swap, file_history. Knows no format.

A change reads the file, makes another content of it, and puts that in its place. Between reading and replacing a person's editor may save,
and no rename can be made conditional. So the new file and the old one are exchanged, and what came out is looked at: if it is not what the
change was based on, the two are exchanged back, and the change is made once more, to what is there. Editors save in two ways:

- They put a new file in the place of the old one. It is what comes out of the exchange.
- They write into the file as it is. What came out is then another content than before, or is still open for writing.

In the middle of the second a file is empty, or ends somewhere: it is given time to become whole. Where files cannot be exchanged (NFS, some
FUSE file systems, Windows), the old one is kept aside while it is replaced: a save by the second way is brought back, and one by the first
way is only missed if it falls between two system calls.
"""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tooltray.files import file_swap
from tooltray.files.atomic_file import settle, write_beside
from tooltray.files.file_history import FileHistory

AGAIN_AFTER_S = 0.02  # most editors are done by then
MOST_WAITS = 50  # a second in all, for the rest of a file: a person waits, too
MOST_TRIES = 2 * MOST_WAITS  # a program that saves still then does so all the time
SAVED_WITHIN_S = 2.0  # a file that nobody has touched for so long is not in the middle of being saved
T = TypeVar("T")


class FileChanged(Exception):
    """Somebody has saved the file since it was read; it is as they saved it."""


def digest_of_bytes(content: bytes | None) -> str:
    """By which one content of a file is told from another; empty: there is no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class _Look:
    """A file at one moment; `content` is None where there is none."""

    content: bytes | None = None
    key: tuple[int, ...] = ()
    mode: int = 0
    owner: tuple[int, int] | None = None


class EditedFiles:
    """All methods wait for the disk. One change at a time.

    Args:
        history: what was in a file before a change is kept there; None: it is not kept.
        exchange: see file_swap.
        pause: waits so many seconds.
    """

    def __init__(
        self,
        history: FileHistory | None = None,
        *,
        exchange: Callable[[str, str], bool] = file_swap.exchange,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._history, self._exchange, self._pause = history, exchange, pause
        self._waits = 0  # that are left to the present change, for a file that is half written

    def until_kept(self, attempt: Callable[[], T]) -> T:
        """Makes a change, and makes it anew as long as somebody else saves the file meanwhile.

        Args:
            attempt: reads the file and calls `replace`; may raise FileChanged itself where the file `may_be_half_written`.

        Raises:
            FileChanged: another program writes it again and again.
        """
        self._waits = MOST_WAITS
        for _ in range(MOST_TRIES):
            with suppress(FileChanged):
                return attempt()
            self._waits -= 1
            self._pause(AGAIN_AFTER_S)
        return attempt()

    def may_be_half_written(self, path: Path) -> bool:
        """Within `until_kept`, of a file that is empty, gone or not understood: whether somebody may be in the middle of saving it."""
        return self._waits > 0 and _is_just_saved(path)

    def replace(self, path: Path, data: bytes, *, based_on: str, new_mode: int = 0o600) -> None:
        """Gives a file another content, if it still has the one that was read. A link stays a link; mode and owner stay, too.

        Args:
            based_on: `digest_of_bytes` of what was read.
            new_mode: permission bits of a file that was not there.

        Raises:
            FileChanged: it has another content by now, or is just being saved. It is left so.
            OSError: it could not be written; it is as before.
        """
        target = Path(os.path.realpath(path))
        seen = _look(target)
        if digest_of_bytes(seen.content) != based_on:
            raise FileChanged
        temporary = write_beside(target, data, seen.mode if seen.owner else new_mode, seen.owner)
        try:
            self._put(temporary, str(target), seen)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        settle(target)
        if self._history and seen.content is not None:
            self._history.keep(target, seen.content)

    def move_away(self, path: Path, place: Path, *, based_on: str) -> None:
        """Renames a file that cannot be used.

        Args:
            path: a link stays where it is; what it leads to is renamed.
            place: where nothing is yet.
            based_on: `digest_of_bytes` of what cannot be used.

        Raises:
            FileChanged: somebody has put it right in the same moment, or is about to. It is left so.
            OSError: it cannot be renamed.
        """
        target = os.path.realpath(path)
        os.rename(target, place)
        if file_swap.is_open_for_writing(str(place)) or digest_of_bytes(_look(place).content) != based_on:
            with suppress(FileExistsError):  # a still newer one
                os.link(place, target)
                os.unlink(place)
            raise FileChanged

    def _put(self, temporary: str, target: str, seen: _Look) -> None:
        if seen.content is None:
            self._put_first(temporary, target)
            return
        ours = _look(temporary)
        if _look(target) != seen:  # nearly always the last word; what follows is for what happens from here on
            raise FileChanged
        try:
            is_exchanged = self._exchange(temporary, target)
        except FileNotFoundError:  # an editor that renames the old one first
            raise FileChanged from None
        if not is_exchanged:
            _put_over(temporary, target, seen, ours)
        elif _is_other(temporary, seen):
            self._bring_back(temporary, target, ours)
            raise FileChanged

    def _put_first(self, temporary: str, target: str) -> None:
        """Where there is no file: one that has come meanwhile is not replaced."""
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise FileChanged from None
        except OSError:  # a file system without hard links
            os.replace(temporary, target)

    def _bring_back(self, temporary: str, target: str, expected: _Look) -> None:
        """Puts somebody's save back that came out of the exchange. What comes out then should be what was there last; else it is newer."""
        for _ in range(MOST_TRIES):
            put = _look(temporary)
            try:
                self._exchange(temporary, target)
            except FileNotFoundError:  # an editor has just moved away what was there, and will write its own
                self._put_first(temporary, target)
                return
            if not _is_other(temporary, expected):
                return
            expected = put


def _put_over(temporary: str, target: str, seen: _Look, ours: _Look) -> None:
    """Without an exchange: the old file gets a second name, under which it is still there when it has been replaced."""
    aside = f"{temporary}.tmp"
    try:
        os.link(target, aside)
    except OSError:  # a file system without hard links
        os.replace(temporary, target)
        return
    try:
        if _look(target) != seen:
            raise FileChanged
        os.replace(temporary, target)
        if _is_other(aside, seen):
            if _look(target) == ours:  # else there is a newer save by now
                os.replace(aside, target)
            raise FileChanged
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)


def _is_other(path: str, expected: _Look) -> bool:
    """Whether a file that nobody can open any more is, or may become, another one than expected."""
    return file_swap.is_open_for_writing(path) or _look(path) != expected


def _look(path: Path | str) -> _Look:
    """
    Raises:
        OSError: there is something that cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))  # a pipe would keep us
    except FileNotFoundError:
        return _Look()
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        content = file.read()
    key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _Look(content, key, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


def _is_just_saved(path: Path) -> bool:
    """A file that has gone may be about to come back."""
    try:
        return abs(time.time() - path.stat().st_mtime) < SAVED_WITHIN_S
    except OSError:
        return True
