"""Flow control for messages over HTTP: counts large messages in memory, and pauses reading while too much waits for AI clients.

A child process is paused by its pipe. Over HTTP each message has its own connection, so the sum over all of them must be bounded.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import ClientResponse

from tooltray.protocol.channels import Outgoing
from tooltray.protocol.framing import MAX_SERVER_LINE_BYTES
from tooltray.protocol.unsent import AllUnsent, Unsent
from tooltray.servers.transports.http.http_failures import ExchangeFailed

COUNTED_FROM_BYTES = 65536  # nearly every message is smaller

Holds = Callable[[int], Awaitable[None]]
"""Takes the number of bytes of an incomplete message in memory; returns when more may be read."""


@contextmanager
def intake(response: ClientResponse, unsent: AllUnsent) -> Iterator[Holds]:
    """Counts a response's bytes while they are read; closes its connection if its message does not fit."""
    account = unsent.of(is_server=False)
    account.ends.add(response.close)

    async def holds(size: int) -> None:
        if size > MAX_SERVER_LINE_BYTES:
            raise ExchangeFailed(f"a message is beyond the limit of {MAX_SERVER_LINE_BYTES:,} bytes")
        account.hold(size if size >= COUNTED_FROM_BYTES else 0)
        if unsent.is_full:
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
