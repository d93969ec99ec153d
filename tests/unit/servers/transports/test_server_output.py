"""server_output.py: what a process writes besides messages."""

import asyncio

from tests.fakes.fake_clock import in_fake_time

from tooltray.servers.transports.server_output import (
    BYTES_PER_S,
    LAST_LINES,
    LINE_BYTES,
    LINES_PER_S,
    LOG_LINES,
    SEPARATOR,
    ServerOutput,
    StderrLines,
    begin_attempt,
    last_attempt,
    new_log,
)


async def test_both_kinds_go_into_the_log_cut_masked_and_told_apart() -> None:
    log = new_log()
    output = ServerOutput(log=log, mask=lambda text: text.replace("hunter2", "***"))
    output.wrote(b"key=hunter2 \r")
    output.printed(bytearray(b"Welcome, hunter2"))
    output.printed(b"x" * 5000)
    output.wrote(b"  ")
    assert list(log) == ["key=***", "stdout: Welcome, ***", f"stdout: {'x' * LINE_BYTES}"]
    assert (output.last_line, output.text) == ("key=***", "x" * LINE_BYTES)


async def test_what_npm_fetches_is_progress_and_what_it_tries_again_is_kept() -> None:
    log = new_log()
    output = ServerOutput(log=log, mask=str)
    output.wrote(b"npm http fetch GET 200 http://127.0.0.1:4873/ajv 31ms (cache miss)")
    output.wrote(b"npm http fetch GET http://127.0.0.1:4873/ajv attempt 1 failed with ECONNREFUSED")
    assert list(log) == [output.last_line] == ["npm http fetch GET http://127.0.0.1:4873/ajv attempt 1 failed with ECONNREFUSED"]
    assert (output.words, output.url) == ("", "")
    assert output.last_at > 0


async def test_it_knows_when_something_came_last_and_text_came_first() -> None:
    output, loop = ServerOutput(log=new_log(), mask=str), asyncio.get_running_loop()
    assert (output.last_at, output.text_since, output.words, output.lines) == (0.0, 0.0, "", [])
    before = loop.time()
    output.printed(b"first")
    first = output.text_since
    output.printed(b"second")
    assert before <= first == output.text_since <= output.last_at <= loop.time()


@in_fake_time
async def test_of_a_flood_of_text_on_stdout_the_first_lines_of_each_second_are_kept() -> None:
    log = new_log()
    output = ServerOutput(log=log, mask=str)
    for _ in range(LINES_PER_S):
        output.printed(b"y")
    assert output.left_out == 0
    await asyncio.sleep(0.9)
    output.printed(b"more")
    assert (output.left_out, output.last_at) == (1, asyncio.get_running_loop().time())
    assert list(log) == ["stdout: y"] * LINES_PER_S
    await asyncio.sleep(0.2)
    output.printed(b"calm again")
    assert output.left_out == 1
    assert log[-1] == "stdout: calm again"


async def test_stderr_says_more_of_an_end_than_text_on_stdout_but_that_more_than_nothing() -> None:
    output = ServerOutput(log=new_log(), mask=str)
    output.printed(b"Welcome")
    assert output.words == "Welcome"
    output.wrote(b"boom")
    assert (output.words, output.lines) == ("boom", ["boom"])


async def test_an_address_of_this_machine_that_it_names_is_kept() -> None:
    output = ServerOutput(log=new_log(), mask=str)
    output.wrote(b"docs: https://example.com/docs")
    assert output.url == ""
    output.wrote(b"INFO: Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)")
    assert output.url == "http://127.0.0.1:8000"


async def test_the_launchers_own_log_is_looked_for_when_somebody_asks_and_noted_once() -> None:
    log, paths = new_log(), iter(["", "/x.log", "/x.log"])
    output = ServerOutput(log=log, mask=str, launcher_log=lambda: next(paths))
    assert [await output.launcher_log() for _ in range(3)] == ["", "/x.log", "/x.log"]
    assert list(log) == ["its launcher's own log: /x.log"]


def test_a_log_is_bounded() -> None:
    log = new_log()
    log.extend(map(str, range(LOG_LINES + 5)))
    assert (len(log), log[0]) == (LOG_LINES, "5")


def test_attempts_are_separated_and_the_last_ones_words_are_told_apart() -> None:
    log = new_log()
    begin_attempt(log)
    assert list(log) == []
    log.append("first")
    begin_attempt(log, 0.0)
    log.append("second")
    assert [line.startswith(SEPARATOR) for line in log] == [False, True, False]
    assert last_attempt(log) == ["second"]


def test_an_attempt_that_wrote_nothing_leaves_the_words_of_the_one_before() -> None:
    log = new_log()
    log.append("first")
    begin_attempt(log)
    begin_attempt(log)
    assert len(log) == 2
    assert last_attempt(log) == ["first"]
    assert last_attempt([]) == []


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
    pipe.lines.feed(b"x" * BYTES_PER_S)
    assert pipe.told == []
    for _ in range(2):
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
    assert pipe.told == ["pause", "resume"]
