"""Reads `activity.db`, while a hub writes it and also without a hub.

Each reader is a read-only connection; some stay open between queries. A file that does not exist or is just being made is a journal without
entries.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from tooltray.foundation.snapshots.activity import (
    OF_SERVERS,
    ActivityChoices,
    ActivityCounts,
    ActivityDetails,
    ActivityEntry,
    ActivityFigures,
    ActivityFilter,
    ActivityPoint,
    ActivityRow,
    JournalStatus,
    ToolUse,
)
from tooltray.records.journal import call_figures
from tooltray.records.journal.call_figures import PastCalls
from tooltray.records.journal.journal_file import CLEARED, VERSION, empty, files_of
from tooltray.records.journal.journal_queries import (
    MOST_CHOICES,
    Where,
    as_id,
    condition,
    details_sql,
    entries_sql,
    names_sql,
    numbers_of,
    read_details,
    read_entry,
)

BUSY_S = 2.0
DAY_S = 86_400.0
MOST_BARS = 1_000  # a screen has no more pixels for them
SPARE = 2  # connections that stay open
MOST_ROWS = 2_000  # of one page
PAGE = 1_000  # entries that are read at once where neighbours are joined
MOST_JOINED = 20_000  # entries behind one page, about 200 ms; longer runs of equal entries continue on the next page

LONGEST_PAUSE_S = 1800.0  # between two equal entries; a later one is another piece of work


class JournalReader:
    """A reader of the journal. May be used by several threads at once."""

    def __init__(self, *, journal_file: Path, run: str = "", clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            run: of the hub that writes, see journal_queries; empty: no hub is running.
            clock: unix seconds.
        """
        self._path, self._run, self._clock = journal_file, run, clock
        self._spare: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    def rows(self, wanted: ActivityFilter, before: int, limit: int, *, collapsed: bool) -> list[ActivityRow]:
        """Returns rows for ActivityApi.get_activity."""
        limit = max(0, min(limit, MOST_ROWS))
        with self._opened() as database:
            if not collapsed:
                return [single(each) for each in self._page(database, wanted, before, limit)]
            joined = Collapser(limit)
            for entries in self._pages(database, wanted, before):
                if not all(map(joined.take, entries)):
                    break
            return joined.rows

    def _pages(self, database: sqlite3.Connection, wanted: ActivityFilter, before: int) -> Iterator[list[ActivityEntry]]:
        for _ in range(MOST_JOINED // PAGE):
            entries = self._page(database, wanted, before, PAGE)
            yield entries
            if len(entries) < PAGE:
                break
            before = entries[-1].id

    def _page(self, database: sqlite3.Connection, wanted: ActivityFilter, before: int, limit: int) -> list[ActivityEntry]:
        where = self._where(database, wanted)
        if before:
            where = where.also("entries.id < ?", as_id(before))
        return self._entries(database, where, limit)

    def _entries(self, database: sqlite3.Connection, where: Where, limit: int) -> list[ActivityEntry]:
        rows = database.execute(entries_sql(where), (*where.values, limit)).fetchall()
        names = _names(database, numbers_of(rows))
        return [read_entry(row, names, self._run) for row in rows]

    def _where(self, database: sqlite3.Connection, wanted: ActivityFilter) -> Where:
        found = database.execute("SELECT value FROM facts WHERE key = ?", (CLEARED,)).fetchone()
        named = database.execute(*names_sql(wanted.text)).fetchall() if wanted.text else []
        return condition(wanted, found[0] if found else 0, self._run, [number for (number,) in named])

    def details(self, id: int | str) -> ActivityDetails | None:
        """Returns one entry in full; None: no entry has this id.

        Args:
            id: a number is the entry's id; a text is the id of a tool call, and its newest entry is returned.
        """
        condition = ("entries.tool_call = ?", id) if isinstance(id, str) else ("entries.id = ?", as_id(id))
        with self._opened() as database:
            return next(self._details(database, self._where(database, ActivityFilter()).also(*condition), 1), None)

    def latest_details(self, wanted: ActivityFilter, limit: int) -> list[ActivityDetails]:
        """Returns up to `limit` entries in full, the newest first."""
        with self._opened() as database:
            return list(self._details(database, self._where(database, wanted), limit))

    def all_details(self, wanted: ActivityFilter) -> Iterator[ActivityDetails]:
        """Yields all entries in full, the oldest first."""
        with self._opened() as database:
            where, last = self._where(database, wanted), 0
            while some := list(self._details(database, where.also("entries.id > ?", last), PAGE, order="ASC")):
                yield from some
                last = some[-1].entry.id

    def _details(self, database: sqlite3.Connection, where: Where, limit: int, *, order: str = "DESC") -> Iterator[ActivityDetails]:
        rows = database.execute(details_sql(where, order), (*where.values, limit)).fetchall()
        names = _names(database, numbers_of(rows))
        return (read_details(row, names, self._run) for row in rows)

    def series(self, wanted: ActivityFilter, bars: int) -> list[ActivityPoint]:
        """Returns periods for ActivityApi.get_activity_series."""
        until = wanted.until or self._clock()
        since = wanted.since or until - DAY_S
        with self._opened() as database:
            where = self._where(database, replace(wanted, since=since, until=until))
            return call_figures.series(database, where, since, until, max(1, min(bars, MOST_BARS)))

    def figures(self, by: str, wanted: ActivityFilter) -> list[ActivityFigures]:
        """Returns statistics for ActivityApi.get_activity_figures."""
        with self._opened() as database:
            return call_figures.figures(database, self._where(database, wanted), by)

    def tool_use(self, since: float) -> list[ToolUse]:
        """Returns the use of tools for ActivityApi.get_tool_use. `since`: unix seconds."""
        with self._opened() as database:
            return call_figures.tool_use(database, self._where(database, ActivityFilter(since=since)))

    def past_calls(self, since: float, until: float, midnight: float, most_durations: int) -> list[PastCalls]:
        """Returns the calls of each server between two times; see call_figures. All times in unix seconds."""
        with self._opened() as database:
            where = self._where(database, ActivityFilter(since=since, until=until))
            return call_figures.past_calls(database, where, midnight, most_durations)

    def counts(self, wanted: ActivityFilter) -> ActivityCounts:
        """Returns numbers for ActivityApi.count_activity."""
        with self._opened() as database:
            where = self._where(database, wanted)
            sql = f"SELECT outcome, count(*) FROM entries WHERE {where.sql} GROUP BY outcome"
            found: dict[str, int] = dict(database.execute(sql, where.values).fetchall())
        return ActivityCounts(sum(found.values()), found.get("error", 0), found.get("refused", 0))

    def choices(self) -> ActivityChoices:
        """Returns values for ActivityApi.get_activity_choices."""
        with self._opened() as database:
            where = self._where(database, ActivityFilter())
            found = database.execute(f"SELECT DISTINCT client, project, server FROM entries WHERE {where.sql}", where.values).fetchall()
            names = _names(database, {number for row in found for number in row})
        chosen = (sorted({names[row[column]] for row in found} - {""})[:MOST_CHOICES] for column in range(3))
        return ActivityChoices(*map(tuple, chosen))

    def status(self, lost: int, problem: str) -> JournalStatus:
        """Returns the state for ActivityApi.get_journal_status; `lost` and `problem` come from the writer."""
        size = sum(each.stat().st_size for each in files_of(self._path) if each.exists())
        with self._opened() as database:
            where = self._where(database, ActivityFilter())
            found = database.execute(f"SELECT count(*), min(at) FROM entries WHERE {where.sql}", where.values).fetchone()
        return JournalStatus(str(self._path), size, found[0], found[1] or 0.0, lost, problem)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        kept = self._taken()
        database, is_kept = kept or empty(), False
        try:
            yield database
            is_kept = database is kept and self._give_back(database)
        finally:
            if not is_kept:
                database.close()

    def _taken(self) -> sqlite3.Connection | None:
        """Returns an open connection; None: the journal does not exist yet."""
        with self._lock:
            if self._spare:
                return self._spare.pop()
        return _connected(self._path) if self._path.exists() else None

    def _give_back(self, database: sqlite3.Connection) -> bool:
        """Keeps a connection for the next query; returns whether it stays open."""
        with self._lock:
            is_kept = len(self._spare) < SPARE and self._path.exists()
            if is_kept:
                self._spare.append(database)
        return is_kept

    def close(self) -> None:
        """Closes idle connections; the next query opens a new one. Windows renames no open file."""
        with self._lock:
            spare, self._spare = self._spare, []
        for each in spare:
            each.close()


def _connected(path: Path) -> sqlite3.Connection | None:
    """Opens a connection; None: the file is just being made."""
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S, check_same_thread=False)
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError("it is of another version")
    except BaseException:
        database.close()
        raise
    if version:
        return database
    database.close()
    return None


