"""Joins neighbours in a list of entries that a person would call the same thing again: "read_file x 41".

Above it: JournalReader. Below it: snapshots. Neighbours are the same if they differ in nothing but their time, their sizes and what they
touched; what a session did after a long pause is told apart.
"""

from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow

LONGEST_PAUSE_S = 1800.0  # between two of the same; what comes later is another piece of work


class Collapser:
    """Takes entries, newest first.

    Attributes:
        rows: made of them so far.
    """

    def __init__(self, most: int) -> None:
        """
        Args:
            most: how many rows are made; the last one is whole.
        """
        self._most = most
        self.rows: list[ActivityRow] = []

    def take(self, entry: ActivityEntry) -> bool:
        """Whether there is room for more."""
        last = self.rows[-1] if self.rows else None
        if last and _is_same(last, entry):
            self.rows[-1] = ActivityRow(last.entry, last.count + 1, entry.id, entry.at)
            return True
        if len(self.rows) >= self._most:
            return False
        self.rows.append(ActivityRow(entry, 1, entry.id, entry.at))
        return True


def _is_same(row: ActivityRow, entry: ActivityEntry) -> bool:
    return _key(row.entry) == _key(entry) and abs(row.first_at - entry.at) <= LONGEST_PAUSE_S


def _key(entry: ActivityEntry) -> tuple[str, ...]:
    of_whom = (entry.client, entry.session, entry.project)
    return (entry.kind, entry.outcome, *of_whom, entry.server, entry.tool, entry.published)
