"""The two directions between Tooltray's event loop and the loop of a server in a thread: limited queues of bytes, which know no messages.

Each object belongs to two loops: methods below the comment "hub" are called in Tooltray's loop, methods below "server" in the server's. A
loop that is gone is not an error here: the other side learns of the end in another way.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable

FULL_BYTES = 2**20  # in one direction; a larger message fits into an empty queue
DRAINED_BYTES = FULL_BYTES // 2


class Gone(ConnectionError):
    """The error of a server that writes after Tooltray has closed the connection."""


def call_in(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Calls a function in another loop, as soon as that loop is free; not at all if the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


class ToServer(asyncio.WriteTransport):
    """The bytes that Tooltray has written and the server has not taken yet. An asyncio transport, so that an Outbox can feed it."""

    def __init__(self, hub: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._hub, self._lock = hub, threading.Lock()
        self._chunks: deque[bytes] = deque()
        self._bytes = 0
        self._is_closing = self._is_paused = False
        self._wake: Callable[[], None] = lambda: None
        self._pause: Callable[[], None] = lambda: None
        self._resume: Callable[[], None] = lambda: None

    # hub

    def follow(self, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        """Calls `pause` when the queue is full, and `resume` when it has space again."""
        self._pause, self._resume = pause, resume

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing:
            return
        with self._lock:
            self._chunks.append(bytes(data))
            self._bytes += len(data)
            is_full = self._bytes >= FULL_BYTES and not self._is_paused
            self._is_paused = self._is_paused or is_full
        if is_full:
            self._pause()
        self._wake()

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        """Marks the end of the bytes; the server still takes what was written before."""
        self._is_closing = True
        self._wake()

    # server

    def attach(self) -> None:
        """Begins to be read in the running loop."""
        loop, self._arrived = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: call_in(loop, self._arrived.set)
        self._arrived.set()

    async def take(self) -> bytes:
        """Returns the next bytes; empty at the end."""
        while True:
            self._arrived.clear()
            with self._lock:
                if self._chunks:
                    return self._taken()
            if self._is_closing:
                return b""
            await self._arrived.wait()

    def _taken(self) -> bytes:
        chunk = self._chunks.popleft()
        self._bytes -= len(chunk)
        if self._is_paused and self._bytes < DRAINED_BYTES:
            self._is_paused = False
            call_in(self._hub, lambda: self._resume())
        return chunk


class FromServer:
    """The lines that the server has written and Tooltray has not taken yet."""

    def __init__(self, hub: asyncio.AbstractEventLoop, feed: Callable[[bytes], None]) -> None:
        """
        Args:
            feed: called with whole lines, in Tooltray's loop.
        """
        self._hub, self._feed, self._lock = hub, feed, threading.Lock()
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._is_scheduled = self._is_paused = self._is_over = False
        self._wake: Callable[[], None] = lambda: None

    # server

    def attach(self) -> None:
        """Begins to be written in the running loop."""
        loop, self._room = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: call_in(loop, self._room.set)

    async def send(self, line: bytes) -> None:
        """Sends a line with its line break, as soon as the queue has space.

        Raises:
            Gone: Tooltray has closed the connection.
        """
        while self._bytes >= FULL_BYTES and not self._is_over:
            self._room.clear()
            if self._bytes >= FULL_BYTES and not self._is_over:
                await self._room.wait()
        if self._is_over:
            raise Gone("the hub has closed the connection")
        with self._lock:
            self._lines.append(line)
            self._bytes += len(line)
            is_first, self._is_scheduled = not self._is_scheduled, True
        if is_first:
            call_in(self._hub, self._deliver)

    # hub

    def pause(self) -> None:
        """Stops deliveries until `resume`: Tooltray has no space for more."""
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._deliver()

    def finish(self) -> None:
        """Delivers the rest, with or without space; later lines are refused."""
        self._is_paused, self._is_over = False, True
        self._deliver()

    def _deliver(self) -> None:
        if self._is_paused:
            return
        with self._lock:
            lines, self._lines = self._lines, deque()
            self._bytes, self._is_scheduled = 0, False
        self._wake()
        for line in lines:
            self._feed(line)
