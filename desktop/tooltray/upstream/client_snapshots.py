"""The connections to servers as a list shows them: what each server said of itself, and how much it offers.

Above it: McpPresenter. Below it: ManagedServer and its copies.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tooltray.protocol import envelope
from tooltray.protocol.protocol import SERVER_INFO_KEY
from tooltray.snapshots.servers import McpClientSnapshot
from tooltray.upstream.instance import Instance
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.mcp_client import McpClient


def snapshots(server: ManagedServer, *, tools: int, prompts: int, resources: int) -> Iterable[McpClientSnapshot]:
    """Those of one server that are there now.

    Args:
        tools, prompts, resources: how many it offers.
    """
    for instance in server.instances:
        if client := instance.client:
            yield _snapshot(instance, client, tools, prompts, resources)


def _snapshot(instance: Instance, client: McpClient, tools: int, prompts: int, resources: int) -> McpClientSnapshot:
    return McpClientSnapshot(
        server=client.name,
        era=client.era.value,
        protocol_version=client.greeting.version,
        server_info=_server_info(client),
        capabilities=tuple(sorted(name for name, value in client.greeting.capabilities.items() if value not in (None, False))),
        tool_count=tools,
        prompt_count=prompts,
        resource_count=resources,
        is_of_one_session=client.owner is not None,
        pids=instance.pids,
    )


def _server_info(client: McpClient) -> Mapping[str, Any]:
    """Each era has its own place for it; some servers say nothing."""
    said = envelope.load(client.greeting.result)
    meta = said.get("_meta")
    info = said.get("serverInfo") or (meta.get(SERVER_INFO_KEY) if isinstance(meta, dict) else None)
    return info if isinstance(info, dict) else {}
