"""How AI clients see one tool: under which name, and with which description. Nothing applies before Save."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.errors import Problem
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet_frame import SheetFrame

WIDTH = 560
LINES = 7  # of the field; more scroll
LONGEST_NAME = 40  # characters; the engine says more exactly what a name may be


class ToolWordsPanel(SheetFrame):
    """`save_requested` carries a name and a description, or None where the server's own is to stand."""

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
        text = tr("The server is called as before. What you have allowed goes on counting.")
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._add_buttons()

    @property
    def server(self) -> str:
        return self._tool.server

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._name.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_entry(self, entry: Mapping[str, Any]) -> None:
        """Says how the server stands in the settings: whether the tool has other words there."""
        if self._save.isEnabled():
            return  # a person may be writing
        overrides = entry.get("toolOverrides")
        own = overrides.get(self._tool.original_name) if isinstance(overrides, Mapping) else None
        words = own if isinstance(own, Mapping) else {}
        name, description = words.get("name"), words.get("description")
        self._name.setText(name if isinstance(name, str) else "")
        self._own_description = description if isinstance(description, str) else None
        self._reset.setEnabled(bool(words))
        self._save.setEnabled(True)

    def show_problem(self, problem: Problem | None) -> None:
        """Says why it could not be saved; what was written stays."""
        self.show_fault(problem)

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
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(keys), self, self._on_save)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    def _on_save(self) -> None:
        if self._save.isEnabled():
            text = self._description.toPlainText().strip()
            is_own = not text or (self._own_description is None and text == self._tool.description.strip())
            self.save_requested.emit(self._name.text().strip() or None, None if is_own else text)

    def _on_reset(self) -> None:
        self.save_requested.emit(None, None)
