"""One AI client on a pair of descriptors, whatever they are."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.fake_channel import line
from tests.fakes.heard import PATIENCE_S, Record

from tooltray.carriers.mcp import stdio_connection
from tooltray.carriers.mcp.stdio_connection import HIGH_WATER_BYTES
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, dump, success

MEGABYTE = dump("x" * 2**20)
THREADS = {"tooltray-stdin", "tooltray-stdout"}


class Session:
    """A dispatcher that answers with its parameters: `big` with a megabyte, `wait` when the test says so."""

    def __init__(self) -> None:
        self.begun: Record[Any] = Record()
        self.may_answer = asyncio.Event()
        self.dispatcher = RawDispatcher(
            name="client", deadlines=DeadlineWheel(), answer=self._answer, take_notification=lambda message: None, max_line_bytes=2**26
        )

    async def _answer(self, request: Envelope) -> Envelope:
        self.begun.add(json.loads(bytes(request.id)))
        if request.method == "big":
            return Envelope(result=MEGABYTE)
        if request.method == "wait":
            await self.may_answer.wait()
        return Envelope(result=request.params) if request.params else success({})


class Pipes:
    """The client's ends of two pipes, and ours."""

    def __init__(self) -> None:
        self.stdin, self.to_hub = os.pipe()
        self.from_hub, self.stdout = os.pipe()
        self._open = {self.stdin, self.to_hub, self.from_hub, self.stdout}

    def close(self, *ends: int) -> None:
        for end in self._open & set(ends or self._open):
            os.close(end)
            self._open.discard(end)

    async def send(self, data: bytes) -> None:
        await asyncio.to_thread(_write_all, self.to_hub, data)

    async def messages(self, count: int) -> list[dict[str, Any]]:
        """The next ones."""
        return await asyncio.to_thread(_read_messages, self.from_hub, count)

    async def rest(self) -> list[dict[str, Any]]:
        """What is left to be read when our side has been closed."""
        self.close(self.stdout)
        return await asyncio.to_thread(_read_messages, self.from_hub, None)


def _write_all(end: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(end, view) :]


def _read_messages(end: int, count: int | None) -> list[dict[str, Any]]:
    data = b""
    while (count is None or data.count(b"\n") < count) and (chunk := os.read(end, 65536)):
        data += chunk
    return [json.loads(each) for each in data.splitlines()]


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


