"""The way of a request to one server and of its reply back, for sessions that have all servers: URIs in the reply are those that they know.

Above it: PromptManager, the stage of a call that forwards it, and the tasks of servers, whose results come later. Below it: ServerRelay,
which does the sending; ResourceManager, which knows under which URIs resources are published. Where no other server has resources,
replies pass without being looked at.
"""

from collections.abc import Coroutine

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.result_uris import LinkedCaller, Publish, linked
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer


class LinkingRelay:
    """Has no state of its own."""

    def __init__(self, *, relay: ServerRelay, resources: ResourceManager) -> None:
        self._relay, self._resources = relay, resources

    def send_with_retry(
        self, managed: ManagedServer, exchange: Exchange, *, timeout_s: float | None = None
    ) -> Coroutine[object, None, Envelope]:
        """As ServerRelay."""
        publish = self._resources.publisher(managed.name) if exchange.server is None else None
        if publish:
            return self._send_linked(managed, exchange, publish, timeout_s)
        return self._relay.send_with_retry(managed, exchange, timeout_s=timeout_s)

    async def _send_linked(self, managed: ManagedServer, exchange: Exchange, publish: Publish, timeout_s: float | None) -> Envelope:
        asking = exchange.child(caller=LinkedCaller(exchange.caller, publish))
        return await linked(await self._relay.send_with_retry(managed, asking, timeout_s=timeout_s), publish)
