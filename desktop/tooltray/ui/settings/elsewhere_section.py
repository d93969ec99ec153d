"""Secrets that are kept elsewhere: where each comes from, what uses it, and the user's commands. Draws frozen snapshots without values."""

from collections.abc import Callable, Sequence
from functools import partial

from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.settings.command_sheet import CommandSheet
from tooltray.ui.settings.command_words import PREFIX, SETTING, Commands, kept_elsewhere, note, source, verb
from tooltray.ui.settings.secret_words import removed_words, used_by
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import show_toast

PASS, KEYRING, COMMAND = "${secret:pass:PATH}", "${secret:keyring:SERVICE/NAME}", "${secret:command:NAME}"


class ElsewhereSection(Section):
    """The section with secrets that are kept elsewhere.

    Args:
        look: reads what the tab shows, in the background.
        open_secret: opens the sheet of a row's secret.
    """

    def __init__(self, context: PageContext, look: Callable[[], None], open_secret: Callable[[SecretSnapshot], None]) -> None:
        theme = context.theme
        text = tr("Fetched from there each time a server starts. Tooltray does not store them.")
        add = Button(theme, tr("Add a command…"), icon="plus", small=True)
        add.clicked.connect(lambda: self.open_command(None))
        super().__init__(context, tr("Kept elsewhere"), ElidedLabel(theme, text, "caption", "muted"), add)
        self._look = look
        self._secrets: Sequence[SecretSnapshot] = ()
        self._known: Commands = {}
        box = Surface(theme)
        lines = column(box, margins=(16, 1, 16, 1))
        self.table = Table(theme, self._columns(), tr("Secrets kept elsewhere"), lambda each: each.name, in_card=True, has_header=True)
        self.table.pressed.connect(open_secret)
        self.table.row_chosen.connect(open_secret)
        lines.addWidget(self.table)
        self._none = Label(theme, _none_yet(), "body", "muted", wrap=True)
        self._none.setContentsMargins(0, 14, 0, 14)
        lines.addWidget(self._none)
        self.body.addWidget(box)
        self.hide()

    def show_secrets(self, secrets: Sequence[SecretSnapshot], commands: Commands) -> None:
        """Shows the secrets that are kept elsewhere, and the commands of the settings."""
        self._secrets, self._known = secrets, commands
        rows = kept_elsewhere(secrets, commands)
        self.table.set_rows(rows)
        self.table.fit_height()
        self.table.viewport().update()  # a row's command may be another one
        self.table.setVisible(bool(rows))
        self._none.setVisible(not rows)
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
