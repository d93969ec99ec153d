"""Time where the clock jumps: what may be asked of it, and what not.

Everybody may import it. The wall clock jumps: an empty battery, a virtual machine that wakes, a server of time that puts it right. So how
long ago a moment of this process was is measured by a clock that nobody sets (Moment), what expires does so by one that never goes back
(SteadyWallClock), and what is kept for some days is kept for days that there were, not for days that the clock says are over (days_kept).
"""

import sys
import time
from collections.abc import Callable, Iterable

LAST_TIME_S = 1e11  # the year 5138

JUMP_S = 30.0  # more than clocks are put right by in the background; less is no jump, and a moment is shown as it was noted


def _since_boot() -> float:
    """Seconds that never jump and go on while the computer sleeps, where the system counts those."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()  # which goes on while the computer sleeps on Windows, and does not on macOS


class Moment:
    """Belongs to one thread."""

    def __init__(
        self, at: float | None = None, *, wall: Callable[[], float] = time.time, steady: Callable[[], float] = _since_boot
    ) -> None:
        """
        Args:
            at: unix seconds by the clock of now; None: this moment.
            wall: unix seconds; may jump.
            steady: seconds that never go back or jump.
        """
        self._wall, self._steady = wall, steady
        now = wall()
        self._unix = now if at is None else at
        self._began_at = steady() - (now - self._unix)

    @property
    def elapsed_s(self) -> float:
        """How long ago it was."""
        return max(0.0, self._steady() - self._began_at)

    @property
    def left_s(self) -> float:
        """How long until it is, where it is to come."""
        return max(0.0, self._began_at - self._steady())

    @property
    def unix(self) -> float:
        """When it was, in unix seconds, by the clock as it goes now: the same each time, until the clock jumps."""
        shown = self._wall() - (self._steady() - self._began_at)
        if abs(shown - self._unix) > JUMP_S:
            self._unix = shown
        return self._unix


class SteadyWallClock:
    """Unix seconds for what expires: they never go back, so that nothing lasts longer than it was to. Belongs to one thread.

    After a jump forward that is taken back they stay ahead until this process ends: what expires does so too early rather than too late.
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
    """The day of a time in UTC, as `2027-01-15`; of one that no clock shows the nearest that one does. `time_s`: unix seconds."""
    return time.strftime("%Y-%m-%d", time.gmtime(min(max(time_s, 0.0), LAST_TIME_S)))


def days_kept(days: Iterable[str], today: str, most: int) -> frozenset[str]:
    """Of the days on which something was kept, the last ones. A clock that jumps forward makes nothing old: it adds one day.

    Days to come are those of a clock that was wrong once; they count as older than all others.

    Args:
        days, today: as `day_of` gives them.
        most: how many of them; today is among them.
    """
    return frozenset(sorted({*days, today}, key=lambda day: (day <= today, day), reverse=True)[:most])
