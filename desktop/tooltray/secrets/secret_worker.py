"""Runs all calls of vaults on one thread: keyring calls block, some for as long as a prompt is open.

Above it: SecretStore. Below it: the standard library. Knows no secret.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
Calls = queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]

LEAVE_S = 1.0  # a call that is not blocked takes far less; a blocked one is abandoned, and its thread ends with the process


class SecretWorker:
    """Runs calls one after the other in a daemon thread, which starts with the first call and never holds up the end of the process."""

    def __init__(self) -> None:
        self._calls: Calls = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, call: Callable[[], T], *, timeout_s: float) -> T:
        """Runs a call and returns its result, or raises what it raised.

        If the caller is cancelled or the time is over, a call that has not begun is dropped; one that has begun cannot be stopped.

        Raises:
            TimeoutError: no result within `timeout_s` seconds, the wait for earlier calls included.
        """
        if self._thread is None:
            self._calls = queue.SimpleQueue()  # a new one: an abandoned thread still reads the old one
            self._thread = threading.Thread(target=_work, args=(self._calls,), name="secrets", daemon=True)
            self._thread.start()
        future: Future[T] = Future()
        self._calls.put((future, call))
        async with asyncio.timeout(timeout_s):
            return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Ends the thread after its queued calls; waits LEAVE_S at most, so not for a prompt."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._calls.put(None)
            await asyncio.to_thread(thread.join, LEAVE_S)


def _work(calls: Calls) -> None:
    while (item := calls.get()) is not None:
        _answer(*item)
        del item  # keeps no reference to a secret while the thread waits


def _answer(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # it belongs to the caller, whatever it is
        future.set_exception(error)
