"""Carries out the user's actions on secrets, and reports the outcome. Knows no widget, and keeps no value."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action, at_sheet
from tooltray.ui.kit.secrets_help import open_secrets
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.settings.command_words import SETTING, commands_in


class SecretCommands(Commands):
    secrets_changed = Signal(object)  # StoredSecrets
    commands_known = Signal(object)  # Commands that print secrets; before secrets_changed
    command_saved = Signal(str)  # its name
    command_removed = Signal(str, object)  # its name and its words, to put it back
    read_failed = Signal(object)  # Problem of the last read, or None
    stored = Signal(str)  # a secret's name
    refused_value = Signal(object)  # Problem: this value or name cannot be stored
    place_failed = Signal(object)  # Problem of the place where secrets are kept, or None once it can be used
    removed = Signal(object)  # list[str] of names that can be put back for a while

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._read = CoalescedRead(self._look, tasks=tasks, name="refresh the secrets", show=self.read_failed.emit)

    def look(self) -> None:
        """Reads what the tab shows."""
        self._read.ask()

    @action()
    async def check(self) -> None:
        """Checks whether the place of the secrets can be used; a keyring may show its prompt."""
        await self._use_place("", "")

    @action()
    async def store(self, name: str, value: str) -> None:
        """Stores a value; emits `stored`, `place_failed` or `refused_value`."""
        await self._store(name, value)

    @action()
    async def choose_place(self, kind: str, passphrase: str) -> None:
        """Carries out what `SecretsHelp` requests; emits `place_failed` with the outcome."""
        await self._use_place(kind, passphrase)

    @action()
    async def store_elsewhere(self, kind: str, passphrase: str, name: str, value: str) -> None:
        """Opens another place for secrets, and stores a value there."""
        if (problem := await self._opened(kind, passphrase)) is not None:
            self.place_failed.emit(problem)
        else:
            await self._store(name, value)

    @action(at_sheet)
    async def save_command(self, name: str, words: Sequence[str]) -> None:
        """Saves a command that prints a secret; emits `command_saved` or `refused`."""
        await self._hub.settings.change_settings({SETTING: {name: list(words)}})
        self.command_saved.emit(name)
        await self._look()

    @action(at_sheet)
    async def remove_command(self, name: str, words: Sequence[str]) -> None:
        """Removes a command; emits `command_removed` or `refused`."""
        await self._hub.settings.change_settings({SETTING: {name: None}})
        self.command_removed.emit(name, words)
        await self._look()

    @action()
    async def restore_command(self, name: str, words: Sequence[str]) -> None:
        """Undoes the removal of a command."""
        await self._hub.settings.change_settings({SETTING: {name: list(words)}})
        await self._look()

    @action()
    async def remove(self, names: Sequence[str]) -> None:
        """Deletes secrets; emits `removed`."""
        gone = []
        try:
            for name in names:
                await self._hub.secrets.remove_secret(name)
                gone.append(name)
        finally:
            if gone:
                self.removed.emit(gone)
            await self._look()

    @action()
    async def restore(self, names: Sequence[str]) -> None:
        """Restores secrets that were deleted a moment ago."""
        try:
            for name in names:
                await self._hub.secrets.restore_secret(name)
        finally:
            await self._look()

    @action()
    async def sign_out(self, server: str) -> None:
        """Deletes the tokens of a sign-in."""
        await self._hub.sign_ins.sign_out(server)
        self.done.emit(tr("You are signed out of {name}", name=server))
        await self._look()

    async def _look(self) -> None:
        secrets = await self._hub.secrets.get_secrets()
        self.commands_known.emit(commands_in((await self._hub.settings.get_settings()).settings))
        self.secrets_changed.emit(secrets)

    async def _use_place(self, kind: str, passphrase: str) -> None:
        problem = await self._opened(kind, passphrase)
        await self._look()
        self.place_failed.emit(problem)  # what is known of it is more than that it is locked

    async def _opened(self, kind: str, passphrase: str) -> Problem | None:
        """Opens the place of the secrets; returns why it cannot be used, or None."""
        try:
            await open_secrets(self._hub, kind, passphrase)
        except TooltrayError as error:
            return error.problem
        return None

    async def _store(self, name: str, value: str) -> None:
        try:
            await self._hub.secrets.set_secret(name, value)
        except TooltrayError as error:
            await self._tell_failure(error.problem)
        else:
            self.stored.emit(name)
            await self._look()

    async def _tell_failure(self, problem: Problem) -> None:
        """Shows a failure at the place if the place has a problem, else at the value."""
        secrets = await self._hub.secrets.get_secrets()
        self.secrets_changed.emit(secrets)
        (self.refused_value if secrets.problem is None else self.place_failed).emit(problem)
