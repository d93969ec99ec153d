"""What no part of the program has caught: it is logged with its trace, and what leaves the hub half dead ends it in order.

The lowest layer, beside tasks. Above it: `tooltray serve` and the desktop, which say what an end is to them.

| what | what follows | why |
|---|---|---|
| a thread dies of it | the end | the log, the secrets or the watching of files would be dead for good, and calls to them would hang |
| a callback of the loop raises it | the end | no task has it, so nobody is answered; of a reader or a timer it would come for ever |
| the same with libraries' code alone in its trace | logged | it is about one connection or process of theirs, which they give up |
| the main thread raises it | the end | there is no loop any more |
| a task of ours fails | logged by TaskKeeper | a bug in one session's task is not to end everybody's hub |
| a task or future of a library fails, and nobody asked | logged | the same; whoever waited has been told otherwise |
| a transport or protocol fails, a task is destroyed while it waits | logged | one connection's end |
| a finalizer raises it | logged | Python goes on by design |

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
    """An exception handler for an asyncio loop: asyncio's report becomes a record of the log."""
    error = context.get("exception")
    owner = context.get("task") or context.get("future") or context.get("handle") or context.get("transport")
    message = f"{context.get('message') or 'asyncio reports an error'}{f' ({owner!r})' if owner is not None else ''}"
    logger.error("%s", message, exc_info=error if isinstance(error, BaseException) else None)


def leaves_half_dead(context: dict[str, Any]) -> bool:
    """Whether asyncio reports what a callback of our own has raised, which belongs to no task."""
    error = context.get("exception")
    return "handle" in context and isinstance(error, BaseException) and not _is_of_libraries(error)


def _is_of_libraries(error: BaseException) -> bool:
    modules = (str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__))
    return all(module.partition(".")[0] in LIBRARIES for module in modules)


@contextlib.contextmanager
def reporting_uncaught(on_fatal: Callable[[], None]) -> Iterator[None]:
    """Logs what nobody catches, in the loop that runs and in all threads, for as long as the block lasts.

    Args:
        on_fatal: called in the loop with each that is to end the program.
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
    """The same for threads, finalizers and the main thread where none of it ends the program."""
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
