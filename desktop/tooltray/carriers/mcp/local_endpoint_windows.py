"""The endpoint where peers of this computer connect on Windows: a named pipe; local_endpoint_posix has the same names.

asyncio's proactor serves pipes too, but opens them to every user.
"""

import asyncio
import logging
import sys
from asyncio.windows_utils import PipeHandle
from collections.abc import Callable
from pathlib import Path

from tooltray.foundation.platform.win32 import pipes

assert sys.platform == "win32"

logger = logging.getLogger(__name__)
WAITING_ENDS = 8  # free pipes, for peers that connect at the same moment; further peers wait
PAUSE_S = 0.1  # before the next attempt, if Windows cannot make a pipe


class LocalAcceptor:
    """An accepting pipe. Belongs to one event loop. `close` may be called twice."""

    def __init__(self, name: str, make_protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        """
        Raises:
            OSError: the name is taken by another program, or Windows makes no pipe.
        """
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
            logger.warning("one place less for AI clients to connect at: %s", error.strerror or error)
            if not self._waiting:
                self._pause = self._loop.call_later(PAUSE_S, self._wait_for_next)


def remove_stale(path: Path) -> None:
    """Does nothing: a pipe ends with the process that made it."""


def accept_at(path: Path, make_protocol: Callable[[], asyncio.BaseProtocol], *, too_many: bytes, kept: int) -> LocalAcceptor:
    """Accepts connections of this user only.

    Args:
        too_many, kept: not needed; Windows has handles for all.

    Raises:
        OSError: the pipe cannot be made; another program may have taken its name.
    """
    return LocalAcceptor(str(path), make_protocol)
