"""Joins neighbours in a list of entries that a reader would call repetitions: "read_file x 41".

Neighbours are joined if they differ only in time, sizes and target. After a long pause a new row begins.
"""

from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow

LONGEST_PAUSE_S = 1800.0  # between two equal entries; a later one is another piece of work


class Collapser:
    """A builder of joined rows, which takes entries newest first.

    Attributes:
        rows: made so far.
    """

    def __init__(self, most: int) -> None:
        """
        Args:
            most: the maximum number of rows; the last one is complete.
        """
        self._most = most
        self.rows: list[ActivityRow] = []

    def take(self, entry: ActivityEntry) -> bool:
        """Adds an entry; returns whether it fitted."""
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
