"""Tables as model/view: one model for frozen rows, one delegate that paints text, chips, states and switches.

5,000 rows cost as much as the 20 that are visible; no widget is made per row.
"""

from collections.abc import Callable, Hashable, Sequence
from enum import Enum, auto
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractTableModel, QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import HEIGHT, WIDTH, paint_switch
from tooltray.ui.widgets.chip import paint_chip
from tooltray.ui.widgets.choice import paint_check
from tooltray.ui.widgets.server_text import plain_tip

PADDING = 12
SELECTED_CHIP = "surface"  # the fill of chips in a selected row
PAGE_INSET, CARD_INSET = 24, 0  # left padding of the first column; theme.qss has the same for headers
CARD_EDGE = 2  # right padding of the last column in a card, which puts its switches below the card's own
BAR_WORDS = 84  # room for a bar's number
HEADING_LINE, HEADING_COUNT = 28, 60  # px: of a heading's words, which stand low in their row; and what its number needs
FOCUS_BAR = 2  # height of the line below the current row of a table that has the keyboard

PICKING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier  # such a click selects more rows and opens none

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
    PICK = auto()  # a box that is ticked while the row is selected, for tables in which many can be


class Column(msgspec.Struct, frozen=True):
    """A column: its title, how to get its value from a row, how to draw it; `width` 0 takes what is left.

    Attributes:
        tip: what else there is to know of a cell.
        order: what rows are sorted by when a person presses its title; None: not by this column.
        falls: the largest comes first when it is pressed once.
    """

    title: str
    value: Callable[[Any], object]
    kind: Kind = Kind.TEXT
    width: int = 0
    tip: Callable[[Any], str] | None = None
    order: Callable[[Any], Any] | None = None
    falls: bool = False


class Heading(msgspec.Struct, frozen=True):
    """Among the rows: what those below it have in common, and how many they are."""

    title: str
    count: int


class RowModel(QAbstractTableModel):
    """Frozen rows. `key` tells which row is which when they are replaced; no two rows may have the same."""

    def __init__(self, columns: Sequence[Column], key: Callable[[Any], Hashable]) -> None:
        super().__init__()
        self.columns = columns
        self.rows: list[Any] = []
        self.sorted_by: tuple[int, bool] | None = None  # a column, and whether it falls
        self._key = key
        self._places: dict[Hashable, int] = {}

    def set_rows(self, rows: Sequence[object]) -> bool:
        """Replaces the rows; returns whether they are the same ones with, at most, other values."""
        keys = [self.key(row) for row in rows]
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
        place = self.find(self.key(row))
        if place >= 0 and row is not self.rows[place] and row != self.rows[place]:
            self.rows[place] = row
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))

    def key(self, row: object) -> Hashable:
        """Which row it is; a heading is one for itself."""
        return row if isinstance(row, Heading) else self._key(row)

    def row(self, place: int) -> Any:
        """Returns the row at a place."""
        return self.rows[place]

    def find(self, key: Hashable) -> int:
        """Returns a row's place, -1 if it is not there."""
        return self._places.get(key, -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index.row())
        if isinstance(row, Heading):
            return _of_heading(row, role) if not index.column() else None
        column = self.columns[index.column()]
        value = column.value(row)
        if role == Qt.ItemDataRole.UserRole:
            return value
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            words = column.tip(row) if column.tip is not None else _words(column.kind, value)
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _words(column.kind, value)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{column.title} {self._arrow(section)}".rstrip()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.kind in (Kind.NUMBER, Kind.SWITCH, Kind.BUTTON) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        is_heading = index.isValid() and isinstance(self.row(index.row()), Heading)
        return Qt.ItemFlag.ItemIsEnabled if is_heading else super().flags(index)

    def _arrow(self, section: int) -> str:
        if self.sorted_by is None or self.sorted_by[0] != section:
            return ""
        return "↓" if self.sorted_by[1] else "↑"


def _of_heading(heading: Heading, role: int) -> object:
    if role == Qt.ItemDataRole.UserRole:
        return heading
    texts = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
    return f"{heading.title}, {heading.count}" if role in texts else None


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
        case Kind.PICK:
            return ""  # that a row is selected is said by itself
        case Kind.SWITCH:
            return "" if value is None else tr("On") if value else tr("Off")
        case _:
            return str(value)


class CellDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, columns: Sequence[Column], parent: "Table", inset: int, row_height: int) -> None:
        super().__init__(parent)
        self._theme, self._columns, self._view, self._inset, self._row_height = theme, columns, parent, inset, row_height
        self._chip_fill = ""  # of the row that is drawn: on the fill of a selection, a chip's own would not be seen

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(40, self._row_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        rect, state = option.rect, option.state
        box = QRectF(rect)
        value = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(value, Heading):
            self._paint_heading(painter, box, value)
            return
        is_last = index.row() == index.model().rowCount() - 1
        painter.save()
        self._chip_fill = SELECTED_CHIP if state & QStyle.StateFlag.State_Selected else ""
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
        kind = self._columns[index.column()].kind
        cell = box.adjusted(left, 0, -self._right(index.column(), kind), 0)
        self._paint_value(painter, cell, kind, self._picked(state, value) if kind is Kind.PICK else value)
        painter.restore()

    def _right(self, column: int, kind: Kind) -> int:
        """px behind a cell's value: buttons at the edge of a page end with its header, whose margin a scroll bar shares."""
        if column < len(self._columns) - 1 or (self._inset and kind is not Kind.BUTTON):
            return PADDING
        bar = self._view.verticalScrollBar()
        return PAGE_INSET - (bar.width() if bar.isVisible() else 0) if self._inset else CARD_EDGE

    @staticmethod
    def _picked(state: QStyle.StateFlag, has_box: object) -> bool | None:
        return bool(state & QStyle.StateFlag.State_Selected) if has_box else None

    def _paint_heading(self, painter: QPainter, box: QRectF, heading: Heading) -> None:
        """Over the whole width; the line below it is the table's own."""
        painter.save()
        cell = box.adjusted(self._inset, box.height() - HEADING_LINE, -PADDING, 0)
        self._text(painter, cell, heading.title, "caption_strong", "text.secondary")
        left = min(QFontMetrics(self._theme.font("caption_strong")).horizontalAdvance(heading.title), int(cell.width()) - HEADING_COUNT) + 8
        self._text(painter, cell.adjusted(left, 0, 0, 0), f"{heading.count:,}", "caption", "text.muted")
        painter.setPen(self._theme.color("chart.grid"))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.restore()

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: Any) -> None:
        theme = self._theme
        middle = cell.center().y()
        match kind:
            case Kind.SWITCH:
                if value is not None:
                    paint_switch(painter, theme, QRectF(cell.right() - WIDTH, middle - HEIGHT / 2, WIDTH, HEIGHT), float(value))
            case Kind.CHECK | Kind.PICK:
                if value is not None:
                    paint_check(painter, theme, cell.left(), middle, is_on=bool(value))
            case Kind.CHIP:
                word, tone = value
                if tone:
                    paint_chip(painter, theme, cell.left(), middle, word, tone, self._chip_fill)
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

    Where columns can be sorted by, a press on a title does so, a second one turns it round, and a third brings the given order back:
    `sort_changed`. With a column PICK many rows can be selected: `picked_changed`.

    `row_chosen` carries the row that a click or Enter chose, `switched` a row and the new position of its switch (a click on it, or Space),
    `pressed` a row whose button was pressed (a click on it, or Space).
    """

    row_chosen = Signal(object)
    switched = Signal(object, bool)
    pressed = Signal(object)
    sort_changed = Signal()
    picked_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[Column],
        name: str,
        key: Callable[[Any], Hashable] | RowModel,
        *,
        in_card: bool = False,
        has_header: bool | None = None,
        row_height: int = 0,
    ) -> None:
        """
        Args:
            key: tells which row is which; or the model that does, where rows are not all in memory.
        """
        super().__init__()
        row_height = row_height or theme.size("row")
        self._hovered_row = -1
        self.given: Sequence[Any] = ()  # as they were before they were sorted
        self._pick = _first(columns, Kind.PICK)
        self._model = key if isinstance(key, RowModel) else RowModel(columns, key)
        self._switch = max(_first(columns, Kind.SWITCH), _first(columns, Kind.CHECK))
        self._button = _first(columns, Kind.BUTTON)
        self.setModel(self._model)
        self.setItemDelegate(CellDelegate(theme, columns, self, CARD_INSET if in_card else PAGE_INSET, row_height))
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if self._pick >= 0 else modes.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(row_height)
        self.verticalHeader().setDefaultSectionSize(row_height)
        self._set_up_header(theme, columns, in_card=in_card, is_shown=not in_card if has_header is None else has_header)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_activated)
        self.selectionModel().selectionChanged.connect(self.picked_changed)

    def _set_up_header(self, theme: Theme, columns: Sequence[Column], *, in_card: bool, is_shown: bool) -> None:
        header = self.horizontalHeader()
        header.setProperty("inset", "card" if in_card else "page")
        header.setVisible(is_shown)
        header.setFont(theme.font("caption_strong"))
        header.setFixedHeight(34 if is_shown else 0)
        header.setHighlightSections(False)
        header.setSectionsClickable(any(column.order for column in columns))
        header.sectionClicked.connect(self._on_header_clicked)
        header.setMinimumSectionSize(40)
        for index, column in enumerate(columns):
            header.setSectionResizeMode(index, QHeaderView.ResizeMode.Fixed if column.width else QHeaderView.ResizeMode.Stretch)
            if column.width:
                self.setColumnWidth(index, column.width)

    @property
    def rows(self) -> Sequence[Any]:
        return self._model.rows

    @property
    def columns(self) -> Sequence[Column]:
        return self._model.columns

    @property
    def hovered_row(self) -> int:
        """The place of the row under the pointer; -1: there is none."""
        return self._hovered_row

    @property
    def picked(self) -> list[Any]:
        """The rows that are selected, from above."""
        selection = self.selectionModel().selection()
        ranges = [selection.at(place) for place in range(selection.size())]
        places = {place for each in ranges for place in range(each.top(), each.bottom() + 1)}  # `selectedRows` asks for flags 40,000 times
        rows = (self._model.row(place) for place in sorted(places))
        return [row for row in rows if not isinstance(row, Heading)]

    @property
    def sorted_by(self) -> tuple[int, bool] | None:
        """The column that a person sorts by, and whether the largest comes first; None: the rows stand as they were given."""
        return self._model.sorted_by

    def sort_by(self, column: int, falls: bool) -> None:
        """Sorts the rows by a column from now on; -1: as they are given."""
        self._model.sorted_by = (column, falls) if column >= 0 else None
        self._model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._model.columns) - 1)
        self.set_rows(self.given)

    def arranged(self, rows: Sequence[Any]) -> list[Any]:
        """Returns rows in the order in which they are shown; headings are put among them here."""
        if self._model.sorted_by is None:
            return list(rows)
        column, falls = self._model.sorted_by
        order = self._model.columns[column].order
        return sorted(rows, key=order, reverse=falls) if order is not None else list(rows)

    def set_rows(self, rows: Sequence[object]) -> None:
        """Replaces the rows; selection, focus and scroll position stay, as far as their rows do."""
        self.given = rows
        current = self.currentIndex()
        key = self._model.key(self._model.row(current.row())) if current.isValid() else None
        picked = [self._model.key(row) for row in self.picked] if self._pick >= 0 else []
        scrolled = self.verticalScrollBar().value()
        if self._model.set_rows(self.arranged(rows)):
            return
        self._span_headings()
        if key is not None:
            self._return_to(key, picked, max(current.column(), 0))
            self.verticalScrollBar().setValue(scrolled)

    def _return_to(self, key: Hashable, picked: Sequence[Hashable], column: int) -> None:
        if (place := self._model.find(key)) >= 0:
            self.setCurrentIndex(self._model.index(place, column))
        if not picked:
            return
        flags = QItemSelectionModel.SelectionFlag
        self.clearSelection()
        for each in picked:
            if (place := self._model.find(each)) >= 0:
                self.selectionModel().select(self._model.index(place, 0), flags.Select | flags.Rows)

    def _span_headings(self) -> None:
        self.clearSpans()
        for place, row in enumerate(self._model.rows):
            if isinstance(row, Heading):
                self.setSpan(place, 0, 1, len(self._model.columns))

    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        """A click on a box adds a row to those that are selected, or takes it away."""
        flags = QItemSelectionModel.SelectionFlag
        if self._pick >= 0 and index.column() == self._pick and isinstance(event, QMouseEvent):
            is_press = event.type() == QEvent.Type.MouseButtonPress
            return flags.Toggle | flags.Rows if is_press else flags.NoUpdate
        return super().selectionCommand(index, event)

    def _on_header_clicked(self, section: int) -> None:
        column = self._model.columns[section]
        if column.order is None:
            return
        before = self._model.sorted_by
        if before is None or before[0] != section:
            self.sort_by(section, column.falls)
        elif before[1] is column.falls:
            self.sort_by(section, not column.falls)
        else:
            self.sort_by(-1, False)
        self.sort_changed.emit()

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
            self._choose(index.row())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == self._switch:
            self._toggle(index.row())
        elif index.column() == self._button and index.data(Qt.ItemDataRole.UserRole):
            self._press(index.row())
        elif index.column() != self._pick and not QGuiApplication.keyboardModifiers() & PICKING:
            self._choose(index.row())

    def _on_activated(self, index: QModelIndex) -> None:
        if index.column() not in (self._switch, self._button, self._pick):
            self._choose(index.row())

    def _choose(self, place: int) -> None:
        row = self._model.row(place)
        if not isinstance(row, Heading):
            self.row_chosen.emit(row)

    def _toggle(self, place: int) -> None:
        row = self._model.row(place)
        value = self._model.columns[self._switch].value(row) if not isinstance(row, Heading) else None
        if value is not None:
            self.switched.emit(row, not value)

    def _press(self, place: int) -> None:
        row = self._model.row(place)
        if not isinstance(row, Heading) and self._model.columns[self._button].value(row):
            self.pressed.emit(row)


def _first(columns: Sequence[Column], kind: Kind) -> int:
    """The first column of a kind; -1: there is none."""
    return next((index for index, column in enumerate(columns) if column.kind is kind), -1)
