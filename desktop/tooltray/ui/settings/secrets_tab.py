"""The Secrets tab of the settings: missing secrets at the top, with a field for each; stored secrets; secrets kept elsewhere; and the
place. Draws frozen snapshots without values."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ConfigChanged, SecretsChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.destinations import Destination, OpenSecret
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import SecretsHelp, open_secrets
from tooltray.ui.kit.section import Section, TableSection
from tooltray.ui.settings import secret_words as said
from tooltray.ui.settings.secret_sheets import CommandSheet, NewSecretSheet, SecretDetailsSheet, SecretEntry
from tooltray.ui.settings.secret_words import Commands
from tooltray.ui.settings.settings_tab import SettingsTab
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import group, setting_row, text_line
from tooltray.ui.widgets.surface import Surface, clear, column, divider, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import show_toast
from tooltray.ui.zoom import px

PLACE = 4  # of the section about the place among the others, while nothing is wrong with it
NAME_WIDTH = 300  # px of a missing secret's words beside its field
MOST_FIELDS = 8  # more of them come as others are filled in; nobody types a hundred at once
SEARCHED_FROM = 12  # secrets; fewer are seen at once
CHOICE_WIDTH = 240
PASS, KEYRING, COMMAND = "${secret:pass:PATH}", "${secret:keyring:SERVICE/NAME}", "${secret:command:NAME}"


class PlaceSection(Section):
    """The section about the place of secrets.

    Args:
        read: reads what the tab shows.
    """

    def __init__(self, context: PageContext, read: Work) -> None:
        theme = context.theme
        stays = tr("What another place has stays there, and comes back when you choose that place again.")
        super().__init__(context, tr("Where stored secrets are kept"), Label(theme, stays, "caption", "muted", wrap=True))
        self._read, self._backend = read, ""
        self._choice = Choice(theme, said.places(), name=tr("Place"))
        self._choice.setMinimumWidth(px(CHOICE_WIDTH))
        self._choice.chosen_changed.connect(self._on_chosen)
        self._state = StateBadge(theme, said.place_look(StoredSecrets("")))
        self._check = Button(theme, tr("Try it"), small=True)
        self._check.clicked.connect(lambda: self.run(open_secrets(self.hub, "", ""), then=self._read, button=self._check))
        self._passphrase = text_line(theme, tr("Passphrase for the file"), is_secret=True)
        self._passphrase.setMinimumWidth(px(CHOICE_WIDTH))
        self._passphrase.textChanged.connect(self._draw)
        self._use = Button(theme, tr("Use the file"), on_click=lambda: self._use_place("file", self._passphrase.text()))
        self._passphrase.returnPressed.connect(self._use.click)
        text = tr("Opens the file, or becomes the passphrase of a new one.")
        self._passphrase_row = setting_row(theme, tr("Passphrase"), text, self._passphrase, self._use)
        rows = (
            setting_row(theme, tr("Place"), "", self._choice),
            self._passphrase_row,
            setting_row(theme, tr("State"), "", self._state, self._check),
        )
        self.body.addWidget(group(theme, *rows))
        self._draw()

    def show_secrets(self, secrets: StoredSecrets) -> None:
        if self._backend != secrets.backend:
            self._backend = secrets.backend
            clear(self._fault)
            self._choice.choose(secrets.backend)
            self._passphrase.clear()
        self._state.set_look(said.place_look(secrets))
        self.show_problem(secrets.problem)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the place cannot be used, with ways out; None removes it."""
        if problem is None:
            clear(self._fault)
            return
        item = self._fault.itemAt(0)
        shown = item.widget() if item is not None else None
        if isinstance(shown, SecretsHelp):  # a passphrase that is being typed stays
            shown.set_problem(problem)
            return
        found = SecretsHelp(self._theme, problem, self._backend)
        found.chosen.connect(self._use_place)
        self._fault.addWidget(found)

    def _on_chosen(self, kind: str) -> None:
        self._draw()
        if kind != "file" and kind != self._backend:
            self._use_place(kind, "")
        elif kind == "file":
            self._passphrase.setFocus()

    def _use_place(self, kind: str, passphrase: str) -> None:
        """Opens the place of the secrets, or another one; a keyring may show its prompt."""
        self.run(open_secrets(self.hub, kind, passphrase), then=self._read)

    def _draw(self) -> None:
        """Shows the field for a passphrase, and enables the button once a passphrase is typed."""
        self._passphrase_row.setVisible(self._choice.chosen == "file" and self._backend != "file")
        self._use.setEnabled(bool(self._passphrase.text()))


