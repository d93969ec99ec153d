"""The rows of a list that may be as long as the journal; only rows near the visible ones are in memory. Knows no Qt and reads nothing."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, takewhile

import msgspec
from msgspec.structs import replace

from tooltray.foundation.snapshots.activity import ActivityRow

PAGE = 200  # rows that are read at once; a screen has 20 to 50
MOST_KEPT = 15  # pages in memory: some thousand rows, and 3 MB
SMALL = 20  # rows; a page of so few is kept, since reading it again costs more than it takes
MOST_INSIDE = 500  # rows of a group that are shown at once; the rest is a group below them


class ShownRow(msgspec.Struct, frozen=True):
    """A row of the list.

    Attributes:
        row: its content; None: it has to be read first.
        is_inside: it belongs to the group above it, which is open.
        is_open: the entries of this group follow it.
    """

    row: ActivityRow | None
    is_inside: bool = False
    is_open: bool = False


class Page:
    """Consecutive rows, which are read together.

    Attributes:
        before: all of them are older than this id.
        count: how many there are, also while they are not in memory.
        rows: None while they are not in memory.
    """

    def __init__(self, rows: Sequence[ActivityRow], *, is_inside: bool = False) -> None:
        self.before, self.count, self.is_inside = rows[0].entry.id + 1, len(rows), is_inside
        self.rows: tuple[ActivityRow, ...] | None = tuple(rows)
        self.looked_at = 0


class Span(msgspec.Struct, frozen=True):
    """Places of inserted or removed rows: the first, and how many."""

    first: int
    count: int


class Growth(msgspec.Struct, frozen=True):
    """New rows for the top of a list; `top` replaces its first row, which has grown."""

    rows: tuple[ActivityRow, ...]
    top: ActivityRow | None


class RowPages:
    """Pages of a list, the newest rows first. The first page is always in memory: new rows are compared with it."""

    def __init__(self) -> None:
        self._pages: list[Page] = []
        self._starts: list[int] = []
        self._open: set[int] = set()  # first ids of groups
        self._clock = 0
        self.is_whole = False

    def __len__(self) -> int:
        return self._starts[-1] + self._pages[-1].count if self._pages else 0

    @property
    def kept(self) -> int:
        """How many rows are in memory."""
        return sum(len(page.rows) for page in self._pages if page.rows is not None)

    @property
    def newest_id(self) -> int:
        """The id of the newest entry; 0 without rows."""
        return self._pages[0].before - 1 if self._pages else 0

    @property
    def next_before(self) -> int:
        """The id before which the rows after the last one begin; 0 where that is not known yet."""
        rows = self._pages[-1].rows if self._pages else None
        return rows[-1].first_id if rows else 0

    def row(self, place: int) -> ShownRow:
        """Returns the row at a place."""
        page, at = self._at(place)
        if page.rows is None:
            return ShownRow(None, page.is_inside)
        row = page.rows[at]
        return ShownRow(row, page.is_inside, not page.is_inside and row.first_id in self._open)

    def find(self, id: int) -> int:
        """Returns the place of the row with this entry, if it is in memory; else -1. An open group is not in front of its entries."""
        for page, start in zip(self._pages, self._starts, strict=True):
            for at, row in enumerate(page.rows or ()):
                if row.first_id <= id <= row.entry.id:
                    inside = self._inside(page, at, id)
                    return inside if inside >= 0 else start + at
        return -1

    def reset(self, rows: Sequence[ActivityRow], *, is_whole: bool) -> None:
        """Replaces all rows by the newest ones; `is_whole`: the journal has no others."""
        self._pages = [Page(rows)] if rows else []
        self._open.clear()
        self.is_whole = is_whole
        self._count()

    def append(self, rows: Sequence[ActivityRow], *, is_whole: bool) -> None:
        """Adds older rows below."""
        if rows:
            self._pages.append(Page(rows))
        self.is_whole = is_whole
        self._count()

    def look(self, first: int, last: int) -> list[Page]:
        """Marks the rows between these places as visible; returns their pages that have to be read."""
        self._clock += 1
        if not self._pages:
            return []
        seen = self._pages[self._number(first) : self._number(last) + 1]
        for page in seen:
            page.looked_at = self._clock
        self._forget()
        return [page for page in seen if page.rows is None]

    def fill(self, page: Page, rows: Sequence[ActivityRow]) -> None:
        """Fills a page with rows that were read again; there may be fewer of them, since old entries are deleted."""
        _set(page, tuple(rows[: page.count]))
        self._clean()

    def place_of(self, page: Page) -> int:
        """Returns the place of a page's first row; -1 if the page was removed."""
        return self._starts[self._pages.index(page)] if page in self._pages else -1

    def growth(self, newest: Sequence[ActivityRow]) -> Growth | None:
        """Compares the rows at the top with the newest rows.

        Returns:
            The rows to insert at the top; None: there are more new rows than these, and the list has to be reset.
        """
        top = self._pages[0].rows if self._pages else None
        if not top:
            return None
        old = top[0]
        for at, row in enumerate(newest):
            if row.entry.id <= old.entry.id:
                return Growth(tuple(newest[:at]), None)
            if row.first_id <= old.entry.id:
                if old.first_id not in self._open:
                    return Growth(tuple(newest[:at]), row)
                counts = {"starts": row.starts - old.starts, "failures": row.failures - old.failures}
                rest = replace(row, count=max(1, row.count - old.count), first_id=old.entry.id + 1, **counts)  # what is open stays
                return Growth((*newest[:at], rest), None)
        return None

    def grow(self, growth: Growth) -> None:
        """Inserts new rows at the top."""
        first = self._pages[0]
        assert first.rows is not None
        kept = (growth.top, *first.rows[1:]) if growth.top is not None else first.rows
        if first.count + len(growth.rows) <= PAGE:
            kept = (*growth.rows, *kept)
        else:
            self._pages.insert(0, Page(growth.rows))
        _set(first, kept)
        first.before = kept[0].entry.id + 1
        self._count()

    def span_to_open(self, place: int, rows: Sequence[ActivityRow]) -> Span:
        """Returns the places that opening a group inserts; the rest of a group inside a group is replaced by its first entry."""
        return Span(place + 1, min(len(rows), MOST_INSIDE + 1) - self.row(place).is_inside)

    def open(self, place: int, rows: Sequence[ActivityRow]) -> None:
        """Inserts the entries of a group below it; the rest of a group that is itself inside a group is replaced by its entries.

        Args:
            rows: the entries, at most one more than `MOST_INSIDE`.
        """
        page, at = self._at(place)
        assert page.rows is not None
        group, number, below = page.rows[at], self._number(place), page.rows[at + 1 :]
        inside = Page(_with_rest(group, rows), is_inside=True)
        _set(page, page.rows[: at if page.is_inside else at + 1])
        self._pages[number + 1 : number + 1] = [inside, *([Page(below, is_inside=page.is_inside)] if below else [])]
        if not page.is_inside:
            self._open.add(group.first_id)
        self._clean()

    def span_inside(self, place: int) -> Span:
        """Returns the places of the entries of a group that is open."""
        number = self._number(place) + 1
        inside = takewhile(lambda page: page.is_inside, self._pages[number:])
        return Span(place + 1, sum(page.count for page in inside))

    def close(self, place: int) -> None:
        """Removes the entries of a group from the list."""
        page, at = self._at(place)
        assert page.rows is not None
        self._open.discard(page.rows[at].first_id)
        number = self._number(place) + 1
        while number < len(self._pages) and self._pages[number].is_inside:
            del self._pages[number]
        self._count()

    def _inside(self, page: Page, at: int, id: int) -> int:
        """Returns the place of an entry of an open group; -1 if the group is closed or lacks the entry."""
        number = self._pages.index(page) + 1
        assert page.rows is not None
        if page.is_inside or page.rows[at].first_id not in self._open:
            return -1
        while number < len(self._pages) and self._pages[number].is_inside:
            for place, row in enumerate(self._pages[number].rows or ()):
                if row.first_id <= id <= row.entry.id:
                    return self._starts[number] + place
            number += 1
        return -1

    def _forget(self) -> None:
        """Drops the rows of the pages that have been out of sight for the longest time."""
        large = [page for page in self._pages[1:] if page.rows is not None and page.count > SMALL]
        for page in sorted(large, key=lambda page: page.looked_at)[: max(0, len(large) - MOST_KEPT)]:
            if page is not self._pages[-1]:  # below it the list goes on
                page.rows = None

    def _clean(self) -> None:
        self._pages = [page for page in self._pages if page.count]
        self._count()

    def _count(self) -> None:
        self._starts = list(accumulate((page.count for page in self._pages[:-1]), initial=0)) if self._pages else []

    def _number(self, place: int) -> int:
        return max(0, bisect_right(self._starts, place) - 1)

    def _at(self, place: int) -> tuple[Page, int]:
        number = self._number(place)
        return self._pages[number], place - self._starts[number]


def _set(page: Page, rows: tuple[ActivityRow, ...]) -> None:
    page.rows, page.count = rows, len(rows)


def _with_rest(group: ActivityRow, rows: Sequence[ActivityRow]) -> list[ActivityRow]:
    """Returns the entries of a group; the entries beyond `MOST_INSIDE` are a group at the end."""
    if len(rows) <= MOST_INSIDE:
        return list(rows)
    rest = replace(group, entry=rows[MOST_INSIDE].entry, count=max(1, group.count - MOST_INSIDE))
    return [*rows[:MOST_INSIDE], rest]
