"""audit_trail.py"""

import json
import os
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.records import audit_trail
from tooltray.records.audit_trail import CHANGED_OUTSIDE, LONGEST_VALUE, MOST_VALUES, AuditApi, AuditFile, AuditTrail, Decision


def entry(what: str = "A yes", **about: str) -> AuditEntry:
    return AuditEntry(0, 1.5, what, "yes", "window", about=about)


def written(folder: Path, count: int) -> tuple[AuditFile, Path]:
    path = folder / "audit.jsonl"
    trail = AuditFile(path)
    for number in range(count):
        trail.append(entry(f"yes {number + 1}"))
    return trail, path


def test_decisions_are_numbered_and_read_with_the_newest_first(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 3)
    assert [(each.number, each.what) for each in trail.entries()] == [(3, "yes 3"), (2, "yes 2"), (1, "yes 1")]
    assert trail.check() == AuditCheck(True, 1, 3)
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_before_the_first_decision_there_is_nothing_and_that_is_whole(tmp_path: Path) -> None:
    trail, _ = written(tmp_path, 0)
    assert (list(trail.entries()), trail.check()) == ([], AuditCheck(True, 0, 0))


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (lambda lines: [lines[0], lines[1].replace("yes 2", "yes 9"), lines[2]], "number 3 does not follow the line before it"),
        (lambda lines: [lines[0], lines[2]], "behind number 1 comes number 3"),
        (lambda lines: [*lines, lines[2]], "behind number 3 comes number 3"),
        (lambda lines: lines[:2], "its last line is not the one that was written last"),
        (lambda lines: lines[1:], "it begins with number 2, and should with 1"),
        (lambda lines: [lines[0], "{}", *lines[1:]], "the line behind number 1 cannot be read"),
        (lambda lines: [], "its last line is not the one that was written last"),
    ],
)
def test_a_line_that_was_changed_taken_out_or_put_in_is_seen(tmp_path: Path, lines, problem: str) -> None:  # type: ignore[no-untyped-def]
    trail, path = written(tmp_path, 3)
    path.write_text("".join(f"{line}\n" for line in lines(path.read_text().splitlines())))
    found = trail.check()
    assert not found.is_whole
    assert any(problem in each for each in found.problems), found.problems
    assert len(list(trail.entries())) == path.read_text().count('"what"'), "what can be read is listed all the same"


def test_a_cut_is_told_by_the_trail_itself_however_long_it_goes_on(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 3)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    trail.append(entry("later"))
    assert [(each.number, each.what) for each in trail.entries()] == [(5, "later"), (4, CHANGED_OUTSIDE), (1, "yes 1")]
    assert trail.check().problems == ("it was changed from outside before number 4",)


@pytest.mark.parametrize("content", ["", "[]", '{"last": "x"}'])
def test_a_note_of_the_last_line_that_was_taken_away_or_broken_is_told(tmp_path: Path, content: str) -> None:
    trail, path = written(tmp_path, 2)
    note = path.with_suffix(".json")
    note.write_text(content) if content else note.unlink()
    assert not trail.check().is_whole
    trail.append(entry("later"))
    assert not trail.check().is_whole


@pytest.mark.parametrize("lost", [0, 1])
def test_after_a_crash_between_the_line_or_its_end_and_its_note_the_trail_goes_on(tmp_path: Path, lost: int) -> None:
    trail, path = written(tmp_path, 2)
    before = path.with_suffix(".json").read_bytes()
    trail.append(entry("yes 3"))
    os.truncate(path, path.stat().st_size - lost)
    path.with_suffix(".json").write_bytes(before)
    trail.append(entry("yes 4"))
    assert trail.check() == AuditCheck(True, 1, 4)


def test_a_file_that_something_else_has_swollen_is_told(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 1)
    with path.open("ab") as file:
        file.write(b"x" * 3 * 2**20)
    assert not trail.check().is_whole
    trail.append(entry("later"))
    assert [each.what for each in trail.entries()] == ["later", CHANGED_OUTSIDE]


def test_half_a_line_that_a_crash_has_left_was_never_allowed_and_the_trail_goes_on(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 1)
    with path.open("ab") as file:
        file.write(b'{"number": 2, "at"')
    assert trail.check() == AuditCheck(True, 1, 1)
    trail.append(entry("later"))
    assert [each.what for each in trail.entries()] == ["later", "yes 1"]
    assert trail.check() == AuditCheck(True, 1, 2)


def test_a_line_that_something_else_has_cut_in_half_is_told(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 2)
    path.write_bytes(path.read_bytes()[:-20])
    assert not trail.check().is_whole
    trail.append(entry("later"))
    assert [each.what for each in trail.entries()] == ["later", CHANGED_OUTSIDE, "yes 1"]


def test_a_full_disk_writes_nothing_and_the_trail_stays_whole(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 1)
    before = path.read_bytes()
    with full_disk(len(before) + 20), pytest.raises(OSError, match=r"too large|space"):
        trail.append(entry("yes 2", tool="x" * 200))
    assert path.read_bytes() == before
    trail.append(entry("yes 3"))
    assert trail.check() == AuditCheck(True, 1, 2)


def test_a_full_file_is_put_aside_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_trail, "LARGEST_FILE_BYTES", 400)
    monkeypatch.setattr(audit_trail, "MOST_FILES", 2)
    trail, _ = written(tmp_path, 12)
    found = trail.check()
    assert (found.is_whole, found.last, found.problems) == (True, 12, ())
    assert found.first > 1
    numbers = [each.number for each in trail.entries()]
    assert numbers == list(range(12, found.first - 1, -1))
    next(tmp_path.glob("audit-*.jsonl")).unlink()
    assert not trail.check().is_whole


def test_a_trail_that_cannot_be_read_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    trail, path = written(tmp_path, 1)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=r"directory|file"):
        list(trail.entries())


def test_what_is_in_a_line_is_plain_json(tmp_path: Path) -> None:
    _, path = written(tmp_path, 1)
    line = json.loads(path.read_text())
    assert line == {"number": 1, "at": 1.5, "what": "yes 1", "answer": "yes", "way": "window"}


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
