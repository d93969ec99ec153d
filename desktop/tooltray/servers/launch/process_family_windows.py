"""A process and all that it starts, ended together: a job object of its own inside the hub's; Windows."""

import contextlib
import secrets
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tooltray.foundation.platform.win32.jobs import CREATE_SUSPENDED, Job
from tooltray.foundation.programs import module_command
from tooltray.servers.launch.windows_scripts import command_line as command_line

assert sys.platform == "win32"

START_OPTIONS: Mapping[str, Any] = {"creationflags": CREATE_SUSPENDED | subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
"""Options for the start of a family's leader with `subprocess.Popen` and asyncio. The process does not run before it is in its job."""
INSTANCE_VARIABLE = "TOOLTRAY_INSTANCE"
"""Set for the leader of a marked family, as on POSIX; a job needs no mark."""


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


def new_mark() -> str:
    """Returns a value for INSTANCE_VARIABLE that no other family has."""
    return secrets.token_hex(8)
