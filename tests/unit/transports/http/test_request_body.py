"""The body of one request on its way out: when the server can have it."""

import asyncio

import pytest
from aiohttp import ClientConnectionResetError
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_writer import StreamWriter
from tests.fakes.fake_transport import FakeTransport

from tooltray.transports.http.request_body import SLICE_BYTES, Delivery, RequestBody


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
