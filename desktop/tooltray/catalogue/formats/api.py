"""The API about the formats of model providers."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from tooltray.catalogue.formats import find_format
from tooltray.catalogue.formats.declared import argument_names
from tooltray.catalogue.formats.names import NameMap, copilot_description, copilot_names, copilot_parameters
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import MAX_PICTURES_BYTES, JsonObject, verb
from tooltray.protocol import envelope
from tooltray.servers.upstream.server_manager import ServerManager


def _for_copilot(published: Sequence[tuple[str, Route]]) -> list[JsonObject]:
    names = copilot_names((route.server, route.definition.name) for _, route in published)
    found = []
    for published_name, route in published:
        tool, definition = (route.server, route.definition.name), _definition(published_name, route)
        words, parameters = copilot_description(tool, definition), copilot_parameters(definition.get("inputSchema"))
        found.append({"name": names[tool], "description": words, "parameters": parameters, "tool": published_name})
    return found


def _is_for_models(route: Route) -> bool:
    return route.definition.view.is_for_models and not route.definition.is_task_only


def _definition(name: str, route: Route) -> JsonObject:
    """Returns the definition of `tools/list`; without its schema if that is nested more deeply than Python can parse."""
    try:
        definition: JsonObject = envelope.load(route.published(name))
    except ValueError:
        return {"name": name, "description": route.description}
    return definition


_OPENAI = {"chat": "openai_chat", "responses": "openai_responses"}  # the format of each of its APIs


def _of_openai(api: str) -> str:
    if api not in _OPENAI:
        raise TooltrayError(f"OpenAI has no API '{api}' that takes tools", f"available: {' and '.join(_OPENAI)}")
    return _OPENAI[api]


class FormatsApi:
    """Conversions to and from all formats. Belongs to the engine's loop; schemas and results, which may be large, are converted in
    threads.
    """

    def __init__(self, *, servers: ServerManager, tools: ToolManager) -> None:
        self._servers, self._tools = servers, tools

    @verb("read")
    async def mcp_tools_to_openai_tools(self, server: str | None = None, api: str = "chat") -> list[JsonObject]:
        """Returns all tools that AI clients see, for OpenAI's API.

        Args:
            server: only the tools of this server.
            api: "chat" or "responses".

        Raises:
            TooltrayError: the server or the API does not exist.
        """
        return await self._tools_in(_of_openai(api), server)

    @verb("call")
    async def openai_tools_to_mcp_tool(self, call: JsonObject) -> MCPToolCall:
        """Converts a tool call of OpenAI's API, of either kind, into the arguments of `run_tool_call`.

        Raises:
            TooltrayError: it is not a call, names no tool of Tooltray, or its arguments are not a JSON object; the error has the place.
        """
        return await self._call_of("openai_responses" if call.get("type") == "function_call" else "openai_chat", call)

    @verb("read")
    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns all tools that AI clients see, for Anthropic's API; `server`: only the tools of this server."""
        return await self._tools_in("anthropic", server)

    @verb("call")
    async def anthropic_tool_use_to_mcp_tool(self, tool_use: JsonObject) -> MCPToolCall:
        """Converts a `tool_use` block of Anthropic's API into the arguments of `run_tool_call`; errors as `openai_tools_to_mcp_tool`."""
        return await self._call_of("anthropic", tool_use)

    @verb("read")
    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns all tools that AI clients see, for Gemini's API; `server`: only the tools of this server."""
        return await self._tools_in("gemini", server)

    @verb("read")
    async def mcp_tools_to_copilot_tools(self, server: str | None = None) -> list[JsonObject]:
        """Returns `name`, `description`, `parameters` and `tool` (the name for `call_tool`) of each tool that AI clients see, as the `Tool`
        class of the Copilot SDK takes them.

        Args:
            server: only the tools of this server.
        """
        return await finish_in_thread(_for_copilot, await self._published(server))

    @verb("call")
    async def gemini_function_call_to_mcp_tool(self, function_call: JsonObject) -> MCPToolCall:
        """Converts a `functionCall` part of Gemini's API into the arguments of `run_tool_call`; errors as `openai_tools_to_mcp_tool`."""
        return await self._call_of("gemini", function_call)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> JsonObject:
        """Converts the result of `run_tool_call` into the message or item that OpenAI's API expects.

        Args:
            api: "chat" or "responses".

        Raises:
            TooltrayError: the API does not exist, or the response has no result.
        """
        return await self._response_in(_of_openai(api), response)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> JsonObject:
        """Converts the result of `run_tool_call` into a `tool_result` block of Anthropic's API."""
        return await self._response_in("anthropic", response)

    @verb("call", max_body_bytes=MAX_PICTURES_BYTES)
    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> JsonObject:
        """Converts the result of `run_tool_call` into a `functionResponse` part of Gemini's API."""
        return await self._response_in("gemini", response)

    async def _published(self, server: str | None) -> list[tuple[str, Route]]:
        if server is not None:
            self._servers.get(server)
        return await self._tools.published(server)

    async def _tools_in(self, format: str, server: str | None) -> list[JsonObject]:
        published = await self._published(server)
        made = [(name, route) for name, route in published if _is_for_models(route)]
        return await finish_in_thread(lambda: find_format(format).tools([_definition(*each) for each in made]))

    async def _call_of(self, format: str, call: Mapping[str, object]) -> MCPToolCall:
        """Converts a model's call; tool and arguments get their published names."""
        found = find_format(format)
        made = found.call(call)
        routes = dict(await self._tools.published())
        name = NameMap(routes, found.tool_names).ours(made.name)
        if name is None:
            raise NotFound(f"tool '{made.name}' not found", hint="It may have been switched off, or its server removed.")
        route = routes[name]
        arguments = argument_names(_definition(name, route), found.argument_names).arguments(made.arguments)
        return MCPToolCall(made.id, name, arguments, route.server)

    async def _response_in(self, format: str, response: MCPToolResponse) -> JsonObject:
        found = find_format(format)
        names = NameMap([name for name, _ in await self._tools.published()], found.tool_names)
        return await finish_in_thread(found.response, replace(response, tool=names.theirs(response.tool)))
