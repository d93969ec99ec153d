"""QtToolManager: the engine's ToolManager for the GUI thread. It keeps no list: tools are asked for when they are looked at."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from tooltray.events import ToolListChanged
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.ui.presenter.link import EngineLink
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter


class QtToolManager(QObject):
    tool_list_changed = Signal(str)  # the server whose tools changed

    def __init__(self, link: EngineLink, hub: QtMcpPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        link.news_arrived.connect(self._on_news)

    def _on_news(self, news: tuple[object, ...]) -> None:
        for server in dict.fromkeys(item.server for item in news if isinstance(item, ToolListChanged)):
            self.tool_list_changed.emit(server)

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        return await self._hub.get_tools(server)

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._hub.get_all_tool_definitions(server)

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        await self._hub.set_tool_enabled(server, tool, enabled)

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        return await self._hub.call_tool(name, arguments, project)
