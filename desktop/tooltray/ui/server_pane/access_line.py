"""One line of a server's overview: what it may do, and the way to where that is chosen."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import access_words
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import row


class AccessLine(QWidget):
    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__()
        self._words = Label(theme, "", "body", wrap=True)
        change = Button(theme, tr("Change…"), "link", small=True)
        change.setAccessibleName(tr("Change what {name} may do", name=server.name))
        change.clicked.connect(lambda: wishes.place_requested.emit(OpenServer(server.name, "access")))
        line = row(self, spacing=8)
        line.addWidget(self._words, 1)
        line.addWidget(change)

    def set_server(self, server: ServerSnapshot) -> None:
        self._words.setText(access_words(server))
        self.setVisible(server.access is not None)
