"""The streams between Tooltray and a server inside it, which runs in a thread of its own: limited queues of bytes for its messages, and its
output and log records, which go to that server's own log, and not to Tooltray's.

Each queue belongs to two loops: methods below the comment "hub" are called in Tooltray's loop, methods below "server" in the server's. A
loop that is gone is not an error here: the other side learns of the end in another way.

`sys.stdout`, `sys.stderr` and the handlers of the root logger belong to the whole process. So while such a server runs, each of them looks
at a context variable that the server's thread has set; tasks and worker threads of asyncio and anyio inherit it. A thread that a server
starts itself does not: its output appears where Tooltray's own output does.
"""

import asyncio
import contextlib
import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import Context, ContextVar, copy_context
from typing import Any, TextIO

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
        self._is_paused = self._is_over = False
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
            raise Gone("Tooltray closed the connection")
        with self._lock:
            is_first = not self._lines
            self._lines.append(line)
            self._bytes += len(line)
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
            self._bytes = 0
        self._wake()
        for line in lines:
            self._feed(line)


WAITING_LINES = 500  # as many as a second of a process's stderr may have; the oldest of more are left out
LINE_CHARACTERS = 2000  # of a line that are kept until its end arrives


class Console:
    """The output of one server. `write` may be called in any thread."""

    def __init__(self, hub: asyncio.AbstractEventLoop, take: Callable[[bytes], None]) -> None:
        """
        Args:
            take: called with each line, in Tooltray's loop.
        """
        self._hub, self._take, self._lock = hub, take, threading.Lock()
        self._lines: deque[str] = deque()
        self._left_out = 0
        self._rest = ""

    def write(self, text: str) -> None:
        with self._lock:
            *lines, rest = (self._rest + text).split("\n")
            self._rest = rest[:LINE_CHARACTERS]
            if not lines:
                return
            is_first = not self._lines
            self._lines.extend(line[:LINE_CHARACTERS] for line in lines)
            while len(self._lines) > WAITING_LINES:
                self._lines.popleft()
                self._left_out += 1
        if is_first:
            call_in(self._hub, self._deliver)

    def finish(self) -> None:
        """Delivers the rest, also a line without an end; called in Tooltray's loop."""
        with self._lock:
            if self._rest:
                self._lines.append(self._rest)
            self._rest = ""
        self._deliver()

    def _deliver(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, deque()
            left_out, self._left_out = self._left_out, 0
        if left_out:
            self._take(b"(%d lines left out)" % left_out)
        for line in lines:
            self._take(line.encode(errors="replace"))


_console: ContextVar[Console | None] = ContextVar("console", default=None)


class _Bytes:
    """The `sys.stdout.buffer` of a server."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, data: bytes) -> int:
        self._console.write(bytes(data).decode(errors="replace"))
        return len(data)

    def flush(self) -> None:
        pass


class _Divided:
    """A standard stream of the process: a server's output goes to its console, all other output to the original stream."""

    def __init__(self, original: TextIO | None) -> None:
        self.original = original

    def write(self, text: str) -> int:
        if console := _console.get():
            console.write(text)
        elif self.original is not None:
            return self.original.write(text)
        return len(text)

    def flush(self) -> None:
        if self.original is not None and _console.get() is None:
            self.original.flush()

    @property
    def buffer(self) -> Any:
        console = _console.get()
        return _Bytes(console) if console else getattr(self.original, "buffer", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


class _OfServers(logging.Handler):
    """The handler for log records of servers, which other handlers leave out."""

    def emit(self, record: logging.LogRecord) -> None:
        if console := _console.get():
            console.write(self.format(record) + "\n")


def _is_hub(record: logging.LogRecord) -> bool:
    return _console.get() is None


class _Division:
    """The process's streams and handlers while servers run inside; there is one process, and so only one instance."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._handler = _OfServers()
        self._handler.setFormatter(logging.Formatter("%(levelname)s: %(name)s: %(message)s"))
        self._filtered: list[logging.Handler] = []
        self._streams: tuple[_Divided, _Divided] | None = None

    def begin(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._install()

    def end(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._remove()

    def _install(self) -> None:
        self._streams = _Divided(sys.stdout), _Divided(sys.stderr)
        sys.stdout, sys.stderr = self._streams
        root = logging.getLogger()
        self._filtered = list(root.handlers)
        for handler in self._filtered:
            handler.addFilter(_is_hub)
        root.addHandler(self._handler)

    def _remove(self) -> None:
        for name, divided in zip(("stdout", "stderr"), self._streams or (), strict=False):
            if getattr(sys, name) is divided:  # it was not replaced meanwhile
                setattr(sys, name, divided.original)
        for handler in self._filtered:
            handler.removeFilter(_is_hub)
        logging.getLogger().removeHandler(self._handler)
        self._streams, self._filtered = None, []


_division = _Division()


@contextlib.contextmanager
def printing_to(console: Console) -> Iterator[None]:
    """Sends what is printed and logged inside, and in tasks that begin there, to a console."""
    _division.begin()
    token = _console.set(console)
    try:
        yield
    finally:
        _console.reset(token)
        _division.end()


def in_context_of(console: Console) -> Context:
    """Returns a context for a task whose output goes to a console."""
    context = copy_context()
    context.run(_console.set, console)
    return context
