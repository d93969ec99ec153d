"""What the history has of each report: written when it is asked, since a hub may be killed, and when it has ended.

Above it: Feedbacks. Below it: the history on the disk. Known secrets are masked here.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tooltray.feedback.feedback_history import FeedbackHistory
from tooltray.feedback.feedback_report import Report
from tooltray.snapshots.feedback import FeedbackEntry
from tooltray.tasks import Spawn, finish_in_thread

LONGEST_KEPT = 20_000  # characters of an answer
LONGEST_HISTORY = 1000  # entries of one answer to a question for the history
MOST_CHARS = 4_000_000  # in all of them; escaped, it is less than a line of the control channel may have


class FeedbackNotes:
    """Belongs to the engine's loop."""

    def __init__(self, *, history: FeedbackHistory, mask: Callable[[str], str], spawn: Spawn) -> None:
        """
        Args:
            mask: takes known secrets out of a text.
        """
        self._history, self._mask, self._spawn = history, mask, spawn
        self._unwritten: dict[str, FeedbackEntry] = {}  # on their way to the disk
        self._disk = asyncio.Lock()  # what is written of one report stays in its order

    async def start(self) -> None:
        """What was open when a hub died is told as it is."""
        await finish_in_thread(self._history.end_lost)

    def add(self, report: Report) -> None:
        """Keeps what is to be known of a report now."""
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
        """Whether there was such a report."""
        async with self._disk:
            return id in self._unwritten or any(entry.id == id for entry in await asyncio.to_thread(self._history.read, ""))

    async def close(self) -> None:
        """Writes what is not written yet."""
        for id in list(self._unwritten):  # the tasks may be cancelled before they begin
            await self._write(id)

    async def _write(self, id: str) -> None:
        async with self._disk:
            await self._write_newest(id)

    async def _write_newest(self, id: str) -> None:
        """What an earlier write has found already is not written again."""
        if entry := self._unwritten.get(id):
            await finish_in_thread(self._history.add, entry)
            if self._unwritten[id] is entry:
                del self._unwritten[id]


def _within(most: int, entries: Sequence[FeedbackEntry]) -> Iterator[FeedbackEntry]:
    """The first of them, as many as have so many characters together."""
    for entry in entries:
        most -= len(entry.summary) + len(entry.text)
        if most < 0:
            return
        yield entry
