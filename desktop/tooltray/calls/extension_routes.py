"""Which server a method of an extension is for, where a session has all servers together.

Above it: AllServers, for requests that no other part knows, and Notifications, for what AI clients say outside of requests. Below it: what
servers declare, the names and URIs by which AI clients know their things, and ServerRelay.
"""

from msgspec import Raw

from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.protocol.envelope import METHOD_NOT_FOUND, Envelope, failure
from tooltray.sessions.caller import Session
from tooltray.sessions.exchange import Exchange
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.relay import ServerRelay
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.views import Views


class ExtensionRoutes:
    """Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        tools: ToolManager,
        prompts: PromptManager,
        resources: ResourceManager,
        relay: ServerRelay,
    ) -> None:
        self._servers, self._views, self._tools, self._prompts = servers, views, tools, prompts
        self._resources, self._relay = resources, relay

    async def answer(self, exchange: Exchange) -> Envelope:
        """Answers a request whose method belongs to no part of the hub: the server does whose extension it is."""
        return failure(METHOD_NOT_FOUND, "Method not found", exchange.request.method)

    def concerned(self, session: Session, method: str, params: Raw) -> list[McpClient]:
        """The connections for which a notification of an AI client is that no part of the hub knows."""
        return []
