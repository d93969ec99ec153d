"""The sections about the places of secrets: where stored ones are kept, with what to do if that cannot be used; and secrets that are kept
elsewhere, with the user's commands. Draw frozen snapshots without values."""

from collections.abc import Callable, Sequence
from functools import partial

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import SecretsHelp, open_secrets
from tooltray.ui.kit.section import Section, TableSection
from tooltray.ui.settings.secret_sheets import CommandSheet
from tooltray.ui.settings.secret_words import (
    PREFIX,
    SETTING,
    Commands,
    kept_elsewhere,
    note,
    place_look,
    places,
    removed_words,
    source,
    used_by,
    verb,
)
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import group, setting_row, text_line
from tooltray.ui.widgets.surface import clear
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import show_toast
from tooltray.ui.zoom import px

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
        self._choice = Choice(theme, places(), name=tr("Place"))
        self._choice.setMinimumWidth(px(CHOICE_WIDTH))
        self._choice.chosen_changed.connect(self._on_chosen)
        self._state = StateBadge(theme, place_look(StoredSecrets("")))
        self._check = Button(theme, tr("Try it"), small=True, on_click=self._on_check)
        self._passphrase = text_line(theme, tr("Passphrase for the file"), is_secret=True)
        self._passphrase.setMinimumWidth(px(CHOICE_WIDTH))
        self._passphrase.textChanged.connect(self._draw)
        self._passphrase.returnPressed.connect(self._on_use_file)
        self._use = Button(theme, tr("Use the file"), on_click=self._on_use_file)
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
        self._state.set_look(place_look(secrets))
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

    def _on_check(self) -> None:
        self.run(open_secrets(self.hub, "", ""), then=self._read, button=self._check)

    def _on_chosen(self, kind: str) -> None:
        self._draw()
        if kind != "file" and kind != self._backend:
            self._use_place(kind, "")
        elif kind == "file":
            self._passphrase.setFocus()

    def _on_use_file(self) -> None:
        if self._use.isEnabled():
            self._use_place("file", self._passphrase.text())

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
        self.show_rows(kept_elsewhere(secrets, commands))
        self.table.viewport().update()  # a row's command may be another one
        self.show()

    def open_command(self, secret: SecretSnapshot | None) -> None:
        """Opens the sheet of the command that prints a secret; None: of a new one."""
        self.context.sheets.show(CommandSheet(self.context, secret, self._known, saved=self._on_saved, removed=self._on_removed))

    def _columns(self) -> list[Column]:
        def origin(secret: SecretSnapshot) -> str:
            return source(secret, self._known)

        return [
            Column(tr("Name"), lambda each: each.name, Kind.MONO, tip=lambda each: each.name),
            Column(tr("From"), origin, Kind.QUIET, tip=origin),
            Column(tr("Used by"), used_by, Kind.QUIET, 150, used_by),
            Column(tr("Note"), lambda each: note(each, self._known), Kind.CHIP, 116),
            Column("", lambda each: verb(each, self._known), Kind.BUTTON, 92),
        ]

    def _on_saved(self, name: str) -> None:
        users = next((each.used_by for each in self._secrets if each.name == PREFIX + name), ())
        if servers := [user for user in users if self.context.servers.find(user) is not None]:
            text = tr("{name} is saved. It counts when {servers} starts again.", name=name, servers=", ".join(servers))
            offer_restart(self.context, text, servers)
        else:
            self.context.say(tr("{name} is saved", name=name))
        self._look()

    def _on_removed(self, name: str, words: Sequence[str]) -> None:
        self.context.offer_undo(removed_words([name]), partial(self._restore, name, words))
        self._look()

    async def _restore(self, name: str, words: Sequence[str]) -> None:
        await self.hub.settings.change_settings({SETTING: {name: list(words)}})
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
