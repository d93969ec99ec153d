"""Writes each report to the history when it is opened, since a hub may be killed, and when it has ended.

Above it: Feedbacks. Below it: the history on the disk. Masks known secrets.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from tooltray.feedback.feedback_history import FeedbackHistory
from tooltray.feedback.feedback_report import Report
from tooltray.snapshots.feedback import FeedbackEntry
from tooltray.tasks import Spawn, finish_in_thread

LONGEST_KEPT = 20_000  # characters of an answer
LONGEST_HISTORY = 1000  # entries in one response
MOST_CHARS = 4_000_000  # in one response; even escaped it fits into a line of the control channel


class FeedbackNotes:
    """Belongs to the engine's loop."""

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
        """See FeedbackApi.get_feedback_history."""
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
        """Writes what has not been written yet."""
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
