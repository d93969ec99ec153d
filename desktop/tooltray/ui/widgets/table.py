"""Tables as model/view: one model for frozen rows, one delegate that paints text, chips, states and switches.

5,000 rows cost as much as the 20 that are visible; no widget is made per row.
"""

from collections.abc import Callable, Hashable, Sequence
from enum import Enum, auto
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import HEIGHT, WIDTH, paint_switch
from tooltray.ui.widgets.chip import paint_chip
from tooltray.ui.widgets.choice import paint_check

PADDING = 12
PAGE_INSET, CARD_INSET = 24, 0  # left padding of the first column; theme.qss has the same for headers
CARD_EDGE = 2  # right padding of the last column in a card, which puts its switches below the card's own
BAR_WORDS = 84  # room for a bar's number
FOCUS_BAR = 2  # height of the line below the current row of a table that has the keyboard

Index = QModelIndex | QPersistentModelIndex


class Kind(Enum):
    """How a cell's value is drawn."""

    TEXT = auto()  # str
    QUIET = auto()  # str, less prominent
    MONO = auto()  # str, a name from code
    NUMBER = auto()  # str, right-aligned digits
    CHIP = auto()  # (word, tone); without a tone plain text, so that only what matters has colour
    STATE = auto()  # Look
    BAR = auto()  # (share from 0 to 1, tone, word)
    SWITCH = auto()  # bool, or None for a row that has no switch
    CHECK = auto()  # the same as a box that is ticked
    BUTTON = auto()  # str, what pressing it does; empty for a row that has none


class Column(msgspec.Struct, frozen=True):
    """A column: its title, how to get its value from a row, how to draw it; `width` 0 takes what is left."""

    title: str
    value: Callable[[Any], object]
    kind: Kind = Kind.TEXT
    width: int = 0
    tip: Callable[[Any], str] | None = None  # what else there is to know of a cell


class RowModel(QAbstractTableModel):
    """Frozen rows. `key` tells which row is which when they are replaced; no two rows may have the same."""

    def __init__(self, columns: Sequence[Column], key: Callable[[Any], Hashable]) -> None:
        super().__init__()
        self.columns = columns
        self.rows: list[Any] = []
        self._key = key
        self._places: dict[Hashable, int] = {}

    def set_rows(self, rows: Sequence[object]) -> bool:
        """Replaces the rows; returns whether they are the same ones with, at most, other values."""
        keys = [self._key(row) for row in rows]
        if keys == list(self._places):
            for row in rows:
                self.replace(row)
            return True
        self.beginResetModel()
        self.rows = list(rows)
        self._places = {key: place for place, key in enumerate(keys)}
        self.endResetModel()
        return False

    def replace(self, row: object) -> None:
        """Shows a row's new values; does nothing for a row that is not there."""
        place = self.find(self._key(row))
        if place >= 0 and row is not self.rows[place] and row != self.rows[place]:
            self.rows[place] = row
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))

    def find(self, key: Hashable) -> int:
        """Returns a row's place, -1 if it is not there."""
        return self._places.get(key, -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        column = self.columns[index.column()]
        value = column.value(self.rows[index.row()])
        if role == Qt.ItemDataRole.UserRole:
            return value
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole) and column.tip is not None:
            return column.tip(self.rows[index.row()])
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return _words(column.kind, value)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.kind in (Kind.NUMBER, Kind.SWITCH, Kind.BUTTON) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


def _words(kind: Kind, value: Any) -> str:
    """Returns a cell's value in words, for tooltips and screen readers."""
    match kind:
        case Kind.STATE:
            return str(value.word)
        case Kind.CHIP:
            return str(value[0])
        case Kind.BAR:
            return str(value[2])
        case Kind.CHECK:
            return "" if value is None else tr("Ticked") if value else tr("Not ticked")
        case Kind.SWITCH:
            return "" if value is None else tr("On") if value else tr("Off")
        case _:
            return str(value)


class CellDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, columns: Sequence[Column], parent: "Table", inset: int, row_height: int) -> None:
        super().__init__(parent)
        self._theme, self._columns, self._view, self._inset, self._row_height = theme, columns, parent, inset, row_height

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(40, self._row_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        rect, state = option.rect, option.state
        box = QRectF(rect)
        is_last = index.row() == index.model().rowCount() - 1
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("surface.selected"))
            if self._view.hasFocus():
                painter.fillRect(QRectF(box.left(), box.bottom() - FOCUS_BAR, box.width(), FOCUS_BAR), theme.color("accent"))
        elif self._view.hovered_row == index.row():
            painter.fillRect(box, theme.color("surface.hover"))
        if self._inset or not is_last:
            painter.setPen(theme.color("chart.grid"))
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        left = self._inset if index.column() == 0 else PADDING
        is_edge = not self._inset and index.column() == len(self._columns) - 1
        cell = box.adjusted(left, 0, -CARD_EDGE if is_edge else -PADDING, 0)
        self._paint_value(painter, cell, self._columns[index.column()].kind, index.data(Qt.ItemDataRole.UserRole))
        painter.restore()

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: Any) -> None:
        theme = self._theme
        middle = cell.center().y()
        match kind:
            case Kind.SWITCH:
                if value is not None:
                    paint_switch(painter, theme, QRectF(cell.right() - WIDTH, middle - HEIGHT / 2, WIDTH, HEIGHT), float(value))
            case Kind.CHECK:
                if value is not None:
                    paint_check(painter, theme, cell.left(), middle, is_on=bool(value))
            case Kind.CHIP:
                word, tone = value
                if tone:
                    paint_chip(painter, theme, cell.left(), middle, word, tone)
                else:
                    self._text(painter, cell, word, "caption", "text.muted")
            case Kind.BAR:
                share, tone, word = value
                self._bar(painter, QRectF(cell.left(), middle - 2.5, cell.width() - BAR_WORDS, 5), share, tone)
                self._text(painter, cell, word, "body", "text.primary" if share else "text.muted", right=True)
            case Kind.STATE:
                shape = QRectF(cell.left(), middle - 7, 14, 14)
                icons.draw(painter, value.icon, shape, theme.color(value.tone), theme.color("surface"))
                self._text(painter, cell.adjusted(21, 0, 0, 0), value.word, "body", value.text_color)
            case Kind.BUTTON:
                self._text(painter, cell, value, "caption_strong", "accent.text", right=True)
            case Kind.MONO:
                self._text(painter, cell, value, "mono", "text.primary")
            case Kind.QUIET:
                self._text(painter, cell, value, "body" if self._inset else "caption", "text.secondary")
            case Kind.NUMBER:
                self._text(painter, cell, value, "body", "text.secondary", right=True)
            case Kind.TEXT:
                self._text(painter, cell, value, "body", "text.primary")

    def _bar(self, painter: QPainter, track: QRectF, share: float, tone: str) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("neutral.subtle"))
        painter.drawRoundedRect(track, 2.5, 2.5)
        if share:
            painter.setBrush(self._theme.color(tone))
            painter.drawRoundedRect(QRectF(track.left(), track.top(), max(5.0, track.width() * min(share, 1.0)), 5), 2.5, 2.5)

    def _text(self, painter: QPainter, cell: QRectF, text: str, style: str, color: str, *, right: bool = False) -> None:
        font = self._theme.font(style, tabular=style == "body")
        painter.setFont(font)
        painter.setPen(self._theme.color(color))
        mode = Qt.TextElideMode.ElideMiddle if style == "mono" else Qt.TextElideMode.ElideRight  # a hash at a name's end stays visible
        shown = QFontMetrics(font).elidedText(text, mode, int(cell.width()) + 1)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        painter.drawText(cell, side | Qt.AlignmentFlag.AlignVCenter, shown)


