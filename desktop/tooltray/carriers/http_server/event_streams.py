"""The queue of messages for one HTTP response, with back pressure, and the code that writes them.

Payloads are written unchanged, in slices, and never copied as a whole.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from tooltray.protocol.channels import Outgoing
from tooltray.protocol.event_stream import KEEPALIVE, event_parts
from tooltray.protocol.unsent import Unsent

KEEPALIVE_S = 15.0  # proxies and clients close a connection that is silent for longer than 30 to 60 s
SLICE_BYTES = 2**18  # as in a socket's Outbox
JOIN_BELOW_BYTES = 65536
PAUSED_ABOVE_BYTES = 2**20  # unsent bytes for a client that does not read: its dispatcher is paused
RESUMED_BELOW_BYTES = 2**18


class Flow(Protocol):
    """The part of a dispatcher that is paused and resumed."""

    unsent: Unsent

    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...


class Response(Protocol):
    """The part of aiohttp's response that is used here."""

    async def write(self, data: bytes | bytearray | memoryview) -> None: ...


class Event:
    """One message in a stream. `id` is empty if the stream cannot be resumed after it."""

    __slots__ = ("id", "is_written", "message", "number", "size")

    def __init__(self, message: Outgoing, id: str = "", number: int = 0) -> None:
        self.message, self.id, self.number = message, id, number
        self.size = sum(len(memoryview(part)) for part in message.parts)
        self.is_written = False


class Pressure:
    """Back pressure: counts the unsent bytes for one client over all its responses, and pauses its dispatcher above a limit."""

    def __init__(self, flow: Flow) -> None:
        self._flow, self._bytes, self._is_paused = flow, 0, False
        self.unsent = flow.unsent

    def add(self, size: int) -> None:
        self._bytes += size
        self.unsent.add(size)
        if self._bytes > PAUSED_ABOVE_BYTES and not self._is_paused:
            self._is_paused = True
            self._flow.pause_writing()

    def take(self, size: int) -> None:
        self._bytes -= size
        self.unsent.take(size)
        if self._is_paused and self._bytes < RESUMED_BELOW_BYTES:
            self._is_paused = False
            self._flow.resume_writing()


class EventQueue:
    """The events that one response has not written yet. One task reads it."""

    def __init__(
        self, pressure: Pressure, on_written: Callable[[Event], None] = lambda event: None, *, cut: Callable[[], object] | None = None
    ) -> None:
        """
        Args:
            cut: aborts the response's connection; called when too much waits for clients that do not read.
        """
        self._pressure, self._on_written, self._cut = pressure, on_written, cut
        if cut:
            pressure.unsent.ends.add(cut)
        self._waiting: deque[Event] = deque()
        self._has_news = asyncio.Event()
        self.is_ended = False

    def put(self, event: Event) -> None:
        self._waiting.append(event)
        self._pressure.add(event.size)
        self._has_news.set()

    def end(self) -> None:
        """Marks the end of the stream; waiting events are still written."""
        self.is_ended = True
        self._has_news.set()

    def discard(self) -> None:
        """Drops the waiting events, since the client has disconnected."""
        self.end()
        if self._cut:
            self._pressure.unsent.ends.discard(self._cut)
        while self._waiting:
            self._pressure.take(self._waiting.popleft().size)

    @property
    def waiting(self) -> tuple[Event, ...]:
        return tuple(self._waiting)

    @property
    def only(self) -> Event | None:
        """The waiting event, if it is the only one of the rest of the stream; else None."""
        return self._waiting[0] if self.is_ended and len(self._waiting) == 1 else None

    async def news(self, *, within_s: float | None) -> bool:
        """Waits for an event or the end of the stream, at most `within_s` seconds (None: no limit); returns whether one of them came."""
        if self._waiting or self.is_ended:
            return True
        self._has_news.clear()
        try:
            async with asyncio.timeout(within_s):
                await self._has_news.wait()
        except TimeoutError:
            return False
        return True

    async def write_to(self, response: Response) -> None:
        """Writes events until the end, and a keep-alive comment after each `KEEPALIVE_S` of silence."""
        while True:
            while self._waiting:
                event = self._waiting[0]
                await write_parts(response, event_parts(message_parts(event.message), id=event.id))
                self.written(event)
            if self.is_ended:
                return
            if not await self.news(within_s=KEEPALIVE_S):
                await response.write(KEEPALIVE)

    def written(self, event: Event) -> None:
        """Removes the oldest waiting event, which was written."""
        if self._waiting and self._waiting[0] is event:  # the event was not discarded meanwhile
            self._waiting.popleft()
            self._pressure.take(event.size)
        event.is_written = True
        self._on_written(event)


def message_parts(message: Outgoing) -> list[memoryview]:
    """Returns the parts of a message's JSON without the final newline."""
    head, payload, tail = message.parts
    return [memoryview(head), memoryview(payload), memoryview(tail)[:-1]]


async def write_parts(response: Response, parts: Iterable[bytes | memoryview]) -> None:
    """Writes small parts together and large ones in slices, as fast as the client reads."""
    views = [memoryview(part) for part in parts]
    if sum(map(len, views)) < JOIN_BELOW_BYTES:
        await response.write(b"".join(views))
        return
    for view in views:
        for start in range(0, len(view), SLICE_BYTES):
            await response.write(view[start : start + SLICE_BYTES])
