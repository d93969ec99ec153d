"""Keeps the shared connections to servers up to date with what AI clients declare: an extension that is new on this machine is declared to
servers that run already.

A legacy server gets the declaration once, when its connection is opened, so that connection is opened again as soon as it is idle: a call,
a question or a subscription is use. A server that is a process of ours would lose its state: it is started again only if it was not used
since its start, else it gets the extension at its next start. A modern server reads the declaration in each request, and is listed again.
"""

from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.protocol import declarations
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.eras import Era
from tooltray.servers.transports.transports import is_remote
from tooltray.servers.upstream.client_extensions import ClientExtensions, ExtensionsDeclared
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager, SessionNeeds

LOOKED_AT_AGAIN_AFTER_S = 5.0  # a connection in use; most calls take less
LISTS = ("tools", "prompts", "resources")


class SharedConnections:
    """The connections that are brought up to date. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        client_extensions: ClientExtensions,
        needs: SessionNeeds,
        deadlines: DeadlineWheel,
        bus: EventBus,
    ) -> None:
        self._servers, self._client_extensions, self._needs = servers, client_extensions, needs
        self._deadlines, self._bus = deadlines, bus
        self._again: Deadline | None = None
        bus.subscribe(ExtensionsDeclared, self._on_declared)
        bus.subscribe(InstanceOpened, self._on_instance_opened)

    def _on_declared(self, event: ExtensionsDeclared) -> None:
        for client in [client for _, _, client in self._shared() if client.era is Era.MODERN]:
            for kind in LISTS:
                if kind in client.greeting.capabilities:
                    self._bus.publish(ServerNotified(client, f"notifications/{kind}/list_changed", NOTHING))
        self._look()

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """Checks for extensions that were declared while the connection was being opened."""
        if event.client.owner is None and self._lacks(event.client):
            self._look_later()

    def _look(self) -> None:
        self._again = None
        lacking = [(server, instance) for server, instance, client in self._shared() if self._lacks(client) and _may_end(server)]
        for server, instance in lacking:
            if self._is_idle(server, instance):
                instance.reopen(Phrase("An AI client knows more of the protocol than before; opens a new connection"))
            else:
                self._look_later()

    def _look_later(self) -> None:
        self._again = self._again or self._deadlines.add(LOOKED_AT_AGAIN_AFTER_S, self._look)

    def _shared(self) -> list[tuple[ManagedServer, Instance, McpClient]]:
        return [
            (server, instance, client)
            for server in self._servers
            for instance in server.instances
            if not server.is_builtin and instance.owner is None and (client := instance.client)
        ]

    def _lacks(self, client: McpClient) -> bool:
        """Reports whether a server does not know of an extension, and has to be opened again for it."""
        return client.era is Era.LEGACY and not declarations.names(self._client_extensions.declared()) <= client.declared_extensions

    def _is_idle(self, server: ManagedServer, instance: Instance) -> bool:
        client = instance.client
        return client is not None and not instance.usage.is_needed and not self._needs.is_wanted(server, client)


def _may_end(server: ManagedServer) -> bool:
    """Reports whether nothing is lost with the server's connections."""
    return is_remote(server.config.transport) or not server.is_used
