"""Ends a hub whose program was replaced by another version, in a moment in which no AI client notices."""

import asyncio
from collections.abc import Awaitable, Callable

LOOK_EVERY_S = 5.0


class ReplacedExit:
    def __init__(
        self, *, is_replaced: Callable[[], bool], may_end: Callable[[], bool], is_busy: Callable[[], bool], count: Callable[[], int]
    ) -> None:
        """
        Args:
            is_replaced: whether the program was replaced; blocks on the disk.
            may_end: whether this process may be restarted now: no window is open.
            is_busy: whether an AI client waits for something.
            count: returns the number of requests answered so far; an unchanged number means that no client sent a request.
        """
        self._is_replaced, self._may_end, self._is_busy, self._count = is_replaced, may_end, is_busy, count

    async def run(self, end: Callable[[], Awaitable[None]]) -> None:
        """Checks at intervals, and calls `end` once."""
        answered = self._count()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            is_quiet = self._count() == answered and not self._is_busy()
            answered = self._count()
            if is_quiet and self._may_end() and await asyncio.to_thread(self._is_replaced):
                await end()
                return
