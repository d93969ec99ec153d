from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.snapshots.logs import START
from tooltray.servers.logs import log_segments
from tooltray.servers.logs.log_segments import Found, Passed, Place, end_of_lines, find_time, lines_before, lines_from, read_place, size_of


def found(lines: object) -> list[tuple[int, int, bytes]]:
    return [(each.start, each.end, each.line) for each in lines if isinstance(each, Found)]  # type: ignore[attr-defined]


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b".")), max_size=12),
    rest=st.sampled_from([b"", b"half"]),
    chunk=st.sampled_from([3, 7, 16, 64]),
    longest=st.sampled_from([5, 20, 1000]),
)
def test_lines_are_the_same_backwards_and_forwards_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rest: bytes, chunk: int, longest: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "a.log"
    path.write_bytes(b"".join(line + b"\n" for line in lines) + rest)
    expected, at = [], 0
    for line in lines:
        if line:
            expected.append((at, at + len(line) + 1, line[:longest]))
        at += len(line) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_segments, "CHUNK_BYTES", chunk)
        patch.setattr(log_segments, "MAX_LINE_BYTES", longest)
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
        assert [(len(each.line), each.is_cut) for each in lines] == [(5, False), (log_segments.MAX_LINE_BYTES, True), (4, False)]
        assert {each.line[:1] for each in lines} == {b"f", b"x", b"l"}


def test_a_piece_in_which_nothing_can_be_wanted_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\n")
    assert found(lines_before(path, 8, lambda piece: True)) == found(lines_from(path, 0, lambda piece: True)) == []
    assert found(lines_before(path, 8, lambda piece: b"two" not in piece)) == [(4, 8, b"two"), (0, 4, b"one")]


def test_a_file_that_was_truncated_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"new\n")
    assert found(lines_from(path, 5000)) == found(lines_before(path, 5000)) == [(0, 4, b"new")]


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
        patch.setattr(log_segments, "CHUNK_BYTES", chunk)
        assert find_time(path, at, seconds) == (sum(map(len, earlier)) if is_there else size_of(path))


def test_a_place_is_a_key_and_an_offset() -> None:
    assert read_place(str(Place("2026-11-25.000001", 12))) == Place("2026-11-25.000001", 12)
    assert read_place(START) == Place("", 0)
    assert [read_place(text) for text in ("", "a", "a:b", ":5", "a:-1", "a:" + "9" * 30)] == [None] * 6


def test_a_file_that_is_gone_has_no_bytes(tmp_path: Path) -> None:
    assert size_of(tmp_path / "gone") == 0
