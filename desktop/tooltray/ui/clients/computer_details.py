"""The details of one AI client on this computer, beside the table: its connection, its files, and the servers in them."""

from collections.abc import Callable, Sequence
from itertools import islice

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientServer
from tooltray.ui.clients.computer_words import connection_look, file_chips, own_servers, presence, server_chips, wants_disconnect, wish_word
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.split_view import DetailsPane
from tooltray.ui.widgets.surface import column, row

MOST_SERVERS = 40  # of one client, in full; the sheet that imports them has all


class ComputerDetails(DetailsPane):
    """The details of an AI client.

    Args:
        wish: connects, repairs or disconnects it.
        import_from: opens the sheet that imports servers from the clients with these ids.
    """

    def __init__(
        self,
        context: PageContext,
        client: AiClient,
        *,
        wish: Callable[[AiClient], object],
        import_from: Callable[[Sequence[str]], object],
    ) -> None:
        theme = context.theme
        super().__init__(theme, client.name)
        self._context, self._client, self._wish, self._import_from = context, client, wish, import_from
        line = row(spacing=12)
        line.addWidget(StateBadge(theme, connection_look(client)))
        line.addWidget(Label(theme, presence(client), "caption", "secondary"))
        line.addStretch(1)
        self.body.addLayout(line)
        self._add_why()
        self._add_buttons()
        files = sorted(client.files, key=lambda file: (not file.exists, bool(file.project)))
        if files:
            self.add_section(tr("Its files"), *(_file(theme, file) for file in files))
        servers = own_servers(client)
        if servers:
            self.add_section(tr("Servers in them"), *(_server(theme, each) for each in islice(servers, MOST_SERVERS)))
        if (more := len(servers) - MOST_SERVERS) > 0:
            self.body.addWidget(Label(theme, tr("and {count} more", count=more), "caption", "muted"))
        self.body.addStretch(1)

    @property
    def client(self) -> AiClient:
        return self._client

    def _add_why(self) -> None:
        for text, tone in ((self._client.why_not, "warning"), (self._client.note, "secondary")):
            if text:
                self.body.addWidget(Label(self._theme, whole(Problem(text)), "body", tone, wrap=True))

    def _add_buttons(self) -> None:
        client, theme = self._client, self._theme
        line = row(spacing=8)
        if client.way == "link" and client.link and client.connection == "none":
            link = Button(theme, tr("Open its link"), icon="external", small=True)
            link.setToolTip(tr("{name} then asks you whether to add Tooltray.", name=client.name))
            link.clicked.connect(self._on_link)
            line.addWidget(link)
        elif word := wish_word(client):
            button = Button(theme, word, "danger" if wants_disconnect(client) else "secondary", small=True)
            button.clicked.connect(lambda: self._wish(client))
            line.addWidget(button)
        if own_servers(client):
            move = Button(theme, tr("Import its servers…"), icon="download", small=True)
            move.clicked.connect(lambda: self._import_from([client.id]))
            line.addWidget(move)
        line.addStretch(1)
        if line.count() > 1:
            self.body.addSpacing(6)
            self.body.addLayout(line)

    def _on_link(self) -> None:
        if not QDesktopServices.openUrl(QUrl(self._client.link)):
            self._context.copy(self._client.link, tr("Nothing opens this link here. It is copied."))


def _file(theme: Theme, file: AiClientFile) -> QWidget:
    widget = QWidget()
    lines = column(widget, margins=(0, 2, 0, 6), spacing=4)
    lines.addWidget(CodeLabel(theme, visible_path(file.path), "primary" if file.exists else "muted"))
    if file.project:
        lines.addWidget(Label(theme, tr("for the project {name}", name=folder_name(file.project)), "caption", "secondary", wrap=True))
    if chips := file_chips(file):
        lines.addLayout(_chips(theme, chips))
    if file.problem is not None:
        where = tr("Line {line}.", line=file.line) if file.line else ""
        text = " ".join(part for part in (where, sentences(file.problem)) if part)
        lines.addWidget(Banner(theme, "error", title(file.problem), text))
    return widget


def _server(theme: Theme, server: ClientServer) -> QWidget:
    widget = QWidget()
    lines = column(widget, margins=(0, 2, 0, 4), spacing=2)
    lines.addWidget(ElidedLabel(theme, server.name, "strong"))
    lines.addWidget(ElidedLabel(theme, server.target, "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle))
    if chips := server_chips(server):
        lines.addLayout(_chips(theme, chips))
    return widget


def _chips(theme: Theme, chips: Sequence[tuple[str, str]]) -> QHBoxLayout:
    line = row(spacing=6)
    for word, tone in chips:
        line.addWidget(Chip(theme, word, tone))
    line.addStretch(1)
    return line
