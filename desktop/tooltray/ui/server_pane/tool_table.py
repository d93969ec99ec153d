"""The tools of a server as a table with a switch in each line, and the sheet that renames one of them for AI clients."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QScrollArea, QWidget

from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.server_pane.tool_hints import ToolHints
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.server_text import one_line
from tooltray.ui.widgets.sheet import SheetFrame
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


WIDTH = 560
LINES = 7  # of the field; more scroll
LONGEST_NAME = 40  # characters; the engine says more exactly what a name may be


class ToolWordsPanel(SheetFrame):
    """A sheet that renames a tool for clients. `save_requested` carries an override in the form of the settings, without the server's own
    values; and the tokens of the largest result in a tuple, or None where that is unchanged.
    """

    save_requested = Signal(object, object)

    def __init__(self, theme: Theme, tool: ToolSnapshot) -> None:
        super().__init__(theme, tr("{tool} of {server}", tool=tool.original_name, server=tool.server), WIDTH)
        self._tool = tool
        self._own_description: str | None = None  # in the settings
        self.body.addWidget(Label(theme, tr("AI clients see it as"), "caption", "muted"))
        self.body.addWidget(CodeLabel(theme, tool.name, "secondary"))
        self._name = self._add_name()
        self.body.addWidget(Label(theme, tr("Description for AI clients"), "label"))
        self._description = CodeView(theme, tool.description, tr("Description for AI clients"), lines=LINES, editable=True)
        self.body.addWidget(self._description)
        self._is_known = False  # what stands in the settings
        self._hints = ToolHints(theme)
        self._hints.changed.connect(self._on_changed)
        self.body.addWidget(self._hints)
        text = tr("The server is called as before. Your earlier approvals stay valid.")
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._add_buttons()

    @property
    def server(self) -> str:
        return self._tool.server

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._name.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_entry(self, entry: Mapping[str, object]) -> None:
        """Shows the override in the server's entry, if the tool has one."""
        if self._is_known:
            return  # a person may be writing
        overrides = entry.get("toolOverrides")
        own = overrides.get(self._tool.original_name) if isinstance(overrides, Mapping) else None
        words = own if isinstance(own, Mapping) else {}
        name, description = words.get("name"), words.get("description")
        self._name.setText(name if isinstance(name, str) else "")
        self._own_description = description if isinstance(description, str) else None
        self._hints.set_override(words)
        self._reset.setEnabled(bool(words))
        self._is_known = True
        self._on_changed()

    def _add_name(self) -> QLineEdit:
        title = tr("Name for AI clients")
        self.body.addWidget(Label(self._theme, title, "label"))
        field = QLineEdit()
        field.setMaxLength(LONGEST_NAME)
        field.setFont(self._theme.font("mono"))
        field.setFixedHeight(self._theme.size("control"))
        field.setPlaceholderText(self._tool.original_name)
        field.setAccessibleName(title)
        self.body.addWidget(field)
        return field

    def _add_buttons(self) -> None:
        self._reset = Button(self._theme, tr("Back to the server's own"), "ghost", "undo")
        self._reset.setEnabled(False)
        self._reset.clicked.connect(self._on_reset)
        self.buttons.addWidget(self._reset)
        self.buttons.addStretch(1)
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._save = Button(self._theme, tr("Save"), "primary")
        self._save.setToolTip("Ctrl+Enter")
        self._save.setEnabled(False)  # until it is known what stands in the settings
        self._save.clicked.connect(self._on_save)
        self.buttons.addWidget(self._save)
        add_accept_keys(self, self._on_save)

    def _on_changed(self) -> None:
        self._save.setEnabled(self._is_known and self._hints.can_be_saved)

    def _on_save(self) -> None:
        if self._save.isEnabled():
            text = self._description.toPlainText().strip()
            is_own = not text or (self._own_description is None and text == self._tool.description.strip())
            words = {"name": self._name.text().strip(), "description": "" if is_own else text}
            self._send({**{word: given for word, given in words.items() if given}, **self._hints.override()}, self._hints.limit)

    def _on_reset(self) -> None:
        self._send({}, None)

    def _send(self, words: Mapping[str, object], limit: int | None) -> None:
        self.save_requested.emit(words, None if limit == self._hints.kept_limit else (limit,))
