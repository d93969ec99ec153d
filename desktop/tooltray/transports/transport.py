"""How a server is reached: what every transport offers McpClient.

Above it: McpClient. Below it: one module per transport.
"""

from dataclasses import dataclass
from typing import Protocol

from tooltray.errors import Problem
from tooltray.protocol.dispatcher import RawDispatcher


@dataclass(frozen=True)
class ConnectionFailure:
    """Why a connection ended or never came about, as far as its transport knows; no secret is in it.

    Attributes:
        problem: the reason as its title.
        is_lasting: trying again would end the same way, as with CannotStart.
        variables: the environment variables that the server misses.
        how: how its process ended; empty where there is none.
        words: what it wrote that says most of why; may be empty.
    """

    problem: Problem
    is_lasting: bool = False
    variables: tuple[str, ...] = ()
    how: str = ""
    words: str = ""


class Output(Protocol):
    """What a server's process has written besides messages; times are those of the event loop."""

    @property
    def last_at(self) -> float:
        """When it wrote something last; 0 if it never did."""
        ...

    @property
    def text(self) -> str:
        """The last line on its stdout that was no message; empty if there was none."""
        ...

    @property
    def text_since(self) -> float:
        """When the first of those came."""
        ...

    @property
    def last_line(self) -> str:
        """The last line of its stderr: while packages are downloaded, how far that is."""
        ...

    @property
    def url(self) -> str:
        """An address of this machine that it named: where it may serve HTTP; empty if it did not."""
        ...

    async def launcher_log(self) -> str:
        """The newest log of a launcher that prints nothing itself, as a path; empty if there is none."""
        ...


class Transport(Protocol):
    """One connection's worth of transport; opened once, closed once, by the task that owns the connection."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that belong to it."""
        ...

    @property
    def exit_code(self) -> int | None:
        """Of a process that has ended."""
        ...

    @property
    def has_expired(self) -> bool:
        """Whether the connection ended because the server has forgotten our session; it is fine otherwise."""
        ...

    @property
    def failure(self) -> ConnectionFailure | None:
        """Why the connection ended, or did not come about; None where the transport knows nothing that was not said over it."""
        ...

    @property
    def output(self) -> Output | None:
        """What its process writes besides messages; None where there is no process."""
        ...

    async def open(self, dispatcher: RawDispatcher) -> None:
        """Attaches a channel to the dispatcher and feeds it until `close`, or until it tells it that the connection is lost.

        Raises:
            CannotStart: the server cannot be reached; says why and what to do.
        """
        ...

    async def close(self) -> None:
        """Bounded; may be called when `open` failed, and twice."""
        ...
