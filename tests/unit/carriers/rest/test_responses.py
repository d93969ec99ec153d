"""responses.py: large results within the hub's bounds."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest
from aiohttp import web

from tooltray.carriers.rest.responses import Deliveries, Failed, problem_response
from tooltray.protocol.in_flight import FIRST_IN_FLIGHT
from tooltray.protocol.unsent import HUB_BYTES, PEER_BYTES, AllUnsent

LARGE = 8 * 2**20  # more than the sockets between two programs hold


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20.0):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


class Served:
    """Responses of one size over real sockets; `open` asks for one and reads nothing of its body."""

    def __init__(self, url: str, http: aiohttp.ClientSession, unsent: AllUnsent) -> None:
        self.url, self.http, self.unsent = url, http, unsent

    async def open(self, size: int, method: str = "GET", name: str = "panel") -> aiohttp.ClientResponse:
        return await self.http.request(method, f"{self.url}/{name}/{size}")


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    unsent = AllUnsent()
    deliveries = Deliveries(unsent)

    async def answer(request: web.Request) -> web.StreamResponse:
        body = b"x" * int(request.match_info["size"])
        try:
            return await deliveries.send(request, request.match_info["name"], web.Response(status=201, body=body, headers={"X-Ours": "1"}))
        except Failed as failed:
            return problem_response(failed)

    application = web.Application()
    application.router.add_route("*", "/{name}/{size}", answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    async with aiohttp.ClientSession(read_bufsize=1024) as http:
        yield Served(f"http://127.0.0.1:{runner.addresses[0][1]}", http, unsent)
    await runner.cleanup()


@pytest.mark.parametrize("size", [0, 10, 70_000, LARGE])
async def test_a_response_arrives_whole(served: Served, size: int) -> None:
    response = await served.open(size)
    assert (response.status, response.headers["X-Ours"], response.headers["Content-Length"]) == (201, "1", str(size))
    assert await response.read() == b"x" * size
    await until(lambda: not served.unsent.bytes)


async def test_what_nobody_reads_counts_until_the_program_leaves(served: Served) -> None:
    response = await served.open(LARGE)
    assert served.unsent.bytes == LARGE
    response.close()
    await until(lambda: not served.unsent.bytes)


async def test_more_than_one_program_may_have_waiting_is_refused_with_the_words_that_ai_clients_read(served: Served) -> None:
    waiting = [await served.open(PEER_BYTES // 2) for _ in range(2)]
    refused = await served.open(LARGE)
    problem = await refused.json()
    assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
    waits = f"{PEER_BYTES:,} bytes are already queued"
    assert problem["detail"] == f"panel does not read its messages, and {waits}: the result of this call, {LARGE:,} bytes, was dropped"

    other = await served.open(LARGE, name="another")
    assert len(await other.read()) == LARGE
    for response in waiting:
        assert len(await response.read()) == PEER_BYTES // 2
    assert len(await (await served.open(LARGE)).read()) == LARGE


async def test_programs_that_read_nothing_are_cut_off_when_the_hub_is_full(served: Served) -> None:
    host, port = served.url.removeprefix("http://").split(":")
    peers = []
    for number, size in enumerate([PEER_BYTES] * (HUB_BYTES // PEER_BYTES) + [LARGE]):
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        writer.write(f"GET /program-{number}/{size} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        peers.append((reader, writer))
    assert served.unsent.is_full
    await until(lambda: not served.unsent.is_full)
    for _, writer in peers:
        writer.transport.abort()
    await until(lambda: not served.unsent.bytes)


async def test_a_head_has_no_body_to_count(served: Served) -> None:
    assert (await served.open(LARGE, method="HEAD")).headers["Content-Length"] == str(LARGE)
    assert not served.unsent.bytes


class Calls:
    """Calls of one program that end when the test says so."""

    def __init__(self) -> None:
        self.unsent = AllUnsent()
        self.deliveries = Deliveries(self.unsent)
        self.begun: list[int] = []
        self.ends: dict[int, asyncio.Event] = {}

    async def call(self, number: int) -> None:
        self.ends[number] = asyncio.Event()
        async with self.deliveries.turn("panel"):
            self.begun.append(number)
            await self.ends[number].wait()


@pytest.fixture
async def calls() -> AsyncIterator[tuple[Calls, list[asyncio.Task[None]]]]:
    made = Calls()
    tasks = [asyncio.create_task(made.call(number)) for number in range(40)]
    await asyncio.sleep(0)
    yield made, tasks
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_of_many_calls_at_once_some_begin_and_each_end_lets_others_begin(calls: tuple[Calls, list[asyncio.Task[None]]]) -> None:
    made, tasks = calls
    assert made.begun == list(range(FIRST_IN_FLIGHT))
    made.ends[0].set()
    await tasks[0]
    await until(lambda: made.begun[: FIRST_IN_FLIGHT + 2] == list(range(FIRST_IN_FLIGHT + 2)))


async def test_calls_that_take_long_let_others_begin_in_time(calls: tuple[Calls, list[asyncio.Task[None]]]) -> None:
    made, _ = calls
    await until(lambda: len(made.begun) == 40)


async def test_a_caller_that_leaves_while_it_waits_takes_no_turn(calls: tuple[Calls, list[asyncio.Task[None]]]) -> None:
    made, tasks = calls
    tasks[FIRST_IN_FLIGHT].cancel()
    made.ends[0].set()
    await until(lambda: len(made.begun) > FIRST_IN_FLIGHT)
    with contextlib.suppress(asyncio.CancelledError):
        await tasks[FIRST_IN_FLIGHT]
    assert FIRST_IN_FLIGHT not in made.begun
