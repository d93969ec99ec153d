"""QtMcpClient: the engine's McpClient, one server, for the GUI thread."""

from PySide6.QtCore import Property, QObject, Signal

from tooltray.foundation.snapshots.diagnosis import Diagnosis
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.link.qt_server_manager import QtServerManager


class QtMcpClient(QObject):
    """One server's last snapshot and its log. `removed` is emitted when the server is removed from the settings."""

    snapshot_changed = Signal()
    removed = Signal()

    def __init__(self, hub: QtMcpPresenter, servers: QtServerManager, name: str) -> None:
        super().__init__()
        self._hub, self.name = hub, name
        self._snapshot = servers.find(name)
        servers.server_changed.connect(self._on_server_changed)
        servers.server_removed.connect(self._on_server_removed)

    snapshot: ServerSnapshot | None = Property(object, lambda self: self._snapshot, notify=snapshot_changed)  # type: ignore[assignment]
    """The server as it was last told of; None if it is not known."""

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        if server.name == self.name:
            self._snapshot = server
            self.snapshot_changed.emit()

    def _on_server_removed(self, name: str) -> None:
        if name == self.name:
            self._snapshot = None
            self.removed.emit()

    async def diagnose(self) -> Diagnosis | None:
        """Returns the doctor's diagnosis of the server; None without one."""
        return next(iter(await self._hub.hub.diagnose(self.name)), None)

    async def apply_remedy(self, kind: str, value: str) -> str:
        return await self._hub.setup.apply_remedy(self.name, kind, value)
