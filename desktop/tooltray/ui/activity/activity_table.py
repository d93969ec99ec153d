"""The table of journal entries: its columns, the drawing of its cells, and its scroll position, which stays when rows are inserted at the
top."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar, cast

import msgspec
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionViewItem

from tooltray.foundation.snapshots.activity import ActivityRow
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui import icons
from tooltray.ui.activity import activity_words as said
from tooltray.ui.activity.activity_model import ActivityModel, ReadActivity
from tooltray.ui.figures import number
from tooltray.ui.i18n import tr
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import FOCUS_BAR, PADDING, PAGE_INSET, SELECTED_CHIP, CellDelegate
from tooltray.ui.widgets.chip import paint_chip
from tooltray.ui.widgets.row_model import Column, Index, Kind
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

TIME, TOOL, TOUCHED, CLIENT, SERVER, TOOK, OUTCOME = range(7)
EXTRAS = ((SERVER, 740), (TOOK, 740), (TOUCHED, 600), (CLIENT, 520))
"""Columns that are in the details only, and the width in px below which that is so."""
WIDEST_TOOL, SHARE_OF_TOOL = 320, 0.55  # px of the column of tools at most; and its part of what it shares with what was touched
MUTED = frozenset(said.ICONS.values()) - {""}
"""Icons of what is no call."""
INDENT = 20  # px of the entries of a group
MARK, GAP = 14, 6  # px of a shape before the name, and behind it
ARROW_ROOM = 12 + MARK + GAP  # px from the left edge of the column of tools
NOT_READ = 60, 8  # px of the bar in a cell that is being read
T = TypeVar("T")


class ToolCell(msgspec.Struct, frozen=True):
    """The value of a cell in the column of tools."""

    row: ActivityRow
    icon: str
    is_inside: bool

    def __str__(self) -> str:
        return said.spoken(self.row)


def _columns() -> list[Column]:
    def time(row: ActivityRow) -> str:
        return said.at(said.ended(row.entry), datetime.now())

    def why(row: ActivityRow) -> str:
        return said.reason(row.entry) or said.row_outcome(row).word

    def duration(row: ActivityRow) -> str:
        return "" if said.is_of_servers(row) or not row.entry.duration_s else said.took(row.entry.duration_s)

    def tool(shown: Any) -> ToolCell:
        row: ActivityRow = shown.row
        icon = said.ICONS.get(row.entry.kind, "") if row.count < 2 else "chevron-down" if shown.is_open else "chevron-right"
        return ToolCell(row, icon, shown.is_inside)

    return [
        Column(tr("Time"), _of(time), Kind.QUIET, 104, _of(said.row_time)),
        Column(tr("Tool"), tool, has_shapes=True),
        Column(tr("Target"), _of(said.row_target), Kind.QUIET),
        Column(tr("Client"), _of(lambda row: said.client_words(row.entry.client)), Kind.TEXT, 118),
        Column(tr("Server"), _of(said.row_servers), Kind.QUIET, 108),
        Column(tr("Duration"), _of(duration), Kind.NUMBER, 80),
        Column(tr("Outcome"), _of(said.row_outcome), Kind.STATE, 128, _of(why)),
    ]


def _of(value: Callable[[ActivityRow], T]) -> Callable[[Any], T]:
    """Returns a function for a cell of a ShownRow, from one for its content; the model asks for no cell before that has been read."""
    return lambda shown: value(shown.row)


class ActivityDelegate(CellDelegate):
    """The painter of names with the number of their repeats, and of rows that are not read yet."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paints a cell like other tables' cells, with less work for each: a large window shows 300 of them."""
        theme, rect, view, place = self._theme, option.rect, cast("ActivityTable", self._view), index.row()
        left, top, width, height = rect.left(), rect.top(), rect.width(), rect.height()
        self._chip_fill = SELECTED_CHIP if QStyle.StateFlag.State_Selected in option.state else ""
        if self._chip_fill:
            painter.fillRect(left, top, width, height, theme.color("surface.selected"))
            if view.hasFocus():
                painter.fillRect(left, top + height - FOCUS_BAR, width, FOCUS_BAR, theme.color("accent"))
        elif view.hovered_row == place:
            painter.fillRect(left, top, width, height, theme.color("surface.hover"))
        painter.fillRect(left, top + height - 1, width, 1, theme.color("chart.grid"))
        shown, column = view.activity.row(place), self._columns[index.column()]
        inset = px(PAGE_INSET) if index.column() == 0 else px(PADDING)
        cell = QRectF(left + inset, top, width - inset - px(PADDING), height)
        self._paint_value(painter, cell, column.kind, column.value(shown) if shown.row is not None else None)

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: object) -> None:
        if value is None:
            width, height = NOT_READ
            bar = QRectF(cell.left(), cell.center().y() - height / 2, min(width, cell.width()), height)
            painter.fillRect(bar, self._theme.color("neutral.subtle"))
        elif isinstance(value, ToolCell):
            self._tool(painter, cell, value)
        elif isinstance(value, Look) and not value.icon:
            self._text(painter, cell, value.word, "body", value.text_color)
        else:
            super()._paint_value(painter, cell, kind, value)

    def _tool(self, painter: QPainter, cell: QRectF, tool: ToolCell) -> None:
        theme, row, left = self._theme, tool.row, cell.left() + (px(INDENT) if tool.is_inside else 0)
        if tool.icon:
            icons.draw(painter, tool.icon, QRectF(left, cell.center().y() - px(MARK) / 2, px(MARK), px(MARK)), theme.color("text.muted"))
        left += px(MARK) + px(GAP)
        name, is_code = said.row_subject(row), said.is_named(row.entry)
        style, ink = "mono" if is_code else "body", "text.primary" if is_code and tool.icon not in MUTED else "text.secondary"
        count = f"× {number(row.count)}" if row.count > 1 and not said.is_of_servers(row) else ""
        room = cell.right() - left - (theme.metrics("caption_strong").horizontalAdvance(count) + px(16) + px(GAP) if count else 0)
        self._text(painter, QRectF(left, cell.top(), max(0.0, room), cell.height()), name, style, ink)
        if count:
            used = min(room, theme.metrics(style, tabular=style == "body").horizontalAdvance(name))
            paint_chip(painter, theme, left + used + px(GAP) + 2, cell.center().y(), count, "neutral", self._chip_fill)


