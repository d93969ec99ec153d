"""The sheet that names a new profile of some tools. It saves nothing itself."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.tools.tool_rows import ToolRow, profile_of
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 460
LONGEST_NAME = 40  # characters; the engine says more exactly what a name may be
MOST_NAMES = 12  # tools named on the sheet


class ProfileNamePanel(SheetFrame):
    """A sheet that names a new profile. `save_requested` carries the name and the profile in the form of the settings."""

    save_requested = Signal(str, object)

    def __init__(self, theme: Theme, rows: Sequence[ToolRow]) -> None:
        super().__init__(theme, tr("New profile"), WIDTH)
        self._profile = profile_of(rows)
        words = tr("It has 1 tool:") if len(rows) == 1 else tr("It has {count} tools:", count=len(rows))
        self.body.addWidget(Label(theme, words, "body", "secondary", wrap=True))
        names = ", ".join(row.name for row in rows[:MOST_NAMES]) + (" …" if len(rows) > MOST_NAMES else "")
        self.body.addWidget(Label(theme, names, "caption", "muted", wrap=True))
        self.body.addWidget(Label(theme, tr("Name"), "label"))
        self._name = QLineEdit(tr("used"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setFont(theme.font())
        self._name.setFixedHeight(theme.size("control"))
        self._name.setAccessibleName(tr("Name of the profile"))
        self._name.textChanged.connect(self._on_changed)
        self._name.returnPressed.connect(self._on_save)
        self.body.addWidget(self._name)
        text = tr("You give it to a client afterwards. Nothing changes for the others.")
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self.buttons.addStretch(1)
        cancel = Button(theme, tr("Cancel"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._save = Button(theme, tr("Make the profile"), "primary")
        self._save.clicked.connect(self._on_save)
        self.buttons.addWidget(self._save)
        add_accept_keys(self, self._on_save)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._name.setFocus(Qt.FocusReason.OtherFocusReason)
        self._name.selectAll()

    def _on_changed(self) -> None:
        self._save.setEnabled(bool(self._name.text().strip()))

    def _on_save(self) -> None:
        if name := self._name.text().strip():
            self.save_requested.emit(name, self._profile)
