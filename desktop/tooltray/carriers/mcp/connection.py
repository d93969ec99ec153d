"""One accepted connection on a local socket of the hub: a hello line, then JSON-RPC.

The hub stops reading from a peer that does not read its replies, which bounds the memory for it.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from tooltray.protocol.channels import read_in_pieces
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INVALID_REQUEST, NOTHING, failure, reply_parts
from tooltray.protocol.unsent import Outbox

if sys.platform == "win32":
    from tooltray.carriers.mcp import peer_windows as peer
else:
    from tooltray.carriers.mcp import peer_posix as peer

logger = logging.getLogger(__name__)
HELLO_KEY, HELLO_VERSION = "tooltray", 1
CLIENT, CONTROL = "client", "control"  # the roles of a hello
MAX_HELLO_BYTES = 65536
GRACE_AFTER_EOF_S = 2.0  # some clients (droid) close stdin right behind a request and still read the reply


class Hello(msgspec.Struct, frozen=True):
    """The peer's first message; unknown keys are ignored.

    Attributes:
        role: CLIENT (an AI client's bridge) or CONTROL (a command).
        profile: a named set of servers and tools; empty: none was requested.
        is_at_terminal: a person typed the command of this connection at a terminal.
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
        self._peer_pid, is_ours = peer.peer_of(transport)
        if not is_ours:
            logger.warning("a connection of another user (process %d) was refused", self._peer_pid)
            transport.abort()

    def write(self, data: bytes | memoryview) -> None:
        self._outbox.write(data)

    def close(self) -> None:
        self._outbox.close()

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
            return "the first line is no hello"
        version = hello.get(HELLO_KEY) if isinstance(hello, dict) else None
        if version != HELLO_VERSION:
            return f"this hub speaks hello version {HELLO_VERSION}, the other side {version!r:.40}; update the older of the two"
        if self._only and hello.get("role") != self._only:
            return f"this socket of the hub serves the role {self._only!r} only; AI clients connect to the other one"
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
            self._dispatcher.end_of_input("the AI client is gone", grace_s=GRACE_AFTER_EOF_S)
        return self._dispatcher is not None and peer.HAS_HALVES

    def connection_lost(self, exc: Exception | None) -> None:
        self._outbox.discard()
        if self._dispatcher:
            self._dispatcher.connection_lost("the AI client is gone")
