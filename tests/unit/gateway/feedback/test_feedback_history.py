"""feedback_history.py"""

import os
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.fakes.full_disk import full_disk
from tests.fakes.modes import has_mode

from tooltray.foundation.snapshots.questions import FeedbackEntry
from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.feedback import feedback_history
from tooltray.gateway.feedback.feedback_history import KEPT_DAYS, MOST_BYTES, MOST_PROJECTS, WAITING, FeedbackHistory, FeedbackNotes

DAY_S = 86_400.0
NOW = float(round(time.time()))  # as the files' own times


def entry(number: int, project: str = "/p", *, asked_at: float | None = None, summary: str = "s") -> FeedbackEntry:
    """`number`: the larger, the later; by so little that all are of one day."""
    return FeedbackEntry(f"e{number}", project, "p", "c", summary, NOW + number / 1000 if asked_at is None else asked_at, "answered", "yes")


def ids(entries: list[FeedbackEntry]) -> list[str]:
    return [each.id for each in entries]


@pytest.fixture
def history(tmp_path: Path) -> FeedbackHistory:
    return FeedbackHistory(tmp_path / "feedback", now=lambda: NOW)


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "feedback").iterdir())


def test_entries_are_there_again_after_a_restart_the_newest_first(history: FeedbackHistory, tmp_path: Path) -> None:
    assert history.read() == history.read("/p") == []
    for number in (1, 3, 2):
        history.add(entry(number))
    history.add(entry(9, "/other"))
    again = FeedbackHistory(tmp_path / "feedback", now=lambda: NOW)
    assert ids(again.read("/p")) == ["e3", "e2", "e1"]
    assert ids(again.read()) == ["e9", "e3", "e2", "e1"]
    assert again.read("/p")[0] == entry(3)


