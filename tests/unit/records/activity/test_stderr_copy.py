"""stderr_copy.py"""

import os

import pytest
from tests.unit.records.activity.log_reading import WAIT_S, pipe, stderr_led_to

from tooltray.records.activity.stderr_copy import MAX_WAITING_BYTES, StderrCopy

PIPE_BYTES = 65_536  # of Linux


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
