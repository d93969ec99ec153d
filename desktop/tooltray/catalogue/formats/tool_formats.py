"""Converts the tools that AI clients see into the formats of model providers, and calls and results back. A format maps names to those that
its provider accepts; here they are mapped back to published names.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from tooltray.catalogue.formats import find_format
from tooltray.catalogue.formats.copilot_names import copilot_description, copilot_names, copilot_parameters
from tooltray.catalogue.formats.declared import argument_names
from tooltray.catalogue.formats.names import NameMap
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.errors import NotFound
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol import envelope
from tooltray.servers.upstream.server_manager import ServerManager


class ToolFormats:
    """Conversions to and from all formats. Belongs to the engine's loop; schemas and results, which may be large, are converted in
    threads.
    """

    def __init__(self, *, servers: ServerManager, tools: ToolManager) -> None:
        self._servers, self._tools = servers, tools

    async def tools(self, format: str, server: str | None) -> list[JsonObject]:
        """Returns all tools that AI clients see, in a format.

        Args:
            format: a key of `FORMATS`.
            server: only the tools of this server; None: all.

        Raises:
            TooltrayError: the format or the server does not exist.
        """
        found = find_format(format)
        if server is not None:
            self._servers.get(server)
        published = await self._tools.published(server)
        return await finish_in_thread(lambda: found.tools([_definition(name, route) for name, route in published if _is_for_models(route)]))

    async def copilot_tools(self, server: str | None) -> list[JsonObject]:
        """Returns name, description and parameters of each tool for the `Tool` class of the Copilot SDK, and its published name.

        Args:
            server: only the tools of this server; None: all.

        Raises:
            NotFound: the server does not exist.
        """
        if server is not None:
            self._servers.get(server)
        published = await self._tools.published(server)
        return await finish_in_thread(_for_copilot, published)

    async def call(self, format: str, call: Mapping[str, object]) -> MCPToolCall:
        """Converts a model's call; tool and arguments get their published names.

        Raises:
            TooltrayError: the format does not exist, the object is not a call, or the tool is unknown.
        """
        found = find_format(format)
        made = found.call(call)
        routes = dict(await self._tools.published())
        name = NameMap(routes, found.tool_names).ours(made.name)
        if name is None:
            raise NotFound(f"there is no tool '{made.name}'", hint="It may have been switched off, or its server removed.")
        route = routes[name]
        arguments = argument_names(_definition(name, route), found.argument_names).arguments(made.arguments)
        return MCPToolCall(made.id, name, arguments, route.server)

    async def response(self, format: str, response: MCPToolResponse) -> JsonObject:
        """Converts a tool's result into the block that the provider expects.

        Raises:
            TooltrayError: the format does not exist, or the response has no result.
        """
        found = find_format(format)
        names = NameMap([name for name, _ in await self._tools.published()], found.tool_names)
        return await finish_in_thread(found.response, replace(response, tool=names.theirs(response.tool)))


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
