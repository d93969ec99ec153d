"""The body of one request on its way out, and whether the server can have it.

Above it: http_connections. Below it: aiohttp. A server closes connections that are kept for the next request whenever it likes, also in the
moment in which that request leaves; what matters then is whether it can have read the request, for only what it cannot have read may be
sent again.
"""

import asyncio

from aiohttp import ClientConnectionResetError
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_writer import StreamWriter
from aiohttp.payload import Payload

SLICE_BYTES = 2**18  # large bodies are written piece by piece, as fast as they drain


class Delivery:
    """What is known of a request on its way; made by whoever wants to know, for one request.

    Attributes:
        has_begun: something was handed to the system for an open connection.
        is_whole: all was: the server may have the request. Until then it has not.
        is_given_up: nothing more of it is to leave.
    """

    def __init__(self) -> None:
        self.is_given_up = False
        self.again()

    def again(self) -> None:
        """It is made anew: the server has not taken it."""
        self.has_begun = self.is_whole = False


class RequestBody(Payload):
    """Can be written once."""

    _value: bytes

    def __init__(self, value: bytes, delivery: Delivery) -> None:
        super().__init__(value, content_type="application/json")
        self._size, self._delivery = len(value), delivery

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._value.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """
        Raises:
            ClientConnectionResetError: the connection ended before everything was written.
        """
        for _ in range(2):  # rounds of the loop, in which the end of a connection that has already come in is heard of
            await asyncio.sleep(0)
        view = memoryview(self._value)
        for start in range(0, len(view), SLICE_BYTES):
            self._check(writer)
            self._delivery.has_begun = True
            self._delivery.is_whole = start + SLICE_BYTES >= len(view)
            await writer.write(view[start : start + SLICE_BYTES])

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        await self.write(writer)

    def _check(self, writer: AbstractStreamWriter) -> None:
        assert isinstance(writer, StreamWriter)
        if self._delivery.is_given_up or writer.transport is None or writer.transport.is_closing():
            raise ClientConnectionResetError("the connection ended before the request was written")
