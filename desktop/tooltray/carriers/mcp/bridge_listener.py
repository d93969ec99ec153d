"""An open local socket of the hub: for bridges, or for commands.

The hub's lock is held before `listen` is called, so a socket that is in the way is stale.
"""

import asyncio
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

from tooltray.carriers.mcp.connection import CONTROL, Connection, Hello
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import CONNECTION_CLOSED, NOTHING, failure, reply_parts

if sys.platform == "win32":
    from tooltray.carriers.mcp import local_endpoint_windows as local_endpoint
else:
    from tooltray.carriers.mcp import local_endpoint_posix as local_endpoint

TOO_MANY = "Tooltray has no file descriptor left for this connection; end some AI clients or servers, or raise the limit (ulimit -n)"
KEPT = 8  # descriptors for commands, which must work when AI clients and servers have all others
_TOO_MANY = b"".join(map(bytes, reply_parts(NOTHING, failure(CONNECTION_CLOSED, TOO_MANY))))


class Listener:
    """The open socket, and the connections that have not sent their hello yet."""

    def __init__(self, on_hello: Callable[[Hello, Connection], RawDispatcher], *, only: str = "") -> None:
        """
        Args:
            only: see Connection.
        """
        self._on_hello, self.only = on_hello, only
        self._strangers: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._acceptor: local_endpoint.LocalAcceptor | None = None
        self._is_closed = False

    def open(self, path: Path) -> None:
        """
        Raises: OSError: the socket cannot be opened.
        """
        self._acceptor = local_endpoint.accept_at(path, lambda: _Guest(self), too_many=_TOO_MANY, kept=KEPT if self.only == CONTROL else 1)

    def close(self) -> None:
        """Accepts no new connections and closes those without a hello; sessions stay. May be called twice."""
        self._is_closed = True
        if self._acceptor:
            self._acceptor.close()
        for stranger in self._strangers:
            stranger.close()

    def let_in(self, connection: Connection) -> None:
        """Adds a new connection, which may have been accepted in the moment before the end."""
        self._strangers.add(connection)
        if self._is_closed:
            connection.close()

    def introduce(self, hello: Hello, connection: Connection) -> RawDispatcher:
        """Returns the dispatcher for a connection that has sent its hello."""
        self._strangers.discard(connection)
        return self._on_hello(hello, connection)


class _Guest(Connection):
    def __init__(self, listener: Listener) -> None:
        super().__init__(on_hello=listener.introduce, only=listener.only)
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._listener.let_in(self)


async def listen(path: Path, on_hello: Callable[[Hello, Connection], RawDispatcher], *, only: str = "") -> Listener:
    """Opens the socket, only for this user.

    Args:
        only: see Connection.

    Raises:
        TooltrayError: it cannot be opened; the error gives the reason.
    """
    listener = Listener(on_hello, only=only)
    try:
        await asyncio.to_thread(local_endpoint.remove_stale, path)
        listener.open(path)
        return listener
    except OSError as error:
        raise TooltrayError("the hub's socket cannot be opened", f"{path}: {error.strerror or error}") from None
