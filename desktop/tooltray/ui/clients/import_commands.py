"""Imports servers from AI clients: reads the candidates, imports the ones that the user chose, and reports the outcome. Knows no widget."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.action import Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

Values = Mapping[str, Mapping[str, FieldValue]]


class ImportCommands(Commands):
    planned = Signal(object)  # ImportPlan
    progressed = Signal(object)  # ImportProgressed
    outcome_changed = Signal(object)  # list[ImportedServer]

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._clients: list[str] = []
        self._text = self._file = ""
        hub.import_progressed.connect(self.progressed)

    @action()
    async def plan(self, clients: Sequence[str], text: str = "", file: str = "") -> None:
        """Reads what can be imported; emits `planned`, or `refused`.

        Args:
            clients: their ids; none, and neither text nor file: all.
        """
        self._clients, self._text, self._file = list(clients), text, file
        try:
            self.planned.emit(await self._hub.ai_clients.preview_client_import(self._clients, text, file))
        except TooltrayError as error:
            self.refused.emit(error.problem)

    @action()
    async def run(self, names: Mapping[str, str], values: Values, tidy: bool) -> None:
        """Imports what the user chose of the last plan; emits `outcome_changed`, or `refused` and imports nothing.

        Args:
            names: under which servers are added, by the candidates' ids.
            values: the values that candidates need, by the candidates' ids.
            tidy: whether entries are removed from their clients once their servers have listed their tools.
        """
        try:
            outcome = await self._hub.ai_clients.import_servers(
                list(names), dict(names), dict(values), tidy, self._clients, self._text, self._file
            )
        except TooltrayError as error:
            self.refused.emit(error.problem)
            return
        self.outcome_changed.emit(outcome)

    @action()
    async def cancel(self) -> None:
        """Ends an import; the servers imported so far stay, and the outcome lists them."""
        await self._hub.ai_clients.cancel_import()
