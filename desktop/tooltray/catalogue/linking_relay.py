"""Sends a request to one server and translates the URIs in its reply to published ones, for sessions that have all servers. Where no other
server has resources, replies pass unread.
"""

from collections.abc import Coroutine

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.result_uris import LinkedCaller, Publish, linked
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer


class LinkingRelay:
    """A relay that translates URIs in replies; has no state of its own."""

    def __init__(self, *, relay: ServerRelay, resources: ResourceManager) -> None:
        self._relay, self._resources = relay, resources

    def send_with_retry(
        self, managed: ManagedServer, exchange: Exchange, *, timeout_s: float | None = None
    ) -> Coroutine[object, None, Envelope]:
        """Sends a request as ServerRelay does."""
        publish = self._resources.publisher(managed.name) if exchange.server is None else None
        if publish:
            return self._send_linked(managed, exchange, publish, timeout_s)
        return self._relay.send_with_retry(managed, exchange, timeout_s=timeout_s)

    async def _send_linked(self, managed: ManagedServer, exchange: Exchange, publish: Publish, timeout_s: float | None) -> Envelope:
        asking = exchange.child(caller=LinkedCaller(exchange.caller, publish))
        return await linked(await self._relay.send_with_retry(managed, asking, timeout_s=timeout_s), publish)
