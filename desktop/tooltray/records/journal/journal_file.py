"""`activity.db`: its tables, and all writing into them.

Everything here blocks, and belongs to one thread. Readers have their own connections (journal_reader) and never delay the writer: the file
is in WAL mode. Repeated words (clients, servers, tools, folders) are stored once, in `names`; an entry has their numbers, so that a filter
over 100,000 entries compares integers. A call's duration is stored twice, exact and as the number of its bucket (call_figures), by which
percentiles are found without sorting.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import astuple

from tooltray.foundation.files.atomic_file import set_aside
from tooltray.foundation.regular_file import open_regular

CLEARED, GONE = "cleared", "gone"
"""The keys of two facts: up to which id entries are hidden, and up to which id they are to be removed."""
VERSION = 5  # of the tables; an unknown one is set aside
BUSY_S = 2.0  # another program that looks into the file may lock it for a moment
MOST_NUMBERS_IN_MEMORY = 2_000  # of an entry's names
PAGES_GIVEN_BACK = 256  # of the disk, in one go: a megabyte
COLUMNS = (
    *("kind", "at", "said", "outcome", "duration", "bucket", "client", "session", "project", "server", "tool", "published"),
    *("argument_bytes", "result_bytes", "tokens", "allowed_by", "queue_s", "person_s", "start_s", "server_s", "back_s", "has_contents"),
    *("trace", "trace_context", "tool_call"),
)
NAMED = ("client", "session", "project", "server", "tool", "published")
"""The columns that are numbers of `names`; they stand side by side."""
_FIRST_NAME = COLUMNS.index(NAMED[0])
_AFTER_NAMES = _FIRST_NAME + len(NAMED)
_TABLES = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, at REAL NOT NULL, said TEXT NOT NULL, outcome TEXT NOT NULL,
    duration REAL NOT NULL, bucket INTEGER NOT NULL, client INTEGER NOT NULL, session INTEGER NOT NULL, project INTEGER NOT NULL,
    server INTEGER NOT NULL, tool INTEGER NOT NULL, published INTEGER NOT NULL, argument_bytes INTEGER NOT NULL,
    result_bytes INTEGER NOT NULL, tokens INTEGER NOT NULL, allowed_by TEXT NOT NULL, queue_s REAL, person_s REAL, start_s REAL,
    server_s REAL, back_s REAL, has_contents INTEGER NOT NULL, trace TEXT NOT NULL DEFAULT '', trace_context TEXT NOT NULL DEFAULT '',
    tool_call TEXT NOT NULL DEFAULT ''
);
CREATE INDEX by_time ON entries (at);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, arguments TEXT NOT NULL, result TEXT NOT NULL, is_cut INTEGER NOT NULL, diff TEXT NOT NULL DEFAULT ''
);
"""
_STEPS = {
    2: """
ALTER TABLE entries ADD COLUMN trace TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN trace_context TEXT NOT NULL DEFAULT '';
""",
    3: """
ALTER TABLE entries ADD COLUMN tool_call TEXT NOT NULL DEFAULT '';
""",
    4: """
ALTER TABLE contents ADD COLUMN diff TEXT NOT NULL DEFAULT '';
""",
}
"""The statements that change the tables of one version to those of the next."""
ROWS_AT_ONCE = 64  # written by one statement: Python's lock is let go once for all of them, and taken back, for which the loop has to wait
_ROW = f"({', '.join('?' * len(COLUMNS))})"
_INSERT, _INSERT_MANY = (f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES {', '.join([_ROW] * rows)}" for rows in (1, ROWS_AT_ONCE))


class DamagedJournal(Exception):
    """A journal file that cannot be used and must be set aside."""


class NewerJournal(Exception):
    """A journal file of a newer version of Tooltray, which stays as it is."""


class Contents(msgspec.Struct, frozen=True):
    """The arguments and the result of a call, as JSON, and the lines of the change that the user was shown; masked."""

    arguments: str
    result: str
    is_cut: bool
    diff: str = ""


class NewEntry(msgspec.Struct, frozen=True):
    """An entry as it is written.

    Attributes:
        values: of COLUMNS, with names instead of their numbers.
        change: of an entry without contents, the lines of the change that the user was shown, masked; stays in memory.
    """

    values: Sequence[object]
    contents: Contents | None = None
    change: str = ""


def _batches(entries: Sequence[NewEntry]) -> Iterator[Sequence[NewEntry]]:
    """Divides entries into batches of ROWS_AT_ONCE, and of one for the rest, because SQLite keeps only a few statements prepared."""
    whole = len(entries) - len(entries) % ROWS_AT_ONCE
    yield from (entries[start : start + ROWS_AT_ONCE] for start in range(0, whole, ROWS_AT_ONCE))
    yield from ([entry] for entry in entries[whole:])


class JournalFile:
    """The open journal file, which is created if it does not exist; `close` when the hub ends."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the file.

        Raises:
            DamagedJournal: the file cannot be used.
            NewerJournal: it is of a newer version.
            OSError, sqlite3.Error: it cannot be written.
        """
        self._path = path
        self._numbers: dict[tuple[object, ...], tuple[int, ...]] = {}  # of the names of an entry: most entries have the same
        if not path.exists():
            os.close(open_regular(path, os.O_CREAT | os.O_RDWR))  # SQLite gives the files beside it the same mode
        self._database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except BaseException as error:
            self._database.close()
            if is_damage(error):
                raise DamagedJournal(str(error)) from None
            raise

    def _prepare(self) -> None:
        database = self._database
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise NewerJournal
        if version not in (0, VERSION, *_STEPS):
            raise DamagedJournal("it is of another version")
        if not version:
            database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA secure_delete = ON")  # cleared entries must not stay readable in the file
        if not version:
            database.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT")
        for before in range(version or VERSION, VERSION):
            database.executescript(f"BEGIN; {_STEPS[before]} PRAGMA user_version = {before + 1}; COMMIT")
        database.execute("SELECT max(id) FROM entries").fetchone()

    def write(self, entries: Sequence[NewEntry]) -> int:
        """Appends entries, all or none; returns the id of the last one.

        Raises:
            sqlite3.Error: they cannot be written.
        """
        last = 0
        with self._transaction() as database:
            for batch in _batches(entries):
                values: list[object] = []
                for entry in batch:
                    values += entry.values[:_FIRST_NAME]
                    values += self._numbers_of(tuple(entry.values[_FIRST_NAME:_AFTER_NAMES]))
                    values += entry.values[_AFTER_NAMES:]
                last = database.execute(_INSERT if len(batch) == 1 else _INSERT_MANY, values).lastrowid or 0
                first = last - len(batch) + 1
                contents = [(id, *astuple(entry.contents)) for id, entry in enumerate(batch, first) if entry.contents]
                database.executemany("INSERT INTO contents VALUES (?, ?, ?, ?, ?)", contents)
        return last

    def _numbers_of(self, names: tuple[object, ...]) -> tuple[int, ...]:
        if (numbers := self._numbers.get(names)) is None:
            if len(self._numbers) >= MOST_NUMBERS_IN_MEMORY:
                self._numbers.clear()
            numbers = self._numbers[names] = tuple(map(self._number, names))
        return numbers

    def _number(self, name: object) -> int:
        self._database.execute("INSERT OR IGNORE INTO names (text) VALUES (?)", (name,))
        number: int = self._database.execute("SELECT id FROM names WHERE text = ?", (name,)).fetchone()[0]
        return number

    # cleared entries

    def clear(self) -> None:
        """Hides all entries. Entries that were hidden before are removed for good.

        Raises:
            sqlite3.Error: the file cannot be written.
        """
        with self._transaction() as database:
            self._set_fact(GONE, self._fact(CLEARED))
            self._set_fact(CLEARED, database.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0])

    def undo_clear(self) -> bool:
        """Shows the entries that the last `clear` of this hub has hidden; returns whether it had hidden any.

        Raises:
            sqlite3.Error: the file cannot be written.
        """
        cleared, gone = self._fact(CLEARED), self._fact(GONE)
        if cleared > gone:
            with self._transaction():
                self._set_fact(CLEARED, gone)
        return cleared > gone

    def let_go(self) -> None:
        """Marks hidden entries for removal: the hub that could show them again has ended."""
        if self._fact(CLEARED) > self._fact(GONE):
            with self._transaction():
                self._set_fact(GONE, self._fact(CLEARED))

    @property
    def gone(self) -> int:
        """The highest id of the entries that are to be removed."""
        return self._fact(GONE)

    def _fact(self, key: str) -> int:
        found = self._database.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
        return int(found[0]) if found else 0

    def _set_fact(self, key: str, value: int) -> None:
        self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    # removal of old entries

    @property
    def used_bytes(self) -> int:
        """The size of the database, without its free pages."""
        pages, free, size = (
            self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def ids(self) -> tuple[int, int]:
        """Returns the ids of the oldest and of the newest entry; 0, 0 without entries."""
        first, last = self._database.execute("SELECT min(id), max(id) FROM entries").fetchone()
        return first or 0, last or 0

    def first_contents(self) -> int | None:
        """Returns the id of the oldest entry whose arguments and result are stored."""
        found: int | None = self._database.execute("SELECT min(id) FROM contents").fetchone()[0]
        return found

    def first_since(self, at: float, id: int = 0) -> int:
        """Returns the id of the first entry from `id` on that is not older than `at` (unix seconds); one more than the newest if all are
        older.
        """
        found = self._database.execute("SELECT id FROM entries WHERE id >= ? AND +at >= ? ORDER BY id LIMIT 1", (id, at)).fetchone()
        return found[0] if found else self.ids()[1] + 1

    def remove_before(self, id: int, most: int) -> int:
        """Removes the oldest entries with a smaller id, with their contents; returns how many.

        Raises:
            sqlite3.Error: they cannot be removed.
        """
        with self._transaction() as database:
            chosen = "SELECT id FROM entries WHERE id < ? ORDER BY id LIMIT ?"
            database.execute(f"DELETE FROM contents WHERE id IN ({chosen})", (id, most))
            count = database.execute(f"DELETE FROM entries WHERE id IN ({chosen})", (id, most)).rowcount
        self._shrink()
        return count

    def remove_contents_before(self, id: int, most: int) -> int:
        """Removes the oldest arguments and results of entries with a smaller id; the entries stay. Returns how many.

        Raises:
            sqlite3.Error: they cannot be removed.
        """
        chosen = [each for (each,) in self._database.execute("SELECT id FROM contents WHERE id < ? ORDER BY id LIMIT ?", (id, most))]
        if chosen:
            marks = ", ".join("?" * len(chosen))
            with self._transaction() as database:
                database.execute(f"DELETE FROM contents WHERE id IN ({marks})", chosen)
                database.execute(f"UPDATE entries SET has_contents = 0 WHERE id IN ({marks})", chosen)
            self._shrink()
        return len(chosen)

    def _shrink(self) -> None:
        self._database.executescript(f"PRAGMA incremental_vacuum({PAGES_GIVEN_BACK})")  # `execute` takes but the first of its steps

    def check(self) -> None:
        """Searches the file for damage.

        Raises:
            DamagedJournal: the file is damaged.
        """
        try:
            found = self._database.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            found = str(error)
        if found != "ok":
            raise DamagedJournal(found)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
            self._database.execute("COMMIT")
        except BaseException:
            self._numbers.clear()  # some may be of this transaction
            if self._database.in_transaction:  # SQLite ends it itself if the disk is full
                self._database.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._database.close()


def empty() -> sqlite3.Connection:
    """Returns a journal without entries, in memory."""
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.executescript(_TABLES)
    return database


def is_damage(error: BaseException) -> bool:
    """Returns whether SQLite reports that the file is damaged, or is not a database."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def files_of(path: Path) -> tuple[Path, ...]:
    """Returns the database's path, and the paths of the files that SQLite keeps beside it."""
    return (path, *(path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm")))


def put_aside(path: Path) -> Path:
    """Renames an unusable file, together with SQLite's files beside it; returns its new path."""
    kept = set_aside(path)
    for before, after in zip(files_of(path)[1:], files_of(kept)[1:], strict=True):
        with contextlib.suppress(FileNotFoundError):
            before.replace(after)
    return kept
