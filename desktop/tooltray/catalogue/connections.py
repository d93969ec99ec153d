"""Every connection to a running server, with how much the server offers.

Above it: the API. Below it: ServerManager, and the managers of tools, prompts and resources, which count.
"""

from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.snapshots.servers import McpClientSnapshot
from tooltray.upstream import client_snapshots
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.server_manager import ServerManager


class Connections:
    """Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, prompts: PromptManager, resources: ResourceManager) -> None:
        self._servers, self._tools, self._prompts, self._resources = servers, tools, prompts, resources

    def snapshots(self) -> list[McpClientSnapshot]:
        return [client for server in self._servers for client in self._of(server)]

    def _of(self, server: ManagedServer) -> list[McpClientSnapshot]:
        name = server.name
        tools, prompts, resources = self._tools.tool_count(name), self._prompts.count(name), self._resources.count(name)
        return list(client_snapshots.snapshots(server, tools=tools, prompts=prompts, resources=resources))
