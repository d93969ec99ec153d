"""The local socket where bridges and our own front ends connect.

Above it: the engine. Below it: one Connection per peer. The hub's lock is held before this is called, so a socket that is in the way is
stale.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from tooltray.errors import TooltrayError
from tooltray.publish.connection import Connection, Hello
from tooltray.wire.dispatcher import RawDispatcher

BACKLOG = 1024  # a hundred AI clients may come back in the same moment, after a restart


async def listen(path: Path, on_hello: Callable[[Hello, Connection], RawDispatcher]) -> asyncio.Server:
    """Opens the socket, for this user alone.

    Raises:
        TooltrayError: it cannot be opened; says why.
    """
    try:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        before = os.umask(0o177)  # no moment in which others could connect
        try:
            return await asyncio.get_running_loop().create_unix_server(lambda: Connection(on_hello=on_hello), str(path), backlog=BACKLOG)
        finally:
            os.umask(before)
    except OSError as error:
        raise TooltrayError("the hub's socket cannot be opened", f"{path}: {error.strerror or error}") from None
