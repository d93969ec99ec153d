"""The output and log records of a server inside Tooltray, which go to that server's own log, and not to Tooltray's output and log.

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

from tooltray.servers.transports.inmemory.byte_queues import call_in

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
        self._is_scheduled = False

    def write(self, text: str) -> None:
        with self._lock:
            *lines, rest = (self._rest + text).split("\n")
            self._rest = rest[:LINE_CHARACTERS]
            if not lines:
                return
            self._lines.extend(line[:LINE_CHARACTERS] for line in lines)
            while len(self._lines) > WAITING_LINES:
                self._lines.popleft()
                self._left_out += 1
            is_first, self._is_scheduled = not self._is_scheduled, True
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
            left_out, self._left_out, self._is_scheduled = self._left_out, 0, False
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
