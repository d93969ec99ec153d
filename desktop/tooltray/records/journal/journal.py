"""The journal of a hub: receives events from the bus, makes entries of them, and writes these in its own thread.

The loop makes the entries of small events itself, once the replies are on their way: a thread would take several times as long, since it
waits for Python's lock while calls are answered. Large contents are read by the thread. Only the thread waits for the disk: the queue is
bounded, and events that do not fit, or that the disk refuses, are counted and reported.
"""

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings import ActivitySettings
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ActivityWritten, Event, EventBus
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.envelope import NOTHING
from tooltray.records.journal.entry_maker import CONTENTS_BELOW_BYTES, REASON_BELOW_BYTES, EntryMaker, beginning_of
from tooltray.records.journal.journal_event import CALL, FAILURE, JournalEvent
from tooltray.records.journal.journal_file import DamagedJournal, JournalFile, NewEntry, NewerJournal, is_damage, put_aside
from tooltray.records.journal.retention import Retention
from tooltray.records.log.masking import Mask

logger = logging.getLogger(__name__)
MAX_QUEUED = 10_000  # entries; ten seconds of a busy hub
MAX_QUEUED_BYTES = 16 * 2**20  # of arguments and results that wait to be read; further calls have no known target
GATHER_S = 0.25  # entries of this time are written together, and then announced
MADE_AT_ONCE_BYTES = 4096  # of an event, so that its entry costs the loop about 5 us
TICK_S = 60.0  # between two checks for old entries, while no events come
PRUNE_PAUSE_S = 0.02  # between two slices of entries that are removed
SLICE = 16  # entries made in one go, about 0.5 ms; the loop must not wait longer for Python's lock
PAUSE_S = 0.0002  # between two slices, so that the loop really gets the lock
CLOSE_TIMEOUT_S = 3.0
MOST_CHANGES = 40  # in memory; 10 MB at most (LARGEST_BYTES), as a rule a few kB
CANNOT_WRITE = Phrase("The journal cannot be written")
NEWER = Phrase("it is of a newer version of Tooltray, and stays as it is")

FAILURES = (DamagedJournal, NewerJournal, sqlite3.Error, OSError)

T = TypeVar("T")


class _Work(msgspec.Struct, frozen=True, eq=False):
    """An operation on the file, after everything that was queued before it is written."""

    do: Callable[[JournalFile], Any]
    done: asyncio.Future[Any]


class Times(msgspec.Struct, frozen=True, eq=False):
    """The timing of the journal.

    Attributes:
        gather_s: how long entries are gathered for one write.
        clock: unix seconds.
        retention: decides which entries are removed; None: as in the settings.
    """

    gather_s: float = GATHER_S
    clock: Callable[[], float] = time.time
    retention: Retention | None = None


