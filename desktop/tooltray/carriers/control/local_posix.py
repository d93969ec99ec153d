"""Both ends of the hub's sockets, and the hub's process as the command line sees it, on Linux and macOS.

This module has everything that differs between platforms; local_windows has the same names. Commands import it, so it imports the standard
library only, but for what the hub calls.
"""

import errno
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

Channel = socket.socket
CHANNEL = "socket"
HAS_HALVES = True  # a peer that has closed its side may still read
BACKLOG = 1024  # a hundred AI clients may reconnect at the same moment after a restart
SOL_LOCAL, LOCAL_PEERPID = 0, 2  # sys/un.h of macOS
_NOBODY_LISTENS = {errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED}  # refused: the file of a hub that was killed
_POLL_EVERY_S = 0.05  # for systems that cannot report a process's end
_UCRED = struct.Struct("3i")  # pid, uid, gid: unix(7)


def connect(path: Path, timeout_s: float) -> Channel | None:
    """Connects to a socket of the hub.

    Returns:
        The connection; None if no hub listens.

    Raises:
        OSError: the socket exists, but cannot be used.
    """
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.settimeout(timeout_s)
    try:
        channel.connect(os.fspath(path))
    except OSError as error:
        channel.close()
        if error.errno in _NOBODY_LISTENS:
            return None
        raise
    return channel


def is_ours(channel: Channel, path: Path) -> bool:
    """Reports whether the program at the other end belongs to this user: secrets are sent to it."""
    if hasattr(socket, "SO_PEERCRED"):
        return _credentials(channel)[1] == os.getuid()
    return path.stat().st_uid == os.getuid()  # pragma: no cover - macOS


async def open_streams(path: Path, limit: int) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """Connects to a socket of the hub, for asyncio. `get_extra_info(CHANNEL)` of the writer is what `is_ours` takes.

    Args:
        limit: the longest line, in bytes.

    Raises:
        OSError: no hub listens, or it cannot be used.
    """
    import asyncio  # which commands do not need

    return await asyncio.open_unix_connection(path, limit=limit)


def wait_for_end(pid: int, timeout_s: float) -> bool:
    """Waits until a process, not a child of this one, has ended; returns whether it has."""
    if not hasattr(os, "pidfd_open"):  # pragma: no cover - macOS
        return _poll_for_end(pid, timeout_s)
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], timeout_s)[0])
    finally:
        os.close(process)


def _poll_for_end(pid: int, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_EVERY_S)


# the hub's end


def remove_stale(path: Path) -> None:
    """Removes the socket that a killed hub has left. The caller must hold the home's lock. Blocks on the disk."""
    path.unlink(missing_ok=True)


def accept_at(path: Path, make_protocol: "Callable[[], asyncio.BaseProtocol]", *, too_many: bytes, kept: int) -> Callable[[], None]:
    """Accepts connections of this user only; returns the function that stops that, which may be called twice.

    Args:
        too_many: sent to peers for which no descriptor is left.
        kept: see Acceptor.

    Raises:
        OSError: the socket cannot be opened.
    """
    from tooltray.carriers.http_server.acceptor import Acceptor  # which commands do not need

    return Acceptor(_bind(path), make_protocol, backlog=BACKLOG, too_many=too_many, kept=kept).close


def _bind(path: Path) -> socket.socket:
    place = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # so that other users cannot connect even for a moment
    try:
        place.bind(os.fspath(path))
    except OSError:
        place.close()
        raise
    finally:
        os.umask(before)
    return place


def peer_of(transport: "asyncio.BaseTransport") -> tuple[int, bool]:
    """Returns the peer's process, 0 if the system does not report it, and whether it belongs to this user, as far as known."""
    connection: socket.socket = transport.get_extra_info("socket")
    if not hasattr(socket, "SO_PEERCRED"):
        return _pid_of_mac(connection), True
    pid, uid = _credentials(connection)
    return pid, uid == os.getuid()


def _credentials(connection: socket.socket) -> tuple[int, int]:
    pid, uid, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return pid, uid


def _pid_of_mac(connection: socket.socket) -> int:
    try:
        return connection.getsockopt(SOL_LOCAL, LOCAL_PEERPID)
    except OSError:  # the process has just ended
        return 0


def leaders_of(pid: int) -> frozenset[int]:
    """Returns the processes that may have started a process: the leaders of its session and of its group. Each server leads a session, on
    macOS a group, which its children share.
    """
    try:
        return frozenset((os.getsid(pid), os.getpgid(pid)))
    except OSError:
        return frozenset()
