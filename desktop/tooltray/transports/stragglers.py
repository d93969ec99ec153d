"""Processes that a server started and that left its process group (browsers, daemons): found by a mark in their environment.

Above it: stdio_transport. Linux reads /proc; elsewhere nothing is found, and the process group alone has to do.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

INSTANCE_VARIABLE = "TOOLTRAY_INSTANCE"  # of every server's process; its children inherit it


def end_stragglers(instance: str) -> int:
    """Kills every process that carries the mark of an instance; returns how many there were.

    Reads /proc for some milliseconds: not for the event loop's thread.
    """
    mark = f"{INSTANCE_VARIABLE}={instance}".encode()
    found = [pid for pid in _own_pids() if mark in _environ_of(pid)]
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _own_pids() -> Iterator[int]:
    if sys.platform != "linux":
        return
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == os.getuid():
                    yield int(entry.name)


def _environ_of(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            return environ.read().split(b"\0")
    except OSError:
        return []
