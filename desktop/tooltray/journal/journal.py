"""The journal of a hub: takes what happens from the bus, and writes it in a thread of its own.

Above it: the engine, which starts and ends it. Below it: JournalFile and EntryMaker. Nothing here ever waits for the disk but that thread:
the queue is bounded, and what does not fit, or what the disk refuses, is counted and said.
"""

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from tooltray.activity.masking import Mask
from tooltray.errors import Problem
from tooltray.events import ActivityWritten, Event, EventBus
from tooltray.journal.entry_maker import READ_BELOW_BYTES, EntryMaker
from tooltray.journal.happenings import Happened
from tooltray.journal.journal_file import DamagedJournal, JournalFile, NewEntry, put_aside
from tooltray.phrases import Phrase
from tooltray.protocol.envelope import NOTHING

logger = logging.getLogger(__name__)
MAX_QUEUED = 10_000  # entries; ten seconds of a busy hub
MAX_QUEUED_BYTES = 16 * 2**20  # of arguments and results that wait to be read; of further calls it is not known what they touched
GATHER_S = 0.25  # one write takes the entries of this time, and news of it go out as often
SLICE = 16  # entries made in one go, about 0.5 ms; the loop must not wait longer for Python's lock
PAUSE_S = 0.0002  # between two slices, so that the loop really gets the lock
CLOSE_TIMEOUT_S = 3.0


class Journal:
    """`start`, `close` and what the bus calls belong to the engine's loop; all else to the journal's thread."""

    def __init__(
        self, *, journal_file: Path, bus: EventBus, known_values: Callable[[], Iterable[str]], run: str, gather_s: float = GATHER_S
    ) -> None:
        """
        Args:
            journal_file: `activity.db`.
            known_values: the secrets that are masked; called in the journal's thread.
            run: tells this hub from earlier ones, see journal_queries.
            gather_s: how long entries are gathered for one write.
        """
        self._path, self._bus, self._gather_s = journal_file, bus, gather_s
        self._mask = Mask(known_values)
        self._maker = EntryMaker(self._mask, run, keeps_line=lambda: True)
        self._queue: deque[Happened] = deque()
        self._put_bytes = self._taken_bytes = 0  # the first is changed by the loop, the second by the thread
        self._limit = MAX_QUEUED
        self._is_awake = self._is_closing = False
        self._wake, self._hurry = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tooltray-journal", daemon=True)
        self._file: JournalFile | None = None
        self._overflowed = self._refused = 0  # entries that were lost: the loop counts the first, the thread the second
        self.problem: Problem | None = None
        self._loop: asyncio.AbstractEventLoop

    @property
    def lost(self) -> int:
        """Entries that could not be kept since the hub started."""
        return self._overflowed + self._refused

    @property
    def said(self) -> str:
        """What is wrong with the journal, or was since the hub started; empty: nothing."""
        return str(self.problem or "")

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._bus.subscribe(Happened, self._on_happened)
        self._thread.start()

    async def close(self) -> None:
        """Writes what is queued and ends; waits CLOSE_TIMEOUT_S at most."""
        self._limit = 0
        self._is_closing = True
        self._hurry.set()
        self._wake.set()
        if self._thread.ident:
            await asyncio.to_thread(self._thread.join, CLOSE_TIMEOUT_S)

    def _on_happened(self, event: Happened) -> None:
        if len(self._queue) >= self._limit:
            self._overflowed += 1
            return
        if event.kind == "call":
            event = self._lightened(event)
        self._queue.append(event)
        if not self._is_awake:
            self._is_awake = True
            self._wake.set()

    def _lightened(self, event: Happened) -> Happened:
        """Without what is not going to be read: it would stay in memory until it is written."""
        is_full = self._put_bytes - self._taken_bytes > MAX_QUEUED_BYTES
        if event.reply and (is_full or not event.is_fault or event.result_bytes > READ_BELOW_BYTES):
            event = replace(event, reply=NOTHING)
        if is_full or event.argument_bytes > READ_BELOW_BYTES:
            event = replace(event, params=NOTHING)
        self._put_bytes += event.argument_bytes
        return event

    # in the thread

    def _run(self) -> None:
        is_last = False
        while not is_last:
            self._wake.wait()
            self._hurry.wait(self._gather_s)
            self._wake.clear()
            is_last = self._is_closing  # read before the queue is emptied: no entry is taken after it is set
            self._is_awake = False
            self._write(self._made(is_last))
        if self._file:
            self._file.close()

    def _made(self, is_hurried: bool) -> list[NewEntry]:
        self._mask.refresh()
        made: list[NewEntry] = []
        for _ in range(len(self._queue)):
            event = self._queue.popleft()
            self._taken_bytes += event.argument_bytes if event.kind == "call" else 0
            made.append(self._maker.entry(event))
            if len(made) % SLICE == 0 and not is_hurried:
                time.sleep(PAUSE_S)
        return made

    def _write(self, entries: list[NewEntry]) -> None:
        try:
            self._file = self._file or JournalFile(self._path)
            last = self._file.write(entries)
        except DamagedJournal as error:
            self._put_aside(error)
            self._write(entries)
        except (sqlite3.Error, OSError) as error:
            self._refuse(error, len(entries))
        else:
            if entries:
                self._tell(ActivityWritten(last))

    def _put_aside(self, error: Exception) -> None:
        """A damaged journal is kept beside the new one."""
        self._close_file()
        kept = put_aside(self._path)
        logger.warning("the journal cannot be used and was set aside as %s: %s", kept, error)
        message = Phrase("it cannot be read ({error}) and was renamed to {path}; a new one was begun", error=error, path=kept)
        self.problem = Problem(Phrase("The journal was damaged"), message)

    def _refuse(self, error: Exception, count: int) -> None:
        """The disk is full, or somebody else keeps the file: what was to be written is lost, and the calls go on."""
        self._close_file()
        self._refused += count
        message = Phrase("{count} entries are lost: {error}", count=self.lost, error=error)
        self.problem = Problem(Phrase("The journal cannot be written"), message, Phrase("Free some space on that disk"))

    def _close_file(self) -> None:
        if self._file:
            with contextlib.suppress(sqlite3.Error):
                self._file.close()
        self._file = None

    def _tell(self, event: Event) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has just been closed
            self._loop.call_soon_threadsafe(self._bus.publish, event)
