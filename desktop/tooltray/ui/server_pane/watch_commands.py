"""Carries out the user's actions on Watch: begins and ends it, reads what was seen, uses the proposed profile. Knows no widget."""

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.snapshots.confinement import WatchSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class WatchCommands(Commands):
    looked = Signal(object)  # WatchSnapshot

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None, server: str) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._server = server

    @action(clears=False)
    async def look(self) -> None:
        """Reads what was seen up to now."""
        found: WatchSnapshot | None = await self._hub.confinement.get_watch(self._server)
        self.looked.emit(found or WatchSnapshot(self._server))

    @action()
    async def start(self) -> None:
        self.looked.emit(await self._hub.confinement.watch_server(self._server))

    @action()
    async def stop(self) -> None:
        self.looked.emit(await self._hub.confinement.stop_watching(self._server))

    @action()
    async def use(self) -> None:
        """Confines the server by the proposed profile."""
        await self._hub.confinement.apply_proposal(self._server)
        self.done.emit(tr("{server} is sandboxed as proposed", server=self._server))
