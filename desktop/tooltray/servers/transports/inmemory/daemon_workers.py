"""The workers for a server's blocking calls (`asyncio.to_thread`): threads that the end of the process does not wait for.

The standard library's own pool is joined as the interpreter ends; a server whose function never returns would keep Tooltray from ending.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
MOST_WORKERS = 32  # as many as asyncio's own pool has at most


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
