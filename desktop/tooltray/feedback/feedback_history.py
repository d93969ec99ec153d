"""What models reported and people answered, kept on the disk: one file a project, bounded.

Above it: Feedbacks, which masks secrets before. Below it: atomic_file. Blocks on the disk: not for the loop's thread. Of pictures and
files only the names are kept. A report is kept as soon as it is asked: what was open when a hub died is found by the next one.
"""

import errno
import hashlib
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from tooltray.files.atomic_file import write_atomically
from tooltray.moments import LAST_TIME_S, day_of, days_kept
from tooltray.snapshots.feedback import FeedbackEntry

logger = logging.getLogger(__name__)
MOST_ENTRIES = 200  # of a project; older ones go first
MOST_PROJECTS = 200  # models name folders freely
MOST_BYTES = 4 * 2**20  # of one file; 200 entries of a usual report have a tenth of that
MOST_READ_BYTES = 16 * MOST_BYTES  # of all files at once, the newest first
KEPT_DAYS = 14  # on which there were reports; counted as those of the logs, so that a clock that jumps forward empties nothing
WAITING, EXPIRED = "waiting", "expired"  # outcomes of a FeedbackEntry
HASH_DIGITS = 32


class FeedbackHistory:
    """That of one home. Methods may be called from any thread."""

    def __init__(self, folder: Path, *, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            folder: made when something is to be kept.
            now: unix seconds.
        """
        self._folder, self._now = folder, now
        self._lock = threading.Lock()

    def add(self, entry: FeedbackEntry) -> None:
        """Keeps a report in the place of what was kept of it before. A full disk costs this entry, and is logged."""
        path = self._file(entry.project_path)
        with self._lock:
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                others = [each for each in self._kept(path) if each.id != entry.id]
                write_atomically(path, _encoded([*others, entry][-MOST_ENTRIES:]))
                self._forget_projects()
            except OSError as error:
                logger.warning("the history of reports could not be written: %s", error.strerror or error)

    def end_lost(self) -> None:
        """What still waits has lost its hub, and nobody can answer it any more. To be called before this hub adds anything."""
        with self._lock:
            for path in self._files():
                with suppress(OSError):  # told when it is written or read
                    entries = list(self._kept(path))
                    if any(entry.outcome == WAITING for entry in entries):
                        write_atomically(path, _encoded(as_lost(entries)))

    def read(self, project_path: str = "") -> list[FeedbackEntry]:
        """The newest first.

        Args:
            project_path: of this project alone; empty: of all.
        """
        with self._lock:
            entries = list(self._all([self._file(project_path)] if project_path else self._files()))
        return sorted(entries, key=lambda entry: entry.asked_at, reverse=True)

    def _all(self, files: Iterable[Path]) -> Iterator[FeedbackEntry]:
        room = MOST_READ_BYTES
        for path in sorted(files, key=_last_written, reverse=True):
            try:
                yield from self._kept(path)
                room -= path.stat().st_size
            except FileNotFoundError:  # there was none, or it was set aside
                continue
            except OSError as error:
                logger.warning("the history of reports in %s cannot be read: %s", path.name, error.strerror or error)
            if room < 0:
                return

    def _kept(self, path: Path) -> list[FeedbackEntry]:
        """What a file holds and is not too old, the oldest first. Entries that are none we know are left out.

        Raises:
            OSError: it cannot be read now, and is not to be written over.
        """
        try:
            entries = _decoded(_content(path))
        except FileNotFoundError:
            return []
        except (ValueError, RecursionError):
            self._set_aside(path)
            return []
        dated = [entry for entry in entries if 0.0 <= entry.asked_at < LAST_TIME_S]  # others no clock has shown
        kept = self._kept_days(entry.asked_at for entry in dated)
        return [entry for entry in dated if day_of(entry.asked_at) in kept]

    def _set_aside(self, path: Path) -> None:
        aside = path.with_suffix(".broken")
        try:
            os.replace(path, aside)
        except OSError:  # a folder that cannot be written: the next entry finds that too
            return
        logger.warning("the history of reports in %s cannot be read; it was kept as %s", path.name, aside.name)

    def _forget_projects(self) -> None:
        """The files that nothing was written to for longest."""
        files = self._files()
        for path in sorted(files, key=_last_written)[: max(0, len(files) - MOST_PROJECTS)]:
            path.unlink(missing_ok=True)
        left = [*self._files(), *self._folder.glob("*.broken")]
        kept = self._kept_days(map(_last_written, left))
        for path in left:
            if day_of(_last_written(path)) not in kept:
                path.unlink(missing_ok=True)

    def _kept_days(self, times: Iterable[float]) -> frozenset[str]:
        return days_kept(map(day_of, times), day_of(self._now()), KEPT_DAYS)

    def _files(self) -> list[Path]:
        return list(self._folder.glob("*.json"))

    def _file(self, project_path: str) -> Path:
        digest = hashlib.sha256(project_path.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:HASH_DIGITS]}.json"


def as_lost(entries: Iterable[FeedbackEntry]) -> list[FeedbackEntry]:
    """What still waits has ended with its hub."""
    return [replace(entry, outcome=EXPIRED) if entry.outcome == WAITING else entry for entry in entries]


def _content(path: Path) -> bytes:
    """
    Raises:
        OSError: it cannot be read.
        ValueError: it is none of ours; reading from a pipe or a device may never end.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode) or status.st_size > 2 * MOST_BYTES:
        raise ValueError
    return path.read_bytes()


def _decoded(content: bytes) -> list[FeedbackEntry]:
    """Its entries but those that another version of Tooltray has written in a way that we do not know.

    Raises:
        ValueError: there are entries, and none that we know.
    """
    parts = msgspec.json.decode(content, type=list[msgspec.Raw])
    entries = [entry for part in parts for entry in _entry(part)]
    if parts and not entries:
        raise ValueError
    return entries


def _entry(part: msgspec.Raw) -> Iterator[FeedbackEntry]:
    with suppress(ValueError):
        yield msgspec.json.decode(part, type=FeedbackEntry)


def _last_written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _encoded(entries: list[FeedbackEntry]) -> bytes:
    """As much of the newest as a file may hold."""
    parts: list[bytes] = []
    room = MOST_BYTES
    for entry in reversed(entries):
        part = msgspec.json.encode(entry)
        room -= len(part) + 1
        if room < 0:
            break
        parts.append(part)
    return b"[" + b",\n".join(reversed(parts)) + b"]"
