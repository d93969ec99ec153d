"""The thread in which a server inside Tooltray lives: it is imported and made there, and served in an event loop of that thread's own. It
knows no settings and nothing of the SDK.

Whatever a server does that would end a process (an exception, `sys.exit`, the end of its loop) ends its connections here, each with the
reason. An object that several connections use (of two eras, or of sessions with an instance each) lives in one loop: the locks and streams
that it has made there work only in that loop. The threads are daemons, and so are the threads that they start: a thread that never ends
does not delay the exit of Tooltray.
"""

import asyncio
import contextlib
import threading
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.servers.transports.inmemory.streams import Console, in_context_of, printing_to

P = ParamSpec("P")
T = TypeVar("T")
MOST_WORKERS = 32  # as many as asyncio's own pool has at most
MOST_WORDS = 300  # characters of an exception's message; a card shows them


class DaemonWorkers(ThreadPoolExecutor):
    """A pool with a thread for each call, up to MOST_WORKERS; further calls wait. asyncio accepts only this base class."""

    def __init__(self, name: str) -> None:
        super().__init__(max_workers=1)  # the pool never starts threads of its own
        self._name = f"worker of '{name}'"
        self._guard = threading.Lock()
        self._queue: deque[Callable[[], None]] = deque()
        self._busy = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        future: Future[T] = Future()
        call = partial(copy_context().run, fn, *args, **kwargs)
        with self._guard:
            self._queue.append(partial(_work, future, call))
            if self._busy == MOST_WORKERS:
                return future
            self._busy += 1
        threading.Thread(target=self._run, name=self._name, daemon=True).start()
        return future

    def _run(self) -> None:
        while work := self._next():
            work()

    def _next(self) -> Callable[[], None] | None:
        with self._guard:
            if self._queue:
                return self._queue.popleft()
            self._busy -= 1
            return None


