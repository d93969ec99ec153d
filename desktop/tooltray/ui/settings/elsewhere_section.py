"""Secrets that are kept elsewhere: where each comes from, what uses it, and the user's commands. Draws frozen snapshots without values."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.command_sheet import CommandPanel
from tooltray.ui.settings.command_words import PREFIX, Commands, kept_elsewhere, note, source, verb
from tooltray.ui.settings.secret_commands import SecretCommands
from tooltray.ui.settings.secret_words import removed_words, used_by
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import show_toast

PASS, KEYRING, COMMAND = "${secret:pass:PATH}", "${secret:keyring:SERVICE/NAME}", "${secret:command:NAME}"


class ElsewhereSection(QWidget):
    """A section with secrets that are kept elsewhere. `opened` carries the SecretSnapshot of the row that the user wants to see."""

    opened = Signal(object)

    def __init__(self, context: PageContext, commands: SecretCommands) -> None:
        super().__init__()
        theme = context.theme
        self._context, self._commands = context, commands
        self._secrets: Sequence[SecretSnapshot] = ()
        self._known: Commands = {}
        body = column(self, spacing=10)
        text = tr("Fetched from there each time a server starts. Tooltray does not store them.")
        add = Button(theme, tr("Add a command…"), icon="plus", small=True)
        add.clicked.connect(partial(self.open_command, None))
        body.addLayout(heading(theme, tr("Kept elsewhere"), ElidedLabel(theme, text, "caption", "muted"), add))
        box = Surface(theme)
        lines = column(box, margins=(16, 1, 16, 1))
        self.table = Table(theme, self._columns(), tr("Secrets kept elsewhere"), lambda each: each.name, in_card=True, has_header=True)
        self.table.pressed.connect(self.opened)
        self.table.row_chosen.connect(self.opened)
        lines.addWidget(self.table)
        self._none = Label(theme, _none_yet(), "body", "muted", wrap=True)
        self._none.setContentsMargins(0, 14, 0, 14)
        lines.addWidget(self._none)
        body.addWidget(box)
        commands.commands_known.connect(self._on_known)
        commands.command_saved.connect(self._on_saved)
        commands.command_removed.connect(self._on_removed)
        self.hide()

    def show_secrets(self, secrets: Sequence[SecretSnapshot]) -> None:
        """Shows the secrets that are kept elsewhere, and the commands of the settings."""
        self._secrets = secrets
        rows = kept_elsewhere(secrets, self._known)
        self.table.set_rows(rows)
        self.table.fit_height()
        self.table.viewport().update()  # a row's command may be another one
        self.table.setVisible(bool(rows))
        self._none.setVisible(not rows)
        self.show()

    def open_command(self, secret: SecretSnapshot | None) -> None:
        """Opens the sheet of the command that prints a secret; None: of a new one."""
        if self._context.sheets.sheet is None:
            commands, panel = self._commands, CommandPanel(self._context.theme, secret, self._known)
            sheet = self._context.sheets.open(panel)
            panel.close_requested.connect(sheet.dismiss)
            panel.save_requested.connect(commands.save_command)
            panel.remove_requested.connect(commands.remove_command)
            commands.refused.connect(panel.show_problem)
            commands.command_saved.connect(sheet.dismiss)
            commands.command_removed.connect(sheet.dismiss)

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

    def _on_known(self, commands: Commands) -> None:
        self._known = commands

    def _on_saved(self, name: str) -> None:
        users = next((each.used_by for each in self._secrets if each.name == PREFIX + name), ())
        servers = [user for user in users if self._context.servers.find(user) is not None]
        if not servers:
            self._context.say(tr("{name} is saved", name=name))
            return
        text = tr("{name} is saved. It counts when {servers} starts again.", name=name, servers=", ".join(servers))
        toast = show_toast(self._context.theme, self._context.window, text, tr("Restart"))
        toast.action_requested.connect(partial(self._restart, servers))

    def _restart(self, servers: Sequence[str]) -> None:
        for server in servers:
            self._context.wishes.restart_requested.emit(server)

    def _on_removed(self, name: str, words: Sequence[str]) -> None:
        toast = self._context.offer_undo(removed_words([name]))
        toast.action_requested.connect(partial(self._commands.restore_command, name, words))


def _none_yet() -> str:
    return tr(
        "None yet. A server's settings can name {first} or {second}, or {third} for a command that you add here.",
        first=PASS,
        second=KEYRING,
        third=COMMAND,
    )
