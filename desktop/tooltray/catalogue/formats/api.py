"""The API about the formats of model providers; the formats themselves stand beside it."""

from tooltray.catalogue.formats.tool_formats import ToolFormats
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import MAX_PICTURES_BYTES, verb

_OPENAI = {"chat": "openai_chat", "responses": "openai_responses"}  # the format of each of its APIs


def _of_openai(api: str) -> str:
    if api not in _OPENAI:
        raise TooltrayError(f"OpenAI has no API '{api}' that takes tools", f"there are {' and '.join(_OPENAI)}")
    return _OPENAI[api]


class FormatsApi:
    def __init__(self, *, formats: ToolFormats) -> None:
        self._formats = formats

    @verb("read")
    async def mcp_tools_to_openai_tools(self, server: str | None = None, api: str = "chat") -> list[JsonObject]:
        """All tools that AI clients see, for OpenAI's API.

        Args:
            server: this one's tools only.
            api: "chat" or "responses".

        Raises:
            TooltrayError: there is no such server or API.
        """
        return await self._formats.tools(_of_openai(api), server)

    @verb("call")
    async def openai_tools_to_mcp_tool(self, call: JsonObject) -> MCPToolCall:
        """A tool call of OpenAI's API, of either kind, as it goes to `run_tool_call`.

        Raises:
            TooltrayError: it is none, names no tool of ours, or its arguments are no JSON object; says where.
        """
        return await self._formats.call("openai_responses" if call.get("type") == "function_call" else "openai_chat", call)

    @verb("read")
    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[JsonObject]:
        """All tools that AI clients see, for Anthropic's API; `server`: this one's only."""
        return await self._formats.tools("anthropic", server)

    @verb("call")
    async def anthropic_tool_use_to_mcp_tool(self, tool_use: JsonObject) -> MCPToolCall:
        """A `tool_use` block of Anthropic's API, as it goes to `run_tool_call`; errors as `openai_tools_to_mcp_tool`."""
        return await self._formats.call("anthropic", tool_use)

    @verb("read")
    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[JsonObject]:
        """All tools that AI clients see, for Gemini's API; `server`: this one's only."""
        return await self._formats.tools("gemini", server)

    @verb("read")
    async def mcp_tools_to_copilot_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns `name`, `description`, `parameters` and `tool` (the name for `call_tool`) of each tool that AI clients see, as the `Tool`
        class of the Copilot SDK takes them.

        Args:
            server: this one's tools only.
        """
        return await self._formats.copilot_tools(server)

    @verb("call")
    async def gemini_function_call_to_mcp_tool(self, function_call: JsonObject) -> MCPToolCall:
        """A `functionCall` part of Gemini's API, as it goes to `run_tool_call`; errors as `openai_tools_to_mcp_tool`."""
        return await self._formats.call("gemini", function_call)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> JsonObject:
        """What `run_tool_call` gave, as the message or item that OpenAI's API wants back.

        Args:
            api: "chat" or "responses".

        Raises:
            TooltrayError: there is no such API, or no result in the response.
        """
        return await self._formats.response(_of_openai(api), response)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> JsonObject:
        """What `run_tool_call` gave, as a `tool_result` block of Anthropic's API."""
        return await self._formats.response("anthropic", response)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> JsonObject:
        """What `run_tool_call` gave, as a `functionResponse` part of Gemini's API."""
        return await self._formats.response("gemini", response)
