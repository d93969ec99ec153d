"""Where a server's entry is, with buttons that open the file and its folder."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.origins import origin
from tooltray.ui.pages.server_wishes import ServerWishes
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import row

HEIGHT = 28


class OriginLine(QWidget):
    """The buttons are there for files other than the settings."""

    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__()
        self._wishes, self._file = wishes, ""
        self.setFixedHeight(HEIGHT)
        line = row(self, spacing=2)
        self._words = ElidedLabel(theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        line.addWidget(self._words, 1)
        self._look = IconButton(theme, "external", tr("Open the file of {name}", name=server.name), small=True)
        self._look.clicked.connect(self._on_look)
        self._place = IconButton(theme, "folder", tr("Open the folder of the file of {name}", name=server.name), small=True)
        self._place.clicked.connect(self._on_place)
        for button in (self._look, self._place):
            line.addWidget(button)
        self.set_server(server)

    def set_server(self, server: ServerSnapshot) -> None:
        self._file = server.file
        self._words.set_text(origin(server), server.file)
        for button in (self._look, self._place):
            button.setVisible(bool(server.file))

    def _on_look(self) -> None:
        self._wishes.file_requested.emit(self._file)

    def _on_place(self) -> None:
        self._wishes.file_place_requested.emit(self._file)