def test_others_cannot_read_it(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    (file,) = files(tmp_path)
    assert has_mode(file, 0o600)
    assert has_mode(file.parent, 0o700)


def test_an_entry_is_kept_once(history: FeedbackHistory) -> None:
    history.add(entry(1))
    history.add(entry(1))
    assert ids(history.read()) == ["e1"]


def test_old_entries_go_and_so_do_those_beyond_the_limit(history: FeedbackHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback_history, "MOST_ENTRIES", KEPT_DAYS + 1)
    for days in range(KEPT_DAYS + 1):
        history.add(entry(-days, asked_at=NOW - days * DAY_S))
    assert ids(history.read()) == [f"e{-days}" for days in range(KEPT_DAYS)]
    for number in range(KEPT_DAYS + 3):
        history.add(entry(number))
    assert ids(history.read()) == [f"e{number}" for number in range(KEPT_DAYS + 2, 1, -1)]


def test_a_file_has_a_largest_size(history: FeedbackHistory, tmp_path: Path) -> None:
    for number in range(5):
        history.add(entry(number, summary="x" * (MOST_BYTES // 4)))
    assert ids(history.read()) == ["e4", "e3", "e2"]
    assert files(tmp_path)[0].stat().st_size <= MOST_BYTES


def test_projects_that_nobody_reports_on_are_forgotten(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(0, "/first"))
    (first,) = files(tmp_path)
    os.utime(first, (NOW - 100, NOW - 100))
    others = [tmp_path / "feedback" / f"{number:032x}.json" for number in range(MOST_PROJECTS)]
    for other in others:
        other.write_bytes(b"[]")
    history.add(entry(1, "/second"))
    assert not first.exists()
    assert len(files(tmp_path)) == MOST_PROJECTS
    left = next(other for other in others if other.exists())
    for days, other in enumerate((each for each in others if each.exists()), 1):
        os.utime(other, (NOW - min(days, KEPT_DAYS) * DAY_S,) * 2)
    history.add(entry(2, "/second"))
    assert left.exists()
    assert len(files(tmp_path)) == KEPT_DAYS  # today's, and those of as many days before


def test_a_clock_that_jumps_forward_empties_no_history(tmp_path: Path) -> None:
    now = NOW
    history = FeedbackHistory(tmp_path / "feedback", now=lambda: now)
    history.add(entry(1))
    history.add(entry(2, "/other"))
    now = NOW + 3e8
    history.add(entry(3, asked_at=now))
    assert ids(history.read()) == ["e3", "e2", "e1"]
    now = NOW + DAY_S
    history.add(entry(4, asked_at=now))
    assert ids(history.read()) == ["e3", "e4", "e2", "e1"]


@pytest.mark.expected_warnings("cannot be read; it was renamed to")
@pytest.mark.parametrize("content", [b"", b"{", b"[{}]", b"[" * 100_000])
def test_a_file_that_cannot_be_read_is_set_aside(history: FeedbackHistory, tmp_path: Path, content: bytes) -> None:
    history.add(entry(1))
    files(tmp_path)[0].write_bytes(content)
    assert history.read() == []
    history.add(entry(2))
    assert ids(history.read()) == ["e2"]
    assert [path.suffix for path in files(tmp_path)] == [".broken", ".json"]
    assert files(tmp_path)[0].read_bytes() == content


@pytest.mark.expected_warnings("could not be written")
def test_a_full_disk_costs_the_entry_and_nothing_else(history: FeedbackHistory) -> None:
    history.add(entry(1))
    with full_disk():
        history.add(entry(2, summary="x" * 10_000))
    assert ids(history.read()) == ["e1"]


@pytest.mark.expected_warnings("cannot be read:", "could not be written")
def test_a_folder_in_the_place_of_a_file_costs_that_project(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    (file,) = files(tmp_path)
    file.unlink()
    file.mkdir()
    assert history.read() == []
    history.end_lost()
    history.add(entry(2))
    assert file.is_dir()


def test_what_cannot_even_be_set_aside_is_read_as_nothing(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    (file,) = files(tmp_path)
    file.write_bytes(b"{")
    file.with_suffix(".broken").mkdir()
    assert history.read() == []
    assert file.read_bytes() == b"{"


def test_what_waited_when_a_hub_died_has_expired_for_the_next_one(history: FeedbackHistory, tmp_path: Path) -> None:
    history.end_lost()
    assert not (tmp_path / "feedback").exists()
    history.add(entry(1))
    history.add(replace(entry(2), outcome=WAITING, text=""))
    history.add(entry(3, "/other"))
    before = {file.stat().st_ino for file in files(tmp_path)}
    history.end_lost()
    assert [(each.id, each.outcome) for each in history.read()] == [("e3", "answered"), ("e2", "expired"), ("e1", "answered")]
    assert len(before & {file.stat().st_ino for file in files(tmp_path)}) == 1, "what has nothing to be ended is not written"


def test_an_end_takes_the_place_of_what_was_written_when_it_was_asked(history: FeedbackHistory) -> None:
    history.add(replace(entry(1), outcome=WAITING))
    history.add(entry(1))
    assert [each.outcome for each in history.read()] == ["answered"]


def test_entries_of_other_versions_do_not_cost_the_others(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    (file,) = files(tmp_path)
    known = msgspec.json.decode(file.read_bytes())[0]
    file.write_bytes(msgspec.json.encode([{"id": 5}, known | {"mood": "good"}, known | {"id": "e2", "asked_at": "yesterday"}]))
    assert ids(history.read()) == ["e1"]
    history.add(entry(3))
    assert ids(history.read()) == ["e3", "e1"]


def test_entries_of_a_far_future_are_left_out(history: FeedbackHistory) -> None:
    history.add(entry(1, asked_at=1e300))
    assert history.read() == []


@pytest.mark.expected_warnings("cannot be read; it was renamed to")
@pytest.mark.posix
def test_pipes_and_huge_files_are_set_aside_unread(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    (file,) = files(tmp_path)
    file.unlink()
    os.mkfifo(file)
    assert history.read() == []
    with file.open("wb") as huge:
        huge.truncate(2 * MOST_BYTES + 1)
    assert history.read() == []


@pytest.mark.posix
@pytest.mark.expected_warnings("cannot be read: Input/output error", "could not be written: Input/output error")
def test_a_file_that_cannot_be_read_now_is_not_written_over(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    [kept] = (tmp_path / "feedback").glob("*.json")
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to("/proc/self/mem")  # it cannot be read at its beginning
    assert history.read() == []
    history.add(entry(2))
    (tmp_path / "elsewhere").rename(kept)
    assert ids(history.read()) == ["e1"]


def test_all_of_them_are_read_up_to_a_size_the_newest_files_first(
    history: FeedbackHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooltray.gateway.feedback.feedback_history.MOST_READ_BYTES", 1500)
    for number in range(4):
        history.add(entry(number, f"/{number}", summary="x" * 1000))
        (newest,) = set(files(tmp_path)) - {path for path in files(tmp_path) if path.stat().st_mtime < NOW - 1000}
        os.utime(newest, (NOW - 5000 + number,) * 2)
    assert ids(history.read()) == ["e3", "e2"]


async def test_a_response_has_so_many_characters_at_most(history: FeedbackHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = FeedbackNotes(history=history, mask=str, spawn=TaskKeeper().spawn)
    for number in (1, 2, 3):
        history.add(entry(number))
    for most, expected in ((7, ["e3"]), (8, ["e3", "e2"])):  # each has 4
        monkeypatch.setattr(feedback_history, "MOST_CHARS", most)
        assert ids(await notes.read("/p", 10)) == expected
    assert ids(await notes.read("", 1)) == ["e3"]


def test_files_that_were_set_aside_go_with_their_time(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    old, young = tmp_path / "feedback" / "old.broken", tmp_path / "feedback" / "young.broken"
    for file in (old, young):
        file.write_bytes(b"{")
    for days in range(1, KEPT_DAYS):
        between = tmp_path / "feedback" / f"{days}.json"
        between.write_bytes(b"[]")
        os.utime(between, (NOW - days * DAY_S,) * 2)
    os.utime(old, (NOW - KEPT_DAYS * DAY_S,) * 2)
    history.add(entry(2))
    assert (old.exists(), young.exists()) == (False, True)


def test_a_path_of_any_characters_has_a_file(history: FeedbackHistory) -> None:
    for number, path in enumerate(["/a/../b", "/\ud800", "/x" * 5000, "/專案"]):
        history.add(entry(number, path) if "\ud800" not in path else entry(number, "/q"))
        assert isinstance(history.read(path), list)
    assert msgspec.json.encode(history.read("/專案"))
