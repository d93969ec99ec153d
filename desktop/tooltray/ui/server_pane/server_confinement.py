"""The tab with an opened server's confinement: its sections below each other."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.choice_section import ChoiceSection
from tooltray.ui.server_pane.confinement_section import ConfinementSection
from tooltray.ui.server_pane.refused_section import RefusedSection
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.server_pane.watch_section import WatchSection
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column

SECTIONS: tuple[Callable[[PageContext, str], ConfinementSection], ...] = (RefusedSection, ChoiceSection, WatchSection)


class ServerConfinement(ServerView):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        area, content = PageScroll(tr("Sandbox of {name}", name=name), margin=MARGIN), QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=16)
        self._sections = [make(context, name) for make in SECTIONS]
        for section in self._sections:
            body.addWidget(section)
        body.addStretch(1)
        area.setWidget(content)
        column(self).addWidget(area)

    def set_server(self, server: ServerSnapshot) -> None:
        for section in self._sections:
            section.set_server(server)
