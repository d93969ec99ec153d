"""The local sockets of the hub, for bridges and for commands: a hello line from each peer, then JSON-RPC.

The hub stops reading from a peer that does not read its replies, which bounds the memory for it. The hub's lock is held before `listen` is
called, so a socket that is in the way is stale.
"""

import asyncio
import json
import logging
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.channels import read_in_pieces
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_REQUEST, NOTHING, failure, reply_parts
from tooltray.protocol.unsent import Outbox

if sys.platform == "win32":
    from tooltray.carriers.control import local_windows as local
else:
    from tooltray.carriers.control import local_posix as local


logger = logging.getLogger(__name__)
HELLO_KEY, HELLO_VERSION = "tooltray", 1
CLIENT, CONTROL = "client", "control"  # the roles of a hello
MAX_HELLO_BYTES = 65536
LEAVE = b'{"jsonrpc":"2.0","id":"tooltray-leave","result":{}}\n'  # a reply to no request: a bridge passes it on to no client
GRACE_AFTER_EOF_S = 2.0  # some clients (droid) close stdin right behind a request and still read the reply
TOO_MANY = "Tooltray has no file descriptor left for this connection; end some AI clients or servers, or raise the limit (ulimit -n)"
KEPT = 8  # descriptors for commands, which must work when AI clients and servers have all others
_TOO_MANY = b"".join(map(bytes, reply_parts(NOTHING, failure(CONNECTION_CLOSED, TOO_MANY))))


class Hello(msgspec.Struct, frozen=True):
    """The peer's first message; unknown keys are ignored.

    Attributes:
        role: CLIENT (an AI client's bridge) or CONTROL (a command).
        profile: a named set of servers and tools; empty: none was requested.
        is_at_terminal: a person typed the command of this connection at a terminal.
        leaves: it leaves when it is asked to, see Connection.send_away.
        peer_pid: the process at the other end, 0 where the system does not report it.
    """

    role: str
    session: str
    server: str | None
    cwd: str
    wants_events: bool
    peer_pid: int
    profile: str = ""
    is_at_terminal: bool = False
    leaves: bool = False

    @property
    def facts(self) -> bytes:
        """What makes a bridge like another one: its sessions begin with the same answers."""
        return b"\0".join(each.encode("utf-8", "surrogatepass") for each in (self.server or "", self.profile, self.cwd))


class Connection(asyncio.Protocol):
    """The channel of one session's dispatcher."""

    def __init__(self, *, on_hello: Callable[[Hello, "Connection"], RawDispatcher], only: str = "") -> None:
        """
        Args:
            only: the one role that is served here; empty: every role.
        """
        self._on_hello, self._only = on_hello, only
        self._hello = bytearray()
        self._dispatcher: RawDispatcher | None = None
        self._peer_pid = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._outbox = Outbox(transport)
        read_in_pieces(transport)
        self._peer_pid, is_ours = local.peer_of(transport)
        if not is_ours:
            logger.warning("a connection of another user (process %d) was refused", self._peer_pid)
            transport.abort()

    def write(self, data: bytes | memoryview) -> None:
        self._outbox.write(data)

    def close(self) -> None:
        self._outbox.close()

    def send_away(self) -> None:
        """Asks a bridge to close this connection as soon as its client has all answers, and to keep later requests for the next hub."""
        self.write(LEAVE)

    def data_received(self, data: bytes) -> None:
        if self._dispatcher:
            self._dispatcher.feed(data)
            return
        self._hello += data
        line, newline, rest = bytes(self._hello).partition(b"\n")
        if not newline:
            if len(self._hello) > MAX_HELLO_BYTES:
                self._refuse("the first line is too long")
            return
        hello = self._read_hello(line)
        if isinstance(hello, str):
            self._refuse(hello)
            return
        self._hello.clear()
        self._dispatcher = self._on_hello(hello, self)
        self._outbox.count_for(self._dispatcher.unsent)
        self._dispatcher.unsent.ends.add(self._transport.abort)
        self._dispatcher.attach(self)
        if rest:
            self._dispatcher.feed(rest)

    def _read_hello(self, line: bytes) -> Hello | str:
        """Returns the hello, or why it is refused."""
        try:
            hello: Any = json.loads(line)
        except (ValueError, RecursionError):
            return "the first line is not a hello"
        version = hello.get(HELLO_KEY) if isinstance(hello, dict) else None
        if version != HELLO_VERSION:
            return f"Tooltray uses hello version {HELLO_VERSION}, the other side {version!r:.40}; update the older of the two"
        if self._only and hello.get("role") != self._only:
            return f"this socket of Tooltray serves the role {self._only!r} only; AI clients connect to the other one"
        text = {key: value for key in ("role", "session", "server", "cwd", "profile") if isinstance(value := hello.get(key), str)}
        return Hello(
            text.get("role", CLIENT),
            text.get("session", ""),
            text.get("server"),
            text.get("cwd", ""),
            hello.get("events") is True,
            self._peer_pid,
            text.get("profile", ""),
            hello.get("terminal") is True,
            hello.get("leaves") is True,
        )

    def _refuse(self, reason: str) -> None:
        logger.warning("a connection was refused: %s", reason)
        head, payload, tail = reply_parts(NOTHING, failure(INVALID_REQUEST, reason))
        self._outbox.write(head + bytes(payload) + tail)
        self._outbox.close()

    def pause_writing(self) -> None:
        self._outbox.pause()
        self._transport.pause_reading()
        if self._dispatcher:
            self._dispatcher.pause_writing()

    def resume_writing(self) -> None:
        self._outbox.resume()
        self._transport.resume_reading()
        if self._dispatcher:
            self._dispatcher.resume_writing()

    def eof_received(self) -> bool:
        if self._dispatcher:
            self._dispatcher.end_of_input("the AI client disconnected", grace_s=GRACE_AFTER_EOF_S)
        return self._dispatcher is not None and local.HAS_HALVES

    def connection_lost(self, exc: Exception | None) -> None:
        self._outbox.discard()
        if self._dispatcher:
            self._dispatcher.connection_lost("the AI client disconnected")


class Listener:
    """The open socket, and the connections that have not sent their hello yet."""

    def __init__(self, on_hello: Callable[[Hello, Connection], RawDispatcher], *, only: str = "") -> None:
        """
        Args:
            only: see Connection.
        """
        self._on_hello, self.only = on_hello, only
        self._strangers: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._stop_accepting: Callable[[], None] = lambda: None
        self._is_closed = False

    def open(self, path: Path) -> None:
        """
        Raises: OSError: the socket cannot be opened.
        """
        self._stop_accepting = local.accept_at(path, lambda: _Guest(self), too_many=_TOO_MANY, kept=KEPT if self.only == CONTROL else 1)

    def close(self) -> None:
        """Accepts no new connections and closes those without a hello; sessions stay. May be called twice."""
        self._is_closed = True
        self._stop_accepting()
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
        await asyncio.to_thread(local.remove_stale, path)
        listener.open(path)
        return listener
    except OSError as error:
        raise TooltrayError("Tooltray's socket cannot be opened", f"{path}: {error.strerror or error}") from None
