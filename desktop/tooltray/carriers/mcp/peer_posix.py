"""Identifies the other end of an accepted connection on a Unix socket, on Linux and macOS; peer_windows has the same names."""

import asyncio
import os
import socket
import struct

HAS_HALVES = True  # a peer that has closed its side may still read

SOL_LOCAL, LOCAL_PEERPID = 0, 2  # sys/un.h of macOS

_UCRED = struct.Struct("3i")  # pid, uid, gid: unix(7)


def peer_of(transport: asyncio.BaseTransport) -> tuple[int, bool]:
    """Returns the peer's process, 0 if the system does not report it, and whether it belongs to this user, as far as known."""
    connection: socket.socket = transport.get_extra_info("socket")
    if not hasattr(socket, "SO_PEERCRED"):
        return _pid_of_mac(connection), True
    pid, uid, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return pid, uid == os.getuid()


def _pid_of_mac(connection: socket.socket) -> int:
    try:
        return connection.getsockopt(SOL_LOCAL, LOCAL_PEERPID)
    except OSError:  # the process has just ended
        return 0


def leaders_of(pid: int) -> frozenset[int]:
    """Returns the processes that may have started a process: the leader of its session; each server leads a session, which its children
    share.
    """
    try:
        return frozenset((os.getsid(pid),))
    except OSError:
        return frozenset()
