"""QtMcpPresenter's verbs about the formats in which models are told of tools. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.ui.presenter.link import EngineLink


class FormatVerbs:
    _link: EngineLink

    async def mcp_tools_to_openai_tools(self, server: str | None = None, api: str = "chat") -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.mcp_tools_to_openai_tools(server, api))

    async def openai_tools_to_mcp_tool(self, call: Mapping[str, Any]) -> MCPToolCall:
        return await self._link.run(lambda engine: engine.openai_tools_to_mcp_tool(call))

    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.mcp_tools_to_anthropic_tools(server))

    async def anthropic_tool_use_to_mcp_tool(self, tool_use: Mapping[str, Any]) -> MCPToolCall:
        return await self._link.run(lambda engine: engine.anthropic_tool_use_to_mcp_tool(tool_use))

    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.mcp_tools_to_gemini_tools(server))

    async def gemini_function_call_to_mcp_tool(self, function_call: Mapping[str, Any]) -> MCPToolCall:
        return await self._link.run(lambda engine: engine.gemini_function_call_to_mcp_tool(function_call))

    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.mcp_response_to_openai(response, api))

    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.mcp_response_to_anthropic(response))

    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.mcp_response_to_gemini(response))
