"""The API of the journal: calls, questions, approvals, starts, stops and failures, statistics about them, and their export."""

import asyncio
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from pathlib import Path
from tempfile import mkstemp
from typing import ParamSpec, TypeVar

import msgspec

from tooltray.foundation.confirm_widening import confirm_widening, current_asker
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import ActivityWritten, EventBus
from tooltray.foundation.files.atomic_file import replace
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import (
    ActivityChoices,
    ActivityCounts,
    ActivityDetails,
    ActivityFigures,
    ActivityFilter,
    ActivityPoint,
    ActivityRow,
    CallNow,
    JournalStatus,
    ToolUse,
)
from tooltray.foundation.snapshots.approvals import AuditEntry
from tooltray.foundation.snapshots.tools import RecentCall
from tooltray.foundation.verbs import JsonObject, always, verb
from tooltray.records.audit_trail import AuditTrail
from tooltray.records.journal.call_figures import GROUPS
from tooltray.records.journal.journal import Journal
from tooltray.records.journal.journal_file import JournalFile
from tooltray.records.journal.journal_reader import DAY_S, JournalReader
from tooltray.records.log.call_stats import CallsUnderWay

EVERYTHING = ActivityFilter()
P = ParamSpec("P")
T = TypeVar("T")

DECISION = "decision"  # the kind of a line that comes from the audit trail


class ActivityApi:
    def __init__(
        self, *, journal: Journal, journal_reader: JournalReader, under_way: CallsUnderWay, bus: EventBus, trail: AuditTrail
    ) -> None:
        self._journal, self._reader, self._under_way, self._bus, self._trail = journal, journal_reader, under_way, bus, trail

    async def get_activity(
        self, filter: ActivityFilter | None = None, before: int = 0, limit: int = 200, collapsed: bool = False
    ) -> list[ActivityRow]:
        """Returns entries of the journal, newest first.

        Args:
            before: only entries with an id smaller than this; 0: from the newest. The next page begins before `first_id` of the last row.
            limit: rows, at most 2,000.
            collapsed: joins neighbours that differ only in time, sizes and target to one row, and events of servers in a row.
        """
        return await self._read(self._reader.rows, filter or EVERYTHING, before, limit, collapsed=collapsed)

    @verb("manage")
    async def get_activity_entry(self, id: int | str) -> ActivityDetails:
        """Returns one entry in full; the lines of a file that the call would have changed only to the window, as `get_approval_diff`.

        Args:
            id: the entry's number, or the `tool_call_id` of a `ToolCallResult`.

        Raises:
            NotFound: it never existed, or is stored no longer.
        """
        if isinstance(id, str):  # as a rule the call has just ended, and may not be written yet
            with contextlib.suppress(TooltrayError):
                await self._journal.flush()
        found = await self._read(self._reader.details, id)
        if found is None:
            raise NotFound(
                Phrase("Entry {id} not found in the journal", id=id), Phrase("entries are deleted after some time, or were cleared")
            )
        diff = (found.diff or self._journal.shown_change(found.entry.id)) if current_asker().is_window else ()
        return msgspec.structs.replace(found, diff=diff)

    async def get_activity_series(self, filter: ActivityFilter | None = None, bars: int = 96) -> list[ActivityPoint]:
        """Returns the calls of equal periods, the earliest first.

        Args:
            filter: without `until` up to now, without `since` the 24 hours before that.
            bars: the number of periods, at most 1,000.
        """
        return await self._read(self._reader.series, filter or EVERYTHING, bars)

    async def get_activity_figures(self, by: str, filter: ActivityFilter | None = None) -> list[ActivityFigures]:
        """Returns calls, failures, tokens and times of each server, client or tool, most calls first.

        Args:
            by: "server", "client" or "tool".

        Raises:
            TooltrayError: `by` is something else.
        """
        if by not in GROUPS:
            raise TooltrayError(Phrase("No statistics by '{by}'", by=by), hint=Phrase("Choose one of {words}.", words=", ".join(GROUPS)))
        return await self._read(self._reader.figures, by, filter or EVERYTHING)

    async def count_activity(self, filter: ActivityFilter | None = None) -> ActivityCounts:
        """Returns how many entries `get_activity` would list, and how many of them failed or were refused."""
        return await self._read(self._reader.counts, filter or EVERYTHING)

    async def get_activity_choices(self) -> ActivityChoices:
        """Returns the clients, projects and servers that occur in entries."""
        return await self._read(self._reader.choices)

    async def get_tool_use(self, days: float = 30) -> list[ToolUse]:
        """Returns how often each tool was called, and by which clients, the latest first.

        Args:
            days: the length of the period up to now.
        """
        return await self._read(self._reader.tool_use, time.time() - days * DAY_S)

    async def get_calls_now(self) -> list[CallNow]:
        """Returns the calls in progress, the longest first."""
        return self._under_way.now()

    async def get_recent_calls(self, limit: int = 200) -> list[RecentCall]:
        """Returns the last tool calls, the newest first."""
        rows = await self.get_activity(ActivityFilter(kinds=("call",)), limit=limit)
        return [_recent(row) for row in rows]

    async def get_journal_status(self) -> JournalStatus:
        """Returns the journal's path and size, and what could not be stored."""
        return await self._read(self._reader.status, self._journal.lost, self._journal.said)

    @verb("manage", trusted=always)
    async def export_activity(self, path: str, filter: ActivityFilter | None = None) -> int:
        """Writes entries of the journal into a file, only for its owner, as JSON Lines: an object for each entry, the oldest first.
        Decisions of the audit trail (`get_audit`) are included, unless the filter restricts more than the time.

        Args:
            path: absolute; an existing file is replaced.

        Returns:
            The number of lines in the file.

        Raises:
            TooltrayError: the file cannot be written.
        """
        with contextlib.suppress(TooltrayError):  # the export then lacks the entries that cannot be written
            await self._journal.flush()
        return await self._read(self._export, Path(path), filter or EVERYTHING)

    @verb(trusted=always)
    async def clear_activity(self) -> None:
        """Empties the journal. This can be undone until Tooltray ends or the journal is emptied again.

        Raises:
            TooltrayError: it cannot be written, or the user has not confirmed it: a program must not be able to hide its actions.
        """
        await confirm_widening(Phrase("Emptying the journal"))
        await self._journal.do(JournalFile.clear)
        self._journal.forget_changes()
        self._bus.publish(ActivityWritten(0))

    @verb(trusted=always)
    async def undo_clear_activity(self) -> None:
        """Restores the entries that the last `clear_activity` has removed; newer entries stay.

        Raises:
            NotFound: nothing can be restored.
            TooltrayError: the journal cannot be written.
        """
        if not await self._journal.do(JournalFile.undo_clear):
            raise NotFound(Phrase("Nothing to restore"), Phrase("the journal was not emptied since Tooltray started"))
        self._bus.publish(ActivityWritten(0))

    def _export(self, path: Path, wanted: ActivityFilter) -> int:
        is_of_all = wanted == ActivityFilter(since=wanted.since, until=wanted.until)
        decisions = self._trail.since(wanted.since, wanted.until) if is_of_all else []
        return write_entries(path, self._reader.all_details(wanted), decisions)

    async def _read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await asyncio.to_thread(work, *args, **kwargs)
        except sqlite3.Error as error:
            self._journal.look_for_damage()
            raise TooltrayError(Phrase("The journal cannot be read"), str(error)) from None


