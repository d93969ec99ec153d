"""log_files.py"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode
from tests.unit.records.log.log_reading import DAY_S, NOON, WAIT_S, pipe, stderr_led_to

from tooltray.records.log import log_files
from tooltray.records.log.log_files import KEPT_DAYS, MAX_FILE_BYTES, MAX_WAITING_BYTES, LogFiles, StderrCopy

TODAY = "tooltray-2027-01-15.jsonl"
LINE = b'{"event":"happened"}\n'

PIPE_BYTES = 65_536  # of Linux


@pytest.fixture
def files(tmp_path: Path) -> Iterator[LogFiles]:
    files = LogFiles(tmp_path)
    yield files
    files.close()


def sparse(path: Path, size: int) -> Path:
    path.touch()
    os.truncate(path, size)
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def named(now: float) -> str:
    return f"tooltray-{time.strftime('%Y-%m-%d', time.gmtime(now))}.jsonl"


def test_each_day_in_utc_has_a_private_file_of_its_own(tmp_path: Path) -> None:
    files = LogFiles(tmp_path / "deep" / "logs")
    for now in (NOON, NOON + 1, NOON + DAY_S / 2, NOON + DAY_S):
        assert files.append(LINE, now) == len(LINE)
    files.close()
    folder = tmp_path / "deep" / "logs"
    assert names_in(folder) == [TODAY, "tooltray-2027-01-16.jsonl"]
    assert [path.read_bytes() for path in sorted(folder.iterdir())] == [LINE * 2, LINE * 2]
    assert has_mode(folder, 0o700)
    assert has_mode(folder / TODAY, 0o600)


def test_a_later_run_of_the_day_goes_on_in_the_same_file(tmp_path: Path, files: LogFiles) -> None:
    files.append(LINE, NOON)
    files.close()
    files.append(LINE, NOON)
    assert (tmp_path / TODAY).read_bytes() == LINE * 2


def test_a_busy_day_goes_on_in_a_second_and_third_file(tmp_path: Path, files: LogFiles) -> None:
    sparse(tmp_path / TODAY, MAX_FILE_BYTES - 1)
    files.append(LINE, NOON)
    files.append(LINE, NOON)
    assert (tmp_path / "tooltray-2027-01-15-2.jsonl").read_bytes() == LINE
    sparse(tmp_path / "tooltray-2027-01-15-2.jsonl", MAX_FILE_BYTES)
    files.append(LINE, NOON)
    assert (tmp_path / "tooltray-2027-01-15-3.jsonl").read_bytes() == LINE


def test_the_tenth_file_of_a_day_is_newer_than_the_second(tmp_path: Path, files: LogFiles) -> None:
    for part in ("", "-2", "-10"):
        (tmp_path / f"tooltray-2027-01-15{part}.jsonl").touch()
    files.append(LINE, NOON)
    assert (tmp_path / "tooltray-2027-01-15-10.jsonl").read_bytes() == LINE


def test_a_line_that_a_killed_process_left_unfinished_is_ended_first(tmp_path: Path, files: LogFiles) -> None:
    (tmp_path / TODAY).write_bytes(LINE + b'{"event":"cut')
    files.append(LINE, NOON)
    assert (tmp_path / TODAY).read_bytes() == LINE + b'{"event":"cut\n' + LINE


def test_a_line_that_another_process_is_just_writing_is_left_to_it(
    tmp_path: Path, files: LogFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / TODAY
    path.write_bytes(b'{"event":')

    def the_other_goes_on(seconds: float) -> None:
        path.write_bytes(LINE)

    monkeypatch.setattr(log_files.time, "sleep", the_other_goes_on)
    files.append(LINE, NOON)
    assert path.read_bytes() == LINE + LINE


@pytest.mark.posix
def test_a_file_that_somebody_removed_is_made_again(tmp_path: Path, files: LogFiles) -> None:
    files.append(LINE, NOON)
    (tmp_path / TODAY).unlink()
    files.append(LINE, NOON)
    assert (tmp_path / TODAY).read_bytes() == LINE


def of_days(folder: Path, *days: int) -> list[str]:
    """Files of days before (or, below 0, after) the day of NOON; returns their names."""
    return [sparse(folder / named(NOON - day * DAY_S), 10).name for day in days]


def test_files_beyond_their_days_go_and_what_is_not_ours_stays(tmp_path: Path, files: LogFiles) -> None:
    kept = of_days(tmp_path, *range(1, KEPT_DAYS + 1))
    of_days(tmp_path, KEPT_DAYS + 1, KEPT_DAYS + 400)
    sparse(tmp_path / "tooltray-2026-12-24-7.jsonl", 10)
    foreign = [
        sparse(tmp_path / name, 10)
        for name in ("tooltray-2020-01-01.jsonl.gz", "other-2020-01-01.jsonl", "notes.txt", "tooltray-2020.jsonl")
    ]
    files.append(LINE, NOON)
    assert names_in(tmp_path) == sorted([TODAY, *kept, *(path.name for path in foreign)])


@pytest.mark.parametrize("years", [12, -26])
def test_a_clock_that_jumps_empties_no_log(tmp_path: Path, files: LogFiles, years: int) -> None:
    known = of_days(tmp_path, *range(1, KEPT_DAYS))
    files.append(LINE, NOON)
    elsewhere = NOON + years * 365 * DAY_S
    files.append(LINE, elsewhere)
    assert names_in(tmp_path) == sorted([TODAY, named(elsewhere), *known])
    files.append(LINE, NOON)  # it is put right again
    files.append(LINE, NOON + DAY_S)
    assert set(names_in(tmp_path)) >= {TODAY, *known}
    files.append(LINE, NOON + 2 * DAY_S)
    assert named(elsewhere) not in names_in(tmp_path) or years < 0  # of all days the one that never was goes first


def test_months_in_which_nothing_was_logged_cost_nothing(tmp_path: Path, files: LogFiles) -> None:
    kept = of_days(tmp_path, 400, 401)
    files.append(LINE, NOON)
    assert names_in(tmp_path) == sorted([TODAY, *kept])


def test_the_oldest_go_first_when_all_together_are_too_large(tmp_path: Path, files: LogFiles) -> None:
    days = [sparse(tmp_path / named(NOON - days * DAY_S), MAX_FILE_BYTES) for days in range(1, 7)]
    files.append(LINE, NOON)
    assert names_in(tmp_path) == sorted([TODAY, *(path.name for path in days[:4])])  # with room for today's, 100 MB


def test_old_files_also_go_while_a_log_runs_for_weeks(tmp_path: Path, files: LogFiles) -> None:
    for day in range(20):
        files.append(LINE, NOON + day * DAY_S)
    assert len(names_in(tmp_path)) == KEPT_DAYS + 1


def test_the_file_in_use_stays_however_large_all_are(tmp_path: Path, files: LogFiles) -> None:
    today = [sparse(tmp_path / f"tooltray-2027-01-15-{part}.jsonl", MAX_FILE_BYTES) for part in range(2, 8)]
    files.append(LINE, NOON)
    assert names_in(tmp_path) == sorted(["tooltray-2027-01-15-8.jsonl", *(path.name for path in today[-4:])])


def test_files_of_days_to_come_from_a_clock_once_wrong_do_not_cost_the_file_in_use(tmp_path: Path, files: LogFiles) -> None:
    for days in range(1, 6):
        sparse(tmp_path / named(NOON + days * DAY_S), MAX_FILE_BYTES)
    files.append(LINE, NOON)
    assert (tmp_path / TODAY).read_bytes() == LINE


def test_what_cannot_be_opened_writes_nothing_and_is_tried_again(tmp_path: Path) -> None:
    place = tmp_path / "logs"
    place.touch()
    files = LogFiles(place)
    assert files.append(LINE, NOON) == 0
    place.unlink()
    assert files.append(LINE, NOON) == len(LINE)
    files.close()
    files.close()


def read_to_end(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 2**16):
        parts.append(part)
    return b"".join(parts)


def test_pieces_arrive_whole_and_in_order_also_when_the_reader_is_slow() -> None:
    with pipe() as (reading, writing):
        with stderr_led_to(writing):
            copy = StderrCopy()
        os.close(writing)
        pieces = [b"%d " % number + b"x" * 5000 + b"\n" for number in range(100)]
        for piece in pieces:
            copy.write(piece)
        copy.close(0.0)
        assert read_to_end(reading) == b"".join(pieces)


@pytest.mark.posix
def test_a_stderr_that_was_made_non_blocking_gets_everything() -> None:
    with pipe() as (reading, writing):
        os.set_blocking(writing, False)
        with stderr_led_to(writing):
            copy = StderrCopy()
        os.close(writing)
        copy.write(b"x" * 500_000)
        assert not copy.flush(0.1)  # the pipe is full
        copy.close(0.0)
        assert read_to_end(reading) == b"x" * 500_000


def test_what_nobody_reads_is_bounded() -> None:
    with pipe() as (reading, writing):
        with stderr_led_to(writing):
            copy = StderrCopy()
        os.close(writing)
        for _ in range(3 * MAX_WAITING_BYTES // 10_000):
            copy.write(b"x" * 10_000)
        assert not copy.flush(0.01)
        copy.close(0.01)
        assert len(read_to_end(reading)) <= MAX_WAITING_BYTES + PIPE_BYTES + 10_000  # waiting, in the pipe, being written


def test_flush_waits_until_all_is_written() -> None:
    with pipe() as (reading, writing):
        with stderr_led_to(writing):
            copy = StderrCopy()
        os.close(writing)
        copy.write(b"all of it")
        assert copy.flush(WAIT_S)
        assert os.read(reading, 100) == b"all of it"
        copy.close(WAIT_S)
        copy.close(WAIT_S)
        copy.write(b"too late")
        assert read_to_end(reading) == b""


def test_a_reader_that_has_gone_ends_the_copying_alone() -> None:
    with pipe() as (reading, writing):
        with stderr_led_to(writing):
            copy = StderrCopy()
        os.close(writing)
        os.close(reading)
        for _ in range(3):
            copy.write(b"nobody reads this")
            assert copy.flush(WAIT_S)
        copy.close(WAIT_S)


def test_without_a_stderr_nothing_is_copied() -> None:
    with stderr_led_to(-1):
        copy = StderrCopy()
    copy.write(b"nowhere")
    assert copy.flush(WAIT_S)
    copy.close(WAIT_S)


def test_a_later_file_with_the_number_of_stderr_gets_nothing() -> None:
    with pipe() as (reading, writing), pipe() as (other_reading, other_writing):
        with stderr_led_to(writing):
            copy = StderrCopy()
        os.close(writing)
        with stderr_led_to(other_writing):
            copy.write(b"line\n")
            copy.close(WAIT_S)
        os.close(other_writing)
        assert read_to_end(reading) == b"line\n"
        assert read_to_end(other_reading) == b""
