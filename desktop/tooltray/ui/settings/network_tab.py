"""The Network tab of the settings: access over HTTP, and the registries of packages and servers. A change applies at once."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.events import HttpAddressChanged
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.api_section import ApiSection
from tooltray.ui.settings.http_section import HttpSection
from tooltray.ui.settings.registry_section import RegistrySection
from tooltray.ui.settings.server_registry_section import ServerRegistrySection
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import column, row

CONTENT_WIDTH = 920


class NetworkTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self.http, self.api = HttpSection(context, self._read_http), ApiSection(context, self._read_http)
        self.servers, self.registries = ServerRegistrySection(context), RegistrySection(context)
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
        self.look_requested.connect(self._look)
        context.hub.on_any((HttpAddressChanged,), self.look_again, self)

    def enable(self, is_usable: bool) -> None:
        self._inner.setEnabled(is_usable)

    def show_http(self, http: HttpStatus) -> None:
        self.http.show_http(http)
        self.api.show_http(http)

    def _look(self) -> None:
        self.registries.run(self.registries.read())
        self.servers.run(self.servers.read(), show=self.servers.show_failure)
        self.http.run(self._read_http())
        self.http.run(self.http.read_tokens())
        self.api.run(self.api.read_tokens())

    async def _read_http(self) -> None:
        self.show_http(await self.hub.access.get_http_status())
