"""The tools of a server as a table with a switch in each line."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.server_text import one_line
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.table import Table

ROW_HEIGHT = 46  # two lines
FIRST_ROWS = 8  # more would push the other cards off the screen at once
MORE_ROWS = 200  # shown by one press; with thousands, the page stays short enough to scroll
LONGEST_TIP = 400  # characters of a description


def _category(tool: ToolSnapshot) -> tuple[str, str]:
    if not tool.is_approved:
        return tr("Asks first"), "neutral"
    return (tr("Writes") if tool.category == "write" else tr("Reads")), ""


class ToolTable(QWidget):
    """A table of one server's tools. `tool_switched` carries the tool's original name and the new position of its switch, `tool_chosen` a
    ToolSnapshot.
    """

    tool_chosen = Signal(object)
    tool_switched = Signal(str, bool)

    def __init__(self, theme: Theme, server: str) -> None:
        super().__init__()
        self._tools: tuple[ToolSnapshot, ...] | None = None
        self._limit = FIRST_ROWS
        layout = column(self)
        self._note = Label(theme, tr("Loading the tools…"), "caption", "muted")
        self._note.setFixedHeight(ROW_HEIGHT)
        layout.addWidget(self._note)
        self._table = _RowsInPage(theme, _columns(), tr("Tools of {name}", name=server))
        self._table.switched.connect(self._on_switched)
        self._table.row_chosen.connect(self.tool_chosen)
        self._table.hide()
        layout.addWidget(self._table)
        self._more = Button(theme, "", "link", small=True)
        self._more.clicked.connect(self._on_more)
        self._more.hide()
        layout.addWidget(self._more)
        layout.addStretch(1)

    @property
    def table(self) -> Table:
        return self._table

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        self._tools = tuple(tools)
        self._draw()

    def _draw(self) -> None:
        tools = self._tools or ()
        self._table.set_rows(tools[: self._limit])
        self._table.fit_height()
        self._table.setVisible(bool(tools))
        self._note.setText(tr("This server has not listed any tool yet."))
        self._note.setVisible(not tools)
        left = len(tools) - self._limit
        self._more.setText(tr("Show {count} more", count=min(left, MORE_ROWS)))
        self._more.setVisible(left > 0)

    def _on_more(self) -> None:
        self._limit += MORE_ROWS
        self._draw()

    def _on_switched(self, tool: ToolSnapshot, on: bool) -> None:
        self._table.update_row(replace(tool, is_enabled=on))  # at once; a failure brings the true list, which puts it back
        self.tool_switched.emit(tool.original_name, on)


class _RowsInPage(Table):
    """A table as high as its rows; the page scrolls instead, and keeps the current row in sight."""

    def __init__(self, theme: Theme, columns: Sequence[Column], name: str) -> None:
        super().__init__(theme, columns, name, lambda tool: tool.original_name, in_card=True, row_height=ROW_HEIGHT)
        self.setProperty("in_card", True)
        self.selectionModel().currentChanged.connect(self._on_current_changed)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason) and not self.currentIndex().isValid():
            self.selectRow(0)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.MouseFocusReason):
            self.clearSelection()

    def _on_current_changed(self, current: QModelIndex) -> None:
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        content = area.widget() if area is not None else None
        if area is not None and content is not None and current.isValid() and self.hasFocus():
            place = self.visualRect(current).center()
            place.setX(0)
            middle = self.viewport().mapTo(content, place)
            area.ensureVisible(middle.x(), middle.y(), 0, ROW_HEIGHT)


def _tip(tool: ToolSnapshot) -> str:
    seen_as = tr("AI clients see it as {name}. Press for another name or description.", name=tool.name)
    return "\n".join(filter(None, (one_line(tool.description, LONGEST_TIP), seen_as)))


def _columns() -> list[Column]:
    return [
        Column(tr("Tool"), lambda tool: (tool.original_name, " ".join(tool.description.split())), Kind.TWO_LINES, 0, _tip),
        Column(tr("Kind"), _category, Kind.CHIP, 92),
        Column(tr("On"), lambda tool: tool.is_enabled, Kind.SWITCH, 60),
    ]
