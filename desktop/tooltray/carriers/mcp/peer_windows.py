"""Who is at the other end of an accepted named pipe: Windows.

Above it: connection, which uses this or peer_posix (the same names). Below it: win32/pipes.
"""

import asyncio
import sys

from tooltray.foundation.platform.win32 import pipes, processes

assert sys.platform == "win32"

HAS_HALVES = False  # a peer that has closed its pipe is gone


def peer_of(transport: asyncio.BaseTransport) -> tuple[int, bool]:
    """The other end's process, 0 where the system does not tell, and whether it is this user's."""
    return pipes.peer_of(transport.get_extra_info("pipe").handle)


def leaders_of(pid: int) -> frozenset[int]:
    """Who may have started a process: it, its parent, and so on."""
    return processes.line_of(pid)
