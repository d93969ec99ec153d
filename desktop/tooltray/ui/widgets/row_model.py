"""The rows of a table: frozen, identified by a key, with columns that define how to get a value from a row and how to draw it."""

from collections.abc import Callable, Hashable, Sequence
from enum import Enum, auto
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPixmap

from tooltray.ui.i18n import tr
from tooltray.ui.server_text import plain_tip

Index = QModelIndex | QPersistentModelIndex


class Kind(Enum):
    """The ways of drawing a cell's value."""

    TEXT = auto()  # str
    QUIET = auto()  # str, less prominent
    MONO = auto()  # str, a name from code
    TWO_LINES = auto()  # (a name from code, what it is), one below the other; with a tone behind them what it is is a chip
    NUMBER = auto()  # str, right-aligned digits
    CHIP = auto()  # (word, tone); without a tone plain text, so that only what matters has colour
    STATE = auto()  # Look
    BAR = auto()  # (share from 0 to 1, tone, word)
    SWITCH = auto()  # bool, or None for a row that has no switch
    CHECK = auto()  # the same as a box that is ticked
    BUTTON = auto()  # str, what pressing it does; empty for a row that has none
    PICK = auto()  # a box that is ticked while the row is selected, for tables in which many can be


class Column(msgspec.Struct, frozen=True):
    """A column: its title, how to get its value from a row, how to draw it; `width` 0 takes the remaining width.

    Attributes:
        tip: further details of a cell.
        order: the sort key of rows when the user presses its title; None: not sortable.
        falls: the largest comes first when it is pressed once.
        has_shapes: a shape may be before its values, 20 px wide with its gap; so much further right its title begins.
    """

    title: str
    value: Callable[[Any], object]
    kind: Kind = Kind.TEXT
    width: int = 0
    tip: Callable[[Any], str] | None = None
    order: Callable[[Any], Any] | None = None
    falls: bool = False
    has_shapes: bool = False


class Heading(msgspec.Struct, frozen=True):
    """A heading among the rows: what the rows below it have in common, and how many they are."""

    title: str
    count: int


class RowModel(QAbstractTableModel):
    """Frozen rows. `key` identifies a row when rows are replaced; no two rows may have the same key."""

    def __init__(self, columns: Sequence[Column], key: Callable[[Any], Hashable]) -> None:
        super().__init__()
        self.columns = columns
        self.rows: list[Any] = []
        self.sorted_by: tuple[int, bool] | None = None  # a column, and whether it falls
        self._key = key
        self._places: dict[Hashable, int] = {}

    def set_rows(self, rows: Sequence[object]) -> bool:
        """Replaces the rows; returns whether only their values have changed."""
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
        """Shows a row's new values; ignores an unknown row."""
        place = self.find(self.key(row))
        if place >= 0 and row is not self.rows[place] and row != self.rows[place]:
            self.rows[place] = row
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))

    def key(self, row: object) -> Hashable:
        """Returns the key of a row; a heading is its own key."""
        return row if isinstance(row, Heading) else self._key(row)

    def row(self, place: int) -> Any:
        """Returns the row at a place."""
        return self.rows[place]

    def find(self, key: Hashable) -> int:
        """Returns a row's place; -1 for an unknown row."""
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
        if role == Qt.ItemDataRole.DecorationRole and column.has_shapes:
            return _room_of_shape()
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


def _room_of_shape() -> QPixmap:
    """Returns a picture of nothing: with the 4 px that a header adds it is as wide as a shape."""
    room = QPixmap(16, 1)
    room.fill(Qt.GlobalColor.transparent)
    return room


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
        case Kind.TWO_LINES:
            return "\n".join(filter(None, value[:2]))
        case Kind.CHECK:
            return "" if value is None else tr("Ticked") if value else tr("Not ticked")
        case Kind.PICK:
            return ""  # that a row is selected is said by itself
        case Kind.SWITCH:
            return "" if value is None else tr("On") if value else tr("Off")
        case _:
            return str(value)
