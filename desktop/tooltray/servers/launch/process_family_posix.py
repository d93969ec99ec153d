"""A process and all that it starts, ended together: a process group and a mark in the environment; Linux and macOS.

A child that opens its own session leaves the group, and a child that also clears its environment escapes both. A confined server's children
cannot: with bubblewrap the leader's end ends its whole PID namespace (whose first process is in the group, and dies with its parent, too);
without bubblewrap `setsid` and `setpgid` do nothing there, so that all stay in the group (servers/confinement/launch_line.py).
"""

import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

START_OPTIONS: Mapping[str, Any] = {"start_new_session": True}
"""Options for the start of a family's leader with `subprocess.Popen` and asyncio."""
INSTANCE_VARIABLE = "TOOLTRAY_INSTANCE"
"""Set for the leader of a marked family; its children inherit it, wherever they go."""


class ProcessFamily:
    """A process that was started with START_OPTIONS, and its descendants. The process must not have been waited for: its number could be
    reused."""

    def __init__(self, pid: int, mark: str = "") -> None:
        """
        Args:
            mark: its value of INSTANCE_VARIABLE; empty: processes that leave the group are not ended.
        """
        self._pid, self._mark = pid, mark

    def ask_to_end(self) -> None:
        """Sends SIGTERM to the whole group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL to the whole group; also after the leader has ended."""
        self._signal(signal.SIGKILL)

    def end_stragglers(self) -> int:
        """Kills every process that has the mark, and returns how many there were.

        Reads /proc for some milliseconds, so it must not run in the event loop's thread.
        """
        mark = f"{INSTANCE_VARIABLE}={self._mark}".encode()
        found = [pid for pid in _own_pids() if mark in _environ_of(pid)] if self._mark else []
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group that has just ended
            os.killpg(self._pid, number)


def new_mark() -> str:
    """Returns a value for INSTANCE_VARIABLE that no other family has."""
    return secrets.token_hex(8)


def command_line(program: str, args: Sequence[str]) -> tuple[str, ...]:
    """Returns the command line for a program: the program and its arguments."""
    return (program, *args)


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
