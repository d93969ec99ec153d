"""Reads, previews and saves the entry of an opened server. Knows no widget. A change is bound to the revision of the entry that the user
saw, so that it never overwrites another change."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import Conflict, Problem, SecretsUnreachable, TooltrayError
from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, Work, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.link.qt_server_manager import QtServerManager


def at_form(commands: "EntryCommands", problem: Problem | None, *_arguments: object) -> None:
    """Shows an error in the form."""
    commands.refused.emit(problem)


class EntryCommands(Commands):
    """The commands of the editor. `refused` of its base carries a Problem for the form, or None after a success."""

    entry_read = Signal(object, str)  # the entry in its file; the revision that a change of it is bound to
    stored_read = Signal(object)  # the names of the secrets there are; None: they cannot be looked into
    previewed = Signal(object)  # ServerUpdatePreview
    saved = Signal(object, str)  # the entry that was replaced; the revision of the one that stands there now
    connected = Signal()  # it was saved, and runs
    changed_meanwhile = Signal()  # somebody else has written it; nothing was saved
    secrets_refused = Signal(object)  # Problem: secrets cannot be kept, and nothing was saved

    def __init__(self, name: str, *, hub: QtMcpPresenter, servers: QtServerManager, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._name, self._servers = name, servers

    @action(at_form)
    async def read(self) -> None:
        """Reads the entry, and the names of stored secrets."""
        server = self._servers.find(self._name)
        revision = server.revision if server is not None else ""  # before the entry: what changes in between is noticed when it is saved
        self.entry_read.emit((await self._hub.servers.get_server_entry(self._name)).entry, revision)
        self.look_at_secrets()

    @action(at_form, clears=False)
    async def look_at_secrets(self) -> None:
        """Reads the names of stored secrets; a locked keyring may wait for the user."""
        try:
            self.stored_read.emit(await self._hub.secrets.get_secret_names())
        except TooltrayError:
            self.stored_read.emit(None)

    @action(at_form)
    async def preview(self, entry: Mapping[str, object]) -> None:
        """Reads what saving would change."""
        self.previewed.emit(await self._hub.servers.preview_server_update(self._name, entry))

    @action(at_form)
    async def save(self, entry: Mapping[str, object], secrets: Mapping[str, str], revision: str, connects: bool) -> None:
        """Replaces the entry and its secrets.

        Args:
            connects: the user wants to see it run. A server that runs with a secret's previous value is restarted in any case.
        """
        found: ServerUpdatePreview = await self._hub.servers.preview_server_update(self._name, entry)
        if found.problem is not None:
            raise TooltrayError(found.problem.title, found.problem.message, found.problem.hint)
        before = (await self._hub.servers.get_server_entry(self._name)).entry
        if revision and found.revision != revision:
            self.changed_meanwhile.emit()
            return
        try:
            await self._hub.servers.update_mcp_server(self._name, entry, found.revision, secrets)
        except Conflict:
            self.changed_meanwhile.emit()
            return
        except SecretsUnreachable as error:
            self.secrets_refused.emit(error.problem)
            return
        now: ServerUpdatePreview = await self._hub.servers.preview_server_update(self._name, before)
        self.saved.emit(before, now.revision)
        if connects or (secrets and entry == before and self._runs()):  # an entry that is the same makes nothing start again
            await self._hub.servers.restart_server(self._name)
        if connects:
            self.connected.emit()

    def _runs(self) -> bool:
        server = self._servers.find(self._name)
        return server is not None and server.state is ServerState.RUNNING

    def put_back(self, entry: Mapping[str, object], revision: str) -> Work:
        """Returns a function that restores the previous entry, unless the entry was changed again by then."""
        servers, name = self._hub.servers, self._name

        async def put_back() -> None:
            try:
                await servers.update_mcp_server(name, entry, revision)
            except Conflict as error:
                raise TooltrayError(tr("'{name}' is not restored", name=name), error.problem.message, error.problem.hint) from None

        return put_back

    @action(at_form)
    async def add_again(self, entry: Mapping[str, object], secrets: Mapping[str, str]) -> None:
        """Adds a server that was removed while the user edited it."""
        try:
            await self._hub.servers.add_mcp_server(self._name, entry, True, "", secrets)
        except SecretsUnreachable as error:
            self.secrets_refused.emit(error.problem)
