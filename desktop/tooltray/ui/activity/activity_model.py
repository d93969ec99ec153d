"""A Qt model of the journal's entries: reads pages while the user scrolls, and inserts new entries at the top. Replies to outdated requests
are dropped. The list may be as long as the journal; only rows near the visible ones are in memory."""

from bisect import bisect_right
from collections.abc import Callable, Coroutine, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, takewhile

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt, Signal

from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import CoalescedRead, Work, run_action
from tooltray.ui.widgets.row_model import Column, Index, RowModel

FIRST = 60  # rows that are read when the filter changes: more than a screen, and few enough for each key of a search
AHEAD = 100  # rows below the last one in sight that are read before anybody gets there
ROW_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
ROLE = Qt.ItemDataRole
SPOKEN = (ROLE.DisplayRole, ROLE.ToolTipRole, ROLE.AccessibleTextRole, ROLE.AccessibleDescriptionRole)
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
        self.before, self.is_inside, self.looked_at = rows[0].entry.id + 1, is_inside, 0
        self.set(rows)

    def set(self, rows: Sequence[ActivityRow]) -> None:
        self.rows: tuple[ActivityRow, ...] | None = tuple(rows)
        self.count = len(rows)


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
        found = -1
        for page, start in zip(self._pages, self._starts, strict=True):
            for at, row in enumerate(page.rows or ()):
                if row.first_id <= id <= row.entry.id:
                    found = start + at  # of a group that is open an entry below it follows
        return found

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
        seen = self._pages[self._number(first) : self._number(last) + 1]
        for page in seen:
            page.looked_at = self._clock
        self._forget()
        return [page for page in seen if page.rows is None]

    def fill(self, page: Page, rows: Sequence[ActivityRow]) -> None:
        """Fills a page with rows that were read again; there may be fewer of them, since old entries are deleted."""
        page.set(rows[: page.count])
        self._count()

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
        first.set(kept)
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
        page.set(page.rows[: at if page.is_inside else at + 1])
        self._pages[number + 1 : number + 1] = [inside, *([Page(below, is_inside=page.is_inside)] if below else [])]
        if not page.is_inside:
            self._open.add(group.first_id)
        self._count()

    def span_inside(self, place: int) -> Span:
        """Returns the places of the entries of a group that is open."""
        return Span(place + 1, sum(page.count for page in self._inside(place)))

    def close(self, place: int) -> None:
        """Removes the entries of a group from the list."""
        page, at = self._at(place)
        assert page.rows is not None
        self._open.discard(page.rows[at].first_id)
        for each in self._inside(place):
            self._pages.remove(each)
        self._count()

    def _inside(self, place: int) -> list[Page]:
        """Returns the pages with the entries of a group that is open."""
        return list(takewhile(lambda page: page.is_inside, self._pages[self._number(place) + 1 :]))

    def _forget(self) -> None:
        """Drops the rows of the pages that have been out of sight for the longest time."""
        large = [page for page in self._pages[1:] if page.rows is not None and page.count > SMALL]
        for page in sorted(large, key=lambda page: page.looked_at)[: max(0, len(large) - MOST_KEPT)]:
            if page is not self._pages[-1]:  # below it the list goes on
                page.rows = None

    def _count(self) -> None:
        self._pages = [page for page in self._pages if page.count]
        self._starts = list(accumulate((page.count for page in self._pages[:-1]), initial=0)) if self._pages else []

    def _number(self, place: int) -> int:
        return max(0, bisect_right(self._starts, place) - 1)

    def _at(self, place: int) -> tuple[Page, int]:
        number = self._number(place)
        return self._pages[number], place - self._starts[number]


def _with_rest(group: ActivityRow, rows: Sequence[ActivityRow]) -> list[ActivityRow]:
    """Returns the entries of a group; the entries beyond `MOST_INSIDE` are a group at the end."""
    if len(rows) <= MOST_INSIDE:
        return list(rows)
    rest = replace(group, entry=rows[MOST_INSIDE].entry, count=max(1, group.count - MOST_INSIDE))
    return [*rows[:MOST_INSIDE], rest]


ReadActivity = Callable[[ActivityFilter, int, int, bool], Coroutine[object, object, list[ActivityRow]]]
"""Reads the journal, the newest rows first: those that a filter passes, before an id, at most so many, and whether repeats are one row."""


