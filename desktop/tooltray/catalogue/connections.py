"""All connections to running servers, for a list: what each server declares about itself, and how many tools, prompts and resources it
offers.
"""

from collections.abc import Mapping

from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.foundation.snapshots.servers import McpClientSnapshot
from tooltray.protocol import envelope
from tooltray.protocol.eras import SERVER_INFO_KEY
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager


class Connections:
    """A reader of all connections to running servers. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, prompts: PromptManager, resources: ResourceManager) -> None:
        self._servers, self._tools, self._prompts, self._resources = servers, tools, prompts, resources

    def snapshots(self) -> list[McpClientSnapshot]:
        instances = [instance for server in self._servers for instance in server.instances]
        return [self._snapshot(instance, client) for instance in instances if (client := instance.client)]

    def _snapshot(self, instance: Instance, client: McpClient) -> McpClientSnapshot:
        capabilities = client.greeting.capabilities
        return McpClientSnapshot(
            server=client.name,
            era=client.era.value,
            protocol_version=client.greeting.version,
            server_info=_server_info(client),
            capabilities=tuple(sorted(name for name, value in capabilities.items() if value not in (None, False))),
            tool_count=self._tools.tool_count(client.name),
            prompt_count=self._prompts.count(client.name),
            resource_count=self._resources.count(client.name),
            is_of_one_session=client.owner is not None,
            pids=instance.pids,
        )


def _server_info(client: McpClient) -> Mapping[str, object]:
    """Returns a server's `serverInfo`, which is in a different place in each era; empty if it is missing."""
    said = envelope.load(client.greeting.result)
    meta = said.get("_meta")
    info = said.get("serverInfo") or (meta.get(SERVER_INFO_KEY) if isinstance(meta, dict) else None)
    return info if isinstance(info, dict) else {}
