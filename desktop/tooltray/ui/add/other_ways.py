"""The alternatives to pasting: a bundle, the registry, AI clients' own servers, and servers that run inside Tooltray. Shown until something
is pasted."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.servers import InMemoryServer
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row


class OtherWays(QWidget):
    """Links to other ways of adding a server. `inmemory_requested` carries the server that should run inside Tooltray."""

    file_requested = Signal()
    discover_requested = Signal()
    import_requested = Signal()
    inmemory_requested = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        layout = column(self, margins=(0, 8, 0, 0), spacing=8)
        layout.addWidget(Label(theme, tr("Or"), "strong"))
        box = Surface(theme, "surface.raised", "border", "m")
        lines = column(box, margins=(14, 0, 14, 0))
        for index, (icon, words, button, signal) in enumerate(
            (
                ("search", tr("Find one among the well-known ones and in the registry"), tr("Find one"), self.discover_requested),
                ("download", tr("Import from your AI clients"), tr("Import servers…"), self.import_requested),
                ("folder", tr("Install a bundle: a file that ends in .mcpb or .dxt"), tr("From a file…"), self.file_requested),
            )
        ):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 8, 0, 8), spacing=10)
            line.addWidget(Icon(theme, icon, 16, "text.secondary", "surface.raised"))
            line.addWidget(ElidedLabel(theme, words, "body", "secondary"), 1)
            wish = Button(theme, button, small=True)
            wish.clicked.connect(signal)
            line.addWidget(wish)
            lines.addLayout(line)
        layout.addWidget(box)
        self._inside = QWidget()
        self._inside_lines = column(self._inside, margins=(0, 8, 0, 0), spacing=8)
        self._inside.hide()
        layout.addWidget(self._inside)

    def show_inmemory(self, servers: Sequence[InMemoryServer]) -> None:
        """Shows which servers installed packages contain."""
        theme = self._theme
        clear(self._inside_lines)
        self._inside.setVisible(bool(servers))
        if not servers:
            return
        self._inside_lines.addWidget(Label(theme, tr("Of installed packages"), "strong"))
        text = tr("Each of them runs inside Tooltray and can read every secret.")
        self._inside_lines.addWidget(Label(theme, text, "caption", "warning", wrap=True))
        box = Surface(theme, "surface.raised", "border", "m")
        lines = column(box, margins=(14, 0, 14, 0))
        for index, server in enumerate(servers):
            if index:
                lines.addWidget(divider())
            lines.addWidget(self._server(server))
        self._inside_lines.addWidget(box)

    def _server(self, server: InMemoryServer) -> QWidget:
        theme = self._theme
        widget = QWidget()
        line = row(widget, margins=(0, 8, 0, 8), spacing=10)
        words = column()
        words.addWidget(ElidedLabel(theme, server.name, "strong"))
        package = " ".join(part for part in (server.package, server.version) if part)
        text = whole(server.problem) if server.problem is not None else " · ".join(part for part in (package, say(server.summary)) if part)
        words.addWidget(ElidedLabel(theme, text, "caption", "error" if server.problem is not None else "secondary"))
        line.addLayout(words, 1)
        add = Button(theme, tr("Add…"), small=True)
        add.setAccessibleName(tr("Add {name}", name=server.name))
        add.setEnabled(server.problem is None)
        add.setProperty("server", server)
        add.clicked.connect(self._on_add)
        line.addWidget(add, 0, Qt.AlignmentFlag.AlignVCenter)
        return widget

    def _on_add(self) -> None:
        self.inmemory_requested.emit(self.sender().property("server"))
