"""The pane of an AI client: its state and button, its profile, what it sees, what of its calls runs without asking, how much of a result it
gets at once, its sessions, its files, and their changes; and the sheet with what counts for clients without choices of their own."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientChange, ClientServer
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.ui.approval.asking_section import AskingSection, what_the_flow_guard_does
from tooltray.ui.approval.permission_words import covered
from tooltray.ui.clients import client_words as said
from tooltray.ui.clients.client_files import undo_button
from tooltray.ui.clients.client_table import ClientRow, profile_options
from tooltray.ui.figures import moment, since
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.setting_form import TABLE_FORMS, form_of, form_options
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.kit.view import View
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.problem_words import in_a_row, sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.choice import Choice, OptionList
from tooltray.ui.widgets.keyboard import take_digits
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.split_view import DetailsPane
from tooltray.ui.widgets.surface import add_gap, clear, column, fill, row
from tooltray.ui.zoom import px

if TYPE_CHECKING:
    from tooltray.ui.clients.clients_page import ClientsPage

MOST_SERVERS, MOST_CHANGES = 40, 5  # of one client, in full
LEAST, MOST = 500, 10_000_000  # tokens of a result, as the settings take them
DEFAULTS_WIDTH = 760


class SavedField(QWidget):
    """A line to type into, with a button that saves it.

    Attributes:
        line, save: its parts.
    """

    def __init__(self, theme: Theme, name: str, text: str) -> None:
        super().__init__()
        self.line, self.save = QLineEdit(), Button(theme, tr("Save"))
        self.line.setFixedHeight(theme.size("control"))
        self.line.setAccessibleName(name)
        self.line.returnPressed.connect(self.save.click)
        line = fill(row(spacing=8), (self.line, 1), self.save)
        fill(column(self, spacing=8), line, Label(theme, text, "caption", "muted", wrap=True))


class ClientApproval(QWidget):
    """A client's own rules and flow guard. Choices apply at once, typed rules when the user saves them.

    Args:
        view: carries them out, and shows why one failed.
        read: reads what the view shows, so that choices show what is true.
    """

    def __init__(self, view: View, read: Work, kind: ClientModeSnapshot) -> None:
        super().__init__()
        theme, self._view, self._read, self._kind = view.context.theme, view, read, kind
        title, asks = said.client_title(kind), Label(theme, tr("Runs without asking:"), "caption", "secondary")
        self._choice = Choice(theme, said.rule_choices(), name=tr("What runs without asking for {client}", client=title))
        self._choice.chosen_changed.connect(self._on_chosen)
        text = tr("read, write, all, names:get_* or a tool's name, with commas between. Empty: every call asks.")
        self._own = SavedField(theme, tr("Rules, with commas between"), text)
        self._own.line.setFont(theme.font("mono"))
        self._own.line.textChanged.connect(self._draw)
        self._own.save.clicked.connect(lambda: self._change(self._written))
        self._words = Label(theme, "", "caption", "secondary", wrap=True)
        text = tr("Replaces the servers' rules. A tool set to ask first still asks every client.")
        scope = Label(theme, text, "caption", "muted", wrap=True)
        self._guard = Choice(theme, said.guard_choices(), name=tr("Flow guard for {client}", client=title))
        self._guard.chosen_changed.connect(self._on_guard)
        guards = Label(theme, what_the_flow_guard_does(), "caption", "muted", wrap=True)
        fill(column(self, spacing=8), asks, self._choice, self._own, self._words, scope, self._guard, guards)
        self._show_rules()

    def set_kind(self, kind: ClientModeSnapshot) -> None:
        """Shows the current values; rules that the user is writing stay while they are unchanged."""
        is_other, self._kind = kind.auto_approve != self._kind.auto_approve, kind
        if is_other:
            self._show_rules()
        self._draw()

    def _show_rules(self) -> None:
        self._choice.choose(said.rules_choice(self._kind.auto_approve))
        self._own.line.setText(", ".join(self._kind.auto_approve or ()))
        self._draw()

    @property
    def _written(self) -> list[str]:
        return [part.strip() for part in self._own.line.text().split(",") if part.strip()]

    def _draw(self) -> None:
        kind = self._kind
        self._own.setVisible(self._choice.chosen == said.OWN)
        self._own.save.setEnabled(kind.auto_approve is None or self._written != list(kind.auto_approve))
        words = [] if kind.call_rules is None else [*map(covered, kind.call_rules)] or [tr("No rule on arguments counts for it.")]
        self._words.setText("\n".join(words))
        self._words.setVisible(bool(words))
        self._guard.choose(next(word for word, is_on in said.GUARDS.items() if is_on is kind.flow_guard))

    def _on_chosen(self, chosen: str) -> None:
        if chosen == said.OWN:
            self._draw()
            self._own.line.setFocus()
            return
        self._choice.choose(said.rules_choice(self._kind.auto_approve))  # until it is so
        self._draw()
        if (rules := said.RULES[chosen]) != self._kind.auto_approve:
            self._change(None if rules is None else list(rules))

    def _change(self, rules: list[str] | None) -> None:
        change = partial(self._view.hub.views.set_client_auto_approve, self._kind.client)
        before = None if self._kind.auto_approve is None else list(self._kind.auto_approve)
        toast = tr("What runs without asking for {client} is changed", client=said.client_title(self._kind))
        self._view.run(change(rules), then=self._read, toast=toast, undo=partial(change, before))

    def _on_guard(self, chosen: str) -> None:
        kind, change = self._kind, self._view.hub.settings.change_settings
        self._draw()  # until it is so

        def changed(is_on: bool | None) -> Mapping[str, object]:
            return {"publish": {"clients": {kind.client: {"flowGuard": is_on}}}}

        toast = tr("The flow guard for {client} is changed", client=said.client_title(kind))
        undo = partial(change, changed(kind.flow_guard))
        self._view.run(change(changed(said.GUARDS[chosen])), then=self._read, toast=toast, undo=undo)


class ResultLimit(SavedField):
    """A field for the largest result in tokens, see ClientApproval."""

    def __init__(self, view: View, read: Work, kind: ClientModeSnapshot) -> None:
        theme, self._view, self._read, self._kind = view.context.theme, view, read, kind
        text = tr("In tokens, at least 500. The client reads the rest page by page, with read_result.")
        super().__init__(theme, tr("Longest result, in tokens"), text)
        take_digits(self.line, MOST)
        self.line.setPlaceholderText(tr("Default (servers and tools)"))
        self.line.textChanged.connect(self._draw)
        self.save.clicked.connect(self._on_save)
        self._show()

    def set_kind(self, kind: ClientModeSnapshot) -> None:
        """Shows the current limit; what the user is writing stays while it is unchanged."""
        is_other, self._kind = kind.result_limit != self._kind.result_limit, kind
        if is_other:
            self._show()

    @property
    def _written(self) -> int | None:
        return int(self.line.text()) if self.line.text() else None

    def _show(self) -> None:
        limit = self._kind.result_limit
        self.line.setText("" if limit is None else str(limit))
        self._draw()

    def _draw(self) -> None:
        written = self._written
        self.save.setEnabled(written != self._kind.result_limit and (written is None or LEAST <= written <= MOST))

    def _on_save(self) -> None:
        change = self._view.hub.views.set_result_limit(tokens=self._written, client=self._kind.client)
        self._view.run(change, then=self._read)


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
        self._top, self._rest = column(spacing=6), column(spacing=6)
        self.body.addLayout(self._top)
        if client.kind is not None:
            self._add_choices(client.kind)
        fill(self.body, self._rest, 1)
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
        self._edit = Button(theme, tr("Edit…"), on_click=lambda: page.edit_profile(self._profile.chosen))
        self._edit.setAccessibleName(tr("Edit the profile"))
        fill(row(choice, spacing=8), (self._profile, 1), self._edit)
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
        self._shown.setText(" ".join(filter(None, (now, said.reason(kind), said.mode_text(kind.shown_mode)))))

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
        clear(self._top)
        fill(self._top, self._state(), *self._notes(), *self._buttons())
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
        clear(self._rest)
        for name, widgets in sections:
            if widgets:
                fill(self._rest, self._heading(name), *widgets)

    def _heading(self, name: str) -> QWidget:
        label = Label(self._theme, name, "caption_strong", "muted")
        label.setContentsMargins(0, px(12), 0, 0)
        return label

    def _state(self) -> QWidget:
        widget, found = QWidget(), self.client.found
        line = fill(row(widget, spacing=12), StateBadge(self._theme, said.state_look(self.client)))
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
        files, copy = self._page.files, self._page.context.links.entry_copy_requested.emit
        if found.way == "link" and found.link and found.connection == "none":
            link = Button(theme, tr("Open its link"), icon="external", small=True, on_click=lambda: self._open_link(found))
            link.setToolTip(tr("{name} then asks you whether to add Tooltray.", name=found.name))
            line.addWidget(link)
        elif word := said.button_word(self.client):
            variant = "danger" if said.wants_disconnect(found) else "secondary"
            line.addWidget(Button(theme, word, variant, small=True, on_click=lambda: files.connect_or_disconnect(found)))
        if said.own_servers(found):
            words = tr("Import its servers…")
            line.addWidget(Button(theme, words, icon="download", small=True, on_click=lambda: files.import_from([found.id])))
        if not found.is_installed:
            line.addWidget(Button(theme, tr("Copy the entry for an AI client"), icon="copy", small=True, on_click=copy))
        line.addStretch(1)
        return [widget] if line.count() > 1 else []

    def _open_link(self, found: AiClient) -> None:
        if not QDesktopServices.openUrl(QUrl(found.link)):
            self._page.context.copy(found.link, tr("Nothing opens this link here. It is copied."))

    def _session(self, session: SessionSnapshot) -> QWidget:
        widget, theme, kind = QWidget(), self._theme, self._kind
        begun = Label(theme, since(session.connected_at, datetime.now()), "caption", "secondary", tabular=True)
        head = fill(row(spacing=8), (ElidedLabel(theme, said.project_name(session.project), "strong"), 1), begun)
        lines = fill(column(widget, margins=(0, 2, 0, 6), spacing=2), head)
        if session.project is not None:
            lines.addWidget(CodeLabel(theme, visible_path(session.project.path), "secondary"))
            facts = [said.project_source(session.project)]
        else:
            facts = [tr("Servers that need a project do not start for this client.")]
        for fact in (*facts, *said.session_facts(session, kind.profile if kind is not None else "")):
            lines.addWidget(Label(theme, fact, "caption", "secondary", wrap=True))
        if text := self._page.left_out_words(session):
            lines.addWidget(Label(theme, text, "caption", "warning", wrap=True))
        add_gap(lines, 4)
        choose = Button(theme, tr("Choose folder"), icon="folder", small=True, on_click=lambda: self._page.choose_folder(session.id))
        lines.addWidget(choose)
        return widget

    def _change(self, change: ClientChange) -> QWidget:
        widget, theme, what = QWidget(), self._theme, said.change_word(change, self.client.name)
        when = Label(theme, moment(change.at, datetime.now()), "caption", "muted", tabular=True)
        line = fill(row(widget, margins=(0, 2, 0, 2), spacing=8), (fill(column(), ElidedLabel(theme, what, "body"), when), 1))
        if change.undo != "none":
            line.addWidget(undo_button(theme, change, what, self._page.files.undo))
        widget.setToolTip(visible_path(change.path))
        return widget


def _file(theme: Theme, file: AiClientFile) -> QWidget:
    widget, path = QWidget(), CodeLabel(theme, visible_path(file.path), "primary" if file.exists else "muted")
    lines = fill(column(widget, margins=(0, 2, 0, 6), spacing=4), path)
    if file.project:
        lines.addWidget(Label(theme, tr("for the project {name}", name=folder_name(file.project)), "caption", "secondary", wrap=True))
    if chips := said.file_chips(file):
        lines.addLayout(_chips(theme, chips))
    if file.problem is not None:
        where = tr("Line {line}.", line=file.line) if file.line else ""
        lines.addWidget(Banner(theme, "error", title(file.problem), " ".join(filter(None, (where, sentences(file.problem))))))
    return widget


def _server(theme: Theme, server: ClientServer) -> QWidget:
    widget, target = QWidget(), ElidedLabel(theme, server.target, "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
    lines = fill(column(widget, margins=(0, 2, 0, 4), spacing=2), ElidedLabel(theme, server.name, "strong"), target)
    if chips := said.server_chips(server):
        lines.addLayout(_chips(theme, chips))
    return widget


def _chips(theme: Theme, chips: Sequence[tuple[str, str]]) -> QHBoxLayout:
    return fill(row(spacing=6), *(Chip(theme, word, tone) for word, tone in chips), 1)


class DefaultsSheet(SheetView):
    """A sheet with the defaults; a choice applies at once."""

    def __init__(self, view: View) -> None:
        super().__init__(view.context, tr("Defaults for all clients"), DEFAULTS_WIDTH)
        theme = view.context.theme
        self._modes = OptionList(theme, said.default_mode_options(), name=tr("Tool listing"), may_be_empty=False)
        self._modes.changed.connect(self._on_mode)
        self._text = Label(theme, "", "caption", "muted", wrap=True)
        self._asking = AskingSection(self)
        fill(self.body, Label(theme, tr("Tool listing"), "heading"), self._modes, self._text, self._asking)
        self.set_first_focus(self.add_button(tr("Close"), self.leave))

    async def read(self) -> None:
        """Reads the defaults, and shows them."""
        for kind in await self.hub.views.get_client_modes():
            if not kind.client:
                self._show(kind)
        await self._asking.read()

    def _show(self, kind: ClientModeSnapshot) -> None:
        self._modes.set_chosen([kind.mode])
        self._text.setText(said.reason(kind) or (said.mode_text(kind.mode) if kind.mode else ""))

    def _on_mode(self) -> None:
        self.run(self.hub.views.set_client_mode("", self._modes.chosen[0]), then=self.read)
