"""The interface of a transport, by which McpClient reaches a server.

Above it: McpClient. Below it: one module per transport.
"""

from typing import Protocol

import msgspec

from tooltray.errors import Problem
from tooltray.protocol.dispatcher import RawDispatcher


class ConnectionFailure(msgspec.Struct, frozen=True):
    """Why a connection ended or was never opened, as far as the transport knows. Contains no secrets.

    Attributes:
        problem: its title gives the reason.
        is_lasting: a retry would fail in the same way, as with CannotStart.
        variables: the environment variables that the server misses.
        how: how the server's process ended; empty if there is no process.
        words: the most telling line of the process's output; may be empty.
    """

    problem: Problem
    is_lasting: bool = False
    variables: tuple[str, ...] = ()
    how: str = ""
    words: str = ""


class Output(Protocol):
    """What a server's process has written besides messages. Times are seconds of the event loop's clock."""

    @property
    def last_at(self) -> float:
        """The time of the last output; 0 if there was none."""
        ...

    @property
    def text(self) -> str:
        """The last line of stdout that was no message; empty if there was none."""
        ...

    @property
    def text_since(self) -> float:
        """The time of the first line of stdout that was no message; 0 if there was none."""
        ...

    @property
    def last_line(self) -> str:
        """The last line of stderr; while packages are downloaded it shows the progress."""
        ...

    @property
    def url(self) -> str:
        """A URL of this machine in the output, where the server may serve HTTP; empty if there was none."""
        ...

    async def launcher_log(self) -> str:
        """Returns the path of the newest log of a launcher that prints nothing itself; empty if there is none."""
        ...


class Transport(Protocol):
    """The transport of one connection. Opened once and closed by the task that owns the connection."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The running processes of the connection."""
        ...

    @property
    def exit_code(self) -> int | None:
        """The exit code of a process that has ended; negative for a signal. None while it runs, and without a process."""
        ...

    @property
    def has_expired(self) -> bool:
        """Whether the connection ended because the server has forgotten our session; the server itself is healthy."""
        ...

    @property
    def failure(self) -> ConnectionFailure | None:
        """Why the connection ended or was never opened; None if the transport knows no more than was received over it."""
        ...

    @property
    def output(self) -> Output | None:
        """What the server's process writes besides messages; None without a process."""
        ...

    async def open(self, dispatcher: RawDispatcher) -> None:
        """Attaches a channel to the dispatcher and feeds it with messages until `close`, or until it reports the connection as lost.

        Raises:
            CannotStart: the server cannot be reached; the error gives the reason and a hint.
        """
        ...

    async def close(self) -> None:
        """Closes the connection in bounded time. May be called twice, and after `open` failed."""
        ...