class Journal:
    """The journal of a hub. `start`, `close`, `do` and the callbacks of bus and loop belong to the engine's loop; all else to the
    journal's thread.

    Attributes:
        run: distinguishes this hub from earlier ones, see journal_queries.
    """

    def __init__(
        self,
        *,
        journal_file: Path,
        config: McpConfHelper,
        bus: EventBus,
        known_values: Callable[[], Iterable[str]],
        run: str = "",
        release: Callable[[], None] = lambda: None,
        times: Times = Times(),  # noqa: B008 (frozen)
    ) -> None:
        """
        Args:
            journal_file: `activity.db`.
            known_values: the secrets that are masked; called in both threads.
            release: closes the readers' connections: at the end, and before the file is renamed, since Windows renames no open file.
        """
        self._path, self._bus, self._release, self._gather_s, self._clock = journal_file, bus, release, times.gather_s, times.clock
        self._config = config
        self._maker, self._maker_at_once = (
            EntryMaker(Mask(known_values), run, wanted=self._wanted, clock=times.clock) for _ in range(2)
        )  # of the thread, and of the loop
        self._retention = times.retention or Retention(self._wanted)
        self._happened: list[JournalEvent] = []  # in this turn of the loop
        self._queue: deque[JournalEvent | NewEntry | _Work] = deque()
        self._put_bytes = self._taken_bytes = 0  # the first is changed by the loop, the second by the thread
        self._limit = MAX_QUEUED
        self._is_awake = self._is_closing = False
        self._wake, self._hurry = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tooltray-journal", daemon=True)
        self._file: JournalFile | None = None
        self._changes: dict[
            int, str
        ] = {}  # or else arguments that the user was shown, by the id of the entry; of the last MOST_CHANGES calls
        self._overflowed = self._refused = self._told = 0  # lost entries: counted by the loop, by the thread; and reported in the journal
        self._damage: Problem | None = None
        self._refusal: Problem | None = None
        self._loop: asyncio.AbstractEventLoop

    def shown_change(self, id: int) -> tuple[str, ...]:
        """Returns the lines that the user was shown of a call that is not recorded; empty where there were none, or if it was too long
        ago.
        """
        change = self._changes.get(id)
        return tuple(change.split("\n")) if change else ()

    def forget_changes(self) -> None:
        """Drops what users were shown of calls."""
        self._changes.clear()

    @property
    def lost(self) -> int:
        """The number of entries that could not be stored since the hub started."""
        return self._overflowed + self._refused

    @property
    def problems(self) -> Iterator[Problem]:
        """The problems that the user should know at this moment."""
        yield from filter(None, (self._damage, self._refusal))

    @property
    def said(self) -> str:
        """The problems as a text, or else the number of lost entries; empty: all is well."""
        lost = Phrase("{count} entries are lost: they arrived faster than they could be written", count=self.lost) if self.lost else ""
        return "\n".join(map(str, self.problems)) or lost

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._bus.subscribe(JournalEvent, self._on_happened)
        self._thread.start()

    async def close(self) -> None:
        """Writes the queued entries and ends; waits CLOSE_TIMEOUT_S at most."""
        self._queue_happened()
        self._limit = 0
        self._is_closing = True
        self._hurry.set()
        self._wake.set()
        if self._thread.ident:
            await asyncio.to_thread(self._thread.join, CLOSE_TIMEOUT_S)

    async def do(self, work: Callable[[JournalFile], T]) -> T:
        """Runs `work` on the file, in the journal's thread, once all earlier events are written; returns its result.

        Raises:
            TooltrayError: the file cannot be used, or no hub is running.
        """
        if not self._thread.is_alive() or self._is_closing:
            raise TooltrayError(
                Phrase("Tooltray is not running"), Phrase("This needs Tooltray to be running"), Phrase("Start it: tooltray serve")
            )
        done: asyncio.Future[T] = self._loop.create_future()
        self._queue_happened()
        self._queue.append(_Work(work, done))
        self._is_awake = True
        self._hurry.set()
        self._wake.set()
        return await done

    async def flush(self) -> None:
        """Waits until all earlier events are written.

        Raises:
            TooltrayError: see `do`.
        """
        await self.do(lambda file: None)

    def look_for_damage(self) -> None:
        """Checks the file soon, after a reader has failed; a damaged file is set aside."""
        if self._thread.is_alive() and not self._is_closing:
            done: asyncio.Future[None] = self._loop.create_future()
            done.add_done_callback(lambda done: done.exception())  # the journal itself reports the damage
            self._queue.append(_Work(JournalFile.check, done))
            self._wake.set()

    def _on_happened(self, event: JournalEvent) -> None:
        if len(self._queue) + len(self._happened) >= self._limit:
            self._overflowed += 1
            return
        self._happened.append(event)
        if len(self._happened) == 1:
            self._loop.call_soon(self._queue_happened)

    def _queue_happened(self) -> None:
        """Queues the events of this turn of the loop, small ones as entries."""
        if not self._happened:
            return
        happened, self._happened = self._happened, []
        self._maker_at_once.refresh()
        has_contents = self._wanted().keeps_contents(self._clock())
        for event in happened:
            is_small = not has_contents and event.argument_bytes + event.is_fault * event.result_bytes <= MADE_AT_ONCE_BYTES
            self._queue.append(self._maker_at_once.entry(event) if is_small else self._lightened(event))
        if not self._is_awake:
            self._is_awake = True
            self._wake.set()

    def _lightened(self, event: JournalEvent) -> JournalEvent:
        """Removes parts of a call's event that will not be read, since they would stay in memory until it is written."""
        if event.kind != CALL:
            return event
        is_full = self._put_bytes - self._taken_bytes > MAX_QUEUED_BYTES
        has_contents = self._wanted().contents and not is_full
        largest = 0 if is_full else CONTENTS_BELOW_BYTES if has_contents else REASON_BELOW_BYTES
        if event.argument_bytes > largest:
            event = replace(event, params=NOTHING)
        if event.result_bytes > (largest if has_contents or event.is_fault else 0):
            event = replace(event, reply=beginning_of(event.reply) if has_contents else NOTHING)
        self._put_bytes += _held_bytes(event)
        return event

    def _wanted(self) -> ActivitySettings:
        return self._config.settings.activity

    # in the thread

    def _run(self) -> None:
        is_last, pause_s = False, 0.0
        while not is_last:
            if self._wake.wait(pause_s):
                self._hurry.wait(self._gather_s)
                self._wake.clear()
                self._hurry.clear()
            is_last = self._is_closing  # read before the queue is emptied: no entry is taken after it is set
            self._is_awake = False
            self._write_queued(is_last)
            pause_s = PRUNE_PAUSE_S if self._prune() else TICK_S
        self._end()

    def _write_queued(self, is_hurried: bool) -> None:
        self._maker.refresh()
        entries: list[NewEntry] = []
        read = 0
        for _ in range(len(self._queue)):
            item = self._queue.popleft()
            if isinstance(item, NewEntry):
                entries.append(item)
            elif isinstance(item, _Work):
                self._write(entries)
                self._work(item)
                entries = []
            else:
                self._taken_bytes += _held_bytes(item) if item.kind == CALL else 0
                entries.append(self._maker.entry(item))
                read += 1
                if read % SLICE == 0 and not is_hurried:
                    time.sleep(PAUSE_S)
        self._write(entries)

    def _write(self, entries: list[NewEntry]) -> None:
        if not entries:
            return
        missing = self.lost - self._told
        try:
            written = [*entries, *([self._maker.entry(self._missing(missing))] if missing else [])]
            last = self._opened().write(written)
        except FAILURES as error:
            self._fail(error, len(entries))
        else:
            self._told += missing
            self._refusal = None
            self._keep_changes(written, last)
            self._tell(ActivityWritten(last))

    def _keep_changes(self, entries: Sequence[NewEntry], last: int) -> None:
        self._changes.update((id, entry.change) for id, entry in enumerate(entries, last - len(entries) + 1) if entry.change)
        while len(self._changes) > MOST_CHANGES:
            del self._changes[next(iter(self._changes))]

    def _missing(self, count: int) -> JournalEvent:
        """Returns the event that reports lost entries."""
        why = self._refusal.message if self._refusal else "they arrived faster than they could be written"
        reason = f"{count} entries are missing here: {why}"
        return JournalEvent(kind=FAILURE, at=self._clock(), outcome="error", reason=reason)

    def _work(self, work: _Work) -> None:
        try:
            made = work.do(self._opened())
        except FAILURES as error:
            self._fail(error, 0)
            self._answer(work.done.set_exception, TooltrayError(CANNOT_WRITE, NEWER if isinstance(error, NewerJournal) else str(error)))
        else:
            self._answer(work.done.set_result, made)

    def _opened(self) -> JournalFile:
        if self._file and not self._path.exists():  # another program has removed it
            self._close_file()
            self._release()
        if self._file is None:
            self._file = JournalFile(self._path)
            self._file.let_go()
        return self._file

    def _prune(self) -> bool:
        """Removes a slice of old entries; returns whether more remain."""
        try:
            return self._retention.step(self._opened())
        except FAILURES as error:
            self._fail(error, 0)
        return False

    def _fail(self, error: Exception, count: int) -> None:
        """Handles a failure of the file, which is opened again with the next entries. `count`: entries that are lost."""
        self._close_file()
        self._refused += count
        if isinstance(error, DamagedJournal) or is_damage(error):
            self._put_aside(error)
        else:
            self._refuse(error)

    def _put_aside(self, error: Exception) -> None:
        """Renames a damaged journal; a new one begins."""
        self._release()
        kept = put_aside(self._path)
        logger.info("the journal cannot be used and is now %s: %s", kept, error)
        message = Phrase("it could not be read ({error}) and is now {path}; a new one was begun", error=error, path=kept)
        self._damage = Problem(Phrase("The journal of what happened was damaged"), message)

    def _refuse(self, error: Exception) -> None:
        """Reports that the disk is full, or that another program or version has the file: the entries are lost, and calls continue."""
        if isinstance(error, NewerJournal):
            self._refusal = Problem(CANNOT_WRITE, NEWER, Phrase("Update Tooltray, and start it again"))
            return
        hint = hint_for(error, "") if isinstance(error, OSError) else Phrase("Free some space on that disk")
        message = Phrase("{count} entries are lost: {error}", count=self.lost, error=error)
        self._refusal = Problem(CANNOT_WRITE, message, hint)

    def _close_file(self) -> None:
        if self._file:
            self._file.close()
        self._file = None
        self._changes.clear()  # another file counts its entries from 1

    def _end(self) -> None:
        self._release()  # the writer closes the file last, so that SQLite removes its files beside it
        if self._file:
            with contextlib.suppress(sqlite3.Error):
                self._file.let_go()
            self._close_file()

    def _tell(self, event: Event) -> None:
        self._on_loop(self._bus.publish, event)

    def _answer(self, settle: Callable[[Any], None], outcome: object) -> None:
        self._on_loop(_settled, settle, outcome)

    def _on_loop(self, call: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has just been closed
            self._loop.call_soon_threadsafe(call, *arguments)


def _settled(settle: Callable[[object], None], outcome: object) -> None:
    with contextlib.suppress(asyncio.InvalidStateError):  # the task that waited for it was cancelled
        settle(outcome)


def _held_bytes(event: JournalEvent) -> int:
    return len(memoryview(event.params)) + len(memoryview(event.reply))