def _work(future: "Future[T]", call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:  # it is the waiting caller's
        future.set_exception(error)
    else:
        future.set_result(result)


class End(msgspec.Struct, frozen=True):
    """The way in which a server has ended.

    Attributes:
        how: a sentence without a full stop, for the user.
        words: the exception; empty if the server ended without one.
        is_start: the server could not be made, so that another try would fail in the same way.
    """

    how: str
    words: str = ""
    is_start: bool = False


class Connection(Protocol):
    """One connection to a server in a thread; its methods are called in that thread.

    Attributes:
        thread: the thread by which the connection is served.
    """

    console: Console
    thread: "ServerThread | None"

    def make(self) -> object:
        """Imports the server and returns its object; raises whatever the server raises."""
        ...

    async def serve(self, server: object) -> None:
        """Serves until Tooltray closes the connection; raises whatever the server raises."""
        ...

    def ended(self, end: End) -> None:
        """Reports the end. This is the last call; it is not made if the server never ends."""
        ...


class ServerThread:
    """One thread with the connections to one object."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._empty = asyncio.Event()
        self._connections: dict[Connection, asyncio.Task[None] | None] = {}
        self._server: object = None
        self._is_over = False
        self._thread: threading.Thread | None = None

    def start(self, connection: Connection) -> None:
        """Begins to make the server for its first connection."""
        self._thread = threading.Thread(target=self._run, args=(connection,), name=f"server '{self._name}'", daemon=True)
        self._thread.start()

    def wait_for_end(self, timeout_s: float) -> None:
        """Waits until the thread has cleaned up after its last connection; not if it has others. Blocks, `timeout_s` seconds at most.

        A process that ends while a daemon thread is still in compiled code, such as pydantic's, may crash at its very end.
        """
        if self._thread and not self._connections:
            self._thread.join(timeout_s)

    def cancel(self, connection: Connection) -> None:
        """Cancels the task that serves a connection, wherever it waits; may be called in any thread."""
        with _LOCK, contextlib.suppress(RuntimeError):  # the server has closed its loop itself
            if self._loop:
                self._loop.call_soon_threadsafe(self._cancel, connection)

    def give_up(self) -> None:
        """Marks the thread as one that does not end: no other connection is to come here. May be called in any thread."""
        with _LOCK:
            self._is_over = True

    # in the thread

    def _run(self, connection: Connection) -> None:
        with printing_to(connection.console):
            try:
                self._server = connection.make()
            except BaseException as error:  # also sys.exit
                _report(connection, error, is_start=True)
                return
            if self._has_to_serve(connection):
                self._serve(connection)

    def _has_to_serve(self, connection: Connection) -> bool:
        """Reports whether this thread serves a connection: an earlier thread with the same object takes it, else this one does."""
        with _LOCK:
            there = _LIVES_IN.get(id(self._server))
            if there and there._take_in(connection):
                return False
            _LIVES_IN[id(self._server)] = self
            self._connections[connection] = None
            return True

    def _take_in(self, connection: Connection) -> bool:
        if self._is_over:
            return False
        self._connections[connection], connection.thread = None, self
        if self._loop:  # else it begins with the loop
            try:
                self._loop.call_soon_threadsafe(self._begin, connection)
            except RuntimeError:  # the server has closed the loop itself
                return self._connections.pop(connection) is not None
        return True

    def _serve(self, first: Connection) -> None:
        error: BaseException | None = None
        runner = asyncio.Runner()
        try:
            runner.run(self._main(first))
        except BaseException as raised:  # also sys.exit, and the end of the loop
            error = raised
        for connection in self._leave():
            _report(connection, error)
        with contextlib.suppress(BaseException):  # its leftover tasks are cancelled, and may object
            runner.close()

    async def _main(self, first: Connection) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonWorkers(self._name))
        loop.set_exception_handler(lambda loop, context: _tell(first.console, context))
        with _LOCK:
            self._loop = loop
            for connection in list(self._connections):
                self._begin(connection)
        await self._empty.wait()

    def _begin(self, connection: Connection) -> None:
        assert self._loop, "it runs"
        task = self._loop.create_task(self._serve_one(connection), context=in_context_of(connection.console))
        self._connections[connection] = task

    def _cancel(self, connection: Connection) -> None:
        if task := self._connections.get(connection):
            task.cancel()

    async def _serve_one(self, connection: Connection) -> None:
        error: BaseException | None = None
        try:
            await connection.serve(self._server)
        except BaseException as raised:  # also sys.exit, bare or in the group of a task group
            error = raised
        with _LOCK:
            is_reported = connection not in self._connections  # the loop is gone
            self._connections.pop(connection, None)
            if not self._connections:
                self._is_over = True
                self._empty.set()
        if not is_reported:
            _report(connection, error)

    def _leave(self) -> list[Connection]:
        """Closes the thread to new connections, and returns the remaining ones."""
        with _LOCK:
            self._is_over = True
            if _LIVES_IN.get(id(self._server)) is self:
                del _LIVES_IN[id(self._server)]
            left = list(self._connections)
            self._connections.clear()
            return left


_LOCK = threading.RLock()
_LIVES_IN: dict[int, ServerThread] = {}
"""The thread of each object, by its identity. Objects of modules belong to the process, and so does this table."""


def _report(connection: Connection, error: BaseException | None, *, is_start: bool = False) -> None:
    if error is not None:
        connection.console.write("".join(traceback.format_exception(error)))
    connection.ended(end_of(error, is_start=is_start))


def end_of(error: BaseException | None, *, is_start: bool = False) -> End:
    """Returns an End that describes why a server has ended."""
    leaf = _innermost(error)
    match leaf:
        case None:
            return End(Phrase("It exited"))
        case SystemExit():
            code = "" if leaf.code is None else str(leaf.code)[:MOST_WORDS]
            return End(Phrase("It called sys.exit({code})", code=code), is_start=is_start)
        case asyncio.CancelledError():
            return End(Phrase("It cancelled its own task"))
        case RuntimeError() if "Event loop stopped before Future completed" in str(leaf):
            return End(Phrase("It stopped its event loop"))
    words = f"{type(leaf).__name__}: {leaf}".rstrip(": ")[:MOST_WORDS]
    return End(Phrase("It could not be made") if is_start else Phrase("It raised an exception"), words, is_start)


def _innermost(error: BaseException | None) -> BaseException | None:
    """Returns the innermost first error of a group: task groups wrap any error that ends them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _tell(console: Console, context: dict[str, object]) -> None:
    """Writes what a loop would log: a task's exception that was never retrieved."""
    error = context.get("exception")
    trace = "".join(traceback.format_exception(error)) if isinstance(error, BaseException) else ""
    console.write(f"{context.get('message', '')}\n{trace}")
