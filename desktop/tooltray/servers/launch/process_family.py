"""A process and all that it starts, ended together: on Linux and macOS by a process group and a mark in the environment, on Windows by a
job object of its own inside the hub's.

On POSIX a child that opens its own session leaves the group, and a child that also clears its environment escapes both. A confined server's
children cannot: with bubblewrap the leader's end ends its whole PID namespace (whose first process is in the group, and dies with its
parent, too); without bubblewrap `setsid` and `setpgid` do nothing there, so that all stay in the group
(servers/confinement/launch_line.py).
"""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LOOK_EVERY_S = 0.01
INSTANCE_VARIABLE = "TOOLTRAY_INSTANCE"
"""Set for the leader of a marked family; its children inherit it, wherever they go. A job needs no mark."""


def new_mark() -> str:
    """Returns a value for INSTANCE_VARIABLE that no other family has."""
    return secrets.token_hex(8)


if sys.platform == "win32":
    from tooltray.foundation.platform.win32.jobs import CREATE_SUSPENDED, Job
    from tooltray.foundation.programs import module_command
    from tooltray.servers.launch.program_launch import command_line as command_line

    START_OPTIONS: Mapping[str, Any] = {
        "creationflags": CREATE_SUSPENDED | subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    }
    """Options for the start of a family's leader with `subprocess.Popen` and asyncio. The process does not run before it is in its job."""

    class ProcessFamily:
        """A process that was started with START_OPTIONS, which runs from here on, and its descendants."""

        def __init__(self, pid: int, mark: str = "") -> None:
            """
            Raises:
                OSError: it could not be taken into a job; it does not run.
            """
            self._pid, self._job = pid, Job()
            try:
                self._job.take_and_resume(pid)
            except OSError:
                self._job.close()
                raise

        def ask_to_end(self) -> None:
            """Sends Ctrl+Break from another process of Tooltray, because it reaches only processes of the console that the sender has."""
            with contextlib.suppress(OSError):
                subprocess.Popen(
                    module_command("tooltray.foundation.platform.win32.ctrl_break", str(self._pid)),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    creationflags=subprocess.DETACHED_PROCESS,
                )

        def kill(self) -> None:
            """Ends the whole job; also after the leader has ended."""
            self._job.terminate()

        def end_stragglers(self) -> int:
            """Closes the job, which no process can have left."""
            self._job.close()
            return 0

        def wait_for_end(self, within_s: float) -> bool:
            """Returns False: Windows does not show when the processes of a closed job have ended."""
            return False

else:
    START_OPTIONS: Mapping[str, Any] = {"process_group": 0} if sys.platform == "darwin" else {"start_new_session": True}
    """Options for the start of a family's leader with `subprocess.Popen` and asyncio. On macOS it stays in the hub's session, by which the
    guardian finds what a killed hub leaves behind."""

    class ProcessFamily:
        """A process that was started with START_OPTIONS, and its descendants. The process must not have been waited for: its number
        could be reused."""

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

        def wait_for_end(self, within_s: float) -> bool:
            """Waits until the group has no process any more, and returns whether that is so. Call it after `kill`, in a thread: no new
            process can begin then."""
            until = time.monotonic() + within_s
            while time.monotonic() < until:
                try:
                    os.killpg(self._pid, 0)
                except ProcessLookupError:
                    return True
                except PermissionError:  # as in `_signal`
                    pass
                time.sleep(LOOK_EVERY_S)
            return False

        def _signal(self, number: int) -> None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group that has just ended
                os.killpg(self._pid, number)

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
