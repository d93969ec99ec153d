"""Events about servers for other rooms of the engine. They carry objects of it and never leave the process."""

from typing import TYPE_CHECKING

from msgspec import Raw

from tooltray.events import Event

if TYPE_CHECKING:
    from tooltray.upstream.managed_server import ManagedServer
    from tooltray.upstream.mcp_client import McpClient


class ServerStateChanged(Event, frozen=True):
    """Something that a card shows of a server changed: its state, its instances, a problem, a sign-in. It may have been removed."""

    server: "ManagedServer"


class InstanceOpened(Event, frozen=True):
    """An instance of a server is connected, for the first time or again."""

    server: "ManagedServer"
    client: "McpClient"


class ServerNotified(Event, frozen=True):
    """A server sent a notification that belongs to no call, or would have sent it if it could."""

    client: "McpClient"
    method: str
    params: Raw


class ServersConfigured(Event, frozen=True):
    """ServerManager has the servers of the settings as they are since the last ConfigChanged."""
