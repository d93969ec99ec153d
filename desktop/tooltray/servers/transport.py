"""How a server is reached: what every transport offers McpClient.

Above it: McpClient. Below it: one module per transport.
"""

from typing import Protocol

from tooltray.errors import TooltrayError
from tooltray.wire.dispatcher import RawDispatcher


class CannotStart(TooltrayError):
    """Trying again would end the same way: something has to be changed first."""


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

    async def open(self, dispatcher: RawDispatcher) -> None:
        """Attaches a channel to the dispatcher and feeds it until `close`, or until it tells it that the connection is lost.

        Raises:
            CannotStart: the server cannot be reached; says why and what to do.
        """
        ...

    async def close(self) -> None:
        """Bounded; may be called when `open` failed, and twice."""
        ...
