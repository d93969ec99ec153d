"""start_limits.py"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Record

from tooltray.foundation.errors import Problem
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.upstream.start_limits import (
    HELD_FOR_S,
    PLACES,
    SHOWN_TEXT,
    SILENT_LIMIT_S,
    TEXT_IN_ALL_S,
    TEXT_LIMIT_S,
    StartGate,
    StartLimits,
    StartWatch,
)


class Starting:
    """Servers that pass a gate and stay in it until they are let go."""

    def __init__(self, gate: StartGate) -> None:
        self._gate, self._keeper = gate, TaskKeeper()
        self.inside: Record[str] = Record()
        self.let_go: dict[str, asyncio.Event] = {}

    def begin(self, name: str) -> "asyncio.Task[None]":
        self.let_go[name] = asyncio.Event()
        return self._keeper.spawn(self._pass(name), name=name)

    async def _pass(self, name: str) -> None:
        async with self._gate.passage():
            self.inside.add(name)
            await self.let_go[name].wait()

    async def close(self) -> None:
        await self._keeper.close()


async def test_no_more_than_the_places_are_inside_at_once_and_a_place_is_taken_as_it_gets_free() -> None:
    starting = Starting(StartGate(places=2))
    for name in "abc":
        starting.begin(name)
    await starting.inside.wait(count=2)
    await asyncio.sleep(0)
    assert starting.inside.all == ["a", "b"]
    starting.let_go["a"].set()
    await starting.inside.wait(lambda name: name == "c")
    await starting.close()


async def test_a_place_that_is_held_for_long_is_given_to_the_next_and_only_once() -> None:
    starting = Starting(StartGate(places=1, held_for_s=0.3))
    slow, quick = starting.begin("slow"), starting.begin("quick")
    await starting.inside.wait(lambda name: name == "quick")
    assert not slow.done()
    for name, passing in (("slow", slow), ("quick", quick)):
        starting.let_go[name].set()
        await passing
    starting.begin("x")
    starting.begin("y")
    for _ in range(10):
        await asyncio.sleep(0)
    assert starting.inside.all == ["slow", "quick", "x"]
    await starting.close()


async def test_who_gives_up_inside_or_in_front_of_the_gate_leaves_its_place() -> None:
    starting = Starting(StartGate(places=1))
    inside, waiting = starting.begin("a"), starting.begin("b")
    await starting.inside.wait()
    waiting.cancel()
    inside.cancel()
    starting.begin("c")
    await starting.inside.wait(lambda name: name == "c")
    assert starting.inside.all == ["a", "c"]
    await starting.close()


def test_a_hub_starts_several_servers_at_once_and_waits_for_none_for_long() -> None:
    assert PLACES == 8
    assert HELD_FOR_S == 3.0


HALF_A_SECOND = 0.5
STEPS_S = 1.0  # the watch looks this often, and is at most so much late


@dataclass
class Written:
    """What a process writes, as a test says."""

    last_at: float = 0.0
    text: str = ""
    text_since: float = 0.0
    last_line: str = ""
    url: str = ""
    log: str = ""

    async def launcher_log(self) -> str:
        return self.log

    def prints(self, text: str) -> None:
        self.last_at = asyncio.get_running_loop().time()
        self.text_since, self.text = self.text_since or self.last_at, text

    def writes(self, line: str) -> None:
        self.last_at, self.last_line = asyncio.get_running_loop().time(), line


@dataclass
class Opening:
    output: Any = field(default_factory=Written)
    has_spoken: bool = False


class Watched:
    """A watch over an opening connection."""

    def __init__(self, *, downloads: bool = False, **fields: Any) -> None:
        self.opening = Opening(**fields)
        self.progress: list[str] = []
        self.watch = StartWatch(name="s", watched=self.opening, limits=StartLimits(), downloads=downloads, on_progress=self.progress.append)

    async def given_up_after(self, *, most_s: float = 290.0) -> float | None:
        """After how many seconds; None: it is still waited for after `most_s`."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        task: asyncio.Task[None] | None = None
        try:
            async with asyncio.timeout(None) as limit:
                task = asyncio.ensure_future(self.watch.run(limit))
                await asyncio.sleep(most_s)
        except TimeoutError:
            return loop.time() - began
        finally:
            if task:
                task.cancel()
        return None

    @property
    def verdict(self) -> Problem:
        assert self.watch.verdict is not None
        return self.watch.verdict


def after(seconds: float, do: Any, *args: Any) -> None:
    asyncio.get_running_loop().call_later(seconds, do, *args)


@in_fake_time
async def test_text_and_no_message_is_a_failure_half_a_minute_after_its_last_line() -> None:
    watched = Watched()
    watched.opening.output.url = "http://localhost:8000/mcp"
    for seconds in (1.5, 6.5):
        after(seconds, watched.opening.output.prints, "Welcome! Visit http://localhost:8000/mcp")
    assert await watched.given_up_after() == pytest.approx(6.5 + TEXT_LIMIT_S, abs=STEPS_S)
    assert watched.verdict.title == "'s' prints text where the protocol is expected: 'Welcome! Visit http://localhost:8000/mcp'"
    assert watched.verdict.hint == "If it serves MCP over HTTP, add it by its address: http://localhost:8000/mcp"


