"""The servers of AI clients' sessions, and the names and URIs by which clients know servers' tools and resources."""

from collections.abc import Awaitable, Callable

from msgspec import Raw

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager


class SessionServers:
    """Lookups for sessions. Belongs to the engine's loop; has no state."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        resources: ResourceManager,
        look_at_project: Callable[[Session], Awaitable[None]],
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._servers, self._tools, self._resources, self._look_at_project = servers, tools, resources, look_at_project

    def has_server(self, name: str) -> bool:
        """Reports whether there is a server that every session may have."""
        return self._servers.find(name) is not None and self._servers.is_for_all(name)

    async def finds_server(self, session: Session, name: str) -> bool:
        """Reports whether a session may have a server, including one of its own project, whose file may not have been read yet."""
        await self._look_at_project(session)
        return self._servers.find(name) is not None and self._servers.sees(session.state, name)

    def serves(self, client: McpClient, session: Session) -> bool:
        """Reports whether an AI client's session may get news from a connection to a server."""
        return self._servers.serves(client, session)

    async def open_server(self, name: str, era: Era, *, session: Session, timeout_s: float) -> McpClient:
        """Returns the connection to one server, for the greeting and declarations of that server.

        Raises:
            TooltrayError: no server has this name, or it does not run within `timeout_s`.
        """
        return await self._servers.get(name).running(era, timeout_s=timeout_s, session=session)

    def published_uri(self, server: str, uri: str) -> str:
        """Returns the URI by which clients of all servers know a server's resource."""
        return self._resources.published_uri(server, uri)

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        """Returns the schema of a tool's arguments, by the name that AI clients see; None if the tool does not exist."""
        return self._tools.published_schema(name, server)

    @property
    def server_pids(self) -> frozenset[int]:
        """The processes of all servers; each leads a process session of its own."""
        return self._servers.pids
