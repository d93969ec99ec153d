"""How many servers may be starting at once.

Above it: Instance. A hundred interpreters started together starve each other and the AI client that waits; one that hangs must not hold up
the rest, so a place is given up after a while even if its server has not answered yet.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

PLACES = 8  # on two cores more at once is slower for all
HELD_FOR_S = 3.0  # what takes longer waits for something else than the processor: a download, a network, or for nothing at all


class StartGate:
    """Belongs to one event loop."""

    def __init__(self, *, places: int = PLACES, held_for_s: float = HELD_FOR_S) -> None:
        self._free = asyncio.Semaphore(places)
        self._held_for_s = held_for_s

    @contextlib.asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Waits for a place and keeps it while inside, but no longer than `held_for_s`."""
        await self._free.acquire()
        is_held = True

        def give_back() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._free.release()

        giving_up = asyncio.get_running_loop().call_later(self._held_for_s, give_back)
        try:
            yield
        finally:
            giving_up.cancel()
            give_back()
