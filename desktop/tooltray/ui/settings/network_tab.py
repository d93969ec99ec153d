"""The Network tab of the settings: access over HTTP, and the registries of packages and servers. A change applies at once."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.add_registry import AddRegistryPanel
from tooltray.ui.settings.api_section import ApiSection
from tooltray.ui.settings.http_section import HttpSection
from tooltray.ui.settings.network_commands import NetworkCommands
from tooltray.ui.settings.registry_section import RegistrySection
from tooltray.ui.settings.server_registry_section import ServerRegistrySection
from tooltray.ui.settings.token_sheets import TokenSheets
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import column, row

CONTENT_WIDTH = 920


class NetworkTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self.http, self.api = HttpSection(theme), ApiSection(theme)
        self.servers, self.registries = ServerRegistrySection(theme), RegistrySection(theme)
        area = PageScroll(tr("Network"))
        content = QWidget()
        line = row(content, margins=(24, 20, 24, 32), spacing=0)
        inner = self._inner = QWidget()
        inner.setMaximumWidth(CONTENT_WIDTH)
        body = column(inner, spacing=30)
        for section in (self.http, self.api, self.servers, self.registries):
            body.addWidget(section)
        body.addStretch(1)
        line.addWidget(inner, 1)
        line.addStretch(0)
        area.setWidget(content)
        column(self).addWidget(area)
        self.enable(False)
        self.commands = NetworkCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self.tokens = TokenSheets(context, self, http=self.http, api=self.api)
        self._connect()

    def _connect(self) -> None:
        commands, tokens = self.commands, self.tokens.commands
        self.look_requested.connect(commands.look)
        self.look_requested.connect(tokens.look)
        self.http.enabled_requested.connect(commands.set_http)
        self.http.port_requested.connect(self._on_port)
        self.servers.chosen.connect(commands.choose_servers)
        self.servers.refresh_requested.connect(commands.refresh_servers)
        commands.servers_changed.connect(self.servers.show_status)
        commands.address_changed.connect(self.servers.show_address)
        self.http.copy_requested.connect(self.context.copy)
        self.registries.measure_requested.connect(commands.measure)
        self.registries.auto_detect_requested.connect(commands.set_auto_detect)
        self.registries.clear_requested.connect(commands.clear_registry)
        self.registries.add_requested.connect(self.open_add_registry)
        commands.registry_changed.connect(self.registries.show_registries)
        commands.http_changed.connect(self.show_http)
        tokens.http_changed.connect(self.show_http)
        commands.section_failed.connect(self._on_failed)
        commands.done.connect(self.context.say)
        self.context.hub.http_address_changed.connect(self.look_again)

    def enable(self, is_usable: bool) -> None:
        self._inner.setEnabled(is_usable)

    def show_http(self, http: HttpStatus) -> None:
        self.http.show_http(http)
        self.api.show_http(http)

    def open_add_registry(self) -> None:
        """Opens the sheet that adds an npm registry."""
        if self.context.sheets.sheet is not None:
            return
        panel, commands = AddRegistryPanel(self.context.theme), self.commands
        panel.use_requested.connect(commands.use_registry)
        commands.registry_refused.connect(panel.show_refusal)
        sheet = self.context.sheets.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        commands.registry_saved.connect(sheet.dismiss)

    def _on_failed(self, where: str, problem: Problem | None) -> None:
        sections: dict[str, RegistrySection | ServerRegistrySection | HttpSection]
        sections = {"registry": self.registries, "servers": self.servers, "http": self.http}
        sections[where].show_problem(problem)

    def _on_port(self, port: int) -> None:
        self.commands.set_http(True, port)
