"""Carries out what the user asks of the AI clients on this computer: connect, disconnect, undo. Knows no widget."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class ComputerCommands(Commands):
    changes_read = Signal(object)  # list[ClientChange], what was made before
    edits_previewed = Signal(object)  # list[ClientEdit]
    edits_applied = Signal(object)  # list[ClientChange]
    change_undone = Signal(object)  # ClientChange: what undoing did

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._reading = CoalescedRead(self._read_changes, tasks=tasks, name="changes of AI clients", show=self.failed.emit)

    def read_changes(self) -> None:
        """Reads what was changed in AI clients' files."""
        self._reading.ask()

    async def _read_changes(self) -> None:
        self.changes_read.emit(await self._hub.ai_clients.get_client_changes())

    @action()
    async def preview_connect(self, clients: Sequence[str]) -> None:
        """Reads what connecting would change; emits `edits_previewed`."""
        self.edits_previewed.emit(await self._hub.ai_clients.preview_connect(list(clients)))

    @action()
    async def preview_disconnect(self, clients: Sequence[str]) -> None:
        """Reads what disconnecting would change; emits `edits_previewed`."""
        self.edits_previewed.emit(await self._hub.ai_clients.preview_disconnect(list(clients)))

    @action()
    async def apply(self, edits: Mapping[str, str]) -> None:
        """Makes changes that the user has seen; emits `edits_applied`, or `refused` and changes nothing."""
        try:
            changes = await self._hub.ai_clients.apply_client_edits(dict(edits))
        except TooltrayError as error:
            self.refused.emit(error.problem)
            return
        self.edits_applied.emit(changes)
        self.read_changes()

    @action()
    async def undo(self, id: str) -> None:
        """Undoes a change and emits `change_undone`; a failure leaves the file unchanged."""
        try:
            undone = await self._hub.ai_clients.undo_client_change(id)
            if undone.problem is not None:
                raise TooltrayError(undone.problem.title, undone.problem.message, undone.problem.hint)
            self.change_undone.emit(undone)
        finally:
            self.read_changes()
