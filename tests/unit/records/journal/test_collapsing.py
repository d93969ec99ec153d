"""What a person would call the same thing again is one row."""

from typing import Any

import pytest

from tooltray.foundation.snapshots.activity import ActivityEntry
from tooltray.records.journal.collapsing import LONGEST_PAUSE_S, Collapser


def entry(id: int, **fields: Any) -> ActivityEntry:
    return ActivityEntry(**{"id": id, "kind": "call", "at": 1000.0 + id, "outcome": "ok", "tool": "read_file", **fields})


def test_neighbours_that_differ_in_time_size_and_what_they_touched_are_one_row() -> None:
    joined = Collapser(5)
    assert all(joined.take(entry(id, touched=f"/{id}", result_bytes=id, duration_s=id, tokens=id, reason=str(id))) for id in (9, 8, 7))
    [row] = joined.rows
    assert (row.entry.id, row.count, row.first_id, row.first_at) == (9, 3, 7, 1007.0)


@pytest.mark.parametrize("field", ["kind", "outcome", "client", "session", "project", "server", "tool", "published"])
def test_another_of_these_is_another_row(field: str) -> None:
    joined = Collapser(5)
    for id, value in ((3, "x"), (2, "y"), (1, "x")):
        joined.take(entry(id, **{field: value}))
    assert [row.count for row in joined.rows] == [1, 1, 1]


def test_after_a_long_pause_it_is_another_piece_of_work() -> None:
    joined = Collapser(5)
    for id, at in ((3, LONGEST_PAUSE_S), (2, 0.0), (1, LONGEST_PAUSE_S + 0.1)):  # a clock may have gone back
        joined.take(entry(id, at=at))
    assert [row.count for row in joined.rows] == [2, 1]


def test_the_last_row_is_whole() -> None:
    joined = Collapser(1)
    taken = [joined.take(entry(id, tool=tool)) for id, tool in ((4, "a"), (3, "a"), (2, "b"))]
    assert taken == [True, True, False]
    assert [row.count for row in joined.rows] == [2]
