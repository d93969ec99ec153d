"""streams.py: the queues between two loops: in order, bounded, and nothing lost at the end."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S

from tooltray.servers.transports.inmemory.streams import DRAINED_BYTES, FULL_BYTES, FromServer, Gone, ToServer, call_in


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_written_before_anybody_reads_is_read_then_and_the_end_comes_last() -> None:
    queue = ToServer(asyncio.get_running_loop())
    for data in (b"a", memoryview(b"b")):
        queue.write(data)
    queue.close()
    queue.write(b"too late")
    queue.attach()
    assert [await queue.take() for _ in range(4)] == [b"a", b"b", b"", b""]
    assert queue.is_closing()


async def test_who_reads_waits_for_what_comes() -> None:
    queue = ToServer(asyncio.get_running_loop())
    queue.attach()
    taking = asyncio.ensure_future(queue.take())
    await turns()
    assert not taking.done()
    queue.write(b"now")
    assert await asyncio.wait_for(taking, PATIENCE_S) == b"now"


async def test_a_full_queue_pauses_the_hub_once_and_lets_it_go_on_when_it_has_drained() -> None:
    told: list[str] = []
    queue = ToServer(asyncio.get_running_loop())
    queue.follow(lambda: told.append("pause"), lambda: told.append("resume"))
    queue.attach()
    for _ in range(4):
        queue.write(b"x" * (FULL_BYTES // 2))
    assert told == ["pause"]
    for _ in range(3):
        await queue.take()
    await turns()
    assert told == ["pause"]
    await queue.take()
    await turns()
    assert told == ["pause", "resume"]
    queue.write(b"x")
    await queue.take()
    queue.write(b"x" * FULL_BYTES)
    await turns()
    assert told == ["pause", "resume", "pause"]
    assert DRAINED_BYTES < FULL_BYTES


async def test_lines_arrive_in_order_and_a_full_queue_keeps_the_server_waiting() -> None:
    fed: list[bytes] = []
    queue = FromServer(asyncio.get_running_loop(), fed.append)
    queue.attach()
    queue.pause()
    await queue.send(b"1" * FULL_BYTES)
    waiting = asyncio.ensure_future(queue.send(b"2"))
    await turns()
    assert (fed, waiting.done()) == ([], False)
    queue.resume()
    await asyncio.wait_for(waiting, PATIENCE_S)
    await queue.send(b"3")
    await turns()
    assert fed == [b"1" * FULL_BYTES, b"2", b"3"]


async def test_lines_that_are_sent_together_are_delivered_together() -> None:
    fed: list[bytes] = []
    deliveries: list[Callable[[], None]] = []
    hub: Any = SimpleNamespace(call_soon_threadsafe=deliveries.append)
    queue = FromServer(hub, fed.append)
    queue.attach()
    for number in range(2):
        await queue.send(b"1")
        await queue.send(b"2")
        assert len(deliveries) == number + 1
        deliveries[-1]()
    assert fed == [b"1", b"2"] * 2


async def test_at_the_end_what_was_sent_is_delivered_and_nothing_more_is_taken() -> None:
    fed: list[bytes] = []
    queue = FromServer(asyncio.get_running_loop(), fed.append)
    queue.attach()
    queue.pause()
    await queue.send(b"x" * FULL_BYTES)
    waiting = asyncio.ensure_future(queue.send(b"y"))
    await turns()
    queue.finish()
    assert fed == [b"x" * FULL_BYTES]
    with pytest.raises(Gone):
        await asyncio.wait_for(waiting, PATIENCE_S)
    with pytest.raises(Gone):
        await queue.send(b"z")


def test_a_loop_that_is_gone_is_no_error() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    called: list[Any] = []
    call_in(loop, lambda: called.append(1))
    assert called == []
