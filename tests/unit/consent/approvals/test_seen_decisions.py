"""approvals.py: answers in a client's form, refusals and grants that have ended stand in the audit trail, too."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path

from tooltray.consent.approvals.approvals import SeenDecisions
from tooltray.foundation.events import EventBus, GrantsChanged
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.records.audit_trail import AuditTrail
from tooltray.records.journal.journal_event import JournalEvent


class Allowed:
    """In the place of Approvals."""

    def __init__(self) -> None:
        self.now: list[GrantSnapshot] = []

    def snapshots(self) -> list[GrantSnapshot]:
        return self.now


def grant(id: str, expires_at: float) -> GrantSnapshot:
    return GrantSnapshot(id, "tool", "files", "write", expires_at=expires_at)


def answer(outcome: str, by: str, way: str = "", kind: str = "approval") -> JournalEvent:
    return JournalEvent(kind=kind, at=1.0, outcome=outcome, client="claude", server="files", tool="write", reason=by, way=way)


async def test_answers_of_forms_and_refusals_are_recorded_and_what_an_asker_has_seen_is_not_again(tmp_path: Path) -> None:
    bus, trail, noted = EventBus(), AuditTrail(tmp_path / "audit.jsonl"), list[Awaitable[object]]()
    SeenDecisions(trail=trail, grants=Allowed(), bus=bus, spawn=lambda work, name: noted.append(work))  # type: ignore[arg-type, return-value]
    for event in (
        answer("once", "client", "client"),
        answer("refused", "person", "window"),
        answer("refused", "panel", "program"),
        answer("once", "person"),
        answer("always", "client"),  # recorded where it is written
        answer("late", "expired"),
        answer("ok", "client", kind="call"),
    ):
        bus.publish(event)
    await asyncio.gather(*noted)
    found = [(each.answer, each.way, each.who) for each in await trail.entries()]
    assert sorted(found) == [("no", "program", "panel"), ("no", "window", ""), ("yes", "client", "claude")]


async def test_a_grant_whose_time_is_over_is_recorded_and_one_that_was_taken_back_is_told_by_its_verb(tmp_path: Path) -> None:
    bus, trail, noted, allowed = EventBus(), AuditTrail(tmp_path / "audit.jsonl"), list[Awaitable[object]](), Allowed()
    seen = SeenDecisions(trail=trail, grants=allowed, bus=bus, spawn=lambda work, name: noted.append(work), now=lambda: 100.0)  # type: ignore[arg-type, return-value]
    allowed.now = [grant("over", 99.0), grant("taken", 0.0), grant("stays", 200.0)]
    seen.start()
    allowed.now = allowed.now[2:]
    bus.publish(GrantsChanged())
    await asyncio.gather(*noted)
    [entry] = await trail.entries()
    assert (entry.answer, entry.way, entry.about) == ("narrowed", "", {"server": "files", "tool": "write"})
