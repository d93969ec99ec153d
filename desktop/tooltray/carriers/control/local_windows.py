"""Both ends of the hub's pipes, and the hub's process as the command line sees it, on Windows; local_posix has the same names.

asyncio's proactor serves pipes too, but opens them to every user.
"""

import _winapi
import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tooltray.foundation.platform.win32 import pipes, processes
from tooltray.foundation.platform.win32.processes import wait_for_end as wait_for_end

assert sys.platform == "win32"

if TYPE_CHECKING:
    import asyncio
    from asyncio.windows_utils import PipeHandle

logger = logging.getLogger(__name__)
CHANNEL = "pipe"
HAS_HALVES = False  # a peer that has closed its pipe is gone
WAITING_ENDS = 8  # free pipes, for peers that connect at the same moment; further peers wait
PAUSE_S = 0.1  # before the next attempt, if Windows cannot make a pipe
_CANCELLED = 995  # ERROR_OPERATION_ABORTED


class Channel:
    """A pipe with the few methods of a socket that the control client uses. One thread reads and writes; any may shut it down."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._timeout_ms = _winapi.INFINITE
        self._lock = threading.Lock()
        self._under_way: _winapi.Overlapped | None = None
        self._is_shut = False

    def settimeout(self, timeout_s: float | None) -> None:
        self._timeout_ms = _winapi.INFINITE if timeout_s is None else max(0, int(timeout_s * 1000))

    def recv(self, most_bytes: int) -> bytes:
        """
        Raises:
            TimeoutError: nothing came in time.
            OSError: the hub is gone, or this was shut down.
        """
        with self._lock:
            self._check()
            operation, _ = _winapi.ReadFile(self.handle, most_bytes, overlapped=True)
            self._under_way = operation
        count = self._finish(operation)
        return bytes(operation.getbuffer()[:count])  # type: ignore[index]

    def sendall(self, data: bytes) -> None:
        """
        Raises:
            TimeoutError: the hub did not accept all data in time.
            OSError: the hub is gone, or this was shut down.
        """
        with self._lock:
            self._check()
            operation, _ = _winapi.WriteFile(self.handle, data, overlapped=True)
            self._under_way = operation
        self._finish(operation)

    def shutdown(self, how: int) -> None:
        """Makes reads and writes of other threads end with an error, now and later."""
        with self._lock:
            self._is_shut = True
            if self._under_way is not None:
                self._under_way.cancel()

    def close(self) -> None:
        with self._lock:
            handle, self.handle, self._is_shut = self.handle, 0, True
        if handle:
            _winapi.CloseHandle(handle)

    def _check(self) -> None:
        if self._is_shut:
            raise OSError("the channel is closed")

    def _finish(self, operation: _winapi.Overlapped) -> int:
        is_over = _winapi.WaitForSingleObject(operation.event, self._timeout_ms) == _winapi.WAIT_OBJECT_0
        with self._lock:
            self._under_way = None
        if not is_over:
            operation.cancel()
        count, code = operation.GetOverlappedResult(True)
        if code != _CANCELLED:
            return count
        if is_over:
            raise OSError("the channel is closed")
        raise TimeoutError


def connect(path: Path, timeout_s: float) -> Channel | None:
    """Connects to a pipe of the hub.

    Returns:
        The connection; None if no hub listens.

    Raises:
        OSError: the pipe exists, but cannot be used.
    """
    try:
        return Channel(pipes.connect(str(path), timeout_s))
    except FileNotFoundError:
        return None


def is_ours(channel: "Channel | PipeHandle", path: Path) -> bool:
    """Reports whether the program at the other end belongs to this user: secrets are sent to it."""
    return pipes.is_of_this_user(channel.handle)


async def open_streams(path: Path, limit: int) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """Connects to a pipe of the hub, for asyncio. `get_extra_info(CHANNEL)` of the writer is what `is_ours` takes.

    Args:
        limit: the longest line, in bytes.

    Raises:
        OSError: no hub listens (FileNotFoundError), or it cannot be used.
    """
    import asyncio  # which commands do not need

    loop = asyncio.get_running_loop()
    assert isinstance(loop, asyncio.ProactorEventLoop)
    reader = asyncio.StreamReader(limit=limit, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_pipe_connection(lambda: protocol, str(path))
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


# the hub's end


class LocalAcceptor:
    """An accepting pipe. Belongs to one event loop. `close` may be called twice."""

    def __init__(self, name: str, make_protocol: "Callable[[], asyncio.BaseProtocol]") -> None:
        """
        Raises:
            OSError: the name is taken by another program, or Windows makes no pipe.
        """
        import asyncio  # which commands do not need

        loop = asyncio.get_running_loop()
        assert isinstance(loop, asyncio.ProactorEventLoop)
        self._loop, self._name, self._make_protocol = loop, name, make_protocol
        self._waiting: dict[asyncio.Future[PipeHandle], PipeHandle] = {}
        self._pause: asyncio.TimerHandle | None = None
        self._is_closed = False
        for number in range(WAITING_ENDS):
            self._wait_for_peer(is_first=number == 0)

    def close(self) -> None:
        """Stops accepting connections; accepted ones stay open."""
        self._is_closed = True
        if self._pause:
            self._pause.cancel()
        waiting, self._waiting = self._waiting, {}
        for future, end in waiting.items():
            future.cancel()
            end.close()

    def _wait_for_peer(self, *, is_first: bool = False) -> None:
        from asyncio.windows_utils import PipeHandle

        end = PipeHandle(pipes.listening_end(self._name, is_first=is_first))
        future = self._loop._proactor.accept_pipe(end)  # type: ignore[attr-defined]
        self._waiting[future] = end
        future.add_done_callback(self._on_peer)

    def _on_peer(self, future: "asyncio.Future[PipeHandle]") -> None:
        end = self._waiting.pop(future, None)
        if end is None or self._is_closed:  # closed meanwhile
            return
        self._wait_for_next()
        if future.cancelled() or future.exception():  # the peer disconnected in the same moment
            end.close()
            return
        self._loop._make_duplex_pipe_transport(end, self._make_protocol())  # type: ignore[attr-defined]

    def _wait_for_next(self) -> None:
        self._pause = None
        try:
            self._wait_for_peer()
        except OSError as error:
            logger.warning("a further pipe for AI clients could not be created: %s", error.strerror or error)
            if not self._waiting:
                self._pause = self._loop.call_later(PAUSE_S, self._wait_for_next)


def remove_stale(path: Path) -> None:
    """Does nothing: a pipe ends with the process that made it."""


def accept_at(path: Path, make_protocol: "Callable[[], asyncio.BaseProtocol]", *, too_many: bytes, kept: int) -> Callable[[], None]:
    """Accepts connections of this user only; returns the function that stops that, which may be called twice.

    Args:
        too_many, kept: not needed; Windows has handles for all.

    Raises:
        OSError: the pipe cannot be made; another program may have taken its name.
    """
    return LocalAcceptor(str(path), make_protocol).close


def peer_of(transport: "asyncio.BaseTransport") -> tuple[int, bool]:
    """Returns the peer's process, 0 if the system does not report it, and whether it belongs to this user."""
    return pipes.peer_of(transport.get_extra_info("pipe").handle)


def leaders_of(pid: int) -> frozenset[int]:
    """Returns the processes that may have started a process: itself, its parent, and so on."""
    return processes.line_of(pid)
