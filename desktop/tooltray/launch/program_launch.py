"""What is run for a server that is a process on this computer: command, arguments, environment, folder.

Above it: the transports, which run it, and the modules that resolve it (child_environment, direct_starts). Below it: errors.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from tooltray.errors import TooltrayError
from tooltray.hidden_fields import HidesFields


class CannotStart(TooltrayError):
    """A start failed in a way that a retry would repeat: a person has to change something first."""


class Launch(HidesFields, frozen=True):
    """A program to run, with secrets and variables expanded; never displayed.

    Attributes:
        env: the whole environment of the child process.
        cwd: the folder in which it runs.
        saved_processes: the number of a launcher's processes that are saved by running its program directly.
        on_silent_end: called if the program cannot be run, or ends by itself without having written to its stdout; None: nothing is called.
    """

    hidden: ClassVar = ("args", "env", "on_silent_end")

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    saved_processes: int = 0
    on_silent_end: Callable[[], None] | None = None


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
