"""Makes what serves one server of a config to its clients.

Above it: ServedListener. Below it: served_server, imported when the first endpoint opens.
"""

from typing import TYPE_CHECKING, Protocol

from msgspec import Raw

from tooltray.carriers.mcp.http_sessions import OpensClients
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import DeadlineWheel

if TYPE_CHECKING:
    from tooltray.carriers.mcp.served.served_server import ServedServer


class Schemas(Protocol):
    """What of SessionServers is used."""

    def tool_schema(self, name: str, server: str | None) -> Raw | None: ...


class ServedServers:
    """Belongs to the engine's loop."""

    def __init__(self, *, sessions: OpensClients, session_servers: Schemas, deadlines: DeadlineWheel, spawn: Spawn) -> None:
        self._sessions, self._schemas, self._deadlines, self._spawn = sessions, session_servers, deadlines, spawn

    def make(self, server: str) -> "ServedServer":
        """
        Args:
            server: its name here.
        """
        from tooltray.carriers.mcp.served.served_server import ServedServer

        schema = self._schemas.tool_schema
        return ServedServer(server, opens=self._sessions, tool_schema=schema, deadlines=self._deadlines, spawn=self._spawn)
