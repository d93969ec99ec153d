"""What is said once is said once, also by the next start; what cannot be kept is said again."""

from pathlib import Path

import pytest

from tooltray.foundation.home.one_time_notices import OneTimeNotices


def test_it_is_said_once_also_after_a_restart(tmp_path: Path) -> None:
    said = OneTimeNotices(tmp_path / "told.json")
    assert [said.is_first("closed"), said.is_first("closed"), said.is_first("other")] == [True, False, True]
    again = OneTimeNotices(tmp_path / "told.json")
    assert [again.is_first("closed"), again.is_first("other"), again.is_first("new")] == [False, False, True]


@pytest.mark.parametrize("content", [b"{", b"{}", b"[1, null]", b"[" * 100_000, b"\xff"])
def test_a_file_that_means_nothing_is_written_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "told.json"
    path.write_bytes(content)
    assert OneTimeNotices(path).is_first("closed")
    assert not OneTimeNotices(path).is_first("closed")


def test_what_cannot_be_written_is_said_again_by_the_next_start_only(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    path.mkdir()
    said = OneTimeNotices(path)
    assert [said.is_first("closed"), said.is_first("closed")] == [True, False]
    assert OneTimeNotices(path).is_first("closed")
