"""An asyncio transport that keeps what is written to it."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Any

OF_MAC = (0, 2)  # SOL_LOCAL, LOCAL_PEERPID


def _gone() -> int:
    raise OSError


class FakeSocket:
    """Tells who is at the other end."""

    def __init__(self, pid: int, uid: int) -> None:
        self._credentials = struct.pack("3i", pid, uid, 0)

    def getsockopt(self, level: int, option: int, size: int = 0) -> bytes | int:
        if (level, option) == OF_MAC:
            return struct.unpack("3i", self._credentials)[0] or _gone()
        assert (level, option, size) == (socket.SOL_SOCKET, socket.SO_PEERCRED, len(self._credentials))
        return self._credentials


class FakeTransport(asyncio.Transport):
    """
    Attributes:
        after_write: called behind each write, as a transport calls its protocol's `pause_writing`.
    """

    def __init__(self, peer: FakeSocket | None = None) -> None:
        super().__init__({"socket": peer})
        self.writes: list[bytes] = []
        self.after_write: Callable[[], None] | None = None
        self.is_reading_paused = self.is_aborted = False
        self._is_closing = False

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))
        if self.after_write:
            self.after_write()

    def close(self) -> None:
        self._is_closing = True

    def abort(self) -> None:
        self.is_aborted = self._is_closing = True

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False
