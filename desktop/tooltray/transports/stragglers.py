"""Kills processes that a server started and that left its process group (browsers, daemons), found by a variable in their environment.

Above it: stdio_transport. Reads /proc on Linux; on other systems nothing is found, and killing the process group has to suffice.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

INSTANCE_VARIABLE = "TOOLTRAY_INSTANCE"  # set for every server's process; its children inherit it


def end_stragglers(instance: str) -> int:
    """Kills every process whose `INSTANCE_VARIABLE` has this value, and returns how many there were.

    Reads /proc for some milliseconds, so it must not run in the event loop's thread.
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