class ActivityModel(RowModel):
    """A model of journal entries. `failed` carries the Problem of a read, None after a success; `grown` how many rows were inserted at the
    top; `reset_done`: all rows were replaced; `fell_behind`: there are more new rows than could be inserted at the top.
    """

    failed = Signal(object)
    grown = Signal(int)
    reset_done = Signal()
    fell_behind = Signal()

    def __init__(self, columns: Sequence[Column], read: ReadActivity, tasks: TaskKeeper) -> None:
        super().__init__(columns, id)  # `find` goes by entries
        self._read, self._tasks = read, tasks
        self._pages = RowPages()
        self._wanted = ActivityFilter(), True  # and whether repeats are one row
        self._shown: tuple[ActivityFilter, bool] | None = None  # of what stands there
        self._reading: set[int] = set()  # pages on their way, by their `before`
        self._head = CoalescedRead(self._read_head, tasks=tasks, name="activity", show=self.failed.emit)
        self._top = CoalescedRead(self._read_top, tasks=tasks, name="new activity", show=self.failed.emit)

    @property
    def is_known(self) -> bool:
        """Whether the journal has been read."""
        return self._shown is not None

    def row(self, place: int) -> ShownRow:
        return self._pages.row(place)

    def find(self, key: Hashable) -> int:
        return self._pages.find(key) if isinstance(key, int) else -1

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._pages)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self.row(index.row()).row is None:
            return tr("Being read") if role in SPOKEN else None
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return ROW_FLAGS

    def show_filter(self, filter: ActivityFilter, *, is_collapsed: bool) -> None:
        """Lists other entries; the current ones stay until the new ones are read."""
        self._wanted = filter, is_collapsed
        self._head.ask()

    def begin_anew(self) -> None:
        """Replaces all rows by the newest ones."""
        self._head.ask()

    def look_for_new(self) -> None:
        """Reads the journal's new entries."""
        if self._shown is None or not len(self._pages):
            self._head.ask()
        else:
            self._top.ask()

    def look_at(self, first: int, last: int) -> None:
        """Reads missing rows between these visible places, and the next page when the end is near."""
        for page in self._pages.look(first, last):
            self._begin(page.before, partial(self._reload, page))
        before = self._pages.next_before
        if before and not self._pages.is_whole and last + AHEAD >= len(self._pages):
            self._begin(before, partial(self._read_more, before))

    def toggle(self, place: int) -> None:
        """Opens the group at a place, or closes it."""
        shown = self.row(place)
        if shown.row is None or shown.row.count < 2:
            return
        if shown.is_open:
            with self._told(self._pages.span_inside(place), self.beginRemoveRows, self.endRemoveRows):
                self._pages.close(place)
            self._changed(place, place)
        else:
            self._begin(shown.row.entry.id + 1, partial(self._read_inside, shown.row))

    def _begin(self, before: int, work: Work) -> None:
        if before not in self._reading:
            self._reading.add(before)
            run_action(self._tasks, partial(self._read_page, before, work), self.failed.emit, name="page of activity")

    async def _read_page(self, before: int, work: Work) -> None:
        try:
            await work()
        finally:
            self._reading.discard(before)

    async def _read_head(self) -> None:
        filter, is_collapsed = wanted = self._wanted
        rows = await self._read(filter, 0, FIRST, is_collapsed)
        if wanted == self._wanted:
            self.beginResetModel()
            self._pages.reset(rows, is_whole=not rows)
            self._shown = wanted
            self.endResetModel()
            self.reset_done.emit()

    async def _read_shown(self, before: int, limit: int, *, is_inside: bool = False) -> list[ActivityRow] | None:
        """Reads rows of the current list, of an open group one by one; returns None if the list was replaced meanwhile."""
        assert self._shown is not None
        filter, is_collapsed = shown = self._shown
        rows = await self._read(filter, before, limit, is_collapsed and not is_inside)
        return rows if shown == self._shown else None

    async def _read_top(self) -> None:
        newest = self._pages.newest_id
        rows = await self._read_shown(0, PAGE)
        if rows is None or newest != self._pages.newest_id:
            return
        growth = self._pages.growth(rows)
        if growth is None:
            self.fell_behind.emit()
            return
        count = len(growth.rows)
        with self._told(Span(0, count), self.beginInsertRows, self.endInsertRows):
            self._pages.grow(growth)
        self._changed(count, count)
        if count:
            self.grown.emit(count)

    async def _read_more(self, before: int) -> None:
        rows = await self._read_shown(before, PAGE)
        if rows is None or before != self._pages.next_before:
            return
        with self._told(Span(len(self._pages), len(rows)), self.beginInsertRows, self.endInsertRows):
            self._pages.append(rows, is_whole=not rows)

    async def _reload(self, page: Page) -> None:
        rows = await self._read_shown(page.before, page.count, is_inside=page.is_inside)
        if rows is None or (place := self._pages.place_of(page)) < 0:
            return
        with self._told(Span(place + len(rows), page.count - len(rows)), self.beginRemoveRows, self.endRemoveRows):
            self._pages.fill(page, rows)
        self._changed(place, place + len(rows) - 1)

    async def _read_inside(self, group: ActivityRow) -> None:
        rows = await self._read_shown(group.entry.id + 1, min(group.count, MOST_INSIDE + 1), is_inside=True)
        place = self._pages.find(group.entry.id)
        if not rows or place < 0 or self.row(place).row != group:
            return
        with self._told(self._pages.span_to_open(place, rows), self.beginInsertRows, self.endInsertRows):
            self._pages.open(place, rows)
        self._changed(place, place)

    @contextmanager
    def _told(self, span: Span, begin: Callable[[QModelIndex, int, int], None], end: Callable[[], None]) -> Iterator[None]:
        """Notifies the view of rows that are inserted or removed, if there are any."""
        if span.count > 0:
            begin(QModelIndex(), span.first, span.first + span.count - 1)
        yield
        if span.count > 0:
            end()

    def _changed(self, first: int, last: int) -> None:
        if last >= first and len(self._pages):
            self.dataChanged.emit(self.index(first, 0), self.index(min(last, len(self._pages) - 1), len(self.columns) - 1))
