"""`GET /api/events`: the hub's events as they happen, as server-sent events; who lost the connection goes on where it was.

Above it: http_listener, which switches it, and the REST interface, which has looked at who asks. Below it: the event bus. All streams read
one ring of the last events, each at its own place; nothing is kept for one of them. The ids go on from run to run of the hub.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tooltray.events import ConfigChanged, EventBus
from tooltray.http_server.answers import start_events
from tooltray.http_server.event_streams import KEEPALIVE_S, Response
from tooltray.protocol.event_stream import KEEPALIVE
from tooltray.rest.shapes import encoded, in_json

KEPT_EVENTS = 1000  # a program that comes back within a minute of a busy hub misses nothing
KEPT_BYTES = 8 * 2**20  # reports of models may be long
READ_WITHIN_S = 30.0  # who takes nothing for so long while there is something does not read
RETRY_MS = 2000
FIRST_IDS_PER_S = 1000  # no hub has more events than that, so those of its next run have higher ids
RESET = "reset"
"""Of the event that says: some are missed, or there were none with that id; look at everything anew."""


@dataclass(frozen=True)
class _Kept:
    number: int
    name: str
    data: bytes

    @property
    def frame(self) -> bytes:
        return b"event: %s\nid: %d\ndata: %s\n\n" % (self.name.encode(), self.number, self.data)


class EventStreams:
    """Belongs to the engine's loop. Keeps nothing, and serves nobody, before `begin`."""

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
        """Keeps events from now on. May be called again."""
        if self._unsubscribe is None:
            self._last += 1  # between what was kept before and what comes, some are missing
            self._unsubscribe = self._bus.subscribe_all(self._on_event)

    def end_streams(self) -> None:
        """Ends those that are open; what they have missed they get when they come again."""
        self._run += 1
        self._wake()

    def end(self) -> None:
        """Ends them, and keeps no events any more. May be called again."""
        self.end_streams()
        if self._unsubscribe:
            self._unsubscribe()
        self._unsubscribe = None
        self._ring.clear()
        self._bytes = 0

    async def answer(self, request: web.Request, may_read: Callable[[], bool] = lambda: True) -> web.StreamResponse:
        """A stream from now on, or from behind what the client names in `Last-Event-ID`; until it ends, is cut, or the client is gone.

        Args:
            may_read: asked before each event; what the client came in with may open nothing any more.
        """
        stream = self.stream(request.headers.get("Last-Event-ID", ""), may_read)  # what happens while the response begins belongs to it
        response = await start_events(request)
        if await stream(response):
            await response.write_eof()
        elif request.transport:
            request.transport.abort()  # the end of an orderly response would wait for a reader, too
        return response

    def stream(self, seen: str = "", may_read: Callable[[], bool] = lambda: True) -> Callable[[Response], Awaitable[bool]]:
        """A stream that begins now.

        Args:
            seen: the id of the last event that the client has; empty for none.
            may_read: see `answer`.

        Returns:
            What writes it to a response until it ends, and returns whether the client has read it in time.
        """
        place = self._place_of(seen)
        start = self._last if place is None else place
        head = b"retry: %d\nid: %d\n\n" % (RETRY_MS, start)
        if seen and place is None:
            head += _Kept(start, RESET, b"{}").frame
        run = self._run

        async def write_to(response: Response) -> bool:
            return await _write(response, head) and await self._follow(response, start, run, may_read)

        return write_to

    async def _follow(self, response: Response, place: int, run: int, may_read: Callable[[], bool]) -> bool:
        """Writes what is behind a place in the ring, until the end; whether the client has read it in time."""
        while run == self._run and may_read():
            if place == self._last:
                if await self._has_come() or not may_read():
                    continue
                frame = KEEPALIVE
            elif self._has(place):
                place += 1
                frame = self._frame(place)
            else:
                return False
            if not await _write(response, frame):
                return False
        return True

    def _frame(self, number: int) -> bytes:
        return self._ring[number - self._ring[0].number].frame

    async def _has_come(self) -> bool:
        """Waits for an event or an end; whether there was one before it is time for a sign of life."""
        try:
            async with asyncio.timeout(KEEPALIVE_S):
                await self._has_news.wait()
        except TimeoutError:
            return False
        return True

    def _place_of(self, known: str) -> int | None:
        """Where a client goes on that has seen the event of this id; None where that cannot be known any more."""
        place = int(known) if known.isascii() and known.isdecimal() and len(known) < 20 else -1
        return place if place <= self._last and self._has(place) else None

    def _has(self, place: int) -> bool:
        """Whether all that came behind it is still kept."""
        oldest = self._ring[0].number if self._ring else self._last + 1
        return place >= oldest - 1

    def _on_event(self, event: Any) -> None:
        if self._unsubscribe is None:
            return  # somebody who heard of it before us has ended this
        kept = _Kept(self._last + 1, type(event).__name__, _in_json(event))
        self._last = kept.number
        self._ring.append(kept)
        self._bytes += len(kept.data)
        while len(self._ring) > KEPT_EVENTS or self._bytes > KEPT_BYTES:
            self._bytes -= len(self._ring.popleft().data)
        self._wake()

    def _wake(self) -> None:
        self._has_news.set()
        self._has_news = asyncio.Event()  # those who wait have the old one; who comes now waits for what is next


async def _write(response: Response, data: bytes) -> bool:
    """Whether the client has taken what was there before in time."""
    try:
        async with asyncio.timeout(READ_WITHIN_S):
            await response.write(data)
    except TimeoutError:
        return False
    return True


def _in_json(event: Any) -> bytes:
    """One event; of settings only that they are others, since entries are long, and somebody may have typed a key into one."""
    told = encoded(event)
    if isinstance(event, ConfigChanged):
        told["mcpServers"] = sorted(event.mcp_servers)
    return in_json(told)