class ElsewhereSection(TableSection):
    """The section with secrets that are kept elsewhere.

    Args:
        look: reads what the tab shows, in the background.
        open_secret: opens the sheet of a row's secret.
    """

    def __init__(self, context: PageContext, look: Callable[[], None], open_secret: Callable[[SecretSnapshot], None]) -> None:
        theme = context.theme
        text = tr("Fetched from there each time a server starts. Tooltray does not store them.")
        add = Button(theme, tr("Add a command…"), icon="plus", small=True, on_click=lambda: self.open_command(None))
        table = Table(theme, self._columns(), tr("Secrets kept elsewhere"), lambda each: each.name, in_card=True, has_header=True)
        table.pressed.connect(open_secret)
        table.row_chosen.connect(open_secret)
        super().__init__(context, tr("Kept elsewhere"), text, table, add, nothing=_none_yet())
        self._look = look
        self._secrets: Sequence[SecretSnapshot] = ()
        self._known: Commands = {}
        self.hide()

    def show_secrets(self, secrets: Sequence[SecretSnapshot], commands: Commands) -> None:
        """Shows the secrets that are kept elsewhere, and the commands of the settings."""
        self._secrets, self._known = secrets, commands
        self.show_rows(said.kept_elsewhere(secrets, commands))
        self.table.viewport().update()  # a row's command may be another one
        self.show()

    def open_command(self, secret: SecretSnapshot | None) -> None:
        """Opens the sheet of the command that prints a secret; None: of a new one."""
        self.context.sheets.show(CommandSheet(self.context, secret, self._known, saved=self._on_saved, removed=self._on_removed))

    def _columns(self) -> list[Column]:
        def origin(secret: SecretSnapshot) -> str:
            return said.source(secret, self._known)

        return [
            Column(tr("Name"), lambda each: each.name, Kind.MONO, tip=lambda each: each.name),
            Column(tr("From"), origin, Kind.QUIET, tip=origin),
            Column(tr("Used by"), said.used_by, Kind.QUIET, 150, said.used_by),
            Column(tr("Note"), lambda each: said.note(each, self._known), Kind.CHIP, 116),
            Column("", lambda each: said.verb(each, self._known), Kind.BUTTON, 92),
        ]

    def _on_saved(self, name: str) -> None:
        users = next((each.used_by for each in self._secrets if each.name == said.PREFIX + name), ())
        if servers := [user for user in users if self.context.servers.find(user) is not None]:
            text = tr("{name} is saved. It counts when {servers} starts again.", name=name, servers=", ".join(servers))
            offer_restart(self.context, text, servers)
        else:
            self.context.say(tr("{name} is saved", name=name))
        self._look()

    def _on_removed(self, name: str, words: Sequence[str]) -> None:
        self.context.offer_undo(said.removed_words([name]), partial(self._restore, name, words))
        self._look()

    async def _restore(self, name: str, words: Sequence[str]) -> None:
        await self.hub.settings.change_settings({said.SETTING: {name: list(words)}})
        self._look()


def offer_restart(context: PageContext, text: str, servers: Sequence[str]) -> None:
    """Shows in a toast what was done, with a button that restarts the servers it applies to."""

    def restart() -> None:
        for server in servers:
            context.wishes.restart_requested.emit(server)

    show_toast(context.theme, context.window, text, tr("Restart")).action_requested.connect(restart)


def _none_yet() -> str:
    return tr(
        "None yet. A server's settings can name {first} or {second}, or {third} for a command that you add here.",
        first=PASS,
        second=KEYRING,
        third=COMMAND,
    )