@in_fake_time
async def test_a_program_that_prints_on_and_on_is_no_server_either() -> None:
    watched = Watched()
    for at in range(300):
        after(at + HALF_A_SECOND, watched.opening.output.prints, "x" * 1000)
    assert await watched.given_up_after() == pytest.approx(TEXT_IN_ALL_S, abs=2 * STEPS_S)
    assert watched.verdict.title.endswith(f": '{'x' * SHOWN_TEXT}'")
    assert "Check its arguments" in watched.verdict.hint


@in_fake_time
async def test_a_download_that_tells_its_progress_on_stdout_goes_on() -> None:
    watched = Watched(downloads=True)
    for at in range(0, 200, 20):
        after(at + HALF_A_SECOND, watched.opening.output.prints, "Progress: resolved 1")
    assert await watched.given_up_after() == pytest.approx(180.5 + TEXT_LIMIT_S, abs=STEPS_S)


@in_fake_time
async def test_a_program_that_downloads_nothing_and_says_nothing_is_given_up() -> None:
    watched = Watched()
    assert await watched.given_up_after() == pytest.approx(SILENT_LIMIT_S, abs=STEPS_S)
    assert watched.verdict == Problem(
        "'s' does not answer", "No answer for 60 s", "It may not be an MCP server, or may need other arguments."
    )


@in_fake_time
async def test_a_program_that_still_writes_what_it_does_is_waited_for() -> None:
    watched = Watched()
    for at in (20, 70, 100):
        after(at + HALF_A_SECOND, watched.opening.output.writes, "loading the model")
    assert await watched.given_up_after() == pytest.approx(100.5 + SILENT_LIMIT_S, abs=STEPS_S)
    assert watched.verdict.message == "No answer for 60 s; it last wrote: loading the model"


@in_fake_time
async def test_a_server_elsewhere_that_takes_the_connection_and_never_answers_is_given_up() -> None:
    watched = Watched(output=None)
    assert await watched.given_up_after() == pytest.approx(SILENT_LIMIT_S, abs=STEPS_S)
    assert watched.verdict == Problem("'s' does not answer", "No answer for 60 s", "Check its URL.")


@in_fake_time
async def test_a_silent_download_has_its_five_minutes() -> None:
    watched = Watched(downloads=True)
    assert await watched.given_up_after() is None


@in_fake_time
async def test_a_server_that_has_sent_a_message_is_waited_for_whatever_it_prints_besides() -> None:
    watched = Watched(has_spoken=True)
    after(HALF_A_SECOND, watched.opening.output.prints, "Welcome!")
    assert await watched.given_up_after() is None


@in_fake_time
async def test_what_a_download_writes_is_its_progress_and_each_step_is_told_once() -> None:
    watched = Watched(downloads=True)
    for at, line in enumerate(["", "Downloading numpy", "Downloading numpy", "Installed 30 packages"]):
        after(3 * at + HALF_A_SECOND, watched.opening.output.writes, line)
    await watched.given_up_after(most_s=20)
    assert watched.progress == ["Downloading numpy", "Installed 30 packages"]


@in_fake_time
async def test_a_launcher_that_tells_how_far_it_is_is_not_told_by_its_log() -> None:
    watched = Watched(downloads=True)
    watched.opening.output.log, watched.opening.output.last_line = "/home/me/.npm/_logs/x.log", "Downloading numpy"
    await watched.given_up_after(most_s=20)
    assert watched.progress == ["Downloading numpy"]


@in_fake_time
async def test_what_npm_fetches_is_told_in_words() -> None:
    watched = Watched(downloads=True)
    watched.opening.output.last_line = "npm http fetch GET http://127.0.0.1:9/ajv attempt 2 failed with ECONNREFUSED"
    await watched.given_up_after(most_s=20)
    assert watched.progress == ["npm cannot reach 127.0.0.1:9 (ECONNREFUSED), attempt 2"]


@pytest.mark.parametrize("line", ["", "npm warn deprecated a@1"])
def test_a_launcher_that_prints_nothing_of_its_download_is_told_by_its_own_log(line: str) -> None:
    @in_fake_time
    async def told() -> None:
        watched = Watched(downloads=True)
        watched.opening.output.log, watched.opening.output.last_line = "/home/me/.npm/_logs/x.log", line
        await watched.given_up_after(most_s=20)
        assert watched.progress == ["No output yet. Its own log: /home/me/.npm/_logs/x.log"]

    told()


@in_fake_time
async def test_of_what_downloads_nothing_no_progress_is_told() -> None:
    watched = Watched()
    watched.opening.output.writes("listening")
    await watched.given_up_after(most_s=20)
    assert watched.progress == []
