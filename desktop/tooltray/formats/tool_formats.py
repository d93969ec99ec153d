"""The tools that AI clients see, in the formats of model providers, and their calls and results on the way back.

Above it: McpPresenter. Below it: ToolManager, which knows the tools, and one module per format in tools/formats. A format writes names as
its provider takes them; here they become published names again, by the same definitions.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.errors import NotFound
from tooltray.formats import find_format
from tooltray.formats.declared import argument_names
from tooltray.formats.names import NameMap
from tooltray.protocol import envelope
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.tasks import finish_in_thread
from tooltray.upstream.server_manager import ServerManager


class ToolFormats:
    """Belongs to the engine's loop; what grows with schemas and results is done in threads."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager) -> None:
        self._servers, self._tools = servers, tools

    async def tools(self, format: str, server: str | None) -> list[dict[str, Any]]:
        """All tools that AI clients see.

        Args:
            format: the name of one of `FORMATS`.
            server: this one's tools only.

        Raises:
            TooltrayError: there is no such format or server.
        """
        found = find_format(format)
        if server is not None:
            self._servers.get(server)
        published = await self._tools.published(server)
        return await finish_in_thread(
            lambda: found.tools([_definition(name, route) for name, route in published if not route.definition.is_task_only])
        )

    async def call(self, format: str, call: Mapping[str, Any]) -> MCPToolCall:
        """A call of a model, under the published name.

        Raises:
            TooltrayError: there is no such format, it is no call, or it names no tool of ours.
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

    async def response(self, format: str, response: MCPToolResponse) -> dict[str, Any]:
        """What a tool gave, as the provider wants it back.

        Raises:
            TooltrayError: there is no such format, or no result in the response.
        """
        found = find_format(format)
        names = NameMap([name for name, _ in await self._tools.published()], found.tool_names)
        return await finish_in_thread(found.response, replace(response, tool=names.theirs(response.tool)))


def _definition(name: str, route: Route) -> dict[str, Any]:
    """As `tools/list` has it; without its schema if that is nested deeper than Python can hold."""
    try:
        definition: dict[str, Any] = envelope.load(route.published(name))
    except ValueError:
        return {"name": name, "description": route.description}
    return definition
