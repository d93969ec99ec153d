"""Passes on what follows a request's head: a tunnel both ways, or one body to its end and no byte further. A body is measured, since bytes
after it would be a second request that was not checked."""

import asyncio
import re

PIECE_BYTES = 64 * 1024
MAX_TRAILER_LINES = 100
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,12})[ \t]*(?:;[^\r\n]*)?\r\n")


async def relay_tunnel(
    inner: tuple[asyncio.StreamReader, asyncio.StreamWriter], outer: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    """Relays until both sides have ended; the end of one side is passed to the other, which may continue to send."""
    await asyncio.gather(_pump(inner[0], outer[1], inner[1]), _pump(outer[0], inner[1], outer[1]))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, back: asyncio.StreamWriter) -> None:
    """Relays one direction to its end.

    Args:
        back: the way back to the source, cut where one of the two is gone, since its data would not be read.
    """
    try:
        while data := await source.read(PIECE_BYTES):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:  # TLS, which has no half end
            sink.close()
    except OSError:
        sink.transport.abort()
        back.transport.abort()


async def pass_body(source: asyncio.StreamReader, sink: asyncio.StreamWriter, length: int | None) -> None:
    """Passes one body on, to its end.

    Args:
        length: in bytes; None: it comes in chunks, whose extensions are not passed on.

    Raises:
        ValueError: it is malformed.
        OSError, EOFError: one side is gone.
    """
    if length is not None:
        await _pass_bytes(source, sink, length)
        return
    while size := await _chunk_size(source):
        sink.write(b"%x\r\n" % size)
        await _pass_bytes(source, sink, size)
        if await source.readexactly(2) != b"\r\n":
            raise ValueError("a chunk is longer than it says")
        sink.write(b"\r\n")
    for _ in range(MAX_TRAILER_LINES):
        if await _line(source) == b"\r\n":
            sink.write(b"0\r\n\r\n")
            return
    raise ValueError("too many lines behind the body")


async def _chunk_size(source: asyncio.StreamReader) -> int:
    found = _CHUNK.fullmatch(await _line(source))
    if not found:
        raise ValueError("a chunk cannot be read")
    return int(found[1], 16)


async def _line(source: asyncio.StreamReader) -> bytes:
    try:
        return await source.readuntil(b"\r\n")
    except asyncio.LimitOverrunError:
        raise ValueError("a line is too long") from None


async def _pass_bytes(source: asyncio.StreamReader, sink: asyncio.StreamWriter, length: int) -> None:
    while length:
        data = await source.read(min(length, PIECE_BYTES))
        if not data:
            raise EOFError
        sink.write(data)
        await sink.drain()
        length -= len(data)


async def pass_all(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Passes everything on, to the source's end.

    Raises:
        OSError: one side is gone.
    """
    while data := await source.read(PIECE_BYTES):
        sink.write(data)
        await sink.drain()
