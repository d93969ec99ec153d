"""The audit trail of a hub: decisions one after the other, bounded, and refused where they cannot be recorded."""

from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.records.audit.api import AuditApi
from tooltray.records.audit.audit_trail import LONGEST_VALUE, MOST_VALUES, AuditTrail, Decision


async def test_a_decision_is_recorded_with_bounded_names(tmp_path: Path) -> None:
    trail = AuditTrail(tmp_path / "audit.jsonl")
    about = {"half": "\ud800", **{f"n{number}": "x" * 1000 for number in range(100)}}
    await trail.record(Decision(Phrase("A yes to {what}", what="calls"), "yes", "terminal", "me", "bash (1)", "add_grant", about))
    [entry] = await AuditApi(trail=trail).get_audit()
    assert (entry.number, entry.what, entry.who, entry.origin, entry.verb) == (1, "A yes to calls", "me", "bash (1)", "add_grant")
    assert (len(entry.about), len(entry.about["n0"]), entry.about["half"]) == (MOST_VALUES, LONGEST_VALUE, "?")


async def test_pages_are_read_from_the_newest(tmp_path: Path) -> None:
    trail = AuditTrail(tmp_path / "audit.jsonl")
    for number in range(5):
        await trail.record(Decision(str(number), "yes", "window"))
    api = AuditApi(trail=trail)
    assert [each.number for each in await api.get_audit(limit=2)] == [5, 4]
    assert [each.number for each in await api.get_audit(before=4, limit=2)] == [3, 2]
    assert (await api.verify_audit()).last == 5
    [first, *_] = trail.since(0, 0)
    assert first.number == 1
    assert trail.since(first.at + 1000, 0) == []
    assert trail.since(0, first.at) == []


@pytest.mark.expected_warnings("was not recorded")
async def test_what_cannot_be_recorded_is_refused_and_what_narrows_goes_on(tmp_path: Path) -> None:
    trail = AuditTrail(tmp_path / "missing" / "audit.jsonl")
    with pytest.raises(TooltrayError, match="Nothing was allowed, since it cannot be recorded"):
        await trail.record(Decision("A yes", "yes", "window"))
    await trail.note(Decision("A no", "no", "window"))


async def test_a_trail_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    trail = AuditTrail(tmp_path / "audit.jsonl")
    with pytest.raises(TooltrayError, match="cannot be read"):
        await trail.entries()
    with pytest.raises(TooltrayError, match="cannot be read"):
        await trail.check()
