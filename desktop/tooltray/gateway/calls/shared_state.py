"""Requests about the state of a server's connection, which all legacy AI clients share: its log level, its subscriptions to resources."""

from collections.abc import Mapping
from functools import partial

from tooltray.catalogue.resource_manager import ResourceManager, not_found, read_uri
from tooltray.catalogue.views.views import Views
from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.calls.notifications import Notifications
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.relay.log_levels import LogLevels, read_level
from tooltray.servers.relay.relay import START_WAIT_S, ServerRelay, paused
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient

SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE = "logging/setLevel", "resources/subscribe", "resources/unsubscribe"
SHARED = frozenset({SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE})


class SharedState:
    """Requests about that state. Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        notifications: Notifications,
        views: Views,
        resources: ResourceManager,
        subscriptions: Subscriptions,
        log_levels: LogLevels,
        relay: ServerRelay,
    ) -> None:
        self._notifications, self._views, self._resources = notifications, views, resources
        self._subscriptions, self._log_levels, self._relay = subscriptions, log_levels, relay

    def handlers(self) -> Mapping[str, Work]:
        """Returns the handlers for sessions that have all servers."""
        return {SET_LEVEL: self._set_level, SUBSCRIBE: self._subscribe, UNSUBSCRIBE: self._subscribe}

    async def _set_level(self, exchange: Exchange) -> Envelope:
        """Answers a legacy client's `logging/setLevel` to all servers."""
        session = exchange.session
        return await self._log_levels.set(session, read_level(exchange.request.params), self._notifications.copies_for(session))

    async def _subscribe(self, exchange: Exchange) -> Envelope:
        """Answers a legacy client's `resources/subscribe` or `resources/unsubscribe`, by the URI that clients of all servers know."""
        uri = read_uri(exchange.request.params)
        is_reached = partial(self._views.reaches, exchange.session.state)
        owner = await self._resources.owner(uri, is_reached=is_reached) if uri is not None else None
        return await self._subscribe_at(exchange, *owner) if owner else not_found(uri or "", exchange.era)

    async def share(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """Answers a request of SHARED to a session's one server; a server that does not know the method answers it itself."""
        if self._relay.is_paused:
            return paused()
        request, session = exchange.request, exchange.session
        try:
            client = await managed.running(Era.LEGACY, timeout_s=START_WAIT_S, session=session)
        except TooltrayError as error:
            return failure(CONNECTION_CLOSED, session.state.words(error))
        if request.method == SET_LEVEL:
            if client.era is Era.LEGACY and "logging" not in client.greeting.capabilities:
                return await self._relay.send_with_retry(managed, exchange)
            return await self._log_levels.set(session, read_level(request.params), [client], server=managed.name)
        uri = read_uri(request.params)
        if uri is None or (client.era is Era.LEGACY and not _subscribes(client)):
            return await self._relay.send_with_retry(managed, exchange)
        return await self._subscribe_at(exchange, managed, uri)

    async def _subscribe_at(self, exchange: Exchange, managed: ManagedServer, uri: str) -> Envelope:
        if exchange.request.method == UNSUBSCRIBE:
            return await self._subscriptions.unsubscribe(exchange.session, managed, uri)
        return await self._subscriptions.subscribe(exchange.session, managed, uri)


def _subscribes(client: McpClient) -> bool:
    resources = client.greeting.capabilities.get("resources")
    return isinstance(resources, dict) and resources.get("subscribe") is True
