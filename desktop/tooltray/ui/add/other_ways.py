"""The alternatives to pasting: a bundle, the registry, AI clients' own servers, and servers that run inside Tooltray. Shown until something
is pasted."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import InMemoryServer
from tooltray.ui.add.bundle_sheet import ENDINGS, ReadingBundleSheet
from tooltray.ui.add.found_sheets import InMemorySheet
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.destinations import Destination, ImportServers, Servers
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import whole
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row


class OtherWays(QWidget, View):
    """Other ways of adding a server.

    Args:
        close: closes the sheet that they are in.
    """

    def __init__(self, context: PageContext, close: Callable[[], object]) -> None:
        super().__init__()
        self.context, self._close, self._theme = context, close, context.theme
        theme = context.theme
        layout = column(self, margins=(0, 8, 0, 0), spacing=8)
        layout.addWidget(Label(theme, tr("Or"), "strong"))
        box = Surface(theme, "surface.raised", "border", "m")
        lines = column(box, margins=(14, 0, 14, 0))
        find, take = partial(self._go, Servers("discover")), partial(self._go, ImportServers())
        for index, (icon, words, button, way) in enumerate(
            (
                ("search", tr("Find one among the well-known ones and in the registry"), tr("Find one"), find),
                ("download", tr("Import from your AI clients"), tr("Import servers…"), take),
                ("folder", tr("Install a bundle: a file that ends in .mcpb or .dxt"), tr("From a file…"), self._choose_bundle),
            )
        ):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 8, 0, 8), spacing=10)
            line.addWidget(Icon(theme, icon, 16, "text.secondary", "surface.raised"))
            line.addWidget(ElidedLabel(theme, words, "body", "secondary"), 1)
            wish = Button(theme, button, small=True)
            wish.clicked.connect(way)
            line.addWidget(wish)
            lines.addLayout(line)
        layout.addWidget(box)
        self._inside = QWidget()
        self._inside_lines = column(self._inside, margins=(0, 8, 0, 0), spacing=8)
        self._inside.hide()
        layout.addWidget(self._inside)
        self.reading(self._read_inmemory)()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows nothing: what could not be read is not offered."""

    async def _read_inmemory(self) -> None:
        self._show_inmemory(await self.hub.servers.get_inmemory_servers())

    def _show_inmemory(self, servers: Sequence[InMemoryServer]) -> None:
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
        add.clicked.connect(partial(self._open_inmemory, server))
        line.addWidget(add, 0, Qt.AlignmentFlag.AlignVCenter)
        return widget

    def _go(self, destination: Destination) -> None:
        self._close()
        self.context.go(destination)

    def _open_inmemory(self, server: InMemoryServer) -> None:
        """Shows a server that would run inside Tooltray, for approval."""
        self.context.sheets.replace(InMemorySheet(self.context, server))

    def _choose_bundle(self) -> None:
        """Prompts for a bundle's file."""
        dialog = QFileDialog(self.context.window, tr("Install a bundle"), str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(tr("Bundles ({patterns})", patterns=" ".join(f"*{ending}" for ending in ENDINGS)))
        dialog.fileSelected.connect(self._open_bundle)
        dialog.open()

    def _open_bundle(self, path: str) -> None:
        """Reads a bundle without starting it, and shows what it is."""
        self.context.sheets.replace(ReadingBundleSheet(self.context, path))