def _names(database: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str]:
    numbers = iter(numbers)
    found: dict[int, str] = {}
    while some := list(islice(numbers, 500)):  # SQLite takes a bounded number of values
        found |= dict(database.execute(f"SELECT id, text FROM names WHERE id IN ({', '.join('?' * len(some))})", some))
    return found


class Collapser:
    """A builder of rows, newest first, that joins repeated entries into one row: "read_file x 41", and events of servers in a row:
    "filesystem restarted 3 times".

    Neighbours are joined if they differ only in time, sizes and target, or are events of servers. After a long pause a new row begins.

    Attributes:
        rows: made so far.
    """

    def __init__(self, most: int) -> None:
        """
        Args:
            most: the maximum number of rows; the last one is complete.
        """
        self._most = most
        self._key: tuple[str, ...] = ()  # of the last row
        self.rows: list[ActivityRow] = []

    def take(self, entry: ActivityEntry) -> bool:
        """Adds an entry; returns whether it fitted."""
        key = _key(entry)
        if key == self._key and abs((last := self.rows[-1]).first_at - entry.at) <= LONGEST_PAUSE_S:
            self.rows[-1] = _with(last, entry) if last.servers else _with_repeat(last, entry)
            return True
        if len(self.rows) >= self._most:
            return False
        self._key = key
        self.rows.append(single(entry))
        return True


