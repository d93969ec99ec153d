"""A Qt model of the journal's entries: reads pages while the user scrolls, and inserts new entries at the top. Replies to outdated requests
are dropped."""

from collections.abc import Callable, Coroutine, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from PySide6.QtCore import QModelIndex, Qt, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.activity.row_pages import MOST_INSIDE, PAGE, Page, RowPages, ShownRow, Span
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import CoalescedRead
from tooltray.ui.widgets.row_model import Column, Index, RowModel

FIRST = 60  # rows that are read when the filter changes: more than a screen, and few enough for each key of a search
AHEAD = 100  # rows below the last one in sight that are read before anybody gets there
ROW_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
SPOKEN = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole)


class ReadActivity(Protocol):
    def __call__(self, filter: ActivityFilter, before: int, limit: int, collapsed: bool) -> Coroutine[object, object, list[ActivityRow]]:
        """Reads the journal, the newest rows first."""


class ActivityModel(RowModel):
    """A model of journal entries. `failed` carries the Problem of a read, None after a success; `grown` how many rows were inserted at the
    top; `reset_done`: all rows were replaced; `fell_behind`: there are more new rows than could be inserted at the top.
    """

    failed = Signal(object)
    grown = Signal(int)
    reset_done = Signal()
    fell_behind = Signal()

    def __init__(self, columns: Sequence[Column], read: ReadActivity, tasks: TaskKeeper) -> None:
        super().__init__(columns, shown_key)
        self._read, self._tasks = read, tasks
        self._pages = RowPages()
        self._filter, self._is_collapsed = ActivityFilter(), True
        self._shown: tuple[ActivityFilter, bool] | None = None  # of what stands there
        self._reading: set[int] = set()  # pages on their way, by their `before`
        self._is_failing = False
        self._head = CoalescedRead(self._read_head, tasks=tasks, name="activity", show=self._show)
        self._top = CoalescedRead(self._read_top, tasks=tasks, name="new activity", show=self._show)

    @property
    def is_known(self) -> bool:
        """Whether the journal has been read."""
        return self._shown is not None

    @property
    def filter(self) -> ActivityFilter:
        return self._filter

    @property
    def kept(self) -> int:
        """How many rows are in memory."""
        return self._pages.kept

    @property
    def is_whole(self) -> bool:
        """Whether the last row is the journal's oldest entry."""
        return self._pages.is_whole

    def row(self, place: int) -> ShownRow:
        return self._pages.row(place)

    def find(self, key: Hashable) -> int:
        return self._pages.find(key) if isinstance(key, int) else -1

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._pages)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in SPOKEN and self.row(index.row()).row is None:
            return tr("Being read")
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return ROW_FLAGS

    def show_filter(self, filter: ActivityFilter, *, is_collapsed: bool) -> None:
        """Lists other entries; the current ones stay until the new ones are read."""
        self._filter, self._is_collapsed = filter, is_collapsed
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
            with self._going(self._pages.span_inside(place)):
                self._pages.close(place)
            self._changed(place, place)
        else:
            self._begin(shown.row.entry.id + 1, partial(self._read_inside, shown.row))

    def _begin(self, before: int, work: Callable[[], Coroutine[object, object, None]]) -> None:
        if before not in self._reading:
            self._reading.add(before)
            self._tasks.spawn(self._guarded(before, work), name="page of activity")

    async def _guarded(self, before: int, work: Callable[[], Coroutine[object, object, None]]) -> None:
        try:
            await work()
        except TooltrayError as error:
            self._is_failing = True
            self.failed.emit(error.problem)
        else:
            if self._is_failing:
                self._is_failing = False
                self.failed.emit(None)
        finally:
            self._reading.discard(before)

    def _show(self, problem: object) -> None:
        self._is_failing = problem is not None
        self.failed.emit(problem)

    async def _read_head(self) -> None:
        wanted = (self._filter, self._is_collapsed)
        rows = await self._read(wanted[0], 0, FIRST, wanted[1])
        if wanted == (self._filter, self._is_collapsed):
            self.beginResetModel()
            self._pages.reset(rows, is_whole=_is_end(rows, FIRST, wanted[1]))
            self._shown = wanted
            self.endResetModel()
            self.reset_done.emit()

    async def _read_top(self) -> None:
        wanted = self._shown
        if wanted is None:
            return
        newest = self._pages.newest_id
        rows = await self._read(wanted[0], 0, PAGE, wanted[1])
        if wanted != self._shown or newest != self._pages.newest_id:
            return
        growth = self._pages.growth(rows)
        if growth is None:
            self.fell_behind.emit()
            return
        count = len(growth.rows)
        with self._coming(Span(0, count)):
            self._pages.grow(growth)
        self._changed(count, count)
        if count:
            self.grown.emit(count)

    async def _read_more(self, before: int) -> None:
        wanted = self._shown
        assert wanted is not None
        rows = await self._read(wanted[0], before, PAGE, wanted[1])
        if wanted != self._shown or before != self._pages.next_before:
            return
        with self._coming(Span(len(self._pages), len(rows))):
            self._pages.append(rows, is_whole=_is_end(rows, PAGE, wanted[1]))

    async def _reload(self, page: Page) -> None:
        wanted = self._shown
        assert wanted is not None
        rows = await self._read(wanted[0], page.before, page.count, wanted[1] and not page.is_inside)
        if wanted != self._shown or (place := self._pages.place_of(page)) < 0:
            return
        with self._going(Span(place + len(rows), page.count - len(rows))):
            self._pages.fill(page, rows)
        self._changed(place, place + len(rows) - 1)

    async def _read_inside(self, group: ActivityRow) -> None:
        wanted = self._shown
        assert wanted is not None
        limit = min(group.count, MOST_INSIDE + 1)
        rows = await self._read(wanted[0], group.entry.id + 1, limit, False)
        place = self._pages.find(group.entry.id)
        if wanted != self._shown or place < 0 or self.row(place).row != group or not rows:
            return
        with self._coming(self._pages.span_to_open(place, rows)):
            self._pages.open(place, rows)
        self._changed(place, place)

    @contextmanager
    def _coming(self, span: Span) -> Iterator[None]:
        """Notifies the view of inserted rows, if there are any."""
        if span.count > 0:
            self.beginInsertRows(QModelIndex(), span.first, span.first + span.count - 1)
        yield
        if span.count > 0:
            self.endInsertRows()

    @contextmanager
    def _going(self, span: Span) -> Iterator[None]:
        """Notifies the view of removed rows, if there are any."""
        if span.count > 0:
            self.beginRemoveRows(QModelIndex(), span.first, span.first + span.count - 1)
        yield
        if span.count > 0:
            self.endRemoveRows()

    def _changed(self, first: int, last: int) -> None:
        if last >= first and len(self._pages):
            self.dataChanged.emit(self.index(first, 0), self.index(min(last, len(self._pages) - 1), len(self.columns) - 1))


def shown_key(shown: ShownRow) -> int:
    """Returns the key of a row: the id of its newest entry."""
    return shown.row.entry.id if shown.row is not None else 0


def _is_end(rows: Sequence[ActivityRow], limit: int, is_collapsed: bool) -> bool:
    """Returns whether the list ends with these rows. With repeats collapsed a page may have fewer rows than requested; only an empty one
    ends it.
    """
    return not rows if is_collapsed else len(rows) < limit
