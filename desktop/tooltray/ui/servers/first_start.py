"""The Servers page without servers: the ways to the first one."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import AddServer, ImportServers, Servers, WellKnownServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.scan_words import here, names_in_a_row, scan_text, scan_title
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import in_a_row
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.empty_state import WIDTH, Beginning
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import add_gap, column, row
from tooltray.ui.zoom import px

STARTERS = ("time", "fetch", "memory", "duckduckgo", "filesystem")
"""Well-known servers that ask for no account; the last one asks for a folder."""


class FirstStart(QWidget, View):
    """The ways to the first server: import servers from AI clients, add a well-known one, paste something, or search."""

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context, self._theme = context, context.theme
        area, content = QScrollArea(), QWidget()  # scrolls only in a window that is low at its zoom
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setWidget(content)
        column(self).addWidget(area)
        outer = row(content)
        outer.addStretch(1)
        inner = self._inner = column(spacing=8)
        inner.addStretch(2)
        self._say(tr("Add your first server"), "title", "primary")
        self._found = self._say(tr("Every AI client that you connect can use it right away."), "body", "secondary")
        add_gap(inner, 12)
        self._move = self._way("download", tr("Import servers from your AI clients"), tr("With their keys, after a preview, and with Undo"))
        self._move.clicked.connect(partial(context.go, ImportServers()))
        add_gap(inner, 4)
        self._say(tr("Begin with one of these. They need no account."), "caption", "muted")
        self._add_starters()
        add_gap(inner, 4)
        paste = self._way("terminal", tr("Paste a command, a URL or a JSON block"), tr("From any README: npx, uvx, an address or a config"))
        paste.clicked.connect(partial(context.go, AddServer()))
        find = self._way("search", tr("Find a server"), tr("Well-known ones, and the official registry"))
        find.clicked.connect(partial(context.go, Servers("discover")))
        inner.addStretch(3)
        outer.addLayout(inner)
        outer.addStretch(1)

    def show_scan(self, scan: ClientScan) -> None:
        """Shows which servers the AI clients on this computer have; offers no import where they have none that is not in Tooltray."""
        clients = here(scan)
        if not clients:
            return
        self._found.setText(in_a_row(scan_title(scan), scan_text(scan)))
        self._move.setVisible(bool(scan.new_servers))
        owners = [client.name for client in clients if any(file.servers for file in client.files)]
        if owners:
            self._move.set_title(tr("Import servers from {clients}", clients=names_in_a_row(owners)))

    def enable(self, is_usable: bool) -> None:
        """Enables or disables the buttons: without a hub nothing can be added."""
        for button in self.findChildren(Button):
            button.setEnabled(is_usable)

    def _say(self, text: str, style: str, tone: str) -> Label:
        label = Label(self._theme, text, style, tone, wrap=True)
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        label.setFixedWidth(px(WIDTH))
        self._inner.addWidget(label)
        return label

    def _way(self, icon: str, title: str, text: str) -> Beginning:
        way = Beginning(self._theme, icon, title, text)
        self._inner.addWidget(way)
        return way

    def _add_starters(self) -> None:
        names = {
            "time": tr("Time"),
            "fetch": tr("Web pages"),
            "memory": tr("Memory"),
            "duckduckgo": tr("Web search"),
            "filesystem": tr("Files…"),
        }
        line = row(spacing=6)
        line.addStretch(1)
        for id in STARTERS:
            button = Button(self._theme, names[id], small=True)
            button.setAccessibleName(tr("Add {name}", name=names[id].rstrip("…")))
            button.clicked.connect(partial(self._on_starter, id))
            line.addWidget(button)
        line.addStretch(1)
        self._inner.addLayout(line)

    def _on_starter(self, id: str) -> None:
        self.run(self._add_starter(id))

    async def _add_starter(self, id: str) -> None:
        """Adds a well-known server under its own name, or opens its sheet if it needs input."""
        starters = await self.hub.discovery.get_starter_servers()
        starter = next((each for each in starters if each.id == id), None)
        if starter is None or any(field.is_required for field in starter.fields):
            self.context.go(WellKnownServer(id))
        else:
            name = await self.hub.discovery.add_starter_server(id, {}, "")
            self.context.say(tr("{name} is added", name=name))
