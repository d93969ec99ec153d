"""The hub's pipes and process as the command line sees them, on Windows; local_posix has the same names."""

import _winapi
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tooltray.foundation.platform.win32 import pipes
from tooltray.foundation.platform.win32.processes import wait_for_end as wait_for_end

assert sys.platform == "win32"

if TYPE_CHECKING:
    import asyncio
    from asyncio.windows_utils import PipeHandle

CHANNEL = "pipe"
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
