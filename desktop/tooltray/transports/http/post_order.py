"""Keeps the order of messages where each has its own POST and could overtake the others.

Above it: HttpTransport and SseTransport. Requests and replies are sent at once and in parallel, notifications one after another. Nothing is
sent before `notifications/initialized` has been accepted, since servers refuse requests until then. Every wait is bounded: a server may
receive a message and answer its POST late or never.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tooltray.tasks import Spawn

WAIT_S = 5.0
INITIALIZED = "notifications/initialized"

Sending = Callable[[], Awaitable[None]]  # a function, so that a task cancelled while it waits leaves no coroutine that was never awaited


class PostOrder:
    """The order of the messages of one connection."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._last_notification: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None

    def notify(self, method: str, sending: Sending) -> asyncio.Task[None]:
        """Sends a notification after the previous one."""
        task = self._spawn(self._after(self._last_notification, sending), name=method)
        self._last_notification = task
        if method == INITIALIZED:
            self._opening = task
        return task

    def start(self, name: str, sending: Sending) -> asyncio.Task[None]:
        """Sends a request or a reply."""
        return self._spawn(self._after(self._opening, sending), name=name)

    async def _after(self, task: asyncio.Task[None] | None, sending: Sending) -> None:
        if task and not task.done():
            await asyncio.wait({task}, timeout=WAIT_S)
        await sending()
