"""JSON as a tree that is built as the user expands it: a collapsed part costs nothing, however large it is. Knows nothing of where a value
came from."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTreeView

from tooltray.ui.i18n import tr
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import new_menu
from tooltray.ui.zoom import px

AT_ONCE = 200  # members of one value; the next ones come as somebody scrolls to them
LONGEST_SHOWN = 400  # characters of one value, on its line
OPEN_AT_FIRST = 40  # members of the whole; a larger one begins closed below its first level
NAME_SHARE = 0.35  # of the width

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()


class _Node:
    """One value; `members` of an object or a list are made when the node is expanded."""

    __slots__ = ("children", "name", "parent", "row", "value")

    def __init__(self, name: str, value: object, parent: int, row: int) -> None:
        self.name, self.value, self.parent, self.row = name, value, parent, row
        self.children: list[int] = []

    def __len__(self) -> int:
        return len(self.value) if is_container(self.value) else 0  # type: ignore[arg-type]


def is_container(value: object) -> bool:
    """Returns whether a JSON value has members."""
    return isinstance(value, Mapping | list | tuple)


def value_words(value: object) -> str:
    """Returns a JSON value on one line; for an object or a list its size."""
    if isinstance(value, Mapping):
        return f"{{{len(value):,}}}" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{len(value):,}]" if value else "[]"
    if isinstance(value, str):
        return f'"{one_line(value, LONGEST_SHOWN)}"'
    return {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else str(value)


class JsonModel(QAbstractItemModel):
    """A model of one value's nodes, numbered from 0, the whole value."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._nodes: list[_Node] = [_Node("", {}, -1, 0)]
        self._rest: dict[int, Iterator[tuple[object, object]]] = {}  # of objects, by node

    def set_value(self, value: object) -> None:
        """Shows another value; a value without members is the only line."""
        self.beginResetModel()
        self._rest.clear()
        self._nodes = [_Node("", value if is_container(value) else {"": value}, -1, 0)]
        self.endResetModel()

    def value(self, index: Index) -> object:
        return self._nodes[self._id(index)].value

    def _id(self, index: Index) -> int:
        return index.internalId() if index.isValid() else 0

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        children = self._nodes[self._id(parent)].children
        return self.createIndex(row, column, children[row]) if 0 <= row < len(children) else QModelIndex()

    def parent(self, index: Index = NO_INDEX) -> QModelIndex:  # type: ignore[override]
        above = self._nodes[self._id(index)].parent
        return self.createIndex(self._nodes[above].row, 0, above) if above > 0 else QModelIndex()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return len(self._nodes[self._id(parent)].children) if parent.column() <= 0 else 0

    def columnCount(self, _parent: Index = NO_INDEX) -> int:
        return 2

    def hasChildren(self, parent: Index = NO_INDEX) -> bool:
        return parent.column() <= 0 and len(self._nodes[self._id(parent)]) > 0

    def canFetchMore(self, parent: Index) -> bool:
        node = self._nodes[self._id(parent)]
        return len(node.children) < len(node)

    def fetchMore(self, parent: Index) -> None:
        id = self._id(parent)
        node = self._nodes[id]
        first = len(node.children)
        more = self._next_members(id, first)
        self.beginInsertRows(parent, first, first + len(more) - 1)
        for row, (name, value) in enumerate(more, first):
            node.children.append(len(self._nodes))
            self._nodes.append(_Node(name, value, id, row))
        self.endInsertRows()

    def _next_members(self, id: int, first: int) -> list[tuple[str, object]]:
        """Returns the next AT_ONCE members; copies no more than these, even of a list of a million."""
        value = self._nodes[id].value
        if isinstance(value, Mapping):
            rest = self._rest.setdefault(id, iter(value.items()))
            return [(str(name), each) for name, each in islice(rest, AT_ONCE)]
        return [(str(place), each) for place, each in enumerate(value[first : first + AT_ONCE], first)]  # type: ignore[index]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        node = self._nodes[self._id(index)]
        is_name = index.column() == 0
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line(node.name, LONGEST_SHOWN) if is_name else value_words(node.value)
            case Qt.ItemDataRole.ForegroundRole:
                return self._theme.color("code.key" if is_name else _color(node.value))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{one_line(node.name, LONGEST_SHOWN)}: {value_words(node.value)}"
            case _:
                return None

    def headerData(self, section: int, _orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return (tr("Name"), tr("Value"))[section] if role == Qt.ItemDataRole.DisplayRole else None


def _color(value: object) -> str:
    if isinstance(value, str):
        return "code.string"
    return "text.muted" if is_container(value) else "code.number"


class JsonTree(QTreeView):
    """A value as a tree; Ctrl+C and the menu copy the current node."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._model = JsonModel(theme)
        self.setModel(self._model)
        self.setProperty("json", True)
        self.setAccessibleName(name)
        self.setFont(theme.font("mono"))
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setIndentation(px(16))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.setTabKeyNavigation(False)

    def set_value(self, value: object) -> None:
        """Shows a value with its first level expanded; a small one fully."""
        self._model.set_value(value)
        while self._model.canFetchMore(QModelIndex()) and self._model.rowCount() < AT_ONCE:
            self._model.fetchMore(QModelIndex())
        if count_rows(value, OPEN_AT_FIRST + 1) <= OPEN_AT_FIRST:
            self.expandAll()
        if self._model.rowCount() == 1:
            self.expand(self._model.index(0, 0))
        self._share_width()

    def content_height(self, most_rows: int) -> int:
        """Returns the height for the value as it is shown at first."""
        rows = count_rows(self._model.value(QModelIndex()), most_rows)
        return (min(rows, most_rows) + 1) * (self.fontMetrics().height() + px(6))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        self.setColumnWidth(0, int(self.viewport().width() * NAME_SHARE))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_current()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def copy_current(self) -> None:
        """Copies the current value to the clipboard: a string unchanged, other values as JSON."""
        value = self._model.value(self.currentIndex())
        QGuiApplication.clipboard().setText(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))

    def _on_menu(self, place: QPoint) -> None:
        if self.indexAt(place).isValid():
            menu = new_menu(self, self._theme, self.accessibleName())
            menu.addAction(tr("Copy value"), self.copy_current)
            menu.popup(self.viewport().mapToGlobal(place))


def count_rows(value: object, most: int) -> int:
    """Returns how many lines a value has when it is fully expanded; counts no further than `most`."""
    waiting, count = [value], 0
    while waiting and count <= most:
        each = waiting.pop()
        if is_container(each):
            count += len(each)  # type: ignore[arg-type]
            if count <= most:
                waiting.extend(each.values() if isinstance(each, Mapping) else each)  # type: ignore[arg-type]
    return min(count, most + 1)
