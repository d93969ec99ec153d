"""Whether one copy of a server is being used, and since when it is not.

Above it: McpClient and ServerRelay, which note every call, and IdleStop, which asks. Knows nothing of what is done with a copy. Every call
of an AI client passes here twice, so there is nothing in it but a number and a time.
"""

import time
from collections.abc import Callable


class Usage:
    """Belongs to one event loop."""

    __slots__ = ("_clock", "_count", "_ended_at")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: seconds that never go back.
        """
        self._clock = clock
        self._count = 0
        self._ended_at = clock()

    def begin(self) -> None:
        """Somebody needs the copy until `end`."""
        self._count += 1

    def end(self) -> None:
        self._count -= 1
        self._ended_at = self._clock()

    def note(self) -> None:
        """It was used in this moment: what is idle now is so from now on."""
        self._ended_at = self._clock()

    @property
    def is_needed(self) -> bool:
        """Whether somebody needs it in this moment."""
        return self._count > 0

    @property
    def idle_s(self) -> float:
        """How long nobody has needed it, in seconds; 0 while somebody does."""
        return 0.0 if self._count else self._clock() - self._ended_at
