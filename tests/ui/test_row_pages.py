"""Rows of the journal in pages: what is new stands on top, groups open in place, and what nobody looks at is forgotten."""

from collections.abc import Sequence

from msgspec.structs import replace
from tests.fakes.journal_in_memory import entry

from tooltray.foundation.snapshots.activity import ActivityRow
from tooltray.ui.activity.activity_model import MOST_INSIDE, MOST_KEPT, PAGE, Growth, RowPages


def rows(*ids: int) -> list[ActivityRow]:
    return [ActivityRow(entry(id), 1, id, 0.0) for id in ids]


def group(newest: int, count: int) -> ActivityRow:
    return ActivityRow(entry(newest), count, newest - count + 1, 0.0)


def listed(pages: RowPages) -> list[object]:
    """The newest id of each row; a group is (id, count), an entry inside a group a negative id."""
    found: list[object] = []
    for place in range(len(pages)):
        shown = pages.row(place)
        assert shown.row is not None
        id, count = shown.row.entry.id, shown.row.count
        found.append((-id if shown.is_inside else id) if count == 1 else (id, count))
    return found


def pages_of(listed_rows: Sequence[ActivityRow]) -> RowPages:
    pages = RowPages()
    pages.reset(listed_rows, is_whole=False)
    return pages


def grow(pages: RowPages, newest: Sequence[ActivityRow]) -> None:
    growth = pages.growth(newest)
    assert growth is not None
    pages.grow(growth)


def test_older_rows_come_below_and_say_where_to_go_on() -> None:
    pages = pages_of([*rows(9, 8), group(7, 3)])
    assert pages.next_before == 5
    pages.append(rows(4, 3), is_whole=True)
    assert listed(pages) == [9, 8, (7, 3), 4, 3]
    assert pages.is_whole
    assert pages.newest_id == 9


def test_new_rows_come_on_top_and_a_group_that_grows_stays_one_row() -> None:
    pages = pages_of([group(7, 3), *rows(4)])
    grow(pages, [*rows(9), group(8, 4), *rows(4)])
    assert listed(pages) == [9, (8, 4), 4]
    assert pages.newest_id == 9


def test_what_is_there_already_comes_no_second_time() -> None:
    pages = pages_of(rows(3, 2, 1))
    assert pages.growth(rows(3, 2, 1)) == Growth((), None)
    grow(pages, rows(3, 2, 1))
    assert listed(pages) == [3, 2, 1]


def test_a_list_that_is_too_far_behind_says_so() -> None:
    assert pages_of(rows(3)).growth(rows(900, 899)) is None
    assert RowPages().growth(rows(1)) is None


def test_a_group_opens_and_closes_in_place() -> None:
    pages = pages_of([*rows(9), group(8, 3), *rows(5, 4)])
    inside = rows(8, 7, 6)
    assert pages.span_to_open(1, inside).count == 3
    pages.open(1, inside)
    assert listed(pages) == [9, (8, 3), -8, -7, -6, 5, 4]
    assert pages.row(1).is_open
    assert pages.find(7) == 3
    assert pages.span_inside(1).count == 3
    pages.close(1)
    assert listed(pages) == [9, (8, 3), 5, 4]
    assert pages.find(7) == 1


def test_an_open_group_that_grows_keeps_its_rows_and_what_is_new_stands_above_it() -> None:
    pages = pages_of([group(8, 3)])
    pages.open(0, rows(8, 7, 6))
    grow(pages, [group(10, 5)])
    assert listed(pages) == [(10, 2), (8, 3), -8, -7, -6]


def test_what_is_too_much_of_a_group_is_a_group_below_its_entries_that_opens_too() -> None:
    count = MOST_INSIDE + 300
    pages = pages_of([group(2000, count)])
    pages.open(0, rows(*range(2000, 2000 - MOST_INSIDE - 1, -1)))
    place = MOST_INSIDE + 1
    rest = pages.row(place)
    assert (rest.is_inside, rest.row) == (True, replace(group(2000 - MOST_INSIDE, 300), first_id=2000 - count + 1))
    pages.open(place, rows(*range(2000 - MOST_INSIDE, 2000 - count, -1)))
    assert len(pages) == 1 + count
    assert pages.span_inside(0).count == count


def test_rows_at_which_nobody_looks_are_forgotten_and_can_be_read_again() -> None:
    pages = pages_of(rows(*range(100_000, 100_000 - PAGE, -1)))
    for first in range(100_000 - PAGE, 100_000 - 40 * PAGE, -PAGE):
        pages.append(rows(*range(first, first - PAGE, -1)), is_whole=False)
        pages.look(len(pages) - 20, len(pages) - 1)
    assert sum(len(page.rows or ()) for page in pages._pages) <= (MOST_KEPT + 2) * PAGE
    (missing,) = pages.look(3 * PAGE, 3 * PAGE + 20)
    assert pages.row(3 * PAGE).row is None
    assert (missing.before, missing.count) == (100_001 - 3 * PAGE, PAGE)
    assert pages.place_of(missing) == 3 * PAGE
    pages.fill(missing, rows(*range(missing.before - 1, missing.before - PAGE, -1)))  # one was thrown away meanwhile
    assert missing.count == PAGE - 1
    shown = pages.row(3 * PAGE).row
    assert shown is not None
    assert shown.entry.id == 100_000 - 3 * PAGE


def test_many_new_rows_become_a_page_of_their_own() -> None:
    pages = pages_of(rows(*range(PAGE, 0, -1)))
    grow(pages, rows(PAGE + 1, PAGE))
    assert len(pages) == PAGE + 1
    assert pages.newest_id == PAGE + 1
    assert pages.look(0, 300) == []
