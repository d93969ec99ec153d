"""What is run for a server that is a process on this computer: command, arguments, environment, folder; and how many files it may open.

Above it: the transports, which run it, the modules that resolve it (child_environment, direct_starts), and the engine. Below it: errors.

The hub has some files open for each AI client and each server, and the usual soft limit is 1024, or 256: it raises its own to what the
system allows. Its children get the limit of before: programs that go through all numbers up to it take minutes where it is a million.
"""

import contextlib
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Protocol

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields


class CannotStart(TooltrayError):
    """A start failed in a way that a retry would repeat: a person has to change something first."""


RunFirst = Callable[[Sequence[str], Mapping[str, str], str], Awaitable[None]]
"""Runs a command line with an environment in a folder to its end.

Raises:
    TooltrayError: it fails; says why.
"""


class CommandLine(HidesFields, frozen=True):
    """What is run, and its whole environment; never displayed."""

    hidden: ClassVar = ("words", "env")

    words: Sequence[str]
    env: Mapping[str, str]


class Around(Protocol):
    """What is put around the program of a launch: a confinement."""

    async def command(self, program: str, launch: "Launch", run_first: RunFirst) -> CommandLine:
        """What is run in the place of the program with the launch's arguments and environment.

        Args:
            program: absolute.
            run_first: for what has to be run to its end before.

        Raises:
            TooltrayError: it cannot be run like this; says why.
        """
        ...


class Launch(HidesFields, frozen=True):
    """A program to run, with secrets and variables expanded; never displayed.

    Attributes:
        env: the whole environment of the child process.
        cwd: the folder in which it runs.
        saved_processes: the number of a launcher's processes that are saved by running its program directly.
        around: what is put around the program; None: nothing.
        on_silent_end: called if the program cannot be run, or ends by itself without having written to its stdout; None: nothing is called.
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
        saved_processes: the number of processes that the launcher would keep beside it.
    """

    hidden: ClassVar = ("args", "env")

    program: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    saved_processes: int


_before: list[int] = []  # the soft limit that this process was started with; a fact of the process, like the limit itself


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
    """How many files a child may have open by its soft limit; 0: as many as this process."""
    return _before[0] if _before else 0


def restore_limit_for(pid: int) -> None:
    """Gives a child that has just been started the soft limit of before. Linux only; a step between fork and exec would cost far more."""
    if sys.platform != "linux" or not _before:
        return
    import resource

    with contextlib.suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (_before[0], resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
