"""FakePresenter's verbs about tools and calls. Mixed into it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.events import ToolListChanged
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.snapshots.tools import ToolSnapshot


class ToolVerbs(HubInMemory):
    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        return [{"name": each.name} for each in await self.get_tools(server)]

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        self._note("get_tools", server)
        return [each for each in self.tools if server in (None, each.server)]

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        self._note("set_tool_enabled", server, tool, enabled)
        self.tools = [
            replace(each, is_enabled=enabled) if (each.server, each.original_name) == (server, tool) else each for each in self.tools
        ]
        self.bus.publish(ToolListChanged(server))

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        self._note("call_tool", name, dict(arguments))
        return {"content": []}

    async def reset_tool_names(self) -> None:
        self._note("reset_tool_names")

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        self._note("run_tool_call", call)
        return MCPToolResponse(call.name, call.server, "fake", "ok", 0.0, 0, 0, call.id, {"content": []})
