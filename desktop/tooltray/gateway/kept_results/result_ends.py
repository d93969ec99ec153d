"""Kept results go when their day is over, also while no other is kept.

Above it: the engine, which starts it. Below it: ResultStore.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.gateway.kept_results.result_store import ResultStore

LOOKED_EVERY_S = 3600.0


class ResultEnds:
    """Belongs to the engine's loop."""

    def __init__(self, *, store: ResultStore, spawn: Spawn, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._store, self._spawn, self._sleep = store, spawn, sleep

    def start(self) -> None:
        """Looks every hour."""
        self._spawn(self._look(), name="kept results that have ended")

    async def _look(self) -> None:
        while True:
            await self._sleep(LOOKED_EVERY_S)
            await finish_in_thread(self._store.sweep)
