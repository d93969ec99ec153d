"""Events about servers for other rooms of the engine. They carry objects of it and never leave the process."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Raw

from tooltray.events import Event

if TYPE_CHECKING:
    from tooltray.upstream.managed_server import ManagedServer
    from tooltray.upstream.mcp_client import McpClient


@dataclass(frozen=True)
class ServerStateChanged(Event):
    """Something that a card shows of a server changed: its state, its instances, a problem, a sign-in. It may have been removed."""

    server: "ManagedServer"


@dataclass(frozen=True)
class InstanceOpened(Event):
    """An instance of a server is connected, for the first time or again."""

    server: "ManagedServer"
    client: "McpClient"


@dataclass(frozen=True)
class ServerNotified(Event):
    """A server sent a notification that belongs to no call, or would have sent it if it could."""

    client: "McpClient"
    method: str
    params: Raw


@dataclass(frozen=True)
class ServersConfigured(Event):
    """ServerManager has the servers of the settings as they are since the last ConfigChanged."""
