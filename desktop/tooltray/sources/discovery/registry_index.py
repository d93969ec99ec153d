"""The file with the copy of a registry, and the full-text search in it (SQLite). All functions block; call them in a thread.

Each search opens the file, which takes a millisecond, and keeps nothing in memory, so that the file can be replaced at any time. A file
that is damaged, cut off, or of another version counts as missing.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from tooltray.foundation.files.atomic_file import replace
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.discovery import RegistryHit
from tooltray.sources.discovery.registry_json import Described, read_described

VERSION = 1  # of the tables; another one is another file
MAX_QUERY = 200  # characters
MAX_WORDS = 8  # of a query; each costs a look into the index
MAX_RANKED = 1500  # matches that are ranked by their words: 20 ms; among more, a user does not see the order
MAX_ENTRY_BYTES = 1_000_000  # unpacked; the largest published entry has 40 kB
_WORD = re.compile(r"\w+")
_HOSTERS = re.compile(r"^(?:io\.github|com|io|dev|ai|org|net|app|co|me|sh)\.")
_TABLES = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE servers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, folded TEXT NOT NULL, last TEXT NOT NULL, title TEXT NOT NULL,
    description TEXT NOT NULL, version TEXT NOT NULL, kinds TEXT NOT NULL, repository TEXT NOT NULL, is_deprecated INTEGER NOT NULL,
    entry BLOB NOT NULL
);
CREATE INDEX by_folded ON servers (folded);
CREATE INDEX by_last ON servers (last);
CREATE VIRTUAL TABLE words USING fts5(name, title, description, content='', prefix='1 2 3', tokenize='unicode61');
"""


class DamagedIndex(Exception):
    """An error: the file cannot be used and has to be fetched again."""


class Facts(msgspec.Struct, frozen=True):
    """Facts about the copy, stored beside the servers.

    Attributes:
        source: the registry's address.
        servers: their number.
        updated_at: unix seconds of the registry's last answer.
        filled_at: unix seconds of the last time that everything was fetched.
        newest: the time of the latest change, in the registry's spelling.
        asked, etag, modified: the URL of the last request for changes, and the marks to send with the next one of the same URL.
    """

    source: str = ""
    servers: int = 0
    updated_at: float = 0.0
    filled_at: float = 0.0
    newest: str = ""
    asked: str = ""
    etag: str = ""
    modified: str = ""


class Found(msgspec.Struct, frozen=True):
    hits: tuple[RegistryHit, ...] = ()
    total: int = 0