class SecretsTab(SettingsTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Secrets"), spacing=30)
        theme = context.theme
        self._secrets = StoredSecrets("")  # as they were last read
        self._look = self.reading(self._read)
        self._asked = ""  # a secret that is to be shown once it is known
        self._entries: dict[str, QWidget] = {}
        self._reading = Label(theme, tr("Reading which secrets there are…"), "body", "muted")
        self._missing, self._stored = self._missing_section(), self._stored_section()
        self.table = self._stored.table
        self.elsewhere = ElsewhereSection(context, self._look, self.open_secret)
        self.place = PlaceSection(context, self._read)
        fill(self.body, self._reading, self._missing, self._stored, self.elsewhere, self.place, 1)
        self._new = Button(theme, tr("New secret"), icon="plus")
        self._new.clicked.connect(lambda: context.sheets.show(NewSecretSheet(context, stored=self._on_stored)))
        self.header_actions = (self._new,)
        self.look_requested.connect(self._look)
        context.hub.on_any((ConfigChanged, SecretsChanged), self.look_again, self)

    def enable(self, is_usable: bool) -> None:
        super().enable(is_usable)
        self._new.setEnabled(is_usable)

    def open_destination(self, destination: Destination) -> None:
        if isinstance(destination, OpenSecret):
            self._asked = destination.name
            self._show_asked()

    def show_secrets(self, secrets: StoredSecrets, commands: Commands) -> None:
        self._secrets = secrets
        self._reading.hide()
        self.place.show_secrets(secrets)
        self.body.insertWidget(0 if secrets.problem is not None else PLACE, self.place)  # first what keeps all else from being known
        missing = [each for each in secrets.secrets if said.is_missing(each)]
        self.need_person.emit(len(missing))
        self._show_missing(missing)
        self._show_stored()
        self.elsewhere.show_secrets(secrets.secrets, commands)
        self._show_asked()

    def open_secret(self, secret: SecretSnapshot) -> None:
        """Opens the sheet of one secret."""
        if said.command_of(secret) is not None:
            self.elsewhere.open_command(secret)
        else:
            self.context.sheets.show(SecretDetailsSheet(self.context, secret, stored=self._on_stored, end=self._end))

    async def _read(self) -> None:
        secrets = await self.hub.secrets.get_secrets()
        self.show_secrets(secrets, said.commands_in((await self.hub.settings.get_settings()).settings))

    # what is missing

    def _missing_section(self) -> Section:
        text = tr("Servers use them, but they are not stored yet.")
        section = Section(self.context, tr("Missing"), ElidedLabel(self._theme, text, "caption", "muted"))
        box = Surface(self._theme)
        self._fields = column(box, margins=(16, 1, 16, 1))
        self._more = Label(self._theme, "", "caption", "muted")
        fill(section.body, box, self._more)
        section.hide()
        return section

    def _show_missing(self, missing: list[SecretSnapshot]) -> None:
        self._missing.setVisible(bool(missing))
        shown = {each.name: each for each in missing[:MOST_FIELDS]}
        for name in self._entries.keys() - shown.keys():
            gone = self._entries.pop(name)
            gone.hide()
            gone.setParent(None)
            gone.deleteLater()
        for index, (name, each) in enumerate(shown.items()):
            widget = self._entries.get(name) or self._missing_row(each)  # one that is shown keeps what was typed into it
            self._entries[name] = widget
            if self._fields.indexOf(widget) != index:
                self._fields.insertWidget(index, widget)
            for line in widget.findChildren(QFrame, "Divider"):
                line.setVisible(index > 0)
        self._more.setVisible(len(missing) > MOST_FIELDS)
        self._more.setText(tr("And {count} more", count=len(missing) - MOST_FIELDS))

    def _missing_row(self, secret: SecretSnapshot) -> QWidget:
        widget, words = QWidget(), QWidget()
        words.setFixedWidth(px(NAME_WIDTH))
        users = ElidedLabel(self._theme, tr("For {servers}", servers=said.used_by(secret)), "caption", "muted")
        fill(column(words, spacing=2), CodeLabel(self._theme, secret.name), users)
        entry = SecretEntry(self.context, secret.name)
        entry.stored.connect(self._on_stored)
        fill(column(widget), divider(), fill(row(margins=(0, 10, 0, 10), spacing=16), words, (entry, 1)))
        return widget

    # what is stored

    def _stored_section(self) -> TableSection:
        theme = self._theme
        self._search = SearchField(theme, tr("Find a secret"), width=200)
        self._search.textChanged.connect(self._show_stored)
        self._unused = Button(theme, "", small=True, on_click=self._on_remove_unused)
        self._about = ElidedLabel(theme, "", "caption", "muted")
        table = Table(theme, self._columns(), tr("Stored secrets"), lambda each: each.name, in_card=True, has_header=True)
        table.pressed.connect(self.open_secret)
        table.row_chosen.connect(self.open_secret)
        section = TableSection(self.context, tr("Stored"), self._about, table, self._search, self._unused, nothing="")
        section.hide()
        return section

    def _columns(self) -> list[Column]:
        return [
            Column(tr("Name"), lambda each: each.name, Kind.MONO, tip=lambda each: each.name),
            Column(tr("Used by"), said.used_by, Kind.QUIET, tip=said.used_by),
            Column(tr("Note"), said.state, Kind.CHIP, 136),
            Column("", lambda each: tr("Details…") if each.kind == "own" else tr("Change…"), Kind.BUTTON, 92),
        ]

    def _show_stored(self) -> None:
        stored = [each for each in self._secrets.secrets if each.is_stored or (each.is_stored is None and each.kind == "value")]
        shown = said.found(stored, self._search.text())
        self._about.set_text(said.about(stored))
        none = tr("No secret has this name.") if stored else tr("None yet. A server that needs one asks for it here.")
        self._stored.show_rows(shown, none)
        self._search.setVisible(len(stored) >= SEARCHED_FROM)
        unused = [each.name for each in stored if said.is_unused(each)]
        self._unused.setVisible(len(unused) > 1)
        self._unused.setText(tr("Remove {count} unused", count=len(unused)))
        self._stored.show()

    # what a person wants

    def _on_stored(self, name: str) -> None:
        if running := self._running_with(name):
            text = tr("{name} is stored. {servers} still runs with the old value.", name=name, servers=", ".join(running))
            offer_restart(self.context, text, running)
        else:
            self.context.say(tr("{name} is stored", name=name))
        self._look()

    def _running_with(self, name: str) -> list[str]:
        """Returns the running servers that got the secret's previous value, and get the new one only after a restart."""
        users = next((each.used_by for each in self._secrets.secrets if each.name == name and each.is_stored), ())
        found = [self.context.servers.find(user) for user in users]
        return [server.name for server in found if server is not None and server.state is ServerState.RUNNING]

    def _end(self, secret: SecretSnapshot) -> None:
        if secret.kind == "sign-in":
            server = secret.used_by[0]
            toast = tr("You are signed out of {name}", name=server)
            self.run(self.hub.sign_ins.sign_out(server), then=self._read, toast=toast)
        else:
            self.run(self._remove([secret.name]), then=self._read)

    def _on_remove_unused(self) -> None:
        self.run(self._remove([each.name for each in self._secrets.secrets if said.is_unused(each)]), then=self._read)

    async def _remove(self, names: list[str]) -> None:
        gone: list[str] = []
        try:
            for name in names:
                await self.hub.secrets.remove_secret(name)
                gone.append(name)
        finally:
            if gone:
                self.context.offer_undo(said.removed_words(gone), partial(self._restore, gone))

    async def _restore(self, names: list[str]) -> None:
        try:
            for name in names:
                await self.hub.secrets.restore_secret(name)
        finally:
            self._look()

    def _show_asked(self) -> None:
        if not self._asked or not self._reading.isHidden() or self.context.sheets.sheet is not None:
            return
        name, self._asked = self._asked, ""
        secret = next((each for each in self._secrets.secrets if each.name == name), SecretSnapshot(name, False))
        QTimer.singleShot(0, self, partial(self.open_secret, secret))  # once the window has come to rest on this page
