"""Identifies the other end of an accepted named pipe, on Windows; peer_posix has the same names."""

import asyncio
import sys

from tooltray.foundation.platform.win32 import pipes, processes

assert sys.platform == "win32"

HAS_HALVES = False  # a peer that has closed its pipe is gone


def peer_of(transport: asyncio.BaseTransport) -> tuple[int, bool]:
    """Returns the peer's process, 0 if the system does not report it, and whether it belongs to this user."""
    return pipes.peer_of(transport.get_extra_info("pipe").handle)


def leaders_of(pid: int) -> frozenset[int]:
    """Returns the processes that may have started a process: itself, its parent, and so on."""
    return processes.line_of(pid)
