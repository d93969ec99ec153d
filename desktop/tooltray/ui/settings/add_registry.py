"""The sheet for the address of a user's own npm registry."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 520


class AddRegistryPanel(SheetFrame):
    """A sheet for a registry's address. `use_requested` carries the address; its receiver calls `show_refusal`, or closes the sheet."""

    use_requested = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Add registry"), WIDTH)
        self.body.addWidget(Label(theme, tr("Address of the registry"), "strong"))
        self._field = QLineEdit()
        self._field.setFont(theme.font("mono"))
        self._field.setFixedHeight(theme.size("control"))
        self._field.setAccessibleName(tr("Address of the registry"))
        self._field.textChanged.connect(self._on_text_changed)
        self._field.returnPressed.connect(self._on_use)
        self.body.addWidget(self._field)
        text = tr("It is measured first. If it answers, all servers that name no registry of their own use it.")
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self.buttons.addStretch(1)
        cancel = Button(theme, tr("Cancel"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._use = Button(theme, tr("Measure and use"), "primary")
        self._use.setEnabled(False)
        self._use.clicked.connect(self._on_use)
        self.buttons.addWidget(self._use)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_refusal(self, problem: Problem) -> None:
        """Shows why the registry cannot be used; the field keeps its content."""
        self._set_busy(False)
        self.show_problem(problem)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_text_changed(self, text: str) -> None:
        self._use.setEnabled(bool(text.strip()))
        self.show_problem(None)

    def _on_use(self) -> None:
        if self._use.isEnabled():
            self.show_problem(None)
            self._set_busy(True)
            self.use_requested.emit(self._field.text().strip())

    def _set_busy(self, is_busy: bool) -> None:
        self._field.setReadOnly(is_busy)
        self._use.setText(tr("Measuring…") if is_busy else tr("Measure and use"))
        self._use.setEnabled(not is_busy)
