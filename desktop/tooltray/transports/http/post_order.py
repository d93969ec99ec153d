"""Which message may leave when, where each travels on its own and would overtake the others.

Above it: HttpTransport and SseTransport. Requests and replies leave at once and together; notifications one after the other; and nothing
leaves before `notifications/initialized` has arrived, since servers refuse requests until then. Waiting is bounded: a server may take a
message and answer the POST late or never.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tooltray.tasks import Spawn

WAIT_S = 5.0
INITIALIZED = "notifications/initialized"

Sending = Callable[[], Awaitable[None]]  # not begun before its turn, and never if it is cancelled until then


class PostOrder:
    """Belongs to one connection."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._last_notification: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None

    def notify(self, method: str, sending: Sending) -> asyncio.Task[None]:
        """Sends a notification after those before it."""
        task = self._spawn(self._after(self._last_notification, sending), name=method)
        self._last_notification = task
        if method == INITIALIZED:
            self._opening = task
        return task

    def start(self, name: str, sending: Sending) -> asyncio.Task[None]:
        """Sends anything else."""
        return self._spawn(self._after(self._opening, sending), name=name)

    async def _after(self, task: asyncio.Task[None] | None, sending: Sending) -> None:
        if task and not task.done():
            await asyncio.wait({task}, timeout=WAIT_S)
        await sending()
