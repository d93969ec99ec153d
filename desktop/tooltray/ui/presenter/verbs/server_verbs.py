"""QtMcpPresenter's verbs about servers. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import McpClientSnapshot, ServerEntry
from tooltray.ui.presenter.link import EngineLink


class ServerVerbs:
    _link: EngineLink

    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_mcp_servers())

    async def get_server_entry(self, name: str) -> ServerEntry:
        return await self._link.run(lambda engine: engine.get_server_entry(name))

    async def add_mcp_server(self, name: str, config: Mapping[str, Any], is_default: bool = True, project: str = "") -> str:
        return await self._link.run(lambda engine: engine.add_mcp_server(name, config, is_default, project))

    async def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "") -> None:
        await self._link.run(lambda engine: engine.update_mcp_server(name, config, revision))

    async def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        return await self._link.run(lambda engine: engine.remove_mcp_server(name, revision, keep_secrets))

    async def start_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.start_server(name))

    async def stop_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.stop_server(name))

    async def restart_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.restart_server(name))

    async def is_server_running(self, name: str) -> bool:
        return await self._link.run(lambda engine: engine.is_server_running(name))

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        return await self._link.run(lambda engine: engine.get_mcp_clients())

    async def get_server_log(self, name: str, lines: int = 200) -> list[str]:
        return await self._link.run(lambda engine: engine.get_server_log(name, lines))

    async def get_mcp_default_servers(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_mcp_default_servers())

    async def add_mcp_default_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.add_mcp_default_server(name))

    async def remove_mcp_default_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_mcp_default_server(name))

    async def toggle_mcp_default_server(self, name: str) -> bool:
        return await self._link.run(lambda engine: engine.toggle_mcp_default_server(name))
