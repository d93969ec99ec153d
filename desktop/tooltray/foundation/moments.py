"""Time measurement that survives jumps of the clock.

The wall clock jumps: an empty battery, a virtual machine that wakes, a time server that corrects it. So the age of a moment of this process
is measured by a clock that is never set (Moment). Expiry uses a clock that never goes back (SteadyWallClock). Something that is kept for
some days is kept for days on which Tooltray ran, not for days that the clock claims have passed (days_kept).
"""

import sys
import time
from collections.abc import Callable, Iterable

LAST_TIME_S = 1e11  # the year 5138

JUMP_S = 30.0  # background corrections of a clock are smaller; after them a moment is shown as it was recorded


def _since_boot() -> float:
    """Returns seconds that never jump, and that include the computer's sleep if the system counts it."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()  # while the computer sleeps it runs on Windows, but not on macOS


class Moment:
    """A point in time. Belongs to one thread."""

    def __init__(
        self, at: float | None = None, *, wall: Callable[[], float] = time.time, steady: Callable[[], float] = _since_boot
    ) -> None:
        """
        Args:
            at: unix seconds by the current clock; None: this moment.
            wall: unix seconds; may jump.
            steady: seconds that never go back or jump.
        """
        self._wall, self._steady = wall, steady
        now = wall()
        self._unix = now if at is None else at
        self._began_at = steady() - (now - self._unix)

    @property
    def elapsed_s(self) -> float:
        """The seconds since a past moment."""
        return max(0.0, self._steady() - self._began_at)

    @property
    def left_s(self) -> float:
        """The seconds until a future moment."""
        return max(0.0, self._began_at - self._steady())

    @property
    def unix(self) -> float:
        """The moment in unix seconds, by the current clock: the same each time, until the clock jumps."""
        shown = self._wall() - (self._steady() - self._began_at)
        if abs(shown - self._unix) > JUMP_S:
            self._unix = shown
        return self._unix


class SteadyWallClock:
    """Unix seconds for expiry: they never go back, so that nothing lasts longer than intended. Belongs to one thread.

    After a jump forward that is corrected they stay ahead until this process ends: expiry comes too early rather than too late.
    """

    def __init__(self, *, wall: Callable[[], float] = time.time, steady: Callable[[], float] = _since_boot) -> None:
        """
        Args:
            wall, steady: see Moment.
        """
        self._wall, self._steady = wall, steady
        self._latest, self._at = wall(), steady()

    def __call__(self) -> float:
        now = self._steady()
        self._latest, self._at = max(self._wall(), self._latest + now - self._at), now
        return self._latest


def day_of(time_s: float) -> str:
    """Returns the day of a time in UTC, as `2027-01-15`; for a time beyond the calendar's range the nearest day within it. `time_s`: unix
    seconds.
    """
    return time.strftime("%Y-%m-%d", time.gmtime(min(max(time_s, 0.0), LAST_TIME_S)))


def days_kept(days: Iterable[str], today: str, most: int) -> frozenset[str]:
    """Returns the last of the days on which something was stored. A clock that jumps forward makes nothing old: it adds one day.

    Future days come from a clock that was wrong once; they count as older than all others.

    Args:
        days, today: as `day_of` gives them.
        most: how many of them; today is included.
    """
    return frozenset(sorted({*days, today}, key=lambda day: (day <= today, day), reverse=True)[:most])
