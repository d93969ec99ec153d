"""Journals of tests: files with entries in them, and a journal that runs for a while."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec import Raw
from tests.fakes.heard import PATIENCE_S, Heard

from tooltray.config.settings.settings import ActivitySettings
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.protocol.envelope import dump
from tooltray.records.journal.call_figures import bucket_of
from tooltray.records.journal.journal import Journal, Times
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.records.journal.journal_file import COLUMNS, Contents, JournalFile, NewEntry
from tooltray.records.journal.journal_reader import JournalReader

NOW = 1_800_000_000.0
SECRET = "hunter2-hunter2"  # dummy
EMPTY: dict[str, Any] = {
    **dict.fromkeys(COLUMNS, ""),
    **dict.fromkeys(("queue_s", "person_s", "start_s", "server_s", "back_s")),
    **dict(kind=CALL, at=NOW, outcome="ok", duration=0.25, client="Cursor", server="files", tool="read_file"),  # noqa: C408
    **dict(argument_bytes=7, result_bytes=8, tokens=2),  # noqa: C408
}


def entry(*, contents: Contents | None = None, touched: str = "", reason: str = "", **values: Any) -> NewEntry:
    """As it is written; `values` by column."""
    given = {**EMPTY, "said": f"{touched}\n{reason}", "has_contents": contents is not None, **values}
    given["bucket"] = bucket_of(given["duration"])
    return NewEntry([given[name] for name in COLUMNS], contents)


def written(path: Path, entries: Sequence[NewEntry]) -> JournalFile:
    """A file with entries, open for more."""
    file = JournalFile(path)
    file.write(entries)
    return file


@contextlib.contextmanager
def journal_of(path: Path, *entries: NewEntry, **options: Any):
    """A reader of a journal with these entries, the oldest first."""
    file = written(path, entries)
    reader = JournalReader(journal_file=path, **options)
    try:
        yield reader
    finally:
        reader.close()
        file.close()


def ids(rows: Sequence[ActivityRow]) -> list[int]:
    return [row.entry.id for row in rows]


def call(*, arguments: Any = None, result: Any = None, **fields: Any) -> JournalEvent:
    """A call as the bus tells of it."""
    params = dump({"name": "t", "arguments": {} if arguments is None else arguments})
    reply = dump({"content": []} if result is None else result)
    values = {"kind": CALL, "at": NOW, "outcome": "ok", "server": "files", "tool": "t", "params": params, "reply": reply, **fields}
    values.setdefault("argument_bytes", len(memoryview(values["params"])))
    values.setdefault("result_bytes", len(memoryview(values["reply"])))
    return JournalEvent(**values)


class RunningJournal:
    """A journal of its own bus.

    Attributes:
        wanted: what it keeps; may be another thing at any time.
    """

    def __init__(self, path: Path, **options: Any) -> None:
        self.path, self.bus, self.wanted = path, EventBus(), ActivitySettings()
        self.heard = Heard(self.bus)
        self.config: Any = _Config(self)
        self.reader = JournalReader(journal_file=path, clock=lambda: NOW)
        timed = {name: options.pop(name) for name in Times.__struct_fields__ if name in options}
        times = Times(**{"gather_s": 0.0, "clock": lambda: NOW, **timed})
        given = {"known_values": lambda: {SECRET}, "release": self.reader.close, **options}
        self.journal = Journal(journal_file=path, config=self.config, bus=self.bus, times=times, **given)

    def happened(self, *events: JournalEvent) -> None:
        for event in events:
            self.bus.publish(event)

    async def rows(self, **wanted: Any) -> list[ActivityRow]:
        """What is in it, newest first, when all that has happened is written."""
        async with asyncio.timeout(PATIENCE_S):
            await self.journal.flush()
        return self.reader.rows(ActivityFilter(**wanted), 0, 1000, collapsed=False)


class _Config:
    def __init__(self, owner: RunningJournal) -> None:
        self._owner = owner

    @property
    def settings(self) -> Any:
        return SimpleNamespace(activity=self._owner.wanted)


@contextlib.asynccontextmanager
async def running_journal(path: Path, **options: Any) -> AsyncIterator[RunningJournal]:
    running = RunningJournal(path, **options)
    running.journal.start()
    try:
        yield running
    finally:
        running.reader.close()
        await running.journal.close()


def large(size: int) -> Raw:
    """JSON of at least so many bytes."""
    return dump({"content": [{"type": "text", "text": "x" * size}]})
