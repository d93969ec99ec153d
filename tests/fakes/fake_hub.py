"""A hub as a bridge sees it, played by the test line by line: what it reads and when it dies is up to the test. Test code.

Nothing runs by itself: connections wait in the listening socket until the test accepts them, bytes in the kernel until it reads them.
"""

import json
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import Any

BOUND_S = 20.0  # for every wait of a test
CHUNK_BYTES = 1 << 20


def reply(id: object, **result: object) -> bytes:
    """A reply line as the hub promises to write it, its id first."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (_compact(id), _compact(result))


def request(id: object, method: str, **params: object) -> bytes:
    """A request line as most clients write it."""
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}\n' % (_compact(id), _compact(method), _compact(params))


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Connection:
    """One bridge's connection."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._socket.settimeout(BOUND_S)
        self._received = b""

    def line(self) -> bytes:
        """The next line, its newline included; what there is if the bridge ends before the newline."""
        while b"\n" not in self._received and (data := self._socket.recv(CHUNK_BYTES)):
            self._received += data
        line, newline, self._received = self._received.partition(b"\n")
        return line + newline

    def hello(self) -> dict[str, Any]:
        """The first line, read."""
        return json.loads(self.line())

    def at_least(self, size: int) -> bytes:
        """What has come so far, once it is so many bytes."""
        while len(self._received) < size and (data := self._socket.recv(CHUNK_BYTES)):
            self._received += data
        return self._received

    def take(self, size: int) -> int:
        """Reads so many bytes and forgets them; returns how many came before the end."""
        taken, self._received = len(self._received[:size]), self._received[size:]
        while taken < size and (data := self._socket.recv(min(CHUNK_BYTES, size - taken))):
            taken += len(data)
        return taken

    def rest(self) -> bytes:
        """All up to the end."""
        while data := self._socket.recv(CHUNK_BYTES):
            self._received += data
        rest, self._received = self._received, b""
        return rest

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def close(self) -> None:
        self._socket.close()


class FakeHub:
    """Listens at a path. Use as a context manager; `die` and `listen` may follow each other as often as wanted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listening: socket.socket | None = None
        self._connections: list[Connection] = []

    def __enter__(self) -> "FakeHub":
        self.listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.die()
        self.path.unlink(missing_ok=True)

    def listen(self) -> None:
        """Takes the place of whatever a dead hub has left."""
        for folder in (self.path.parent.parent, self.path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.settimeout(BOUND_S)
        self._listening.bind(os.fspath(self.path))
        self._listening.listen()

    def accept(self) -> Connection:
        assert self._listening
        connection = Connection(self._listening.accept()[0])
        self._connections.append(connection)
        return connection

    def accept_greeted(self) -> Connection:
        """The same, its hello line taken."""
        connection = self.accept()
        connection.hello()
        return connection

    def die(self) -> None:
        """Ends as by `kill -9`: all connections close, the socket's file stays."""
        if self._listening:
            self._listening.close()
            self._listening = None
        for connection in self._connections:
            connection.close()
        self._connections.clear()
