"""The local socket where bridges and our own front ends connect.

Above it: the engine. Below it: one Connection per peer. The hub's lock is held before this is called, so a socket that is in the way is
stale.
"""

import asyncio
import os
import socket
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
        place = _bind(path)
        return await asyncio.get_running_loop().create_unix_server(lambda: Connection(on_hello=on_hello), sock=place, backlog=BACKLOG)
    except OSError as error:
        raise TooltrayError("the hub's socket cannot be opened", f"{path}: {error.strerror or error}") from None


def _bind(path: Path) -> socket.socket:
    place = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # no moment in which others could connect
    try:
        place.bind(os.fspath(path))
    except OSError:
        place.close()
        raise
    finally:
        os.umask(before)
    return place
