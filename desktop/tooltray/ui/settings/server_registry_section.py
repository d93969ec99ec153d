"""The registry of MCP servers: whether one is used, which, and the age of its copy on this disk. Draws frozen snapshots."""

from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.network_words import server_registry
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import clear, column

FIELD_WIDTH = 320  # px


class ServerRegistrySection(QWidget):
    """The section about the registry of MCP servers. `chosen` carries an address, True for the official registry, or False for none."""

    chosen = Signal(object)
    refresh_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._address: str | bool = True
        body = column(self, spacing=10)
        self._status = ElidedLabel(theme, "", "caption", "muted")
        self._refresh = Button(theme, tr("Update now"), icon="refresh", small=True)
        self._refresh.clicked.connect(self._on_refresh)
        body.addLayout(heading(theme, tr("Registry of MCP servers"), self._status, self._refresh))
        self._fault = column()
        body.addLayout(self._fault)
        self._switch = Switch(theme, tr("Find servers in a registry"))
        self._switch.clicked.connect(self._on_switched)
        self._field = QLineEdit()
        self._field.setFont(theme.font("mono"))
        self._field.setFixedHeight(theme.size("control"))
        self._field.setMinimumWidth(FIELD_WIDTH)
        self._field.setAccessibleName(tr("Address of the registry of MCP servers"))
        self._field.setPlaceholderText(tr("The official registry"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_use)
        self._use = Button(theme, tr("Use"))
        self._use.setAccessibleName(tr("Use this registry of MCP servers"))
        self._use.clicked.connect(self._on_use)
        text = tr("A copy is kept on this disk, and searched there.")
        self._address_row = setting_row(theme, tr("Address"), tr("Empty: the official one."), self._field, self._use)
        body.addWidget(group(theme, setting_row(theme, tr("Find servers in a registry"), text, self._switch), self._address_row))
        self.show_address(True)

    def show_status(self, status: RegistryStatus) -> None:
        """Shows the age of the copy, and why it was not updated."""
        self._status.set_text(server_registry(status, datetime.now()))
        self._refresh.setEnabled(not status.is_updating and self._address is not False)
        self.show_problem(status.problem)

    def show_address(self, address: str | bool) -> None:
        """Shows which registry is used: an address, True for the official one, False for none."""
        if address != self._address or not self._field.isModified():
            self._field.setText(address if isinstance(address, str) else "")
        self._address = address
        self._switch.set_on(address is not False)
        self._refresh.setEnabled(address is not False)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self._switch.set_on(self._address is not False)

    def _on_refresh(self) -> None:
        self._refresh.setEnabled(False)
        self.refresh_requested.emit()

    def _on_switched(self, is_on: bool) -> None:
        self.chosen.emit(is_on)

    def _on_use(self) -> None:
        if self._use.isEnabled():
            self._field.setModified(False)
            self.chosen.emit(self._field.text().strip() or True)

    def _draw(self) -> None:
        is_on = self._address is not False
        self._field.setEnabled(is_on)
        self._use.setEnabled(is_on and (self._field.text().strip() or True) != self._address)
