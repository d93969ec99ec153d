"""Accepts connections on a bound socket; when the process has no file descriptor left, it rejects new connections with a message.

asyncio's own servers leave such peers waiting without an answer, retry each second, and log each attempt. Here one descriptor is reserved:
it is released to accept such a connection and to send the reason why it ends.
"""

import asyncio
import contextlib
import errno
import logging
import os
import socket
from collections.abc import Callable

from tooltray.carriers.http_server.strangers import Strangers
from tooltray.foundation.tasks import TaskKeeper

logger = logging.getLogger(__name__)
AT_ONCE = 64  # connections accepted in one iteration of the loop, so that calls continue in between
NO_DESCRIPTOR = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
PAUSE_S = 0.1  # before the next attempt if even the reserved descriptor could not be reopened
HEARD_BYTES = 65536  # read from a rejected peer: TCP would reset the connection and drop our message if data stayed unread


class Acceptor:
    """An accepting socket. Belongs to one event loop. `close` may be called twice."""

    def __init__(
        self,
        place: socket.socket,
        make_protocol: Callable[[], asyncio.BaseProtocol],
        *,
        backlog: int,
        too_many: bytes,
        strangers: Strangers | None = None,
        kept: int = 1,
    ) -> None:
        """
        Args:
            place: the bound socket; `close` closes it.
            make_protocol: makes the protocol of each connection.
            too_many: the message for rejected peers.
            strangers: counts the connections; None if all peers are known.
            kept: descriptors that are kept for this place: all but one serve peers when no other is left.
        """
        self._strangers, self._kept = strangers, kept
        self._place, self._make_protocol, self._too_many = place, make_protocol, too_many
        self._loop = asyncio.get_running_loop()
        self._tasks = TaskKeeper()
        self._reserve: list[int] = []
        self._fill_reserve()
        self._pause: asyncio.TimerHandle | None = None
        self._has_warned = self._is_closed = False
        place.setblocking(False)
        place.listen(backlog)
        self._loop.add_reader(place, self._accept)

    def close(self) -> None:
        """Stops accepting connections; accepted ones stay open."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._pause:
            self._pause.cancel()
        self._loop.remove_reader(self._place)
        self._place.close()
        self._give_up_reserve()

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                connection, _ = self._place.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in NO_DESCRIPTOR:
                    raise
                if len(self._reserve) > 1:
                    os.close(self._reserve.pop())
                    continue
                self._turn_away()
                return
            if self._strangers and self._strangers.is_full:
                self._refuse(connection)
                continue
            self._has_warned = False
            with contextlib.suppress(OSError):
                self._fill_reserve()
            self._tasks.spawn(self._connect(connection), name="connection")

    async def _connect(self, connection: socket.socket) -> None:
        try:
            transport, _ = await self._loop.connect_accepted_socket(self._make_protocol, connection)
        except OSError as error:  # the peer has already gone
            logger.debug("a connection could not be taken: %s", error)
            connection.close()
        else:
            if self._strangers:
                self._strangers.add(transport)

    def _turn_away(self) -> None:
        """Rejects one connection with the message `too_many`."""
        if not self._has_warned:
            self._has_warned = True
            logger.warning("there are too many open connections and files; new connections are turned away")
        self._give_up_reserve()
        with contextlib.suppress(OSError):
            self._refuse(self._place.accept()[0])
        try:
            self._fill_reserve()
        except OSError:  # another part of the process took the descriptor; wait instead of spinning
            self._loop.remove_reader(self._place)
            self._pause = self._loop.call_later(PAUSE_S, self._look_again)

    def _refuse(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.setblocking(False)
            connection.send(self._too_many)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(HEARD_BYTES)

    def _fill_reserve(self) -> None:
        while len(self._reserve) < self._kept:
            self._reserve.append(os.open(os.devnull, os.O_RDONLY))

    def _look_again(self) -> None:
        self._pause = None
        self._loop.add_reader(self._place, self._accept)

    def _give_up_reserve(self) -> None:
        while self._reserve:
            os.close(self._reserve.pop())
