"""`GET /api/events`: the hub's events as server-sent events, resumable by `Last-Event-ID`.

All streams read one ring buffer of the last events at their own positions; nothing is buffered for a single stream. The ids keep growing
over restarts of the hub. Callers are authenticated by the REST interface.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from aiohttp import web

from tooltray.carriers.http_server.answers import KEEPALIVE_S, start_events, write_parts
from tooltray.carriers.rest.operation import encoded, in_json
from tooltray.foundation.events import ConfigChanged, EventBus
from tooltray.protocol.event_stream import KEEPALIVE

KEPT_EVENTS = 1000  # even on a busy hub a program that reconnects within a minute misses nothing
KEPT_BYTES = 8 * 2**20  # reports of models may be long
READ_WITHIN_S = 30.0  # a client that reads nothing for so long is disconnected
RETRY_MS = 2000
FIRST_IDS_PER_S = 1000  # ids start at unix time times this; no hub has more events a second, so its next run has higher ids
RESET = "reset"
"""Name of the event that tells a client that it missed events or sent an unknown id, and should fetch the whole state."""


class _Kept(msgspec.Struct, frozen=True):
    number: int
    name: str
    data: bytes

    @property
    def frame(self) -> list[bytes]:
        """The event in parts, as each waiting stream writes it and the data may be long."""
        return [b"event: %s\nid: %d\ndata: " % (self.name.encode(), self.number), self.data, b"\n\n"]


class EventStreams:
    """The streams of the hub's events. Belongs to the engine's loop. Buffers no events and serves no stream before `begin`."""

    def __init__(self, bus: EventBus, *, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._bus = bus
        self._ring: deque[_Kept] = deque()
        self._bytes = 0
        self._last = int(clock() * FIRST_IDS_PER_S)
        self._run = 0  # the streams of an earlier one end
        self._has_news = asyncio.Event()
        self._unsubscribe: Callable[[], None] | None = None

    def begin(self) -> None:
        """Buffers events from now on; may be called again."""
        if self._unsubscribe is None:
            self._last += 1  # a gap: events between the last buffered one and the next are missing
            self._unsubscribe = self._bus.subscribe_all(self._on_event)

    def end_streams(self) -> None:
        """Ends the open streams; their clients get missed events when they reconnect."""
        self._run += 1
        self._wake()

    def end(self) -> None:
        """Ends the open streams and stops buffering events; may be called again."""
        self.end_streams()
        if self._unsubscribe:
            self._unsubscribe()
        self._unsubscribe = None
        self._ring.clear()
        self._bytes = 0

    async def answer(self, request: web.Request, may_read: Callable[[], bool] = lambda: True) -> web.StreamResponse:
        """Sends a stream of events, from now on or from after `Last-Event-ID`, until it ends or the client disconnects.

        Args:
            may_read: called before each event; returns whether the client's token is still valid.
        """
        stream = self.stream(request.headers.get("Last-Event-ID", ""), may_read)  # before the response begins, so that no event is missed
        response = await start_events(request)
        if await stream(response):
            await response.write_eof()
        elif request.transport:
            request.transport.abort()  # an orderly end would also wait for the client to read
        return response

    def stream(self, seen: str = "", may_read: Callable[[], bool] = lambda: True) -> Callable[[web.StreamResponse], Awaitable[bool]]:
        """Begins a stream.

        Args:
            seen: the id of the last event that the client has; empty for none.
            may_read: see `answer`.

        Returns:
            A function that writes the stream to a response until it ends, and returns False if the client did not read in time.
        """
        place = self._place_of(seen)
        start = self._last if place is None else place
        head = [b"retry: %d\nid: %d\n\n" % (RETRY_MS, start)]
        if seen and place is None:
            head += _Kept(start, RESET, b"{}").frame
        run = self._run

        async def write_to(response: web.StreamResponse) -> bool:
            return await _write(response, head) and await self._follow(response, start, run, may_read)

        return write_to

    async def _follow(self, response: web.StreamResponse, place: int, run: int, may_read: Callable[[], bool]) -> bool:
        """Writes the events after a position until the end; returns False if the client did not read in time."""
        while run == self._run and may_read():
            if place == self._last:
                if await self._has_come() or not may_read():
                    continue
                frame = [KEEPALIVE]
            elif self._has(place):
                place += 1
                frame = self._frame(place)
            else:
                return False
            if not await _write(response, frame):
                return False
        return True

    def _frame(self, number: int) -> list[bytes]:
        return self._ring[number - self._ring[0].number].frame

    async def _has_come(self) -> bool:
        """Waits for an event or the end; returns False after `KEEPALIVE_S`, when a keep-alive is due."""
        try:
            async with asyncio.timeout(KEEPALIVE_S):
                await self._has_news.wait()
        except TimeoutError:
            return False
        return True

    def _place_of(self, known: str) -> int | None:
        """Returns the position after the event with this id; None if events after it are no longer buffered."""
        place = int(known) if known.isascii() and known.isdecimal() and len(known) < 20 else -1
        return place if place <= self._last and self._has(place) else None

    def _has(self, place: int) -> bool:
        """Reports whether all events after a position are still buffered."""
        oldest = self._ring[0].number if self._ring else self._last + 1
        return place >= oldest - 1

    def _on_event(self, event: object) -> None:
        if self._unsubscribe is None:
            return  # an earlier subscriber of this event has called `end`
        kept = _Kept(self._last + 1, type(event).__name__, _in_json(event))
        self._last = kept.number
        self._ring.append(kept)
        self._bytes += len(kept.data)
        while len(self._ring) > KEPT_EVENTS or self._bytes > KEPT_BYTES:
            self._bytes -= len(self._ring.popleft().data)
        self._wake()

    def _wake(self) -> None:
        self._has_news.set()
        self._has_news = asyncio.Event()  # waiting streams hold the old one; later waits need a new one


async def _write(response: web.StreamResponse, parts: Sequence[bytes]) -> bool:
    """Writes parts of data; returns False if the client did not read within `READ_WITHIN_S`."""
    try:
        async with asyncio.timeout(READ_WITHIN_S):
            await write_parts(response, parts)
    except TimeoutError:
        return False
    return True


def _in_json(event: object) -> bytes:
    """Encodes an event; of changed settings only the servers' names, since entries are long and may contain keys."""
    members = encoded(event)
    if isinstance(event, ConfigChanged):
        members["mcpServers"] = sorted(event.mcp_servers)
    return in_json(members)
