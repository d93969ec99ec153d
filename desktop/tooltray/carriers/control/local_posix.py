"""The hub's sockets and process as the command line sees them, on Linux and macOS. Standard library only.

This module has everything that differs between platforms; local_windows has the same names.
"""

import errno
import os
import select
import socket
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

Channel = socket.socket
CHANNEL = "socket"
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
        _, uid, _ = _UCRED.unpack(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
        return bool(uid == os.getuid())
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
