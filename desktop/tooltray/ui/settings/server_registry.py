"""The registry of MCP servers: whether one is used, which, and the age of its copy on this disk. Draws frozen snapshots."""

from datetime import datetime

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.setting_form import patch, value_at
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, setting_row, text_line
from tooltray.ui.zoom import px

FIELD_WIDTH = 320  # px
SETTING = "discovery.registry"


class ServerRegistrySection(Section):
    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        self._status = ElidedLabel(theme, "", "caption", "muted")
        self._refresh = Button(theme, tr("Update now"), icon="refresh", small=True)
        super().__init__(context, tr("Registry of MCP servers"), self._status, self._refresh)
        self._refresh.clicked.connect(self._on_refresh)
        self._address: str | bool = True
        self._switch = Switch(theme, tr("Find servers in a registry"))
        self._switch.clicked.connect(self._choose)
        self._field = text_line(theme, tr("Address of the registry of MCP servers"), tr("The official registry"), style="mono")
        self._field.setMinimumWidth(px(FIELD_WIDTH))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_use)
        self._use = Button(theme, tr("Use"), on_click=self._on_use)
        self._use.setAccessibleName(tr("Use this registry of MCP servers"))
        text = tr("A copy is kept on this disk, and searched there.")
        self._address_row = setting_row(theme, tr("Address"), tr("Empty: the official one."), self._field, self._use)
        self.body.addWidget(group(theme, setting_row(theme, tr("Find servers in a registry"), text, self._switch), self._address_row))
        self.show_address(True)

    def show_status(self, status: RegistryStatus) -> None:
        """Shows the age of the copy, and why it was not updated."""
        self._status.set_text(_copy_words(status, datetime.now()))
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
        """Shows a failure, and the switch as it is; None removes the failure."""
        super().show_problem(problem)
        self._switch.set_on(self._address is not False)

    async def read(self) -> None:
        """Reads which registry is used and the age of its copy, and shows them; also why the copy was not updated."""
        address = value_at((await self.hub.settings.get_settings()).settings, SETTING)
        self.show_address(address if isinstance(address, str) and address.strip() else address not in (False, ""))
        self.show_status((await self.hub.discovery.search_registry("", 0)).status)

    def _on_refresh(self) -> None:
        self.run(self._update(), show=self.show_failure, button=self._refresh)

    async def _update(self) -> None:
        self.show_status(await self.hub.discovery.refresh_registry())

    def _choose(self, address: str | bool) -> None:
        """Changes the registry: an address, True for the official one, False for none."""
        change = self.hub.settings.change_settings(patch(SETTING, None if address is True else address))
        self.run(change, then=self.read, show=self.show_failure)

    def show_failure(self, problem: Problem | None) -> None:
        """Shows a failure of an action; what is wrong with the copy stays after success."""
        if problem is not None:
            self.show_problem(problem)

    def _on_use(self) -> None:
        if self._use.isEnabled():
            self._field.setModified(False)
            self._choose(self._field.text().strip() or True)

    def _draw(self) -> None:
        is_on = self._address is not False
        self._field.setEnabled(is_on)
        self._use.setEnabled(is_on and (self._field.text().strip() or True) != self._address)


def _copy_words(status: RegistryStatus, now: datetime) -> str:
    """Returns how many servers of the registry of MCP servers are known, and the age of that list."""
    if status.is_updating:
        return tr("It is being fetched…")
    if not status.updated_at:
        return tr("It was never fetched.")
    return tr("{count} servers, as of {when}.", count=f"{status.servers:,}", when=moment(status.updated_at, now))