class RegistryIndex:
    """A reader of the file, which keeps nothing open."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def facts(self) -> Facts | None:
        """Returns the facts about the copy; None if no copy exists.

        Raises:
            DamagedIndex: the file cannot be used.
        """
        if not self.path.exists():
            return None
        with self._opened() as database:
            return _facts(database)

    def search(self, text: str, limit: int) -> Found:
        """Returns the best matches: exact names first, then beginnings of names, then words.

        Raises:
            DamagedIndex: the file cannot be used.
        """
        if not self.path.exists():
            return Found()
        with self._opened() as database:
            return _search(database, " ".join(text[:MAX_QUERY].casefold().split()), limit)

    def get_all(self, names: Iterable[str]) -> Mapping[str, Described]:
        """Returns the servers of these names, as far as the copy has them.

        Raises:
            DamagedIndex: the file cannot be used.
        """
        if not self.path.exists():
            return {}
        with self._opened() as database:
            rows = (database.execute("SELECT entry FROM servers WHERE name = ?", (name,)).fetchone() for name in names)
            return {each.name: each for row in rows if row and (each := _unpacked(row[0]))}

    def write_facts(self, facts: Facts) -> None:
        """Records when the registry has answered, if no server has changed.

        Raises:
            DamagedIndex: the file cannot be used.
        """
        with self._opened("rw") as database:
            database.execute("PRAGMA journal_mode = MEMORY")  # leaves no file that would be taken for a journal of the next index
            with database:
                _write_facts(database, facts)

    @contextlib.contextmanager
    def _opened(self, mode: str = "ro") -> Iterator[sqlite3.Connection]:
        try:
            _check_whole(self.path)
            with contextlib.closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True)) as database:
                if database.execute("PRAGMA user_version").fetchone() != (VERSION,):
                    raise DamagedIndex("it is of another version")
                yield database
        except (sqlite3.Error, OSError, zlib.error, ValueError) as error:
            raise DamagedIndex(str(error)) from None


def _check_whole(path: Path) -> None:
    """Detects a file that was cut off at once, and not only when the missing part is read."""
    with open(path, "rb", opener=open_regular) as file:
        head = file.read(100)
        size = file.seek(0, 2)
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise DamagedIndex("it is not a database")
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    if size < pages * (65536 if page == 1 else page):
        raise DamagedIndex("it is truncated")


def _facts(database: sqlite3.Connection) -> Facts:
    said = dict(database.execute("SELECT key, value FROM facts"))
    (count,) = database.execute("SELECT count(*) FROM servers").fetchone()
    return msgspec.convert({**said, "servers": count}, Facts, strict=False)


# the search


def _search(database: sqlite3.Connection, text: str, limit: int) -> Found:
    words = _WORD.findall(text)[:MAX_WORDS]
    if not words:
        (total,) = database.execute("SELECT count(*) FROM servers").fetchone()
        return Found(tuple(_hits(database, "ORDER BY id LIMIT ?", (limit,))), total)
    query = " ".join(f'"{word}"*' for word in _telling(text))
    (total,) = database.execute("SELECT count(*) FROM words WHERE words MATCH ?", (query,)).fetchone()
    ids = list(dict.fromkeys((*_by_name(database, text, limit), *_by_words(database, query, total, limit))))[:limit]
    hits = {each[0]: each[1] for each in _numbered(database, ids)}
    return Found(tuple(hits[id] for id in ids), max(total, len(ids)))


def _telling(text: str) -> list[str]:
    """Returns the words of a query without the beginnings that thousands of names share."""
    bare = _HOSTERS.sub("", text) if "/" in text or text.startswith("io.github.") else text
    return (_WORD.findall(bare) or _WORD.findall(text))[:MAX_WORDS]


def _by_name(database: sqlite3.Connection, text: str, limit: int) -> Iterator[int]:
    """Yields servers with exactly this name, then those whose names begin with the text."""
    end = f"{text}\U0010ffff"
    for column in ("last", "folded"):
        yield from (
            id for (id,) in database.execute(f"SELECT id FROM servers WHERE {column} = ? ORDER BY is_deprecated, id LIMIT ?", (text, limit))
        )
    for column, order in (("last", "is_deprecated, length(last), id"), ("folded", "folded")):  # thousands begin with the same host
        begun = f"SELECT id FROM servers WHERE {column} >= ? AND {column} < ? ORDER BY {order} LIMIT ?"
        yield from (id for (id,) in database.execute(begun, (text, end, limit)))


def _by_words(database: sqlite3.Connection, query: str, total: int, limit: int) -> Iterator[int]:
    order = "bm25(words, 8.0, 6.0, 1.0), rowid" if total <= MAX_RANKED else "rowid"
    if total > MAX_RANKED:  # first the servers with the words in their name or title
        named = f"{{name title}} : ({query.replace(' ', ' AND ')})"
        yield from (id for (id,) in database.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid LIMIT ?", (named, limit)))
    yield from (id for (id,) in database.execute(f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY {order} LIMIT ?", (query, limit)))


_COLUMNS = "SELECT name, title, description, version, kinds, repository, id FROM servers"


def _hits(database: sqlite3.Connection, rest: str, values: tuple[object, ...]) -> Iterator[RegistryHit]:
    for name, title, description, version, kinds, repository, _ in database.execute(f"{_COLUMNS} {rest}", values):
        yield RegistryHit(name, title, description, version, tuple(kinds.split()), repository)


def _numbered(database: sqlite3.Connection, ids: list[int]) -> Iterator[tuple[int, RegistryHit]]:
    for id in ids:
        yield from ((id, hit) for hit in _hits(database, "WHERE id = ?", (id,)))


# writing


class IndexWriter:
    """A writer of a whole new file beside the old one, which the new one replaces in the end; used with `with`.

    A writer that fails, or whose process dies, leaves the old file as it was.
    """

    def __init__(self, path: Path, *, is_new: bool) -> None:
        """
        Args:
            is_new: whether to begin with an empty file; else with a copy of the old one.
        """
        self._path, self._is_new = path, is_new
        self._target = path.with_name(f"{path.name}.new")
        self._database: sqlite3.Connection
        self.newest = ""  # the latest change among the entries that were put in

    def __enter__(self) -> Self:
        self._target.unlink(missing_ok=True)
        if not self._is_new:
            shutil.copyfile(self._path, self._target)
        self._database = sqlite3.connect(self._target, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")  # a half-written file is deleted as a whole
        self._database.execute("PRAGMA synchronous = OFF")
        if self._is_new:
            self._database.executescript(f"{_TABLES} PRAGMA user_version = {VERSION}")
        self._target.chmod(0o600)
        self._database.execute("BEGIN")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._database.execute("COMMIT")
        finally:
            self._database.close()
        if kind is None:
            _sync(self._target)
            replace(self._target, self._path)
        else:
            self._target.unlink(missing_ok=True)

    def put(self, items: Iterable[bytes]) -> int:
        """Adds or replaces servers, and removes servers that the registry has deleted. Unusable entries are skipped.

        Args:
            items: entries of the registry's list, as JSON.

        Returns:
            The number of usable entries.
        """
        return sum(self._put(item) for item in items)

    def _put(self, item: bytes) -> bool:
        described = read_item(item)
        if described is None:
            return False
        self.newest = max(self.newest, described.updated)
        self._remove(described.name)
        if described.status == "deleted":
            return True
        folded = described.name.casefold()
        row = (
            *(described.name, folded, folded.rpartition("/")[2], described.title, described.description, described.version),
            *(" ".join(described.kinds), described.repository, described.status == "deprecated", zlib.compress(item, 6)),
        )
        id = self._database.execute(f"INSERT INTO servers VALUES (NULL, {', '.join('?' * len(row))})", row).lastrowid
        self._database.execute("INSERT INTO words (rowid, name, title, description) VALUES (?, ?, ?, ?)", (id, *_words(described)))
        return True

    def _remove(self, name: str) -> None:
        found = self._database.execute("SELECT id, entry FROM servers WHERE name = ?", (name,)).fetchone()
        if found is None:
            return
        self._database.execute("DELETE FROM servers WHERE id = ?", (found[0],))
        if before := _unpacked(found[1]):
            command = "INSERT INTO words (words, rowid, name, title, description) VALUES ('delete', ?, ?, ?, ?)"
            self._database.execute(command, (found[0], *_words(before)))

    def write_facts(self, facts: Facts) -> None:
        _write_facts(self._database, facts)


def _write_facts(database: sqlite3.Connection, facts: Facts) -> None:
    pairs = {key: str(value) for key, value in msgspec.structs.asdict(facts).items() if key != "servers"}
    database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", pairs.items())


def _sync(path: Path) -> None:
    """Flushes the new file to the disk before it is renamed over the old one."""
    with open(path, "rb+", opener=open_regular) as file:
        os.fsync(file.fileno())


def _words(described: Described) -> tuple[str, str, str]:
    """Returns the texts that are searched; the name without the common beginnings of hosts."""
    return _HOSTERS.sub("", described.name), described.title, described.description


def read_item(item: bytes) -> Described | None:
    """Returns the server that an entry in JSON describes; None if it is not one, or too large. An entry of a megabyte takes a second."""
    if len(item) > MAX_ENTRY_BYTES:
        return None
    try:
        return read_described(msgspec.json.decode(item))
    except (ValueError, RecursionError):
        return None


def _unpacked(packed: bytes) -> Described | None:
    return read_item(zlib.decompressobj().decompress(packed, MAX_ENTRY_BYTES + 1))
