"""file_history.py"""

import logging
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.files import file_history
from tooltray.foundation.files.file_history import MOST_BYTES, VERSIONS, FileHistory


@pytest.fixture
def history(tmp_path: Path) -> FileHistory:
    return FileHistory(tmp_path / "history", clean=lambda content: content.replace(b"key", b"..."))


FILE, OTHER = Path("/one/settings.json"), Path("/other/settings.json")


def kept(history: FileHistory, path: Path = FILE) -> list[bytes]:
    return [each.read_bytes() for each in history.versions(path)]


def test_versions_around_the_end_of_a_second_stay_in_order(tmp_path: Path) -> None:
    moments = iter([1_999_999_999, 2_000_000_000, 2_000_000_001])
    history = FileHistory(tmp_path / "history", clean=lambda content: content, clock=lambda: next(moments))
    for content in (b"a", b"b", b"c"):
        history.keep(FILE, content)
    assert kept(history) == [b"a", b"b", b"c"]


def test_the_last_versions_of_each_file_are_kept_for_the_person_alone(history: FileHistory, tmp_path: Path) -> None:
    assert kept(history) == []
    for number in range(VERSIONS + 3):
        history.keep(FILE, b"%d" % number)
    history.keep(OTHER, b"other")
    assert kept(history) == [b"%d" % number for number in range(3, VERSIONS + 3)]
    assert kept(history, OTHER) == [b"other"]
    assert has_mode(tmp_path / "history", 0o700)
    assert all(has_mode(each, 0o600) for each in history.versions(FILE))


def test_the_same_content_is_kept_once_and_secrets_are_not(history: FileHistory) -> None:
    history.keep(FILE, b"a key")
    history.keep(FILE, b"a key")
    assert kept(history) == [b"a ..."]


def test_what_is_too_large_or_not_understood_is_not_kept(tmp_path: Path, history: FileHistory) -> None:
    history.keep(FILE, b"x" * (MOST_BYTES + 1))
    FileHistory(tmp_path / "history", clean=lambda _: None).keep(FILE, b"x")
    assert kept(history) == []


def test_of_all_files_together_the_oldest_versions_go_first(history: FileHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_history, "MOST_FILES", 2)
    for path in (OTHER, FILE, Path("/a")):
        history.keep(path, b"x")
    assert (kept(history, OTHER), kept(history), kept(history, Path("/a"))) == ([], [b"x"], [b"x"])


def test_a_disk_that_takes_nothing_stops_no_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "history").write_text("in the way")
    with caplog.at_level(logging.INFO):
        FileHistory(tmp_path / "history", clean=lambda content: content).keep(FILE, b"x")
    assert "is not kept" in caplog.text