def single(entry: ActivityEntry) -> ActivityRow:
    """Returns the row of one entry."""
    if not _is_of_server(entry):
        return ActivityRow(entry, 1, entry.id, entry.at)
    has_failed = entry.kind == "failure" or entry.outcome == "error"
    return ActivityRow(entry, 1, entry.id, entry.at, (entry.server,), int(entry.kind == "start" and not has_failed), int(has_failed))


def _with_repeat(row: ActivityRow, entry: ActivityEntry) -> ActivityRow:
    """Returns a row with one more repeat, which is older."""
    differs = row.has_other_targets or entry.touched != row.entry.touched
    return ActivityRow(row.entry, row.count + 1, entry.id, entry.at, has_other_targets=differs)


def _with(row: ActivityRow, entry: ActivityEntry) -> ActivityRow:
    """Returns a row of servers' events with one more of them, which is older."""
    one = single(entry)
    servers = row.servers if entry.server in row.servers else (*row.servers, entry.server)
    return ActivityRow(row.entry, row.count + 1, entry.id, entry.at, servers, row.starts + one.starts, row.failures + one.failures)


def _is_of_server(entry: ActivityEntry) -> bool:
    return entry.kind in OF_SERVERS and bool(entry.server)


def _key(entry: ActivityEntry) -> tuple[str, ...]:
    """Returns what neighbours in one row have in common."""
    if _is_of_server(entry):
        return OF_SERVERS
    of_whom = (entry.client, entry.session, entry.project)
    return (entry.kind, entry.outcome, *of_whom, entry.server, entry.tool, entry.published)
