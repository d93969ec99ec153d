"""The API about the formats of model providers."""

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
        """Returns all tools that AI clients see, for OpenAI's API.

        Args:
            server: only the tools of this server.
            api: "chat" or "responses".

        Raises:
            TooltrayError: the server or the API does not exist.
        """
        return await self._formats.tools(_of_openai(api), server)

    @verb("call")
    async def openai_tools_to_mcp_tool(self, call: JsonObject) -> MCPToolCall:
        """Converts a tool call of OpenAI's API, of either kind, into the arguments of `run_tool_call`.

        Raises:
            TooltrayError: it is not a call, names no tool of Tooltray, or its arguments are not a JSON object; says where.
        """
        return await self._formats.call("openai_responses" if call.get("type") == "function_call" else "openai_chat", call)

    @verb("read")
    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns all tools that AI clients see, for Anthropic's API; `server`: only the tools of this server."""
        return await self._formats.tools("anthropic", server)

    @verb("call")
    async def anthropic_tool_use_to_mcp_tool(self, tool_use: JsonObject) -> MCPToolCall:
        """Converts a `tool_use` block of Anthropic's API into the arguments of `run_tool_call`; errors as `openai_tools_to_mcp_tool`."""
        return await self._formats.call("anthropic", tool_use)

    @verb("read")
    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns all tools that AI clients see, for Gemini's API; `server`: only the tools of this server."""
        return await self._formats.tools("gemini", server)

    @verb("read")
    async def mcp_tools_to_copilot_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns `name`, `description`, `parameters` and `tool` (the name for `call_tool`) of each tool that AI clients see, as the `Tool`
        class of the Copilot SDK takes them.

        Args:
            server: only the tools of this server.
        """
        return await self._formats.copilot_tools(server)

    @verb("call")
    async def gemini_function_call_to_mcp_tool(self, function_call: JsonObject) -> MCPToolCall:
        """Converts a `functionCall` part of Gemini's API into the arguments of `run_tool_call`; errors as `openai_tools_to_mcp_tool`."""
        return await self._formats.call("gemini", function_call)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> JsonObject:
        """Converts the result of `run_tool_call` into the message or item that OpenAI's API expects.

        Args:
            api: "chat" or "responses".

        Raises:
            TooltrayError: the API does not exist, or the response has no result.
        """
        return await self._formats.response(_of_openai(api), response)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> JsonObject:
        """Converts the result of `run_tool_call` into a `tool_result` block of Anthropic's API."""
        return await self._formats.response("anthropic", response)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> JsonObject:
        """Converts the result of `run_tool_call` into a `functionResponse` part of Gemini's API."""
        return await self._formats.response("gemini", response)
