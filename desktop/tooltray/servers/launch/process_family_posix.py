"""A process and all that it starts, ended together: a process group and a mark in the environment; Linux and macOS.

Above it: process_family, which takes this or process_family_windows (the same names). Below it: the kernel and /proc.

A child that opens a session of its own leaves the group, and one that clears its environment as well escapes both. A confined server's
cannot: with bubblewrap the leader's end takes its whole list of processes along (its first process is in the group, and dies with its
parent, too); without it `setsid` and `setpgid` do nothing there, so that all stay in the group (servers/confinement/launch_line.py).
"""

import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

START_OPTIONS: Mapping[str, Any] = {"start_new_session": True}
"""With which a process is started that is to lead a family; for `subprocess.Popen` and asyncio."""
INSTANCE_VARIABLE = "TOOLTRAY_INSTANCE"
"""Set for the leader of a marked family; its children inherit it, wherever they go."""


class ProcessFamily:
    """A process that was started with START_OPTIONS, and its descendants. Its number must be its own still: not waited for yet."""

    def __init__(self, pid: int, mark: str = "") -> None:
        """
        Args:
            mark: its value of INSTANCE_VARIABLE; empty: those that leave the group are left alone.
        """
        self._pid, self._mark = pid, mark

    def ask_to_end(self) -> None:
        """SIGTERM for the whole group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL for the whole group; also after the leader has ended."""
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
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group that has just ended
            os.killpg(self._pid, number)


def new_mark() -> str:
    """A value for INSTANCE_VARIABLE that no other family has."""
    return secrets.token_hex(8)


def command_line(program: str, args: Sequence[str]) -> tuple[str, ...]:
    """What is started for a program: the program."""
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
