"""The sheet for the name of a server's copy: for another account of the same service, or for the same program with other arguments."""

from collections.abc import Collection

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 480
LONGEST_NAME = 64  # what settings allow


class DuplicatePanel(SheetFrame):
    """A sheet that duplicates a server. `duplicate_requested` carries the copy's name.

    Args:
        taken: names that servers have.
    """

    duplicate_requested = Signal(str)

    def __init__(self, theme: Theme, server: ServerSnapshot, taken: Collection[str]) -> None:
        super().__init__(theme, tr("Duplicate {name}", name=server.name), WIDTH)
        self._taken = frozenset(taken)
        self.body.addWidget(Label(theme, tr("Name of the copy"), "label"))
        self._field = QLineEdit(free_name(server.name, self._taken))
        self._field.setMaxLength(LONGEST_NAME)
        self._field.setFont(theme.font())
        self._field.setFixedHeight(theme.size("control"))
        self._field.setAccessibleName(tr("Name of the copy"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_duplicate)
        self.body.addWidget(self._field)
        self._note = Label(theme, "", "caption", "error", wrap=True)
        self.body.addWidget(self._note)
        text = tr(
            "It has the same settings, rules and secrets, and starts when it is used. Its settings open next, for an account of its own."
        )
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self.buttons.addStretch(1)
        cancel = Button(theme, tr("Cancel"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._go = Button(theme, tr("Duplicate"), "primary")
        self._go.clicked.connect(self._on_duplicate)
        self.buttons.addWidget(self._go)
        QShortcut(QKeySequence("Ctrl+Return"), self, self._on_duplicate).setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._field.selectAll()

    def _draw(self) -> None:
        name = self._field.text().strip()
        self._note.setText(tr("There is a server of this name.") if name in self._taken else "")
        self._note.setVisible(bool(self._note.text()))
        self._go.setEnabled(bool(name) and name not in self._taken)

    def _on_duplicate(self) -> None:
        if self._go.isEnabled():
            self.duplicate_requested.emit(self._field.text().strip())


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns the name with the first number that no server uses."""
    stem = name[: LONGEST_NAME - 4]
    return next(found for number in range(2, len(taken) + 3) if (found := f"{stem}-{number}") not in taken)
