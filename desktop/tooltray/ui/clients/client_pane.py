"""The pane of an AI client: its state and button, profile, what it sees, approval, its sessions, its files, and their changes."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientChange, ClientServer
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.ui.clients import client_words as said
from tooltray.ui.clients.client_approval import ClientApproval, ResultLimit
from tooltray.ui.clients.client_rows import ClientRow
from tooltray.ui.clients.client_table import profile_options
from tooltray.ui.figures import moment, since
from tooltray.ui.i18n import tr
from tooltray.ui.kit.table_forms import TABLE_FORMS, form_of, form_options
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.problem_words import in_a_row, sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.split_view import DetailsPane
from tooltray.ui.widgets.surface import add_gap, clear, column, row
from tooltray.ui.zoom import px

if TYPE_CHECKING:
    from tooltray.ui.clients.clients_page import ClientsPage

MOST_SERVERS, MOST_CHANGES = 40, 5  # of one client, in full


class ClientPane(DetailsPane):
    """The details of an AI client; the page carries out what the user wants. Choices apply at once.

    Attributes:
        client: its row.
    """

    def __init__(self, page: "ClientsPage", client: ClientRow) -> None:
        super().__init__(page.context.theme, client.name)
        self._page, self.client, self._kind = page, client, client.kind
        self._changes: Sequence[ClientChange] = ()
        self._drawn: object = None  # what the parts that are built again were built of
        self._top = column(spacing=6)
        self.body.addLayout(self._top)
        if client.kind is not None:
            self._add_choices(client.kind)
        self._rest = column(spacing=6)
        self.body.addLayout(self._rest)
        self.body.addStretch(1)
        self._draw()

    def show_client(self, client: ClientRow, changes: Sequence[ClientChange]) -> bool:
        """Shows a newer row; returns False if another pane is needed, since its name in sessions has become known."""
        if (client.kind is None) is not (self._kind is None):
            return False
        self.client, self._kind, self._changes = client, client.kind, changes
        self._draw()
        return True

    def _add_choices(self, kind: ClientModeSnapshot) -> None:
        """Adds what the user can choose for the client: its profile, its approval, and what it sees."""
        theme, page, choice = self._theme, self._page, QWidget()
        self._profile = Choice(theme, [("", "")], name=tr("Profile"))
        self._profile.chosen_changed.connect(self._on_profile)
        self._edit = Button(theme, tr("Edit…"))
        self._edit.setAccessibleName(tr("Edit the profile"))
        self._edit.clicked.connect(lambda: page.edit_profile(self._profile.chosen))
        line = row(choice, spacing=8)
        line.addWidget(self._profile, 1)
        line.addWidget(self._edit)
        text = in_a_row(said.what_a_profile_is(), tr("A profile in the client's own config wins."))
        later = tr("A server that is allowed later, such as a project's, is in the profile only once it is added there.")
        self._profile_note = Label(theme, later, "caption", "secondary", wrap=True)
        self.add_section(tr("Profile"), choice, Label(theme, text, "caption", "muted", wrap=True), self._profile_note)
        self._approval, self._limit = ClientApproval(page, page.read, kind), ResultLimit(page, page.read, kind)
        self.add_section(tr("Approval"), self._approval)
        self._cost = Label(theme, "", "body", wrap=True, tabular=True)
        self._meter = Meter(theme, tr("Tokens in the client's context"), height=4)
        self._modes = Choice(theme, said.mode_options(), name=tr("Tool listing"))
        self._modes.chosen_changed.connect(self._on_mode)
        self._shown = Label(theme, "", "caption", "secondary", wrap=True)
        listing = Label(theme, tr("Tool listing"), "caption", "secondary")
        self.add_section(tr("What it sees"), self._cost, self._meter, listing, self._modes, self._shown)
        self.add_section(tr("Largest result"), self._limit)
        self._tables = Choice(theme, form_options(tr("Default (servers and tools)")), name=tr("Tables in results"))
        self._tables.chosen_changed.connect(self._on_tables)
        text = tr("CSV needs fewer tokens. Tools with an output schema keep JSON, and so do servers and tools that are set to JSON.")
        self.add_section(tr("Tables in results"), self._tables, Label(theme, text, "caption", "muted", wrap=True))

    def _draw_choices(self, kind: ClientModeSnapshot) -> None:
        client = self.client
        self._profile.set_options(profile_options(client.name, self._page.profile_names))
        self._profile.choose(kind.profile)
        self._edit.setVisible(bool(kind.profile))
        self._profile_note.setVisible(kind.profile in self._page.profiles_of_some)
        self._approval.set_kind(kind)
        self._limit.set_kind(kind)
        self._tables.choose(form_of(kind.csv_tables))
        self._cost.setText(said.context_text(client))
        self._meter.set_share(client.share)
        self._cost.setVisible(client.tokens is not None)
        self._meter.setVisible(client.tokens is not None and client.whole > 0)
        self._modes.choose(kind.mode)
        now = tr("Now: {mode}.", mode=said.mode_name(kind.shown_mode)) if kind.mode in ("", "automatic") else ""
        self._shown.setText(" ".join(part for part in (now, said.reason(kind), said.mode_text(kind.shown_mode)) if part))

    def _on_profile(self, chosen: str) -> None:
        self._draw()  # as it is, until it is another one
        self._page.choose_profile(self.client, chosen)

    def _on_mode(self, chosen: str) -> None:
        if self._kind is not None:
            self._draw()  # as it is, until it is another one
            self._page.run(self._page.hub.views.set_client_mode(self._kind.client, chosen), then=self._page.read)

    def _on_tables(self, chosen: str) -> None:
        if self._kind is not None:
            self._draw()  # as it is, until it is another one
            change = self._page.hub.views.set_csv_tables(enabled=TABLE_FORMS[chosen], client=self._kind.client)
            self._page.run(change, then=self._page.read)

    def _draw(self) -> None:
        client, theme = self.client, self._theme
        if self._kind is not None:
            self._draw_choices(self._kind)
        left_out = [self._page.left_out_words(each) for each in client.sessions]
        drawn = (client.found, client.sessions, client.kind.profile if client.kind is not None else "", self._changes, left_out)
        if drawn == self._drawn:
            return  # a button that has the focus keeps it
        self._drawn = drawn
        _fill(self._top, [self._state(), *self._notes(), *self._buttons()])
        found = client.found
        files = sorted(found.files, key=lambda file: (not file.exists, bool(file.project))) if found is not None else []
        servers = said.own_servers(found) if found is not None else []
        shown_servers = [_server(theme, each) for each in islice(servers, MOST_SERVERS)]
        if (more := len(servers) - MOST_SERVERS) > 0:
            shown_servers.append(Label(theme, tr("and {count} more", count=more), "caption", "muted"))
        sections = (
            (tr("Sessions"), [self._session(each) for each in client.sessions]),
            (tr("Its files"), [_file(theme, each) for each in files]),
            (tr("Servers in them"), shown_servers),
            (tr("Changes"), [self._change(each) for each in self._changes[:MOST_CHANGES]]),
        )
        _fill(self._rest, [widget for name, widgets in sections if widgets for widget in (self._heading(name), *widgets)])

    def _heading(self, name: str) -> QWidget:
        label = Label(self._theme, name, "caption_strong", "muted")
        label.setContentsMargins(0, px(12), 0, 0)
        return label

    def _state(self) -> QWidget:
        widget, found = QWidget(), self.client.found
        line = row(widget, spacing=12)
        line.addWidget(StateBadge(self._theme, said.state_look(self.client)))
        if found is not None and found.is_installed:
            line.addWidget(Label(self._theme, said.presence(found), "caption", "secondary"))
        line.addStretch(1)
        return widget

    def _notes(self) -> list[QWidget]:
        found = self.client.found
        notes = [(found.why_not, "warning")] if found is not None else []
        if found is not None and said.is_change_unseen(self.client, self._changes):
            notes.append((found.note, "secondary"))
        if self._kind is None:
            notes.append((tr("Its profile and approval can be chosen once it has connected."), "secondary"))
        return [Label(self._theme, whole(Problem(text)), "body", tone, wrap=True) for text, tone in notes if text]

    def _buttons(self) -> list[QWidget]:
        found, theme = self.client.found, self._theme
        if found is None:
            return []
        widget = QWidget()
        line = row(widget, margins=(0, 6, 0, 0), spacing=8)
        if found.way == "link" and found.link and found.connection == "none":
            link = Button(theme, tr("Open its link"), icon="external", small=True)
            link.setToolTip(tr("{name} then asks you whether to add Tooltray.", name=found.name))
            link.clicked.connect(lambda: self._open_link(found))
            line.addWidget(link)
        elif word := said.button_word(self.client):
            button = Button(theme, word, "danger" if said.wants_disconnect(found) else "secondary", small=True)
            button.clicked.connect(lambda: self._page.files.connect_or_disconnect(found))
            line.addWidget(button)
        if said.own_servers(found):
            take = Button(theme, tr("Import its servers…"), icon="download", small=True)
            take.clicked.connect(lambda: self._page.files.import_from([found.id]))
            line.addWidget(take)
        if not found.is_installed:
            copy = Button(theme, tr("Copy the entry for an AI client"), icon="copy", small=True)
            copy.clicked.connect(self._page.context.links.entry_copy_requested)
            line.addWidget(copy)
        line.addStretch(1)
        return [widget] if line.count() > 1 else []

    def _open_link(self, found: AiClient) -> None:
        if not QDesktopServices.openUrl(QUrl(found.link)):
            self._page.context.copy(found.link, tr("Nothing opens this link here. It is copied."))

    def _session(self, session: SessionSnapshot) -> QWidget:
        widget, theme, kind = QWidget(), self._theme, self._kind
        lines = column(widget, margins=(0, 2, 0, 6), spacing=2)
        line = row(spacing=8)
        line.addWidget(ElidedLabel(theme, said.project_name(session.project), "strong"), 1)
        line.addWidget(Label(theme, since(session.connected_at, datetime.now()), "caption", "secondary", tabular=True))
        lines.addLayout(line)
        if session.project is not None:
            lines.addWidget(CodeLabel(theme, visible_path(session.project.path), "secondary"))
            facts = [said.project_source(session.project)]
        else:
            facts = [tr("Servers that need a project do not start for this client.")]
        for fact in (*facts, *said.session_facts(session, kind.profile if kind is not None else "")):
            lines.addWidget(Label(theme, fact, "caption", "secondary", wrap=True))
        if text := self._page.left_out_words(session):
            lines.addWidget(Label(theme, text, "caption", "warning", wrap=True))
        folder = Button(theme, tr("Choose folder"), icon="folder", small=True)
        folder.clicked.connect(lambda: self._page.choose_folder(session.id))
        add_gap(lines, 4)
        lines.addWidget(folder)
        return widget

    def _change(self, change: ClientChange) -> QWidget:
        widget, theme = QWidget(), self._theme
        line = row(widget, margins=(0, 2, 0, 2), spacing=8)
        words = column(spacing=0)
        what = said.change_word(change, self.client.name)
        words.addWidget(ElidedLabel(theme, what, "body"))
        words.addWidget(Label(theme, moment(change.at, datetime.now()), "caption", "muted", tabular=True))
        line.addLayout(words, 1)
        if change.undo != "none":
            undo = Button(theme, tr("Undo"), small=True)
            undo.setAccessibleName(tr("Undo: {what}", what=what))
            undo.setToolTip(said.undo_word(change))
            undo.clicked.connect(lambda: self._page.files.undo(change.id))
            line.addWidget(undo)
        widget.setToolTip(visible_path(change.path))
        return widget


def _fill(layout: QVBoxLayout, widgets: Sequence[QWidget]) -> None:
    """Replaces the content of a layout."""
    clear(layout)
    for widget in widgets:
        layout.addWidget(widget)


def _file(theme: Theme, file: AiClientFile) -> QWidget:
    widget = QWidget()
    lines = column(widget, margins=(0, 2, 0, 6), spacing=4)
    lines.addWidget(CodeLabel(theme, visible_path(file.path), "primary" if file.exists else "muted"))
    if file.project:
        lines.addWidget(Label(theme, tr("for the project {name}", name=folder_name(file.project)), "caption", "secondary", wrap=True))
    if chips := said.file_chips(file):
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
    if chips := said.server_chips(server):
        lines.addLayout(_chips(theme, chips))
    return widget


def _chips(theme: Theme, chips: Sequence[tuple[str, str]]) -> QHBoxLayout:
    line = row(spacing=6)
    for word, tone in chips:
        line.addWidget(Chip(theme, word, tone))
    line.addStretch(1)
    return line
