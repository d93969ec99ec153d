"""protocol/reading.py"""

import asyncio
import os
import socket

from tests.fakes.heard import Record

from tooltray.protocol.reading import READ_BYTES, read_in_pieces

SENT_BYTES = 4 * READ_BYTES


class Pieces(asyncio.Protocol):
    """Keeps the sizes of what is read."""

    def __init__(self) -> None:
        self.sizes: Record[int] = Record()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        read_in_pieces(transport)

    def data_received(self, data: bytes) -> None:
        self.sizes.add(len(data))

    async def all(self, size: int) -> list[int]:
        await self.sizes.until(lambda: sum(self.sizes.all) == size)
        return self.sizes.all


async def test_a_socket_is_read_in_pieces() -> None:
    near, far = socket.socketpair()
    far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * SENT_BYTES)
    far.setblocking(False)
    transport, pieces = await asyncio.get_running_loop().create_connection(Pieces, sock=near)
    sent = far.send(bytes(SENT_BYTES))
    assert sent > READ_BYTES
    assert max(await pieces.all(sent)) == READ_BYTES
    transport.close()
    far.close()
    await asyncio.sleep(0)


async def test_a_pipe_has_the_limit_too() -> None:
    reading, writing = os.pipe()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(asyncio.Protocol, os.fdopen(reading, "rb", 0))
    assert transport.max_size > READ_BYTES  # type: ignore[attr-defined]  # else asyncio calls it by another name now
    read_in_pieces(transport)
    assert transport.max_size == READ_BYTES  # type: ignore[attr-defined]
    transport.close()
    os.close(writing)
    await asyncio.sleep(0)


def test_what_is_not_there_need_not_be_read() -> None:
    read_in_pieces(None)
