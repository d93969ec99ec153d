from collections.abc import Callable
from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import START, LogFilter, LogLine, LogPage
from tooltray.servers.logs import log_files
from tooltray.servers.logs.log_files import Segment, read_place
from tooltray.servers.logs.log_lines import OUTPUT, SERVER_FORMAT, server_line
from tooltray.servers.logs.log_reader import LogReader, cannot_read, checked_place, is_wanted

BEGAN = 1_795_600_000.0
Read = Callable[..., LogPage]


def texts(page: LogPage) -> list[str]:
    return [line.text for line in page.lines]


def write(path: Path, lines: list[str], first: int = 0) -> Segment:
    path.write_text("".join(server_line(BEGAN + first + at, OUTPUT, line) for at, line in enumerate(lines)), encoding="utf-8")
    return Segment(path.name, path)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A log of two files, with the lines 0 to 9, one a second."""
    segments = [write(tmp_path / "1", [f"line {n}" for n in range(6)]), write(tmp_path / "2", [f"line {n}" for n in range(6, 10)], 6)]

    def page(*, before: str = "", after: str = "", limit: int = 3, turn_bytes: int = 10**9, **wanted: object) -> LogPage:
        reader = LogReader(segments, SERVER_FORMAT, LogFilter(**wanted), turn_bytes=turn_bytes)  # type: ignore[arg-type]
        return reader.newer(checked_place(after), limit) if after else reader.older(read_place(before), limit)

    return page


def test_the_newest_lines_come_first_and_older_ones_page_by_page_over_all_files(read: Read) -> None:
    pages = [read()]
    while pages[-1].before:
        pages.append(read(before=pages[-1].before))
    assert [texts(page) for page in pages] == [
        ["line 7", "line 8", "line 9"],
        ["line 4", "line 5", "line 6"],
        ["line 1", "line 2", "line 3"],
        ["line 0"],
    ]
    assert texts(read(after=pages[0].after)) == []


def test_a_log_is_read_forwards_from_its_start_and_from_any_line(read: Read) -> None:
    first = read(after=START, limit=4)
    assert texts(first) == ["line 0", "line 1", "line 2", "line 3"]
    second = read(after=first.after, limit=4)
    assert texts(second) == ["line 4", "line 5", "line 6", "line 7"]
    assert texts(read(after=second.lines[0].position, limit=1)) == ["line 4"]
    last = read(after=second.after, limit=4)
    assert (texts(last), last.is_partial) == (["line 8", "line 9"], False)


def test_a_text_is_found_in_whatever_case_and_pages_go_on_behind_it(read: Read) -> None:
    page = read(text="LINE 2")
    assert (texts(page), page.before, page.is_partial) == (["line 2"], "", False)
    assert texts(read(text="line", limit=2)) == ["line 8", "line 9"]
    assert texts(read(text="nowhere")) == []


def test_a_search_ends_after_so_many_bytes_and_goes_on_where_it_was(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "CHUNK_BYTES", 40)
    turns, before = 0, ""
    while True:
        page = read(text="line 1", before=before, turn_bytes=40)
        turns, before = turns + 1, page.before
        if page.lines:
            break
        assert page.is_partial
        assert 0 < page.searched_bytes <= page.total_bytes
    assert texts(page) == ["line 1"]
    assert turns > 5
    turns, after = 0, START
    while not (page := read(text="line 8", after=after, turn_bytes=40)).lines:
        turns, after = turns + 1, page.after
        assert page.is_partial
    assert turns > 5


def test_times_bound_what_is_read(read: Read) -> None:
    assert texts(read(until=BEGAN + 5)) == ["line 2", "line 3", "line 4"]
    assert texts(read(until=BEGAN + 5.5, limit=1)) == ["line 5"]
    assert texts(read(until=BEGAN)) == texts(read(until=BEGAN - 9)) == []
    assert texts(read(until=BEGAN + 99, limit=1)) == ["line 9"]
    page = read(since=BEGAN + 8)
    assert (texts(page), page.before) == (["line 8", "line 9"], "")
    assert texts(read(since=BEGAN + 3, until=BEGAN + 5)) == ["line 3", "line 4"]
    assert texts(read(after=START, since=BEGAN + 8)) == ["line 8", "line 9"]
    assert texts(read(after=START, until=BEGAN + 2)) == ["line 0", "line 1"]


@pytest.mark.parametrize(("at", "is_in"), [(0.0, True), (4.9, False), (5.0, True), (7.9, True), (8.0, False)])
def test_a_line_is_wanted_up_to_a_moment_and_without_a_time_always(at: float, is_in: bool) -> None:
    line = LogLine("", at, "x")
    assert is_wanted(line, LogFilter(since=5.0, until=8.0), "") is is_in
    assert is_wanted(line, LogFilter(), "")


def test_levels_bring_the_lines_that_belong_to_them(tmp_path: Path) -> None:
    lines = ["INFO up", "Traceback (most recent call last):", '  File "x"', "my.mod.Broken: no", "INFO on", "warning: hot", "DEBUG x"]
    segments = [write(tmp_path / "1", lines)]

    def of(*levels: str) -> list[str]:
        return texts(LogReader(segments, SERVER_FORMAT, LogFilter(levels=levels)).older(None, 99))

    assert of("error") == lines[1:4]
    assert of("warning", "debug") == lines[5:]
    assert of("info", "error") == lines[:5]
    page = LogReader(segments, SERVER_FORMAT, LogFilter(levels=("error",))).newer(checked_place(START), 99)
    assert texts(page) == lines[1:4]


def test_a_page_is_bounded_in_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.servers.logs.log_reader.MAX_PAGE_BYTES", 10)
    segments = [write(tmp_path / "1", ["x" * 8] * 9)]
    page = LogReader(segments, SERVER_FORMAT, LogFilter()).older(None, 99)
    assert (len(page.lines), bool(page.before), page.is_partial) == (2, True, True)


def test_what_is_no_line_is_left_out_and_text_of_other_scripts_is_found(tmp_path: Path) -> None:
    (tmp_path / "1").write_text(f"\n{server_line(BEGAN, OUTPUT, '資料庫 ÄRGER')}\n", encoding="utf-8")
    segments = [Segment("1", tmp_path / "1")]
    assert texts(LogReader(segments, SERVER_FORMAT, LogFilter()).older(None, 9)) == ["資料庫 ÄRGER"]
    assert texts(LogReader(segments, SERVER_FORMAT, LogFilter()).newer(checked_place(START), 9)) == ["資料庫 ÄRGER"]
    assert texts(LogReader(segments, SERVER_FORMAT, LogFilter(text="ärger")).older(None, 9)) == ["資料庫 ÄRGER"]


def test_a_log_without_files_and_one_that_was_rotated_away_are_no_error(read: Read, tmp_path: Path) -> None:
    nothing = LogReader([], SERVER_FORMAT, LogFilter())
    assert nothing.older(None, 9) == LogPage()
    assert LogReader([], SERVER_FORMAT, LogFilter()).newer(checked_place("1:5"), 9) == LogPage(before="1:5", after="1:5")
    only = [write(tmp_path / "5", ["left"])]
    page = LogReader(only, SERVER_FORMAT, LogFilter()).newer(checked_place("1:5000"), 9)
    assert (texts(page), page.before, page.after) == (["left"], "5:0", f"5:{page.total_bytes}")
    assert LogReader(only, SERVER_FORMAT, LogFilter()).older(checked_place("1:5000"), 9).lines == ()


def test_a_line_counts_once_its_end_is_there(tmp_path: Path) -> None:
    segment = write(tmp_path / "1", ["whole"])
    with segment.path.open("ab") as file:
        file.write(server_line(BEGAN + 9, OUTPUT, "coming")[:-1].encode())
    page = LogReader([segment], SERVER_FORMAT, LogFilter()).older(None, 9)
    assert texts(page) == ["whole"]
    with segment.path.open("ab") as file:
        file.write(b"!\n")
    assert texts(LogReader([segment], SERVER_FORMAT, LogFilter()).newer(checked_place(page.after), 9)) == ["coming!"]


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(TooltrayError, match="Invalid position in the log"):
        checked_place("x" * 500)
    assert cannot_read(OSError()).message == "OSError"