class ActivityTable(Table):
    """The table of journal entries. `left_top`: rows were inserted above the visible ones."""

    left_top = Signal(int)
    at_top = Signal()

    def __init__(self, theme: Theme, read: ReadActivity, tasks: TaskKeeper) -> None:
        columns = _columns()
        self.activity = ActivityModel(columns, read, tasks)
        super().__init__(theme, columns, tr("Activity"), self.activity)
        self.setItemDelegate(ActivityDelegate(theme, columns, self, PAGE_INSET, theme.size("row")))
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # so that scrolling moves what is drawn already
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalScrollBar().valueChanged.connect(self._look)
        for news in (self.activity.rowsInserted, self.activity.rowsRemoved, self.activity.reset_done):
            news.connect(self._look)
        self.activity.grown.connect(self._on_grown)

    @property
    def is_at_top(self) -> bool:
        return self.verticalScrollBar().value() == 0

    @property
    def would_move(self) -> bool:
        """Whether new rows would move the one below the pointer: too few rows to scroll cannot stay in place."""
        return self.viewport().underMouse() and self.verticalHeader().length() < self.viewport().height()

    @property
    def is_busy(self) -> bool:
        """Whether the keyboard or the pointer is in the table."""
        return self.hasFocus() or self.viewport().underMouse()

    def show_top(self) -> None:
        """Scrolls to the newest rows."""
        self.verticalScrollBar().setValue(0)

    def show_entry(self, id: int) -> None:
        """Makes the row with an entry the current one, if it is in memory."""
        if (place := self.activity.find(id)) >= 0:
            self.setCurrentIndex(self.activity.index(place, TOOL))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self._theme.color("surface"))
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for place, width in EXTRAS:
            self.setColumnHidden(place, self.width() < px(width))
        is_shared, header = not self.isColumnHidden(TOUCHED), self.horizontalHeader()
        header.setSectionResizeMode(TOOL, QHeaderView.ResizeMode.Fixed if is_shared else QHeaderView.ResizeMode.Stretch)
        if is_shared:  # in a wide window tools' names get enough, and what they touched gets the rest
            others = (TIME, CLIENT, SERVER, TOOK, OUTCOME)
            rest = self.viewport().width() - sum(self.columnWidth(place) for place in others if not self.isColumnHidden(place))
            self.setColumnWidth(TOOL, min(px(WIDEST_TOOL), int(rest * SHARE_OF_TOOL)))
        self._look()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), Qt.Key(event.key())
        shown = self.activity.row(index.row()) if index.isValid() else None
        if shown is None or key not in (Qt.Key.Key_Space, Qt.Key.Key_Right, Qt.Key.Key_Left):
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Space or shown.is_open == (key == Qt.Key.Key_Left):
            self.activity.toggle(index.row())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Opens a group at the second click; the first one has shown its newest entry."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self.activity.toggle(index.row())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Selects a row, but not at its arrow, since the details would be of another row."""
        if not self._is_on_arrow(event):
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._is_on_arrow(event):
            self.activity.toggle(self.indexAt(event.position().toPoint()).row())
        else:
            super().mouseReleaseEvent(event)

    def _is_on_arrow(self, event: QMouseEvent) -> bool:
        index = self.indexAt(event.position().toPoint())
        row = self.activity.row(index.row()).row if index.isValid() and index.column() == TOOL else None
        return row is not None and row.count > 1 and event.position().x() < self.columnViewportPosition(TOOL) + px(ARROW_ROOM)

    def _look(self, *_: object) -> None:
        if self.isVisible():
            last = self.rowAt(self.viewport().height() - 1)
            self.activity.look_at(max(0, self.rowAt(0)), last if last >= 0 else self.activity.rowCount() - 1)
        if self.is_at_top:
            self.at_top.emit()

    def _on_grown(self, count: int) -> None:
        """Keeps the visible rows in place when rows are inserted; an idle table at its top shows the newest rows instead."""
        if self.is_at_top and not self.is_busy:
            return
        self.updateGeometries()
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + count * self.verticalHeader().defaultSectionSize())
        self.left_top.emit(count)
