"""One AI client on this process's own stdin and stdout (`tooltray serve --stdio`).

Standard input may be a pipe, a terminal or a file; a blocking reader in a thread handles all three, and does not change the mode of the
descriptors, which other processes share.
"""

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import Callable

from tooltray.carriers.mcp.local_socket import GRACE_AFTER_EOF_S
from tooltray.protocol.dispatcher import RawDispatcher

CHUNK_BYTES = 1 << 18
HIGH_WATER_BYTES, LOW_WATER_BYTES = 1 << 20, 1 << 18  # of replies that the client has not read yet


async def serve(dispatcher: RawDispatcher, *, stdin: int = 0, stdout: int = 1, grace_s: float = GRACE_AFTER_EOF_S) -> None:
    """Carries bytes until the client closes its side or stops reading.

    Args:
        grace_s: how long calls in flight may run after the client has closed its side, and how long it then gets to read.
    """
    writer = _Writer(stdout, dispatcher)
    reader = _Reader(stdin, dispatcher, writer.may_read, grace_s)
    dispatcher.attach(writer)
    writer.start()
    reader.start()
    try:
        await dispatcher.closed.wait()
    finally:
        await asyncio.to_thread(writer.finish, grace_s)
        writer.discard()


class _Reader(threading.Thread):
    """A reader no faster than the dispatcher takes messages; it pauses while the client does not read its replies."""

    def __init__(self, stdin: int, dispatcher: RawDispatcher, may_read: threading.Event, grace_s: float) -> None:
        super().__init__(name="tooltray-stdin", daemon=True)
        self._stdin, self._dispatcher, self._may_read, self._grace_s = stdin, dispatcher, may_read, grace_s
        self._loop = asyncio.get_running_loop()
        self._taken = threading.Event()

    def run(self) -> None:
        while not self._dispatcher.is_closed:
            chunk = _read(self._stdin)
            self._taken.clear()
            if not _tell(self._loop, self._deliver, chunk) or not chunk:
                return
            self._taken.wait()
            self._may_read.wait()

    def _deliver(self, chunk: bytes) -> None:
        try:
            self._dispatcher.feed(chunk or b"\n")  # a last line may lack its newline
            if not chunk:
                self._dispatcher.end_of_input("the AI client disconnected", grace_s=self._grace_s)
        finally:
            self._taken.set()


class _Writer(threading.Thread):
    """The dispatcher's channel; writes in a thread, so that a client that does not read blocks no other."""

    def __init__(self, stdout: int, dispatcher: RawDispatcher) -> None:
        super().__init__(name="tooltray-stdout", daemon=True)
        self._stdout, self._dispatcher = stdout, dispatcher
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes | memoryview] = deque()
        self._waiting_bytes = 0
        self._is_high = self._is_closing = False
        self._changed = threading.Condition()
        self.may_read = threading.Event()
        self.may_read.set()
        dispatcher.unsent.ends.add(self._give_up)

    def write(self, data: bytes | memoryview) -> None:
        with self._changed:
            self._waiting.append(data)
            self._waiting_bytes += len(data)
            becomes_high = not self._is_high and self._waiting_bytes > HIGH_WATER_BYTES
            is_high = self._is_high = self._is_high or becomes_high
            self._changed.notify()
        if is_high:
            self._count()
        if becomes_high:
            self.may_read.clear()
            self._dispatcher.pause_writing()

    def close(self) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify()

    def discard(self) -> None:
        """Drops what has not been written yet."""
        with self._changed:
            self._waiting.clear()
        self._dispatcher.unsent.hold(0)

    def _give_up(self) -> None:
        """Closes this channel: too much waits for clients that do not read, and most of that waits here."""
        self.discard()
        self._dispatcher.connection_lost("the AI client does not read")

    def _count(self) -> None:
        """Counts the waiting bytes in the loop's thread; small queues are not counted."""
        self._dispatcher.unsent.hold(self._waiting_bytes if self._is_high else 0)

    def finish(self, grace_s: float) -> None:
        """Waits until everything is written, at most `grace_s` seconds. Runs in a thread."""
        self.close()
        self.may_read.set()
        self.join(grace_s)

    def run(self) -> None:
        while (part := self._next()) is not None:
            if not _write(self._stdout, part):
                _tell(self._loop, self._dispatcher.connection_lost, "the AI client disconnected")
                return
            self._has_left(len(part))

    def _next(self) -> bytes | memoryview | None:
        """Returns the data to write next; None at the end."""
        with self._changed:
            while not self._waiting and not self._is_closing:
                self._changed.wait()
            return self._waiting.popleft() if self._waiting else None

    def _has_left(self, size: int) -> None:
        with self._changed:
            self._waiting_bytes -= size
            was_high = self._is_high
            becomes_low = was_high and self._waiting_bytes < LOW_WATER_BYTES
            self._is_high = self._is_high and not becomes_low
        if was_high:
            _tell(self._loop, self._count)
        if becomes_low:
            _tell(self._loop, self._resume)

    def _resume(self) -> None:
        with self._changed:
            if self._is_high:  # again, meanwhile
                return
        self.may_read.set()
        self._dispatcher.resume_writing()


def _read(stdin: int) -> bytes:
    """Returns the next bytes; empty at the end, or without a standard input."""
    while True:
        try:
            return os.read(stdin, CHUNK_BYTES)
        except BlockingIOError:  # another process that shares the descriptor changed its mode
            select.select([stdin], [], [])
        except OSError:
            return b""


def _write(stdout: int, data: bytes | memoryview) -> bool:
    """Writes data; returns whether all of it could be written."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(stdout, view[:CHUNK_BYTES]) :]
        except BlockingIOError:
            select.select([], [stdout], [])
        except OSError:
            return False
    return True


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: object) -> bool:
    """Calls a function in the loop's thread; returns False if the loop has ended."""
    try:
        loop.call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        return False
    return True
