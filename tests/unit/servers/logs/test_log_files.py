"""Files of logs, and the lines in them."""

import os
import stat
import sys
from pathlib import Path

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tooltray.foundation.snapshots.activity import START
from tooltray.servers.logs import log_files
from tooltray.servers.logs.log_files import (
    Found,
    Passed,
    Place,
    ServerLogFiles,
    end_of_lines,
    file_stem,
    find_time,
    lines_before,
    lines_from,
    read_place,
    size_of,
)

DAY_S = 86400.0
NOW = 1_795_600_000.0


def found(lines: object) -> list[tuple[int, int, bytes, bool]]:
    return [(each.start, each.end, each.line, each.is_cut) for each in lines if isinstance(each, Found)]  # type: ignore[attr-defined]


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b".")), max_size=12),
    rest=st.sampled_from([b"", b"half"]),
    chunk=st.sampled_from([3, 7, 16, 64]),
    longest=st.sampled_from([5, 20, 1000]),
)
@example(lines=[b"", b"12345"], rest=b"", chunk=3, longest=5)
def test_lines_are_the_same_backwards_and_forwards_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rest: bytes, chunk: int, longest: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.log"
    path.write_bytes(b"".join(line + b"\n" for line in lines) + rest)
    expected, at = [], 0
    for line in lines:
        if line:
            expected.append((at, at + len(line) + 1, line[:longest], len(line) > longest))
        at += len(line) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_files, "CHUNK_BYTES", chunk)
        patch.setattr(log_files, "MAX_LINE_BYTES", longest)
        assert end_of_lines(path) == at
        assert [each for each in found(lines_before(path, at)) if each[2]] == expected[::-1]
        assert [each for each in found(lines_from(path, 0)) if each[2]] == expected
        assert sum(each.size for each in lines_before(path, at) if isinstance(each, Passed)) == at


def test_a_line_of_ten_megabytes_is_cut_and_the_others_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"first\n" + b"x" * 10 * 2**20 + b"\nlast\n")
    backwards = [each for each in lines_before(path, size_of(path)) if isinstance(each, Found)]
    forwards = [each for each in lines_from(path, 0) if isinstance(each, Found)]
    for lines in (backwards[::-1], forwards):
        assert [(len(each.line), each.is_cut) for each in lines] == [(5, False), (log_files.MAX_LINE_BYTES, True), (4, False)]
        assert {each.line[:1] for each in lines} == {b"f", b"x", b"l"}


def test_a_piece_in_which_nothing_can_be_wanted_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\n")
    assert found(lines_before(path, 8, lambda piece: True)) == found(lines_from(path, 0, lambda piece: True)) == []
    assert found(lines_before(path, 8, lambda piece: b"two" not in piece)) == [(4, 8, b"two", False), (0, 4, b"one", False)]


def test_a_file_that_was_truncated_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"new\n")
    assert found(lines_from(path, 5000)) == found(lines_before(path, 5000)) == [(0, 4, b"new", False)]


def seconds(line: bytes) -> float:
    return float(line.split()[0]) if line[:1].isdigit() else 0.0


@given(times=st.lists(st.integers(1, 60), max_size=30).map(sorted), at=st.integers(0, 62), chunk=st.sampled_from([8, 64]))
def test_a_time_is_found_where_its_first_line_begins(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], at: int, chunk: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.log"
    lines = [b"%d text\nno time\n" % time for time in times]
    path.write_bytes(b"".join(lines))
    earlier = [line for line, time in zip(lines, times, strict=True) if time < at]
    is_there = len(earlier) < len(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_files, "CHUNK_BYTES", chunk)
        assert find_time(path, at, seconds) == (sum(map(len, earlier)) if is_there else size_of(path))


def test_a_place_is_a_key_and_an_offset() -> None:
    assert read_place(str(Place("2026-11-25.000001", 12))) == Place("2026-11-25.000001", 12)
    assert read_place(START) == Place("", 0)
    assert [read_place(text) for text in ("", "a", "a:b", ":5", "a:-1", "a:" + "9" * 30)] == [None] * 6


def test_a_file_that_is_gone_has_no_bytes(tmp_path: Path) -> None:
    assert size_of(tmp_path / "gone") == 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_lines_of_a_server_go_to_its_own_file_for_this_user_alone(tmp_path: Path) -> None:
    files = ServerLogFiles(tmp_path / "servers")
    files.append("files", b"one\n")
    files.append("files", b"two\n")
    files.append("檔案", b"other\n")
    [segment] = files.segments("files")
    assert (segment.key, segment.path.read_bytes()) == ("000001", b"one\ntwo\n")
    if sys.platform != "win32":
        assert stat.S_IMODE(segment.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(segment.path.parent.stat().st_mode) == 0o700


def test_every_name_makes_a_file_name_of_its_own() -> None:
    odd = ["a/b", "a\\b", "a b", "..", "", "CON", "x" * 300, "x" * 299, "🎉\u202e", "half \ud800"]
    stems = {file_stem(name) for name in odd}
    assert len(stems) == len(odd)
    assert all(stem.replace("-", "").replace("_", "").isalnum() and len(stem) < 60 for stem in stems)


def test_a_full_file_has_a_successor_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "MAX_FILE_BYTES", 10)
    files = ServerLogFiles(tmp_path)
    for number in range(4):
        files.append("s", b"line %d of it\n" % number)
    assert [segment.path.read_bytes() for segment in files.segments("s")] == [b"line 2 of it\n", b"line 3 of it\n"]
    assert [segment.key for segment in files.segments("s")] == ["000003", "000004"]


def test_a_cut_line_is_not_gone_on_with(tmp_path: Path) -> None:
    files = ServerLogFiles(tmp_path)
    files.append("s", b"half")
    open_files = psutil.Process().num_fds() if sys.platform != "win32" else 0
    files.append("s", b"whole\n")
    assert sys.platform == "win32" or psutil.Process().num_fds() == open_files
    assert files.segments("s")[0].path.read_bytes() == b"half\nwhole\n"


def test_old_files_go_and_the_oldest_beyond_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "MAX_TOTAL_BYTES", 25)
    files = ServerLogFiles(tmp_path, clock=lambda: NOW)
    for days, server in ((0, "new"), (1, "yesterday"), (2, "too much")):
        files.append(server, b"0123456789\n")
        os.utime(files.segments(server)[0].path, (NOW - days * DAY_S,) * 2)
    (tmp_path / "notes.txt").write_text("somebody's own")
    files.remove_old()
    assert [len(files.segments(server)) for server in ("new", "yesterday", "too much")] == [1, 1, 0]
    assert "notes.txt" in names(tmp_path)


def test_days_without_a_line_make_nothing_old_and_a_clock_that_jumps_removes_nothing(tmp_path: Path) -> None:
    files = ServerLogFiles(tmp_path, clock=lambda: NOW + 1000 * DAY_S)
    files.append("s", b"long ago\n")
    os.utime(files.segments("s")[0].path, (NOW,) * 2)
    files.remove_old()
    assert files.segments("s")
    for day in range(20):
        files.append(f"s{day}", b"x\n")
        os.utime(files.segments(f"s{day}")[0].path, (NOW + (day + 1) * DAY_S,) * 2)
    files.remove_old()
    assert not files.segments("s")


def test_without_a_folder_there_are_no_files(tmp_path: Path) -> None:
    assert ServerLogFiles(tmp_path / "none").segments("s") == []
