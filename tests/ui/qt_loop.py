"""The event loop of tests with widgets."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync


class QtLoop(qasync.QEventLoop):  # type: ignore[misc]
    """asyncio on Qt's event loop, also between two runs.

    pytest-qt handles Qt's events between a test's body and the end of its fixtures. What asyncio has to do comes up there, too, and
    finds this loop running, as it does in a run; without it a task that asks for the running loop fails.
    """

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle: asyncio.Handle = super().call_later(delay, self._call, callback, *args, context=context)
        return handle

    def _call(self, callback: Callable[..., object], *args: Any) -> None:
        if asyncio._get_running_loop() is not None:
            callback(*args)
            return
        asyncio._set_running_loop(self)
        try:
            callback(*args)
        finally:
            asyncio._set_running_loop(None)
