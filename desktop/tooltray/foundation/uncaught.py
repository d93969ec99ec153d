"""Exceptions that no part of the program has caught: all are logged with their trace, and those that leave the hub half dead end it in
order.

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
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

logger = logging.getLogger(__name__)
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
MOST_TOLD = 100  # of a callback that fails again and again until the hub has ended


def log_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Logs a report of asyncio; an exception handler for its loop."""
    error = context.get("exception")
    owner = context.get("task") or context.get("future") or context.get("handle") or context.get("transport")
    message = f"{context.get('message') or 'asyncio reports an error'}{f' ({owner!r})' if owner is not None else ''}"
    logger.error("%s", message, exc_info=error if isinstance(error, BaseException) else None)


def leaves_half_dead(context: dict[str, Any]) -> bool:
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
    loop, told = asyncio.get_running_loop(), 0

    def on_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal told
        told += 1
        if told <= MOST_TOLD:
            log_loop_exception(loop, context)
        if leaves_half_dead(context):
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