class Table(QTableView):
    """A table of frozen rows.

    `row_chosen` carries the row that a click or Enter chose, `switched` a row and the new position of its switch (a click on it, or Space),
    `pressed` a row whose button was pressed (a click on it, or Space).
    """

    row_chosen = Signal(object)
    switched = Signal(object, bool)
    pressed = Signal(object)

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[Column],
        name: str,
        key: Callable[[Any], Hashable],
        *,
        in_card: bool = False,
        has_header: bool | None = None,
        row_height: int = 0,
    ) -> None:
        super().__init__()
        row_height = row_height or theme.size("row")
        self._key = key
        self._hovered_row = -1
        self._model = RowModel(columns, key)
        self._switch = max(_first(columns, Kind.SWITCH), _first(columns, Kind.CHECK))
        self._button = _first(columns, Kind.BUTTON)
        self.setModel(self._model)
        self.setItemDelegate(CellDelegate(theme, columns, self, CARD_INSET if in_card else PAGE_INSET, row_height))
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(row_height)
        self.verticalHeader().setDefaultSectionSize(row_height)
        self._set_up_header(theme, columns, in_card=in_card, is_shown=not in_card if has_header is None else has_header)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_activated)

    def _set_up_header(self, theme: Theme, columns: Sequence[Column], *, in_card: bool, is_shown: bool) -> None:
        header = self.horizontalHeader()
        header.setProperty("inset", "card" if in_card else "page")
        header.setVisible(is_shown)
        header.setFont(theme.font("caption_strong"))
        header.setFixedHeight(34 if is_shown else 0)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(40)
        for index, column in enumerate(columns):
            header.setSectionResizeMode(index, QHeaderView.ResizeMode.Fixed if column.width else QHeaderView.ResizeMode.Stretch)
            if column.width:
                self.setColumnWidth(index, column.width)

    @property
    def rows(self) -> Sequence[Any]:
        return self._model.rows

    @property
    def hovered_row(self) -> int:
        """The place of the row under the pointer; -1: there is none."""
        return self._hovered_row

    def set_rows(self, rows: Sequence[object]) -> None:
        """Replaces the rows; selection, focus and scroll position stay, as far as their rows do."""
        current = self.currentIndex()
        key = self._key(self._model.rows[current.row()]) if current.isValid() else None
        scrolled = self.verticalScrollBar().value()
        if self._model.set_rows(rows) or key is None:
            return
        if (place := self._model.find(key)) >= 0:
            self.setCurrentIndex(self._model.index(place, max(current.column(), 0)))
        self.verticalScrollBar().setValue(scrolled)

    def update_row(self, row: object) -> None:
        """Shows a row's new values; does nothing for a row that is not there."""
        self._model.replace(row)

    def fit_height(self) -> None:
        """Makes the table as high as its rows: for tables inside something that scrolls itself."""
        rows = len(self._model.rows) * self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(self.horizontalHeader().height() + rows)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            self._hover(self.indexAt(event.position().toPoint()).row())
        elif event.type() == QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def _hover(self, row: int) -> None:
        if row != self._hovered_row:
            self._hovered_row = row
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid() and self._switch >= 0:
            self._toggle(index.row())
        elif event.key() == Qt.Key.Key_Space and index.isValid() and self._button >= 0:
            self._press(index.row())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.row_chosen.emit(self._model.rows[index.row()])
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == self._switch:
            self._toggle(index.row())
        elif index.column() == self._button and index.data(Qt.ItemDataRole.UserRole):
            self._press(index.row())
        else:
            self.row_chosen.emit(self._model.rows[index.row()])

    def _on_activated(self, index: QModelIndex) -> None:
        if index.column() not in (self._switch, self._button):
            self.row_chosen.emit(self._model.rows[index.row()])

    def _toggle(self, place: int) -> None:
        row = self._model.rows[place]
        value = self._model.columns[self._switch].value(row)
        if value is not None:
            self.switched.emit(row, not value)

    def _press(self, place: int) -> None:
        row = self._model.rows[place]
        if self._model.columns[self._button].value(row):
            self.pressed.emit(row)


def _first(columns: Sequence[Column], kind: Kind) -> int:
    """The first column of a kind; -1: there is none."""
    return next((index for index, column in enumerate(columns) if column.kind is kind), -1)
