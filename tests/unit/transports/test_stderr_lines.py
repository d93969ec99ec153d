"""What a server writes to stderr, no faster than anybody could read it."""

import asyncio

from tests.fakes.fake_clock import in_fake_time

from tooltray.transports.stderr_lines import BYTES_PER_S, LAST_LINES, LINE_BYTES, LINES_PER_S, StderrLines


class Pipe:
    def __init__(self) -> None:
        self.kept: list[bytes] = []
        self.told: list[str] = []
        self.lines = StderrLines(self.kept.append, pause=lambda: self.told.append("pause"), resume=lambda: self.told.append("resume"))


@in_fake_time
async def test_lines_are_kept_as_they_come_also_in_pieces() -> None:
    pipe = Pipe()
    pipe.lines.feed(b"one\ntw")
    pipe.lines.feed(b"o\nthree")
    assert pipe.kept == [b"one", b"two"]
    pipe.lines.finish()
    pipe.lines.finish()
    assert pipe.kept == [b"one", b"two", b"three"]


@in_fake_time
async def test_of_a_flood_the_first_and_the_last_lines_of_each_second_are_kept_and_the_rest_is_counted() -> None:
    pipe = Pipe()
    pipe.lines.feed(b"".join(b"%d\n" % number for number in range(1000)))
    assert pipe.kept == [b"%d" % number for number in range(LINES_PER_S)]
    await asyncio.sleep(1.1)
    told, *last = pipe.kept[LINES_PER_S:]
    assert told == b"(%d lines left out: the server writes more than %d in a second)" % (1000 - LINES_PER_S - LAST_LINES, LINES_PER_S)
    assert last == [b"%d" % number for number in range(1000 - LAST_LINES, 1000)]
    pipe.lines.feed(b"calm again\n")
    assert pipe.kept[-1] == b"calm again"
    assert pipe.told == []
    pipe.lines.finish()


@in_fake_time
async def test_a_flood_is_not_read_until_its_second_is_over() -> None:
    pipe = Pipe()
    pipe.lines.feed(b"x" * (BYTES_PER_S + 1))
    pipe.lines.feed(b"x")
    assert pipe.told == ["pause"]
    await asyncio.sleep(1.1)
    assert pipe.told == ["pause", "resume"]
    pipe.lines.feed(b"\n")
    assert [len(line) for line in pipe.kept] == [LINE_BYTES]
    pipe.lines.finish()


@in_fake_time
async def test_when_the_process_has_ended_its_last_words_are_read_at_once() -> None:
    pipe = Pipe()
    pipe.lines.feed(b"x\n" * BYTES_PER_S)
    pipe.lines.read_on()
    assert pipe.told == ["pause", "resume"]
    pipe.lines.feed(b"why it ended")
    pipe.lines.finish()
    assert pipe.kept[-1] == b"why it ended"
