"""The tab with what an opened server may do: three choices, and the same as rules: approval, sandbox and secrets."""

from collections.abc import Callable

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.events import ClientListUpdated, ConfigChanged, GrantsChanged, SecretsChanged, ServerFilesChanged
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.access_choices import AccessChoices
from tooltray.ui.server_pane.access_section import AccessSection
from tooltray.ui.server_pane.approval_section import ApprovalSection
from tooltray.ui.server_pane.sandbox_section import SandboxSection
from tooltray.ui.server_pane.secrets_section import SecretsSection
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column

SECTIONS: tuple[Callable[[PageContext, str], AccessSection], ...] = (AccessChoices, ApprovalSection, SandboxSection, SecretsSection)


class ServerAccess(ServerView):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        area, content = PageScroll(tr("Access of {name}", name=name), margin=MARGIN), QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=24)
        self._sections = [make(context, name) for make in SECTIONS]
        for section in self._sections:
            body.addWidget(section)
        body.addStretch(1)
        area.setWidget(content)
        column(self).addWidget(area)
        kinds = (ConfigChanged, ClientListUpdated, GrantsChanged, ServerFilesChanged, SecretsChanged)
        context.hub.on_any(kinds, self._look, self)

    def set_server(self, server: ServerSnapshot) -> None:
        for section in self._sections:
            section.set_server(server)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def _look(self) -> None:
        """Reads what the sections show; a hidden tab is read when it is shown."""
        if self.isVisible():
            for section in self._sections:
                section.look()
