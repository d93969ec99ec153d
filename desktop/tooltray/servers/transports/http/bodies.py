"""Bodies of messages over HTTP: responses that are counted while they are read, requests that record whether the server can have received
them, and the order in which messages are sent.

A child process is paused by its pipe. Over HTTP each message has its own connection, so the sum over all of them must be bounded: reading
pauses while too much waits for AI clients.

Each message has its own POST and could overtake the others, so notifications are sent one after another, and nothing before
`notifications/initialized` has been accepted: servers refuse requests until then. Every wait is bounded, because a server may receive a
message and answer its POST late or never. A server may close an idle connection at any time, even while the next request is being sent.
Such a request may be sent again only if the server cannot have read it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import ClientConnectionResetError, ClientResponse
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_writer import StreamWriter
from aiohttp.payload import Payload

from tooltray.foundation.tasks import Spawn
from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES, Outgoing
from tooltray.protocol.unsent import AllUnsent, Unsent
from tooltray.servers.transports.http.http_failures import ExchangeFailed

SLICE_BYTES = 2**18  # large bodies are written piece by piece, as fast as they drain
COUNTED_FROM_BYTES = 65536  # nearly every message is smaller

Holds = Callable[[int], Awaitable[None]]
"""Takes the number of bytes of an incomplete message in memory; returns when more may be read."""


class Delivery:
    """The delivery state of one request; created by a caller that needs it.

    Attributes:
        has_begun: part of the body was written to an open connection.
        is_whole: the whole body was written, so the server may have the request; before, it cannot.
        is_given_up: no more of the body may be written.
    """

    def __init__(self) -> None:
        self.is_given_up = False
        self.restart()

    def restart(self) -> None:
        """Resets the state before the request is sent again, since the server has not received it."""
        self.has_begun = self.is_whole = False


class RequestBody(Payload):
    """A JSON body. Can be written once."""

    _value: bytes

    def __init__(self, value: bytes, delivery: Delivery) -> None:
        super().__init__(value, content_type="application/json")
        self._size, self._delivery = len(value), delivery

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._value.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Writes the body in slices of `SLICE_BYTES` and records the delivery.

        Raises:
            ClientConnectionResetError: the connection ended before everything was written, or the request was given up.
        """
        for _ in range(2):  # iterations of the loop, in which it notices that the connection has already been closed
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


WAIT_S = 5.0
INITIALIZED = "notifications/initialized"

Sending = Callable[[], Awaitable[None]]  # a function, so that a task cancelled while it waits leaves no coroutine that was never awaited


class PostOrder:
    """The order of the messages of one connection."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._last_notification: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None

    def notify(self, method: str, sending: Sending) -> asyncio.Task[None]:
        """Sends a notification after the previous one."""
        task = self._spawn(self._after(self._last_notification, sending), name=method)
        self._last_notification = task
        if method == INITIALIZED:
            self._opening = task
        return task

    def start(self, name: str, sending: Sending) -> asyncio.Task[None]:
        """Sends a request or a reply."""
        return self._spawn(self._after(self._opening, sending), name=name)

    async def _after(self, task: asyncio.Task[None] | None, sending: Sending) -> None:
        if task and not task.done():
            await asyncio.wait({task}, timeout=WAIT_S)
        await sending()


@contextmanager
def intake(response: ClientResponse, unsent: AllUnsent) -> Iterator[Holds]:
    """Counts a response's bytes while they are read; closes its connection if its message exceeds the space that is left."""
    account = unsent.of(is_server=False)
    account.ends.add(response.close)

    async def holds(size: int) -> None:
        if size > MAX_SERVER_LINE_BYTES:
            raise ExchangeFailed(f"a message is beyond the limit of {MAX_SERVER_LINE_BYTES:,} bytes")
        account.hold(size if size >= COUNTED_FROM_BYTES else 0)
        await unsent.room()

    try:
        yield holds
    finally:
        account.hold(0)


async def read_whole(response: ClientResponse, unsent: AllUnsent) -> bytes:
    """Returns the whole body.

    Raises:
        ExchangeFailed: the body is larger than `MAX_SERVER_LINE_BYTES`.
    """
    chunks, size = [], 0
    with intake(response, unsent) as holds:
        async for chunk in response.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            await holds(size)
    return b"".join(chunks)


def count_until_done(sending: asyncio.Task[None], message: Outgoing, unsent: Unsent) -> None:
    """Counts a large message to a server as unsent until its POST ends, since the server may not have read it before."""
    size = len(memoryview(message.payload))
    if size >= COUNTED_FROM_BYTES:
        unsent.add(size)
        sending.add_done_callback(lambda _: unsent.take(size))
