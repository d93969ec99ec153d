"""QtMcpPresenter's verbs about tools. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.ui.presenter.link import EngineLink


class ToolVerbs:
    _link: EngineLink

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_tool_definitions(server))

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        return await self._link.run(lambda engine: engine.get_tools(server))

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        await self._link.run(lambda engine: engine.set_tool_enabled(server, tool, enabled))

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.call_tool(name, arguments, project))

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        return await self._link.run(lambda engine: engine.run_tool_call(call))

    async def reset_tool_names(self) -> None:
        await self._link.run(lambda engine: engine.reset_tool_names())
