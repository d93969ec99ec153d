"""QtServerManager: the engine's ServerManager for the GUI thread."""

from PySide6.QtCore import Property, QObject, Signal

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class QtServerManager(QObject):
    """The servers' last snapshots; a signal is emitted for each change."""

    servers_changed = Signal()  # after all of the following
    server_changed = Signal(object)  # ServerSnapshot: new, or with another value
    server_removed = Signal(str)

    def __init__(self, hub: QtMcpPresenter) -> None:
        super().__init__()
        self._hub = hub
        self._servers: tuple[ServerSnapshot, ...] = hub.snapshot.servers if hub.snapshot is not None else ()
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    servers: tuple[ServerSnapshot, ...] = Property(object, lambda self: self._servers, notify=servers_changed)  # type: ignore[assignment]
    """The snapshots in the order of the settings; empty until the engine has told."""

    def find(self, name: str) -> ServerSnapshot | None:
        return next((server for server in self._servers if server.name == name), None)

    def _on_snapshot_changed(self) -> None:
        snapshot = self._hub.snapshot
        before = {server.name: server for server in self._servers}
        self._servers = snapshot.servers if snapshot is not None else ()
        for name in before.keys() - {server.name for server in self._servers}:
            self.server_removed.emit(name)
        for server in self._servers:
            known = before.get(server.name)
            if server is not known and server != known:
                self.server_changed.emit(server)
        self.servers_changed.emit()
