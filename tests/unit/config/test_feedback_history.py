"""config/feedback_history.py"""

import os
import time
from pathlib import Path

import msgspec
import pytest
from tests.fakes.full_disk import full_disk

from tooltray.config.feedback_history import KEPT_FOR_S, MOST_BYTES, MOST_ENTRIES, MOST_PROJECTS, FeedbackHistory
from tooltray.events import FeedbackEntry

NOW = float(round(time.time()))  # as the files' own times


def entry(number: int, project: str = "/p", *, asked_at: float | None = None, summary: str = "s") -> FeedbackEntry:
    return FeedbackEntry(f"e{number}", project, "p", "c", summary, NOW + number if asked_at is None else asked_at, "answered", "yes")


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
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_an_entry_is_kept_once(history: FeedbackHistory) -> None:
    history.add(entry(1))
    history.add(entry(1))
    assert ids(history.read()) == ["e1"]


def test_old_entries_go_and_so_do_those_beyond_the_limit(history: FeedbackHistory) -> None:
    history.add(entry(0, asked_at=NOW - KEPT_FOR_S - 1))
    assert history.read() == []
    for number in range(MOST_ENTRIES + 2):
        history.add(entry(number))
    assert len(history.read()) == MOST_ENTRIES
    assert ids(history.read())[-1] == "e2"


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
    os.utime(left, (NOW - KEPT_FOR_S - 1,) * 2)
    history.add(entry(2, "/second"))
    assert not left.exists()


@pytest.mark.expected_warnings("cannot be read; it was kept as")
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
    history.add(entry(2))


def test_what_cannot_even_be_set_aside_is_read_as_nothing(history: FeedbackHistory, tmp_path: Path) -> None:
    history.add(entry(1))
    (file,) = files(tmp_path)
    file.write_bytes(b"{")
    file.with_suffix(".broken").mkdir()
    assert history.read() == []
    assert file.read_bytes() == b"{"


def test_a_path_of_any_characters_has_a_file(history: FeedbackHistory) -> None:
    for number, path in enumerate(["/a/../b", "/\ud800", "/x" * 5000, "/專案"]):
        history.add(entry(number, path) if "\ud800" not in path else entry(number, "/q"))
        assert isinstance(history.read(path), list)
    assert msgspec.json.encode(history.read("/專案"))
