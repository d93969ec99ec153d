"""QtServerManager: the engine's ServerManager for the GUI thread."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Property, QObject, Signal

from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import ServerEntry, ServerSnapshot
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter


class QtServerManager(QObject):
    """The servers' last snapshots, told one by one as they change, and the verbs that concern servers."""

    servers_changed = Signal()  # after all of the following
    server_changed = Signal(object)  # ServerSnapshot: new, or with another value
    server_removed = Signal(str)

    def __init__(self, hub: QtMcpPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._servers: tuple[ServerSnapshot, ...] = ()
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    def _get_servers(self) -> tuple[ServerSnapshot, ...]:
        return self._servers

    servers: tuple[ServerSnapshot, ...] = Property(object, _get_servers, notify=servers_changed)  # type: ignore[assignment]
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

    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        return await self._hub.get_mcp_servers()

    async def get_server_entry(self, name: str) -> ServerEntry:
        return await self._hub.get_server_entry(name)

    async def add_mcp_server(self, name: str, config: Mapping[str, Any], is_default: bool = True, project: str = "") -> str:
        return await self._hub.add_mcp_server(name, config, is_default, project)

    async def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "") -> None:
        await self._hub.update_mcp_server(name, config, revision)

    async def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        return await self._hub.remove_mcp_server(name, revision, keep_secrets)

    async def start_server(self, name: str) -> None:
        await self._hub.start_server(name)

    async def stop_server(self, name: str) -> None:
        await self._hub.stop_server(name)

    async def restart_server(self, name: str) -> None:
        await self._hub.restart_server(name)

    async def get_mcp_default_servers(self) -> list[str]:
        return await self._hub.get_mcp_default_servers()

    async def add_mcp_default_server(self, name: str) -> None:
        await self._hub.add_mcp_default_server(name)

    async def remove_mcp_default_server(self, name: str) -> None:
        await self._hub.remove_mcp_default_server(name)
