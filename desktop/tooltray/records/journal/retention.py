"""Removes entries of the journal that are too old, or too many."""

import time
from collections.abc import Callable

from tooltray.config.settings.settings import ActivitySettings
from tooltray.records.journal.journal_file import JournalFile

SETTLED_S = 600.0  # after which a clock is trusted; time servers correct it within minutes of a start
SLICE = 500  # entries that go in one transaction, some milliseconds
CONTENTS_SLICE = 50  # of arguments and results, which are large
DAY_S = 86_400.0
MEGABYTE = 1_000_000


class SettledClock:
    """Unix seconds that follow a forward jump of the clock only after SETTLED_S."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            wall: unix seconds; may jump.
            steady: seconds that never jump.
        """
        self._wall, self._steady = wall, steady
        self._before = self._latest = (wall(), steady())
        self._is_settled = False

    def now(self) -> float | None:
        """Returns the time; None: the clock has not run long enough."""
        wall, steady = self._wall(), self._steady()
        if steady - self._latest[1] >= SETTLED_S:
            self._before, self._latest, self._is_settled = self._latest, (wall, steady), True
        since, at = self._before
        return min(wall, since + steady - at) if self._is_settled else None


class Retention:
    """The rules by which entries are removed: cleared ones, those that are too old, and the oldest if the file is too large.

    Entries are removed in small slices, so that no writer or reader waits long for the file. A clock that jumps makes nothing old: entries
    are removed from the oldest on, by their numbers and not by their times, and a clock that has just jumped forward is trusted only after
    a while. Belongs to the journal's thread.
    """

    def __init__(self, wanted: Callable[[], ActivitySettings], clock: SettledClock | None = None) -> None:
        self._wanted, self._clock = wanted, clock or SettledClock()

    def step(self, file: JournalFile) -> bool:
        """Removes one slice of entries; returns whether more may remain.

        Raises:
            sqlite3.Error: they cannot be removed.
        """
        wanted, now = self._wanted(), self._clock.now()
        if file.remove_before(self._first_kept(file, wanted, now), SLICE) == SLICE:
            return True
        first = file.first_contents()
        if now is None or first is None:
            return False
        kept = file.first_since(now - wanted.contents_days * DAY_S, first)
        return file.remove_contents_before(kept, CONTENTS_SLICE) == CONTENTS_SLICE

    def _first_kept(self, file: JournalFile, wanted: ActivitySettings, now: float | None) -> int:
        first = file.gone + 1
        if file.used_bytes > wanted.megabytes * MEGABYTE:
            first = max(first, file.ids()[0] + SLICE)
        return first if now is None else max(first, file.first_since(now - wanted.days * DAY_S))
