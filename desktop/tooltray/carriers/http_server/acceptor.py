"""Accepts connections on a bound socket, as many as there are file descriptors for.

When the process has no descriptor left, a new connection is rejected with a message: asyncio's own servers leave such peers waiting
without an answer, retry each second, and log each attempt. Here one descriptor is reserved: it is released to accept such a connection and
to send the reason why it ends. Connections over HTTP that have shown no token yet (strangers) get only a share of the descriptors. Within
the share each user of this computer and each host is counted separately: one that fills the share displaces only its own connections.
"""

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from tooltray.foundation.tasks import TaskKeeper

_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr: length, type, flags, sequence, port
_REQUEST = struct.Struct("=BBBxI")  # the head of struct inet_diag_req_v2: family, protocol, extensions, states
_ADDRESSES = struct.Struct("!HH16s16s12s")  # struct inet_diag_sockid: ports, addresses, interface and cookie
_SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, _NETLINK_SOCK_DIAG = 20, 1, 4
_ANY_STATE = 0xFFFFFFFF
_ANY_COOKIE = b"\0\0\0\0" + b"\xff" * 8
_USER_AT = _HEADER.size + 4 + _ADDRESSES.size + 12  # of idiag_uid in the reply, struct inet_diag_msg
_REPLY_BYTES = 4096
HEAD_WITHIN_S = 10.0  # programs send the head of a request at once
LEAST_STRANGERS, MOST_STRANGERS = 16, 256
_NO_LIMIT = 65536
logger = logging.getLogger(__name__)
AT_ONCE = 64  # connections accepted in one iteration of the loop, so that calls continue in between
NO_DESCRIPTOR = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
PAUSE_S = 0.1  # before the next attempt if even the reserved descriptor could not be reopened
HEARD_BYTES = 65536  # read from a rejected peer: TCP would reset the connection and drop our message if data stayed unread


def user_of(peer: Any, own: Any) -> int | None:
    """Returns the uid of a peer's socket; None if it is on another computer, or the system does not report it.

    Args:
        peer, own: the addresses of both ends, as a TCP socket has them.
    """
    if sys.platform != "linux":
        return None
    try:
        family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
        ends = [ipaddress.ip_address(each[0].partition("%")[0]).packed.ljust(16, b"\0") for each in (peer, own)]
        body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, _ANY_STATE) + _ADDRESSES.pack(peer[1], own[1], *ends, _ANY_COOKIE)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
            kernel.setblocking(False)  # it answers within `send`
            kernel.send(_HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body)
            reply = kernel.recv(_REPLY_BYTES)
    except (OSError, ValueError, TypeError, IndexError):
        return None
    if _HEADER.unpack_from(reply)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    [user] = struct.unpack_from("=I", reply, _USER_AT)
    return int(user)


class _Stranger:
    """A connection that has shown no token yet.

    Attributes:
        came: seconds of the loop's clock.
        peer: the other end, as far as known: the address, or the user's number once the share was full.
    """

    def __init__(self, came: float, transport: asyncio.BaseTransport) -> None:
        self.came, self._transport, self._is_known = came, transport, False
        address = transport.get_extra_info("peername")
        self.peer: str | int = address[0] if isinstance(address, tuple) else ""

    def lookup_user(self, user_of: Callable[[Any, Any], int | None]) -> None:
        if not self._is_known:
            self._is_known = True
            user = user_of(*map(self._transport.get_extra_info, ("peername", "sockname")))
            self.peer = self.peer if user is None else user


class Strangers:
    """The strangers of one address. Belongs to one event loop; `close` when the address does."""

    def __init__(self, most_files: int = 0, *, user_of: Callable[[Any, Any], int | None] = user_of) -> None:
        """
        Args:
            most_files: descriptors that this process may have open; 0: the system's limit.
            user_of: returns the user of this computer who is the peer, by the addresses of both ends; None if unknown.
        """
        self._user_of = user_of
        files = most_files or _most_files()
        self.most = max(LEAST_STRANGERS, min(files // 8, MOST_STRANGERS))
        self._most_in_all = max(2 * LEAST_STRANGERS, files // 2)
        self._strangers: dict[asyncio.BaseTransport, _Stranger] = {}  # the oldest first
        self._known: WeakSet[asyncio.BaseTransport] = WeakSet()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        self._drop_closed()
        return len(self._strangers)

    @property
    def is_full(self) -> bool:
        """Reports whether the connections of this address have half of all descriptors; the others are for bridges, commands and servers"""
        return self.count + sum(not each.is_closing() for each in self._known) >= self._most_in_all

    def add(self, transport: asyncio.BaseTransport) -> None:
        """Counts a new connection. One beyond the share ends the oldest of the user or host with the most."""
        if transport in self._known:  # its request arrived together with it
            return
        if self.count >= self.most:
            for stranger in self._strangers.values():
                stranger.lookup_user(self._user_of)
            [(most, _)] = Counter(each.peer for each in self._strangers.values()).most_common(1)
            self._end(next(each for each, stranger in self._strangers.items() if stranger.peer == most))
        self._strangers[transport] = _Stranger(asyncio.get_running_loop().time(), transport)
        self._look_later()

    def welcome(self, transport: asyncio.BaseTransport | None) -> None:
        """Stops counting a connection whose request has shown a token, or needs none."""
        if transport is not None:
            self._strangers.pop(transport, None)
            self._known.add(transport)

    def close(self) -> None:
        """Ends the connections that have shown no token."""
        if self._timer:
            self._timer.cancel()
        for each in list(self._strangers):
            self._end(each)

    def _end(self, transport: asyncio.BaseTransport) -> None:
        del self._strangers[transport]
        assert isinstance(transport, asyncio.Transport)
        transport.abort()

    def _drop_closed(self) -> None:
        for each in [each for each in self._strangers if each.is_closing()]:
            del self._strangers[each]

    def _look_later(self) -> None:
        if self._timer is None and self._strangers:
            loop = asyncio.get_running_loop()
            oldest = next(iter(self._strangers.values()))
            self._timer = loop.call_at(oldest.came + HEAD_WITHIN_S, self._look)

    def _look(self) -> None:
        self._timer = None
        self._drop_closed()
        overdue = asyncio.get_running_loop().time() - HEAD_WITHIN_S
        for each in [each for each, stranger in self._strangers.items() if stranger.came <= overdue]:
            self._end(each)
        self._look_later()


def _most_files() -> int:
    if sys.platform == "win32":
        return _NO_LIMIT
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _NO_LIMIT if soft == resource.RLIM_INFINITY else soft


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
            logger.debug("a connection could not be accepted: %s", error)
            connection.close()
        else:
            if self._strangers:
                self._strangers.add(transport)

    def _turn_away(self) -> None:
        """Rejects one connection with the message `too_many`."""
        if not self._has_warned:
            self._has_warned = True
            logger.warning("too many open connections and files; new connections are refused")
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
