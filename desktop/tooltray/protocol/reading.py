"""How much is read from a pipe or a socket at once.

Above it: publish/connection, servers/stdio_transport. Below it: asyncio's transports, whose `max_size` is no documented attribute; a test
holds it to what is expected here.
"""

import asyncio

READ_BYTES = 1 << 16  # what a pipe holds; for asyncio's own 256 KiB malloc maps pages at each read, whose faults cost a call 30 us


def read_in_pieces(transport: asyncio.BaseTransport | None) -> None:
    """From now on a transport reads READ_BYTES at most at a time."""
    if transport is not None:
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]
