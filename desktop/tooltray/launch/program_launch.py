"""What is run for a server that is a process of its own: command, arguments, environment, folder.

Above it: the transports, which run it, and the modules that work it out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tooltray.errors import TooltrayError


class CannotStart(TooltrayError):
    """Trying again would end the same way: something has to be changed first."""


@dataclass(frozen=True)
class Launch:
    """What is run, with secrets and variables filled in; never shown to anyone.

    Attributes:
        env: the whole environment of the child.
        saved_processes: how many processes of a launcher are spared by running its program directly.
        on_silent_end: told if it cannot be run, or ends by itself without having written a byte to its stdout; None: nobody wants to know.
    """

    command: str
    args: Sequence[str] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str
    saved_processes: int = 0
    on_silent_end: Callable[[], None] | None = field(default=None, repr=False, compare=False)
