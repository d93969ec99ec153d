"""Adapts Python's run time to a hub that runs for weeks: its event loop, its memory, and the exceptions that nothing has caught.

glibc maps a large block and unmaps it when it is freed. But each freed block raises the size from which it does so, up to 32 MB. Smaller
blocks come from the heap, where any small block behind them keeps them for good. A size that is set explicitly does not rise.

All uncaught exceptions are logged with their trace, and those that leave the hub half dead end it in order:

| source | consequence | why |
|---|---|---|
| an exception ends a thread | the end | the log, the secrets or the file watcher would be dead for good, and calls to them would hang |
| a callback of the loop raises | the end | no task has the exception, so no caller gets an answer; a timer would repeat it |
| the same, with only libraries' code in its trace | logged | it is about one connection or process of theirs, which they give up |
| the main thread raises | the end | the loop has ended |
| a task of ours fails | logged by TaskKeeper | a bug in one session's task must not end the hub of all |
| a task or future of a library fails, and its result is never read | logged | the same; the caller has got another answer |
| a transport or protocol fails, or a task is destroyed while it waits | logged | only one connection ends |
| a finalizer raises | logged | Python continues by design |

The desktop ends for none of these: it shows each once, and its servers keep running.
"""

import asyncio
import contextlib
import gc
import logging
import os
import selectors
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

logger = logging.getLogger(__name__)
ROUNDS_WITHOUT_NEWS = 3  # at most, in a row: enough for all that a reply sets off, and new connections wait no longer than this
MAPPED_FROM_BYTES = 2**20  # of 256 KiB each in transports and pipes; the page faults of mapped ones would be felt
KEPT_FREE_BYTES = 2**23  # at the end of the heap, so that it does not grow and shrink with each call
ARENAS = 2  # more would reserve 64 MB of address space for each thread, and only one thread of Python allocates at a time
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc
MANY = 1000  # objects of one list; with fewer, full passes stay below 20 ms
LIBRARIES = sys.stdlib_module_names | {
    "aiohttp",
    "anyio",
    "h11",
    "keyring",
    "secretstorage",
    "jeepney",
    "starlette",
    "uvicorn",
    "watchfiles",
}
"""Whose code a hub runs in callbacks of its own loop, by the first part of a module's name."""
MOST_REPORTED = 100  # of a callback that fails again and again until the hub has ended


class _BusySelector(selectors.DefaultSelector):
    """A selector that skips some polls while callbacks are ready (asyncio then polls with a timeout of 0), but few in a row.

    asyncio polls before every round of callbacks. A call takes five rounds, and each poll releases Python's lock, which a busy window in
    another thread then holds for a whole switch interval.
    """

    _rounds = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0 and self._rounds < ROUNDS_WITHOUT_NEWS:
            self._rounds += 1
            return []
        self._rounds = 0
        return super().select(timeout)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Makes the engine's event loop, for `asyncio.Runner(loop_factory=...)`."""
    if sys.platform == "win32":  # pragma: no cover - its loop waits for results and not for readiness
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(_BusySelector())


def use_pidfd_watcher() -> None:
    """Makes asyncio wait for child processes through the kernel. Before Python 3.12 it starts a thread for each of them."""
    if sys.platform == "linux" and sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.get_event_loop_policy().set_child_watcher(watcher)


def return_large_blocks() -> None:
    """Sets up the C library's allocator for this process. Does nothing if the C library has no such settings (macOS, Windows, musl)."""
    import ctypes

    if sys.platform == "linux" and (set_option := getattr(ctypes.CDLL(None), "mallopt", None)):
        set_option(_M_MMAP_THRESHOLD, MAPPED_FROM_BYTES)
        set_option(_M_TRIM_THRESHOLD, KEPT_FREE_BYTES)
        set_option(_M_ARENA_MAX, ARENAS)


def freeze_if_large(count: int) -> None:
    """Excludes a new list of `count` objects from full passes of the garbage collector, if it is large. Young garbage is collected first.

    A full pass looks at every object and stops all threads meanwhile: 100 ms with 50,000 tools. It would be repeated and find nothing,
    since lists of definitions hold no cycles: they are freed when nothing refers to them any more.
    """
    if count >= MANY:
        gc.collect(1)
        gc.freeze()


def log_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Logs a report of asyncio; an exception handler for its loop."""
    error = context.get("exception")
    owner = context.get("task") or context.get("future") or context.get("handle") or context.get("transport")
    message = f"{context.get('message') or 'asyncio reports an error'}{f' ({owner!r})' if owner is not None else ''}"
    logger.error("%s", message, exc_info=error if isinstance(error, BaseException) else None)


def is_fatal(context: dict[str, Any]) -> bool:
    """Returns whether asyncio reports an exception of our own callback, which belongs to no task."""
    error = context.get("exception")
    return "handle" in context and isinstance(error, BaseException) and not _is_of_libraries(error)


def _is_of_libraries(error: BaseException) -> bool:
    modules = (str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__))
    return all(module.partition(".")[0] in LIBRARIES for module in modules)


@contextlib.contextmanager
def reporting_uncaught(on_fatal: Callable[[], None]) -> Iterator[None]:
    """Logs uncaught exceptions, in the running loop and in all threads, during the block.

    Args:
        on_fatal: called in the loop for each exception that is to end the program.
    """
    loop, reported = asyncio.get_running_loop(), 0

    def on_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal reported
        reported += 1
        if reported <= MOST_REPORTED:
            log_loop_exception(loop, context)
        if is_fatal(context):
            on_fatal()

    def end() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and what ended it counts
            loop.call_soon_threadsafe(on_fatal)

    before = loop.get_exception_handler()
    loop.set_exception_handler(on_loop_exception)
    try:
        with _hooked(end):
            yield
    finally:
        loop.set_exception_handler(before)


@contextlib.contextmanager
def logging_uncaught() -> Iterator[None]:
    """Logs uncaught exceptions in threads, finalizers and the main thread, without ending the program."""
    with _hooked(lambda: None):
        yield


@contextlib.contextmanager
def _hooked(end: Callable[[], None]) -> Iterator[None]:
    def on_main_thread(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        logger.error("nothing caught an error", exc_info=(kind, error, trace))
        end()

    def on_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None or isinstance(args.exc_value, SystemExit):
            return
        name = args.thread.name if args.thread else "?"
        logger.error("the thread '%s' has died", name, exc_info=(args.exc_type, args.exc_value, args.exc_traceback))
        end()

    def on_finalizer(args: "sys.UnraisableHookArgs") -> None:
        logger.error("%s", args.err_msg or "an error in a finalizer is ignored", exc_info=args.exc_value)

    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.excepthook, threading.excepthook, sys.unraisablehook = on_main_thread, on_thread, on_finalizer
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook, sys.unraisablehook = before
