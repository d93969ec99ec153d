"""A presenter whose journal is a list: it filters, pages, collapses and sums up as the real one does."""

from bisect import bisect_left
from collections.abc import Sequence
from statistics import median
from typing import Any

from msgspec.structs import replace
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import STARTED_AT

from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import (
    ActivityChoices,
    ActivityCounts,
    ActivityDetails,
    ActivityEntry,
    ActivityFigures,
    ActivityFilter,
    ActivityPoint,
    ActivityRow,
    CallNow,
    JournalStatus,
)
from tooltray.records.journal.journal_reader import Collapser, single

TEXTS = ("tool", "server", "client", "project", "touched", "reason")
FIELDS = {"kinds": "kind", "outcomes": "outcome", "clients": "client", "sessions": "session", "projects": "project"}
FIELDS |= {"servers": "server", "tools": "tool"}


def entry(id: int, **fields: Any) -> ActivityEntry:
    """A call that went well, `id` seconds after the beginning."""
    known = {"kind": "call", "outcome": "ok", "client": "claude-code", "server": "fs", "tool": "read_file", "duration_s": 0.012}
    fields = {"id": id, "at": STARTED_AT + id, "tokens": 10, **known, **fields}
    return ActivityEntry(**{"ended_at": fields["at"] + fields["duration_s"], **fields})


class JournalInMemory(FakePresenter):
    """
    Attributes:
        journal: the entries, the oldest first.
        details: of those that have more than that.
    """

    def __init__(self, *args: Any, journal: Sequence[ActivityEntry] = (), **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.journal = list(journal)
        self.details: dict[int, ActivityDetails] = {}
        self.calls_now: list[CallNow] = []
        self.journal_status = JournalStatus("/home/a/.tooltray/activity.db", 4096, len(self.journal))
        self.cleared: list[ActivityEntry] = []

    def write(self, *entries: ActivityEntry) -> None:
        """Adds entries, as if calls had been made."""
        self.journal.extend(entries)
        self.bus.publish(ActivityWritten(self.journal[-1].id))

    def get_activity(self, filter: ActivityFilter | None, before: int, limit: int, collapsed: bool) -> list[ActivityRow]:
        place = bisect_left(self.journal, before, key=lambda each: each.id) if before else len(self.journal)
        found = [each for each in reversed(self.journal[:place]) if _matches(filter, each)]
        if not collapsed:
            return [single(each) for each in found[:limit]]
        joined = Collapser(limit)
        all(map(joined.take, found))
        return joined.rows

    def get_activity_entry(self, id: int) -> ActivityDetails:
        found = next(each for each in self.journal if each.id == id)
        return self.details.get(id) or ActivityDetails(found)

    def get_activity_series(self, filter: ActivityFilter | None, bars: int) -> list[ActivityPoint]:
        found = [each for each in self.journal if each.kind == "call" and _matches(filter, each)]
        since = filter.since or (found[0].at if found else 0.0)
        step = ((filter.until or (found[-1].at + 1 if found else 1.0)) - since) / bars
        heaps: list[list[ActivityEntry]] = [[] for _ in range(bars)]
        for each in found:
            heaps[min(bars - 1, int((each.at - since) / step))].append(each)
        return [ActivityPoint(since + place * step, *_summed(heap)) for place, heap in enumerate(heaps)]

    def get_activity_figures(self, by: str, filter: ActivityFilter | None) -> list[ActivityFigures]:
        heaps: dict[str, list[ActivityEntry]] = {}
        for each in self.journal:
            if each.kind == "call" and _matches(filter, each):
                heaps.setdefault(f"{each.server}/{each.tool}" if by == "tool" else getattr(each, by), []).append(each)
        return [ActivityFigures(name, *_summed(heap), last_at=heap[-1].at) for name, heap in heaps.items()]

    def count_activity(self, filter: ActivityFilter | None) -> ActivityCounts:
        found = [each.outcome for each in self.journal if _matches(filter, each)]
        return ActivityCounts(len(found), found.count("error"), found.count("refused"))

    def get_activity_choices(self) -> ActivityChoices:
        fields = ("client", "project", "server")
        return ActivityChoices(*(tuple(sorted({getattr(each, field) for each in self.journal} - {""})) for field in fields))

    def get_calls_now(self) -> list[CallNow]:
        return list(self.calls_now)

    def get_journal_status(self) -> JournalStatus:
        return replace(self.journal_status, entries=len(self.journal))

    def export_activity(self, path: str, filter: ActivityFilter | None) -> int:
        return sum(_matches(filter, each) for each in self.journal)

    def clear_activity(self) -> None:
        self.cleared, self.journal = self.journal, []
        self.bus.publish(ActivityWritten(0))

    def undo_clear_activity(self) -> None:
        self.journal = self.cleared + self.journal
        self.bus.publish(ActivityWritten(0))


def _matches(filter: ActivityFilter | None, each: ActivityEntry) -> bool:
    if each.at < filter.since or (filter.until and each.at >= filter.until):
        return False
    if any(wanted and getattr(each, field) not in wanted for name, field in FIELDS.items() if (wanted := getattr(filter, name))):
        return False
    return not filter.text or any(filter.text.casefold() in getattr(each, name).casefold() for name in TEXTS)


def _summed(heap: Sequence[ActivityEntry]) -> tuple[int, int, int, float | None, float | None]:
    times = sorted(each.duration_s * 1000 for each in heap)
    p50, p95 = (median(times), times[int(len(times) * 0.95)]) if times else (None, None)
    return len(heap), sum(each.outcome == "error" for each in heap), sum(each.tokens for each in heap), p50, p95
