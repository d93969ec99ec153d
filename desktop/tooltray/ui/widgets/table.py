"""Tables as model/view: RowModel has the rows, CellDelegate paints them. 5,000 rows cost as much as the 20 that are visible; no widget is
made per row.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QInputEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import CARD_INSET, PAGE_INSET, CellDelegate, RowHover
from tooltray.ui.widgets.row_model import Column, Heading, Index, Kind, RowModel
from tooltray.ui.widgets.surface import tint
from tooltray.ui.zoom import px

MOST_TINTED = 12  # rows; more are not in sight at once
PICKING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier  # such a click selects more rows and opens none


class Table(RowHover, QTableView):
    """A table of frozen rows.

    A press on the title of a sortable column sorts by it, a second one reverses the order, and a third restores the given order:
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
        """Args:
        key: identifies a row; or a model with its own key, where rows are not all in memory.
        """
        super().__init__()
        self._theme = theme
        row_height = row_height or theme.size("row")
        self.given: Sequence[Any] = ()  # as they were before they were sorted
        self._pick = _first(columns, Kind.PICK)
        self._model = key if isinstance(key, RowModel) else RowModel(columns, key)
        self.columns = self._model.columns
        self._switch = max(_first(columns, Kind.SWITCH), _first(columns, Kind.CHECK))
        self._button = _first(columns, Kind.BUTTON)
        self.setModel(self._model)
        self.setItemDelegate(CellDelegate(theme, columns, self, CARD_INSET if in_card else PAGE_INSET, row_height))
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setShowGrid(False)
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
        header.setFixedHeight(px(34) if is_shown else 0)
        header.setHighlightSections(False)
        header.setSectionsClickable(any(column.order for column in columns))
        header.sectionClicked.connect(self._on_header_clicked)
        header.setMinimumSectionSize(px(40))
        for index, column in enumerate(columns):
            header.setSectionResizeMode(index, QHeaderView.ResizeMode.Fixed if column.width else QHeaderView.ResizeMode.Stretch)
            if column.width:
                self.setColumnWidth(index, px(column.width))

    @property
    def rows(self) -> Sequence[Any]:
        return self._model.rows

    @property
    def picked(self) -> list[Any]:
        """The selected rows, from the top."""
        selection = self.selectionModel().selection()
        ranges = [selection.at(place) for place in range(selection.size())]
        places = {place for each in ranges for place in range(each.top(), each.bottom() + 1)}  # `selectedRows` asks for flags 40,000 times
        rows = (self._model.row(place) for place in sorted(places))
        return [row for row in rows if not isinstance(row, Heading)]

    @property
    def sorted_by(self) -> tuple[int, bool] | None:
        """The column that the user sorts by, and whether the largest comes first; None: the rows have their given order."""
        return self._model.sorted_by

    def sort_by(self, column: int, falls: bool) -> None:
        """Sorts the rows by a column from now on; -1: the given order."""
        self._model.sorted_by = (column, falls) if column >= 0 else None
        self._model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)
        self.set_rows(self.given)

    def arranged(self, rows: Sequence[Any]) -> list[Any]:
        """Returns rows in the order in which they are shown; subclasses add headings here."""
        if self._model.sorted_by is None:
            return list(rows)
        column, falls = self._model.sorted_by
        order = self.columns[column].order
        return sorted(rows, key=order, reverse=falls) if order is not None else list(rows)

    def set_rows(self, rows: Sequence[object]) -> None:
        """Replaces the rows; selection, focus and scroll position stay where possible."""
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
                self.setSpan(place, 0, 1, len(self.columns))

    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        """Returns the command for a click: on a box it adds a row to the selection, or removes it. Where rows have boxes, a click elsewhere
        and the arrow keys select nothing, since a row that is opened is not ticked by that.
        """
        flags = QItemSelectionModel.SelectionFlag
        if self._pick >= 0 and index.column() == self._pick and isinstance(event, QMouseEvent):
            is_press = event.type() == QEvent.Type.MouseButtonPress
            return flags.Toggle | flags.Rows if is_press else flags.NoUpdate
        modifiers = event.modifiers() if isinstance(event, QInputEvent) else QGuiApplication.keyboardModifiers()
        if self._pick >= 0 and not modifiers & PICKING:
            return flags.NoUpdate
        return super().selectionCommand(index, event)

    def _on_header_clicked(self, section: int) -> None:
        column = self.columns[section]
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
        """Shows a row's new values; ignores an unknown row."""
        self._model.replace(row)

    def point_out(self, keys: Collection[Hashable]) -> None:
        """Shows new rows: scrolls to the first one, unless the pointer is in the table, and tints them for a moment."""
        places = sorted(place for key in keys if (place := self._model.find(key)) >= 0)
        if places and not self.underMouse():
            self.scrollTo(self._model.index(places[0], 0))
        for place in places[:MOST_TINTED]:
            line = QRect(0, self.rowViewportPosition(place), self.viewport().width(), self.rowHeight(place))
            tint(self._theme, self.viewport(), line)

    def fit_height(self) -> None:
        """Makes the table as high as its rows: for tables inside a scroll area."""
        rows = len(self._model.rows) * self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(self.horizontalHeader().height() + rows)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

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
        value = self.columns[self._switch].value(row) if not isinstance(row, Heading) else None
        if value is not None:
            self.switched.emit(row, not value)

    def _press(self, place: int) -> None:
        row = self._model.row(place)
        if not isinstance(row, Heading) and self.columns[self._button].value(row):
            self.pressed.emit(row)


def _first(columns: Sequence[Column], kind: Kind) -> int:
    """Returns the first column of a kind; -1 without one."""
    return next((index for index, column in enumerate(columns) if column.kind is kind), -1)