class Serving:
    """Serves a session on descriptors. Use as a context manager; leaves when the client has left."""

    def __init__(self, stdin: int, stdout: int, **options: float) -> None:
        self.session = Session()
        self._stdin, self._stdout, self._options, self._keeper = stdin, stdout, options, TaskKeeper()

    async def __aenter__(self) -> "Serving":
        self._task = self._keeper.spawn(
            stdio_connection.serve(self.session.dispatcher, stdin=self._stdin, stdout=self._stdout, **self._options), name="serve"
        )
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error:
            self.session.dispatcher.connection_lost("the test has failed")
        await self.end()
        await self.session.dispatcher.close("gone")

    async def end(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait({self._task})
        self._task.result()


async def test_what_the_client_does_not_read_is_counted_until_it_reads(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        await pipes.send(line(id=1, method="big") + line(id=2, method="big"))
        async with asyncio.timeout(PATIENCE_S):
            await serving.session.begun.wait(count=2)
        await serving.session.dispatcher.idle()
        unsent = serving.session.dispatcher.unsent
        assert 2**20 < unsent.bytes < 3 * 2**20
        await pipes.messages(2)
        await pipes.send(line(id=3, method="m"))
        await pipes.messages(1)
        await asyncio.sleep(0)
        assert unsent.bytes == 0
        pipes.close(pipes.to_hub)


async def test_a_client_that_does_not_read_is_given_up_where_all_is_full(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout, grace_s=0.05) as serving:
        await pipes.send(line(id=1, method="big") + line(id=2, method="big"))
        async with asyncio.timeout(PATIENCE_S):
            await serving.session.begun.wait(count=2)
        await serving.session.dispatcher.idle()
        unsent = serving.session.dispatcher.unsent
        (give_up,) = unsent.ends
        give_up()
        assert unsent.bytes == 0
        assert serving.session.dispatcher.closed_because == "the AI client does not read"
        pipes.close(pipes.to_hub, pipes.from_hub)


async def test_requests_are_answered_until_the_client_closes_its_side(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        await pipes.send(line(id=1, method="m", params={"a": 1}) + line(id=2, method="m"))
        assert [reply["id"] for reply in await pipes.messages(2)] == [1, 2]
        await pipes.send(line(id=3, method="m"))
        assert await pipes.messages(1) == [{"jsonrpc": "2.0", "id": 3, "result": {}}]
        pipes.close(pipes.to_hub)
        await serving.end()
        assert serving.session.dispatcher.closed_because == "the AI client disconnected"


async def test_megabytes_pass_both_ways(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout):
        text = "x" * 5_000_000
        sending = TaskKeeper().spawn(pipes.send(line(id=1, method="m", params={"text": text}) + line(id=2, method="m")), name="send")
        first, second = await pipes.messages(2)
        await sending
        assert (first["result"]["text"] == text, second["id"]) == (True, 2)
        pipes.close(pipes.to_hub)


async def test_a_file_may_be_the_input(pipes: Pipes, tmp_path: Path) -> None:
    requests = tmp_path / "requests.jsonl"
    requests.write_bytes(line(id=1, method="m") + b"\n" + line(id=2, method="m")[:-1])
    with requests.open("rb") as stdin:
        async with Serving(stdin.fileno(), pipes.stdout):
            pass
    assert sorted(reply["id"] for reply in await pipes.rest()) == [1, 2]


@pytest.mark.parametrize(
    ("half", "id"), [(b'{"jsonrpc":"2.0","id":1,"method":"m","par', 1), (b'{"jsonrpc":"2.0","id":1', None), (b"\xff", None)]
)
async def test_half_a_line_at_the_end_is_answered_with_an_error(pipes: Pipes, half: bytes, id: int | None) -> None:
    async with Serving(pipes.stdin, pipes.stdout):
        await pipes.send(half)
        pipes.close(pipes.to_hub)
    (reply,) = await pipes.rest()
    assert (reply["id"], reply["error"]["code"]) == (id, -32700)


async def test_a_client_that_closes_its_side_behind_a_request_still_gets_the_answer(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        await pipes.send(line(id=1, method="wait"))
        pipes.close(pipes.to_hub)
        await serving.session.begun.wait()
        serving.session.may_answer.set()
    assert [reply["id"] for reply in await pipes.rest()] == [1]


async def test_a_client_that_does_not_read_is_not_read_from_and_gets_everything_later(pipes: Pipes) -> None:
    count = 4 * HIGH_WATER_BYTES // len(MEGABYTE)
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        await pipes.send(line(id=0, method="big") + line(id=1, method="big"))
        await serving.session.begun.wait(count=2)
        assert serving.session.dispatcher.is_congested
        more = b"".join(line(id=id, method="big", params={"filler": "x" * 2**20}) for id in range(2, count))
        sending = TaskKeeper().spawn(pipes.send(more), name="send")
        for _ in range(50):  # time enough for a reader that would not stop
            await asyncio.to_thread(lambda: None)
        assert not sending.done()
        assert serving.session.begun.all == [0, 1]
        assert [reply["id"] for reply in await pipes.messages(count)] == list(range(count))
        await sending
        assert not serving.session.dispatcher.is_congested
        pipes.close(pipes.to_hub)


async def test_a_client_that_never_reads_does_not_hold_up_the_end(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout, grace_s=0.05) as serving:
        await pipes.send(line(id=1, method="wait") + b"x\n" * 20_000)  # each gets an error, more than the pipe holds
        await serving.session.begun.wait()
        assert serving.session.dispatcher.is_congested
        await serving.session.dispatcher.close("Tooltray has ended")
    pipes.close(pipes.from_hub, pipes.to_hub)


async def test_a_client_that_reads_a_while_and_stops_again_is_not_served_meanwhile(pipes: Pipes) -> None:
    news = dump("x" * 60_000)
    count = 2 * HIGH_WATER_BYTES // len(news)
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        dispatcher = serving.session.dispatcher
        for _ in range(count):
            dispatcher.send_notification("n", news)
        _read_messages(pipes.from_hub, count)  # without a turn of the loop: it hears of this only behind the next news
        for _ in range(count):
            dispatcher.send_notification("n", news)
        await asyncio.sleep(0)
        assert dispatcher.is_congested
        assert len(await pipes.messages(count)) == count
        pipes.close(pipes.to_hub)


async def test_a_client_that_stops_reading_for_good_ends_the_session(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        pipes.close(pipes.from_hub)
        await pipes.send(line(id=1, method="wait"))
        await serving.session.begun.wait()
        serving.session.dispatcher.send_notification("n", Raw(b"{}"))
        await serving.end()
        assert serving.session.dispatcher.closed_because == "the AI client disconnected"
    pipes.close(pipes.to_hub)


async def test_a_descriptor_that_is_not_there_is_like_a_client_that_is_not_there(pipes: Pipes) -> None:
    async with Serving(stdin=9999, stdout=pipes.stdout):
        pass
    async with Serving(pipes.stdin, stdout=9999) as serving:
        await pipes.send(line(id=1, method="m"))
        await serving.end()
    pipes.close(pipes.to_hub)


async def test_descriptors_that_somebody_else_has_made_non_blocking_are_waited_for(pipes: Pipes) -> None:
    for end in (pipes.stdin, pipes.stdout):
        os.set_blocking(end, False)
    async with Serving(pipes.stdin, pipes.stdout):
        sending = TaskKeeper().spawn(pipes.send(line(id=1, method="big") + line(id=2, method="big")), name="send")
        assert [reply["id"] for reply in await pipes.messages(2)] == [1, 2]
        await sending
        pipes.close(pipes.to_hub)


async def test_the_last_words_of_a_hub_that_ends_are_written(pipes: Pipes) -> None:
    async with Serving(pipes.stdin, pipes.stdout) as serving:
        await pipes.send(line(id=1, method="wait"))
        await serving.session.begun.wait()
        await serving.session.dispatcher.close("Tooltray has ended")
    assert [reply["error"]["message"] for reply in await pipes.rest()] == ["Tooltray has ended"]
    pipes.close(pipes.to_hub)


def test_the_threads_end_though_the_loop_is_gone(pipes: Pipes) -> None:
    async def serve_for_a_moment() -> None:
        session = Session()
        serving = TaskKeeper().spawn(
            stdio_connection.serve(session.dispatcher, stdin=pipes.stdin, stdout=pipes.stdout, grace_s=0.05), name="serve"
        )
        await pipes.send(line(id=1, method="big"))
        await session.begun.wait()
        await session.dispatcher.close("ended")
        await serving

    asyncio.run(serve_for_a_moment())
    pipes.close(pipes.from_hub)
    os.write(pipes.to_hub, b"\n")
    for thread in threading.enumerate():
        if thread.name in THREADS:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
