"""The launch of a server that is a process on this computer: command, arguments, environment, folder; and how many files it may open.

The hub has some files open for each AI client and each server, and the usual soft limit is 1024, or 256: the hub raises its own limit as
far as the system allows. Its children get the original limit: programs that try all numbers up to the limit take minutes if it is a
million.
"""

import contextlib
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Protocol

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields


class CannotStart(TooltrayError):
    """A failure to start that a retry would repeat: the user has to change something first."""


RunFirst = Callable[[Sequence[str], Mapping[str, str], str], Awaitable[None]]
"""Runs a command line with an environment in a folder to its end.

Raises:
    TooltrayError: it fails; gives the reason.
"""


class CommandLine(HidesFields, frozen=True):
    """A command line and its whole environment; never displayed."""

    hidden: ClassVar = ("words", "env")

    words: Sequence[str]
    env: Mapping[str, str]


class Around(Protocol):
    """A wrapper around the program of a launch: a confinement."""

    async def command(self, program: str, launch: "Launch", run_first: RunFirst) -> CommandLine:
        """Returns the command line that replaces the program with the launch's arguments and environment.

        Args:
            program: absolute.
            run_first: runs a command to its end before the program starts.

        Raises:
            TooltrayError: it cannot be run like this; gives the reason.
        """
        ...


class Launch(HidesFields, frozen=True):
    """A program to run, with secrets and variables expanded; never displayed.

    Attributes:
        env: the whole environment of the child process.
        cwd: the folder in which it runs.
        saved_processes: the number of a launcher's processes that are saved by running its program directly.
        around: a wrapper around the program; None: the program is run as it is.
        on_silent_end: called if the program cannot be run, or exits without having written to its stdout; None: nothing is called.
    """

    hidden: ClassVar = ("args", "env", "on_silent_end", "around")

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    saved_processes: int = 0
    on_silent_end: Callable[[], None] | None = None
    around: Around | None = None


class DirectProgram(HidesFields, frozen=True):
    """The program that a launcher (npx, uvx) would run.

    Attributes:
        program: its absolute path.
        env: variables that the launcher would add to its environment.
        saved_processes: the number of processes that the launcher would keep running beside it.
    """

    hidden: ClassVar = ("args", "env")

    program: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    saved_processes: int


_before: list[int] = []  # the soft limit that this process was started with; belongs to the process, like the limit itself


def raise_file_limit() -> None:
    """Lets this process open as many files as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    with contextlib.suppress(ValueError, OSError):  # macOS names a limit that it does not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        _before[:] = [soft]


def files_of_children() -> int:
    """Returns how many files a child may have open by its soft limit; 0: as many as this process."""
    return _before[0] if _before else 0


def restore_limit_for(pid: int) -> None:
    """Gives a child that has just been started the original soft limit. Linux only; a step between fork and exec would cost far more."""
    if sys.platform != "linux" or not _before:
        return
    import resource

    with contextlib.suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (_before[0], resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
