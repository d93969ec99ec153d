"""bodies.py: what the server can have of a request, what waits of a response, and the order of messages."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import ClientConnectionResetError
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_writer import StreamWriter
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_transport import FakeTransport

from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES, Outgoing
from tooltray.protocol.unsent import HUB_BYTES, AllUnsent
from tooltray.servers.transports.http.bodies import (
    COUNTED_FROM_BYTES,
    INITIALIZED,
    SLICE_BYTES,
    WAIT_S,
    Delivery,
    PostOrder,
    RequestBody,
    count_until_done,
    intake,
    read_whole,
)
from tooltray.servers.transports.http.http_failures import ExchangeFailed


def make_writer() -> tuple[StreamWriter, FakeTransport]:
    protocol, transport = BaseProtocol(asyncio.get_running_loop()), FakeTransport()
    protocol.connection_made(transport)
    return StreamWriter(protocol, asyncio.get_running_loop()), transport


async def test_a_request_is_whole_with_its_last_piece() -> None:
    writer, transport = make_writer()
    delivery, data = Delivery(), b"x" * (2 * SLICE_BYTES + 1)
    seen: list[tuple[bool, bool]] = []
    transport.after_write = lambda: seen.append((delivery.has_begun, delivery.is_whole))
    await RequestBody(data, delivery).write_with_length(writer, len(data))
    assert transport.written == data
    assert seen == [(True, False), (True, False), (True, True)]
    delivery.restart()
    assert not (delivery.has_begun)
    assert not (delivery.is_whole)


@pytest.mark.parametrize("why", ["closing", "gone", "given up"])
async def test_nothing_is_written_to_a_connection_that_has_ended_or_of_a_request_that_is_given_up(why: str) -> None:
    writer, transport = make_writer()
    delivery = Delivery()
    delivery.is_given_up = why == "given up"
    writing = asyncio.ensure_future(RequestBody(b"abc", delivery).write(writer))
    await asyncio.sleep(0)
    if why == "closing":
        transport.close()
    elif why == "gone":
        assert writer.protocol
        writer.protocol.connection_lost(None)
    with pytest.raises(ClientConnectionResetError):
        await writing
    assert not (delivery.has_begun)
    assert not (delivery.is_whole)
    assert not (transport.written)


async def test_it_can_be_read_as_text() -> None:
    assert RequestBody("größe".encode(), Delivery()).decode() == "größe"


@pytest.mark.parametrize(("size", "counted"), [(COUNTED_FROM_BYTES - 1, 0), (COUNTED_FROM_BYTES, COUNTED_FROM_BYTES)])
async def test_a_large_message_counts_as_unsent_until_its_post_has_ended(size: int, counted: int) -> None:
    unsent, may_end = AllUnsent().of(is_server=True), asyncio.Event()

    async def send() -> None:
        await may_end.wait()

    sending = asyncio.create_task(send())
    count_until_done(sending, Outgoing((b"", Raw(b"x" * size), b"")), unsent)
    assert unsent.bytes == counted
    may_end.set()
    await sending
    await asyncio.sleep(0)
    assert unsent.bytes == 0


class Response:
    """Of a server, whose pieces come one after the other."""

    def __init__(self, *pieces: bytes, on_piece: Callable[[], None] = lambda: None) -> None:
        self._pieces, self._on_piece = pieces, on_piece
        self.content, self.closed = self, asyncio.Event()

    async def iter_any(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self._on_piece()
            yield piece

    def close(self) -> None:
        self.closed.set()


async def test_a_response_is_read_whole_and_counts_while_it_is_large() -> None:
    unsent, counted = AllUnsent(), list[int]()
    pieces = (b"a", b"b" * (COUNTED_FROM_BYTES - 2), b"c", b"d")
    response: Any = Response(*pieces, on_piece=lambda: counted.append(unsent.bytes))
    assert await read_whole(response, unsent) == b"".join(pieces)
    assert (counted, unsent.bytes) == ([0, 0, 0, COUNTED_FROM_BYTES], 0)


async def test_a_response_beyond_the_limit_is_refused() -> None:
    response: Any = Response()
    with intake(response, AllUnsent()) as holds:
        await holds(MAX_SERVER_LINE_BYTES)
        with pytest.raises(ExchangeFailed, match="beyond the limit"):
            await holds(MAX_SERVER_LINE_BYTES + 1)


@in_fake_time
async def test_while_too_much_waits_a_response_is_not_read_on_and_closed_if_it_goes_on_for_long() -> None:
    unsent = AllUnsent()
    others = unsent.of(is_server=False)
    others.add(HUB_BYTES)
    response: Any = Response()
    with intake(response, unsent) as holds:
        reading = asyncio.ensure_future(holds(COUNTED_FROM_BYTES))
        await response.closed.wait()
        assert not reading.done()
        others.take(HUB_BYTES)
        await reading


class Messages:
    """Messages that arrive when the test lets them."""

    def __init__(self) -> None:
        self.left: list[str] = []
        self.may_arrive = asyncio.Event()
        self.keeper = TaskKeeper()
        self.order = PostOrder(self.keeper.spawn)

    def message(self, name: str) -> Callable[[], Awaitable[None]]:
        async def send() -> None:
            self.left.append(name)
            await self.may_arrive.wait()

        return send

    def notify(self, name: str) -> asyncio.Task[None]:
        return self.order.notify(name, self.message(name))

    def start(self, name: str) -> asyncio.Task[None]:
        return self.order.start(name, self.message(name))


async def a_moment() -> None:
    await asyncio.sleep(0.1)


@in_fake_time
async def test_requests_leave_together_before_and_after_the_opening() -> None:
    messages = Messages()
    messages.start("first")
    messages.start("second")
    await a_moment()
    assert messages.left == ["first", "second"]
    await messages.keeper.close()


@in_fake_time
async def test_nothing_leaves_before_the_opening_has_arrived() -> None:
    messages = Messages()
    messages.notify(INITIALIZED)
    messages.start("request")
    messages.notify("notification")
    await a_moment()
    assert messages.left == [INITIALIZED]
    messages.may_arrive.set()
    await a_moment()
    assert sorted(messages.left) == sorted([INITIALIZED, "request", "notification"])


@in_fake_time
async def test_a_server_that_never_takes_the_opening_is_not_waited_for_for_ever() -> None:
    messages = Messages()
    messages.notify(INITIALIZED)
    messages.start("request")
    await asyncio.sleep(WAIT_S + 1)
    assert messages.left == [INITIALIZED, "request"]
    await messages.keeper.close()


@in_fake_time
async def test_notifications_leave_one_after_the_other_and_hold_up_no_request() -> None:
    messages = Messages()
    messages.notify("first")
    messages.notify("second")
    messages.start("request")
    await a_moment()
    assert messages.left == ["first", "request"]
    messages.may_arrive.set()
    await a_moment()
    assert messages.left == ["first", "request", "second"]


@in_fake_time
async def test_what_is_cancelled_before_its_turn_never_leaves() -> None:
    messages = Messages()
    messages.notify(INITIALIZED)
    messages.start("request").cancel()
    messages.notify("notification").cancel()
    messages.may_arrive.set()
    await a_moment()
    assert messages.left == [INITIALIZED]
