"""The alternatives to pasting: a bundle, the registry, AI clients' own servers, and servers that run inside Tooltray. Shown until something
is pasted."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

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
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill, row


class OtherWays(QWidget, View):
    """Other ways of adding a server.

    Args:
        close: closes the sheet that they are in.
    """

    def __init__(self, context: PageContext, close: Callable[[], object]) -> None:
        super().__init__()
        self.context, self._close, self._theme = context, close, context.theme
        theme = context.theme
        find, take = partial(self._go, Servers("discover")), partial(self._go, ImportServers())
        ways: tuple[tuple[str, str, str, Callable[[], None]], ...] = (
            ("search", tr("Find one among the well-known ones and in the registry"), tr("Find one"), find),
            ("download", tr("Import from your AI clients"), tr("Import servers…"), take),
            ("folder", tr("Install a bundle: a file that ends in .mcpb or .dxt"), tr("From a file…"), self._choose_bundle),
        )
        self._inside = QWidget()
        self._inside_lines = column(self._inside, margins=(0, 8, 0, 0), spacing=8)
        self._inside.hide()
        box = lines_box(theme, (self._way(*way) for way in ways), "surface.raised")
        fill(column(self, margins=(0, 8, 0, 0), spacing=8), Label(theme, tr("Or"), "strong"), box, self._inside)
        self.reading(self._read_inmemory)()

    def _way(self, icon: str, words: str, button: str, go: Callable[[], None]) -> QHBoxLayout:
        sign, text = Icon(self._theme, icon, 16, "text.secondary", "surface.raised"), ElidedLabel(self._theme, words, "body", "secondary")
        return fill(row(margins=(0, 8, 0, 8), spacing=10), sign, (text, 1), Button(self._theme, button, small=True, on_click=go))

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
        text = tr("Each of them runs inside Tooltray and can read every secret.")
        words = Label(theme, tr("Of installed packages"), "strong"), Label(theme, text, "caption", "warning", wrap=True)
        fill(self._inside_lines, *words, lines_box(theme, map(self._server, servers), "surface.raised"))

    def _server(self, server: InMemoryServer) -> QHBoxLayout:
        theme = self._theme
        package = " ".join(part for part in (server.package, server.version) if part)
        text = whole(server.problem) if server.problem is not None else " · ".join(part for part in (package, say(server.summary)) if part)
        details = ElidedLabel(theme, text, "caption", "error" if server.problem is not None else "secondary")
        add = Button(theme, tr("Add…"), small=True, on_click=partial(self._open_inmemory, server))
        add.setAccessibleName(tr("Add {name}", name=server.name))
        add.setEnabled(server.problem is None)
        return fill(row(margins=(0, 8, 0, 8), spacing=10), (fill(column(), ElidedLabel(theme, server.name, "strong"), details), 1), add)

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
