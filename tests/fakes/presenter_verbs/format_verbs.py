"""FakePresenter's verbs about tools and calls in the forms of models' APIs. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse


class FormatVerbs(HubInMemory):
    async def mcp_tools_to_openai_tools(self, server: str | None = None, api: str = "chat") -> list[dict[str, Any]]:
        self._note("mcp_tools_to_openai_tools", server, api)
        return []

    async def openai_tools_to_mcp_tool(self, call: Mapping[str, Any]) -> MCPToolCall:
        self._note("openai_tools_to_mcp_tool", call)
        return MCPToolCall("1", "", {})

    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("mcp_tools_to_anthropic_tools", server)
        return []

    async def anthropic_tool_use_to_mcp_tool(self, tool_use: Mapping[str, Any]) -> MCPToolCall:
        self._note("anthropic_tool_use_to_mcp_tool", tool_use)
        return MCPToolCall("1", "", {})

    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("mcp_tools_to_gemini_tools", server)
        return []

    async def gemini_function_call_to_mcp_tool(self, function_call: Mapping[str, Any]) -> MCPToolCall:
        self._note("gemini_function_call_to_mcp_tool", function_call)
        return MCPToolCall("1", "", {})

    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> dict[str, Any]:
        self._note("mcp_response_to_openai", response, api)
        return {}

    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> dict[str, Any]:
        self._note("mcp_response_to_anthropic", response)
        return {}

    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> dict[str, Any]:
        self._note("mcp_response_to_gemini", response)
        return {}
