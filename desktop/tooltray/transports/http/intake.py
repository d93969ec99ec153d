"""Large messages from and to a server over HTTP: counted while they travel, and not read on while too much waits for clients.

Above it: the exchanges and streams that read one. Below it: wire/unsent. A server in a process is paused by its pipe; over HTTP each
message comes by a connection of its own, and all of them together are to be bounded.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import ClientResponse

from tooltray.protocol.channels import Outgoing
from tooltray.protocol.framing import MAX_SERVER_LINE_BYTES
from tooltray.protocol.unsent import AllUnsent, Unsent
from tooltray.transports.http.http_failures import ExchangeFailed

COUNTED_FROM_BYTES = 65536  # nearly every message is whole before that

Holds = Callable[[int], Awaitable[None]]
"""Told how many bytes of a message have come that is not whole; returns when more may be read."""


@contextmanager
def intake(response: ClientResponse, unsent: AllUnsent) -> Iterator[Holds]:
    """For as long as a response is read; where there is no room for its message, its connection is closed."""
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
    """The body."""
    chunks, size = [], 0
    with intake(response, unsent) as holds:
        async for chunk in response.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            await holds(size)
    return b"".join(chunks)


def count_until_done(sending: asyncio.Task[None], message: Outgoing, unsent: Unsent) -> None:
    """A message to a server counts as waiting until its POST is over; the server may not read it for as long."""
    size = len(memoryview(message.payload))
    if size >= COUNTED_FROM_BYTES:
        unsent.add(size)
        sending.add_done_callback(lambda _: unsent.take(size))
