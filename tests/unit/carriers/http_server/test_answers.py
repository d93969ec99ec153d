"""event_streams.py: what waits for a response, and how it is written."""

import asyncio

from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time

from tooltray.carriers.http_server.answers import (
    JOIN_BELOW_BYTES,
    KEEPALIVE_S,
    PAUSED_ABOVE_BYTES,
    SLICE_BYTES,
    Event,
    EventQueue,
    Pressure,
    message_parts,
    write_parts,
)
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.unsent import AllUnsent


class Flow:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.unsent = AllUnsent().of(is_server=False)

    def pause_writing(self) -> None:
        self.told.append("pause")

    def resume_writing(self) -> None:
        self.told.append("resume")


class Response:
    """Takes what is written; `gate`, where given, has to be open for each write."""

    def __init__(self, gate: asyncio.Event | None = None) -> None:
        self.written: list[bytes] = []
        self._gate = gate

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._gate:
            await self._gate.wait()
        self.written.append(bytes(data))


def message(payload: bytes = b'{"a":1}') -> Outgoing:
    return Outgoing((b'{"jsonrpc":"2.0","id":1,"result":', Raw(payload), b"}\n"), id=Raw(b"1"))


async def test_events_are_written_in_their_order_and_counted_as_written() -> None:
    written: list[str] = []
    queue, response = EventQueue(Pressure(Flow()), lambda event: written.append(event.id)), Response()
    events = [Event(message(), "1-1", 1), Event(message(b"2"), "1-2", 2)]
    for event in events:
        queue.put(event)
    queue.end()
    await queue.write_to(response)
    assert b"".join(response.written) == (
        b'id: 1-1\ndata: {"jsonrpc":"2.0","id":1,"result":{"a":1}}\n\nid: 1-2\ndata: {"jsonrpc":"2.0","id":1,"result":2}\n\n'
    )
    assert written == ["1-1", "1-2"]
    assert all(event.is_written for event in events)


async def test_a_large_message_is_written_in_slices_of_what_the_server_wrote() -> None:
    response = Response()
    large = message(b'"' + b"x" * (2 * SLICE_BYTES) + b'"')
    await write_parts(response, message_parts(large))
    assert max(map(len, response.written)) == SLICE_BYTES
    assert b"".join(response.written) == large.joined()


async def test_a_small_message_is_written_at_once() -> None:
    response = Response()
    await write_parts(response, message_parts(message(b"1" * (JOIN_BELOW_BYTES // 2))))
    assert len(response.written) == 1


@in_fake_time
async def test_a_silent_stream_shows_that_it_lives() -> None:
    queue, response = EventQueue(Pressure(Flow())), Response()
    loop = asyncio.get_running_loop()
    loop.call_later(2.5 * KEEPALIVE_S, queue.end)
    await queue.write_to(response)
    assert [line[:1] for line in response.written] == [b":", b":"]


@in_fake_time
async def test_news_are_waited_for_and_not_longer_than_asked_for() -> None:
    queue = EventQueue(Pressure(Flow()))
    assert not await queue.news(within_s=1.0)
    asyncio.get_running_loop().call_later(0.5, queue.put, Event(message()))
    assert await queue.news(within_s=1.0)
    assert await queue.news(within_s=0.0)  # it is still there
    assert queue.only is None  # more may come
    queue.end()
    assert queue.only is not None
    queue.put(Event(message()))
    assert queue.only is None


async def test_a_client_that_does_not_read_is_told_of_once_and_until_it_has_read() -> None:
    flow, gate = Flow(), asyncio.Event()
    queue, response = EventQueue(Pressure(flow)), Response(gate)
    for _ in range(3):
        queue.put(Event(message(b"1" * (PAUSED_ABOVE_BYTES // 2))))
    queue.end()
    assert flow.told == ["pause"]
    gate.set()
    await queue.write_to(response)
    assert flow.told == ["pause", "resume"]


async def test_what_waits_counts_for_its_client_and_its_response_can_be_cut_until_nobody_reads_it_any_more() -> None:
    flow, cuts = Flow(), []
    queue = EventQueue(Pressure(flow), cut=lambda: cuts.append(1))
    queue.put(Event(message(b"1" * 1000)))
    assert flow.unsent.bytes > 1000
    (end,) = flow.unsent.ends
    end()
    assert cuts == [1]
    queue.discard()
    assert (flow.unsent.bytes, flow.unsent.ends) == (0, set())


async def test_what_nobody_reads_any_more_weighs_nothing() -> None:
    flow = Flow()
    pressure = Pressure(flow)
    queue = EventQueue(pressure)
    queue.put(Event(message(b"1" * (2 * PAUSED_ABOVE_BYTES))))
    queue.discard()
    assert flow.told == ["pause", "resume"]
    assert queue.is_ended
    assert queue.waiting == ()


async def test_an_event_that_was_discarded_while_it_was_written_weighs_nothing_twice() -> None:
    flow, gate = Flow(), asyncio.Event()
    pressure = Pressure(flow)
    queue, response = EventQueue(pressure), Response(gate)
    queue.put(Event(message()))
    writing = asyncio.ensure_future(queue.write_to(response))
    await asyncio.sleep(0)
    queue.discard()
    gate.set()
    await writing
    other = EventQueue(pressure)
    other.put(Event(message(b"1" * (PAUSED_ABOVE_BYTES - 30))))
    assert flow.told == ["pause"]
