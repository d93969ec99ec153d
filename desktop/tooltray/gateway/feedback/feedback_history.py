"""The reports of models and the answers of people on the disk: one bounded file per project.

A report is stored as soon as it is opened, so that the next hub finds the reports that were open when a hub died, and when it has ended.
Known secrets are masked. Of pictures and files only the names are stored.
"""

import asyncio
import errno
import hashlib
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.moments import LAST_TIME_S, day_of, days_kept
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.snapshots.questions import FeedbackEntry
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.gateway.feedback.feedback_report import EXPIRED, WAITING, Report

logger = logging.getLogger(__name__)
MOST_ENTRIES = 200  # of a project; the oldest are deleted first
MOST_PROJECTS = 200  # models name folders freely
MOST_BYTES = 4 * 2**20  # of one file; 200 typical entries have a tenth of that
MOST_READ_BYTES = 16 * MOST_BYTES  # of all files together, the newest first
KEPT_DAYS = 14  # days with reports, counted as for the logs: a clock that jumps forward deletes nothing
HASH_DIGITS = 32


class FeedbackHistory:
    """The history of one home. Methods may be called from any thread."""

    def __init__(self, folder: Path, *, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            folder: created with the first entry.
            now: the time in unix seconds.
        """
        self._folder, self._now = folder, now
        self._lock = threading.Lock()

    def add(self, entry: FeedbackEntry) -> None:
        """Stores an entry, or replaces the earlier one of the same report. If the disk is full, the entry is lost, which is logged."""
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
        """Marks waiting reports of earlier hubs as expired. Must be called before this hub adds anything."""
        with self._lock:
            for path in self._files():
                with suppress(OSError):  # logged when the file is written or read
                    entries = list(self._kept(path))
                    if any(entry.outcome == WAITING for entry in entries):
                        write_atomically(path, _encoded(as_lost(entries)))

    def read(self, project_path: str = "") -> list[FeedbackEntry]:
        """Returns the entries, the newest first.

        Args:
            project_path: the project's folder; empty for all projects.
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
            except FileNotFoundError:  # the file does not exist, or was set aside
                continue
            except OSError as error:
                logger.warning("the history of reports in %s cannot be read: %s", path.name, error.strerror or error)
            if room < 0:
                return

    def _kept(self, path: Path) -> list[FeedbackEntry]:
        """Returns a file's entries that are not too old, the oldest first, without unknown ones.

        Raises:
            OSError: the file cannot be read now and must not be overwritten.
        """
        try:
            entries = _decoded(_content(path))
        except FileNotFoundError:
            return []
        except (ValueError, RecursionError):
            self._set_aside(path)
            return []
        dated = [entry for entry in entries if 0.0 <= entry.asked_at < LAST_TIME_S]  # no clock shows other times
        kept = self._kept_days(entry.asked_at for entry in dated)
        return [entry for entry in dated if day_of(entry.asked_at) in kept]

    def _set_aside(self, path: Path) -> None:
        aside = path.with_suffix(".broken")
        try:
            os.replace(path, aside)
        except OSError:  # the folder cannot be written; writing the next entry reports it
            return
        logger.warning("the history of reports in %s cannot be read; it was renamed to %s", path.name, aside.name)

    def _forget_projects(self) -> None:
        """Deletes the least recently written files beyond `MOST_PROJECTS`, and all beyond `KEPT_DAYS`."""
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
    """Returns the entries with waiting ones marked as expired."""
    return [replace(entry, outcome=EXPIRED) if entry.outcome == WAITING else entry for entry in entries]


def _content(path: Path) -> bytes:
    """Reads a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is too large or no regular file; reading a pipe or a device might never end.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode) or status.st_size > 2 * MOST_BYTES:
        raise ValueError
    return read_regular(path)


def _decoded(content: bytes) -> list[FeedbackEntry]:
    """Parses the entries; those in an unknown format of another version are left out.

    Raises:
        ValueError: there are entries, but none in a known format.
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
    """Encodes the newest entries that fit into `MOST_BYTES`."""
    parts: list[bytes] = []
    room = MOST_BYTES
    for entry in reversed(entries):
        part = msgspec.json.encode(entry)
        room -= len(part) + 1
        if room < 0:
            break
        parts.append(part)
    return b"[" + b",\n".join(reversed(parts)) + b"]"


LONGEST_KEPT = 20_000  # characters of an answer
LONGEST_HISTORY = 1000  # entries in one response
MOST_CHARS = 4_000_000  # in one response; even escaped it fits into a line of the control channel


class FeedbackNotes:
    """Writes the history in the background, and reads it. Belongs to the engine's loop."""

    def __init__(self, *, history: FeedbackHistory, mask: Callable[[str], str], spawn: Spawn) -> None:
        """
        Args:
            mask: masks known secrets in a text.
        """
        self._history, self._mask, self._spawn = history, mask, spawn
        self._unwritten: dict[str, FeedbackEntry] = {}  # by id, until they are on the disk
        self._disk = asyncio.Lock()  # keeps the writes of one report in their order

    async def start(self) -> None:
        """Marks reports that were open when a hub died as expired."""
        await finish_in_thread(self._history.end_lost)

    def add(self, report: Report) -> None:
        """Stores the current state of a report in the background."""
        text = report.outcome.result().text[:LONGEST_KEPT] if report.outcome.done() else ""
        entry = report.entry(self._mask(text))
        attachments = tuple(map(self._mask, entry.attachments))
        self._unwritten[entry.id] = replace(entry, summary=self._mask(entry.summary), attachments=attachments)
        self._spawn(self._write(entry.id), name="history of reports")

    async def read(self, project_path: str, limit: int) -> list[FeedbackEntry]:
        """Returns entries, also those that are not written yet; see FeedbackApi.get_feedback_history."""
        async with self._disk:
            on_disk = await asyncio.to_thread(self._history.read, project_path)
        known = {entry.id: entry for entry in on_disk} | self._unwritten
        entries = [entry for entry in known.values() if project_path in ("", entry.project_path)]
        newest = sorted(entries, key=lambda entry: entry.asked_at, reverse=True)[: max(0, min(limit, LONGEST_HISTORY))]
        return list(_within(MOST_CHARS, newest))

    async def knows(self, id: str) -> bool:
        """Returns whether there is or was a report with this id."""
        async with self._disk:
            return id in self._unwritten or any(entry.id == id for entry in await asyncio.to_thread(self._history.read, ""))

    async def close(self) -> None:
        """Writes the entries that are not written yet."""
        for id in list(self._unwritten):  # the tasks may be cancelled before they begin
            await self._write(id)

    async def _write(self, id: str) -> None:
        async with self._disk:
            await self._write_newest(id)

    async def _write_newest(self, id: str) -> None:
        """Writes the newest state of a report, unless an earlier write has included it."""
        if entry := self._unwritten.get(id):
            await finish_in_thread(self._history.add, entry)
            if self._unwritten[id] is entry:
                del self._unwritten[id]


def _within(most: int, entries: Sequence[FeedbackEntry]) -> Iterator[FeedbackEntry]:
    """Yields the first entries that have at most `most` characters together."""
    for entry in entries:
        most -= len(entry.summary) + len(entry.text)
        if most < 0:
            return
        yield entry