def _recent(row: ActivityRow) -> RecentCall:
    made = row.entry
    return RecentCall(
        id=made.id,
        at=made.at,
        tool=made.published,
        server=made.server,
        client=made.client,
        outcome=made.outcome,
        duration_s=made.duration_s,
        argument_bytes=made.argument_bytes,
        result_bytes=made.result_bytes,
    )


def write_entries(path: Path, entries: Iterator[ActivityDetails], decisions: Iterable[AuditEntry] = ()) -> int:
    """Writes an export as JSON Lines, which only the owner can read; returns the number of lines. It is written as a whole or not at all.

    Args:
        path: absolute; an existing file is replaced.
        decisions: the oldest first; they are sorted among the entries by their time.

    Raises:
        TooltrayError: it cannot be written; an existing file is unchanged.
    """
    if not path.is_absolute() or "\0" in str(path):
        raise TooltrayError(Phrase("The journal cannot be exported"), Phrase("'{path}' is not an absolute path", path=path))
    try:
        descriptor, temporary = mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.", suffix=".tmp")
        try:
            count = _write(descriptor, entries, decisions)
            replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise TooltrayError(Phrase("The journal cannot be exported"), message, hint_for(error, Phrase("Choose another place"))) from None
    return count


def _write(descriptor: int, entries: Iterator[ActivityDetails], decisions: Iterable[AuditEntry]) -> int:
    lines = merge(map(line_of, entries), map(line_of_decision, decisions), key=lambda line: line["at"])
    with open(descriptor, "wb") as file:
        return sum(1 for line in lines if file.write(msgspec.json.encode(line) + b"\n"))


def line_of(details: ActivityDetails) -> JsonObject:
    """Converts an entry, its times and its stored contents into one object."""
    times = {name: value for name, value in msgspec.structs.asdict(details.times).items() if value is not None}
    kept = {"arguments": details.arguments, "result": details.result, "is_cut": details.is_cut} if details.entry.has_contents else {}
    return {**msgspec.structs.asdict(details.entry), **times, "allowed_by": details.allowed_by, **kept}


def line_of_decision(entry: AuditEntry) -> JsonObject:
    """Converts a decision into an object, with the hash that proves its position in the audit trail."""
    return {"kind": DECISION, **msgspec.structs.asdict(entry)}
