"""The transport of a server inside Tooltray's own process: two dispatchers connected back to back. The server is any object that answers
envelopes. It gets the same bytes as a server in another process, so the layers above treat both alike.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope


class MemoryServer(Protocol):
    def answer(self, request: Envelope) -> Awaitable[Envelope]: ...


@runtime_checkable
class NotifyingServer(Protocol):
    """A MemoryServer that also sends notifications."""

    def listen(self, tell: Callable[[str], None]) -> Callable[[], None]:
        """Subscribes `tell`, which is called with the method of each notification; returns a function that unsubscribes it."""
        ...


class _Wire:
    """One direction of the connection. Delivers in the loop's next iteration, as a socket does; neither side runs inside the other."""

    def __init__(self, target: RawDispatcher) -> None:
        self._target = target

    def write(self, data: bytes | memoryview) -> None:
        asyncio.get_running_loop().call_soon(self._target.feed, bytes(data))

    def close(self) -> None:
        asyncio.get_running_loop().call_soon(self._target.connection_lost, "the other side has closed")


class MemoryTransport:
    """The transport of a MemoryServer. Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    has_expired = False
    failure = output = None

    def __init__(self, *, name: str, server: MemoryServer, deadlines: DeadlineWheel) -> None:
        self._server = server
        self._end_listening: Callable[[], None] = lambda: None
        self._far_end = RawDispatcher(
            name=f"built-in '{name}'",
            deadlines=deadlines,
            answer=server.answer,
            take_notification=lambda notification: None,
            max_line_bytes=MAX_SERVER_LINE_BYTES,
        )

    async def open(self, dispatcher: RawDispatcher) -> None:
        self._far_end.attach(_Wire(dispatcher))
        dispatcher.attach(_Wire(self._far_end))
        if isinstance(self._server, NotifyingServer):
            self._end_listening = self._server.listen(self._far_end.send_notification)

    async def close(self) -> None:
        self._end_listening()
        await self._far_end.close("the hub has stopped it")
