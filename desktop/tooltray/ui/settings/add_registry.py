"""The sheet for the address of a user's own npm registry."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.hub import NpmRegistryStatus
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.label import Label

WIDTH = 520


class AddRegistrySheet(SheetView):
    """A sheet for a registry's address.

    Args:
        show_status: shows the status with the new registry.
    """

    def __init__(self, context: PageContext, show_status: Callable[[NpmRegistryStatus], object]) -> None:
        super().__init__(context, tr("Add registry"), WIDTH)
        theme, self._show_status = context.theme, show_status
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
        self.add_button(tr("Cancel"), self.close_requested.emit)
        self._use = self.add_button(tr("Measure and use"), self._on_use, "primary")
        self._use.setEnabled(False)
        self.set_first_focus(self._field)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the registry cannot be used; the field keeps its content."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)
            self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    async def _measure(self) -> None:
        self._show_status(await self.hub.registries.set_custom_npm_registry(self._field.text().strip()))
        self.close_requested.emit()
        self.context.say(tr("Servers now use this registry"))

    def _on_text_changed(self, text: str) -> None:
        self._use.setEnabled(bool(text.strip()))
        self.show_problem(None)

    def _on_use(self) -> None:
        if self._use.isEnabled():
            self.show_problem(None)
            self._set_busy(True)
            self.run(self._measure())

    def _set_busy(self, is_busy: bool) -> None:
        self._field.setReadOnly(is_busy)
        self._use.setText(tr("Measuring…") if is_busy else tr("Measure and use"))
        self._use.setEnabled(not is_busy)
