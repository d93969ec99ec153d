"""Requests for prompts and resources from sessions with all servers: lists, single ones, completion, and the state of a server's connection
that all legacy clients share: log level and subscriptions.
"""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Raw

from tooltray.catalogue.offer import RESOURCES, TEMPLATES
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager, anybody, not_found, read_uri
from tooltray.catalogue.resource_uris import Target
from tooltray.catalogue.views.views import Views
from tooltray.consent.skills.skills import Skills
from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.calls.notifications import Notifications
from tooltray.gateway.calls.stages import ServerUses
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure, load
from tooltray.protocol.eras import Era, own_result
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.relay.log_levels import LogLevels, read_level
from tooltray.servers.relay.relay import START_WAIT_S, ServerRelay, paused
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

NO_VALUES = Raw(b'{"completion":{"values":[]}}')
PROMPT, RESOURCE = "ref/prompt", "ref/resource"
_KEYS = {PROMPT: "name", RESOURCE: "uri"}  # the member of a reference that identifies it
LISTS = {"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
"""The member of each list's result that has its elements."""
NO_SUCH_CURSOR = "Invalid cursor: this list has one page"


class Completion:
    """The handler of `completion/complete` over all servers, sent to the prompt's or resource's server by its own name; without state."""

    def __init__(self, *, servers: ServerManager, prompts: PromptManager, resources: ResourceManager, relay: ServerRelay) -> None:
        self._servers, self._prompts, self._resources, self._relay = servers, prompts, resources, relay

    async def complete(self, exchange: Exchange, *, is_reached: Callable[[str], bool] = anybody) -> Envelope:
        """Passes one `completion/complete` of an AI client to the right server; for a server without completions the reply is empty.

        Args:
            is_reached: whether the session may use a server, by the server's name.
        """
        request = exchange.request
        ref, kind, name = _read_ref(request.params)
        if not kind:
            return failure(INVALID_PARAMS, "Invalid request parameters: their ref cannot be completed")
        find = self._prompts.target if kind == PROMPT else self._resources.completion_target
        target = await find(name, is_reached=is_reached)
        managed = self._servers.find(target[0]) if target and is_reached(target[0]) else None
        if managed is None or target is None:
            return failure(INVALID_PARAMS, f"Unknown {'prompt' if kind == PROMPT else 'resource'}: {name}")
        if name != target[1]:
            request.params = eras.with_members(request.params, ref=closed({**ref, _KEYS[kind]: dump(target[1])}))
        reply = await self._relay.send_with_retry(managed, exchange)
        return _no_values(exchange) if _says_unknown(reply) else reply


def _read_ref(params: Raw) -> tuple[dict[str, Raw], str, str]:
    """Returns the reference, its kind, and the name or URI in it; empty if params have no reference."""
    try:
        ref = opened(opened(params)["ref"])
        kind = load(ref["type"])
        name = load(ref[_KEYS[kind]])
    except (KeyError, TypeError, ValueError):
        return {}, "", ""
    return (ref, kind, name) if isinstance(name, str) else ({}, "", "")


def _says_unknown(reply: Envelope) -> bool:
    """Returns whether the server does not know the method, which the hub declares because other servers know it."""
    return bool(reply.error) and load(opened(reply.error)["code"]) == METHOD_NOT_FOUND


def _no_values(exchange: Exchange) -> Envelope:
    return own_result(exchange.request.method, NO_VALUES, exchange.era)


class OfferRequests:
    """Requests for prompts and resources of all servers. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        prompts: PromptManager,
        resources: ResourceManager,
        completion: Completion,
        skills: Skills,
        server_uses: ServerUses,
    ) -> None:
        self._servers, self._views, self._prompts, self._resources = servers, views, prompts, resources
        self._completion, self._skills, self._uses = completion, skills, server_uses

    def handlers(self) -> Mapping[str, Work]:
        return {
            **dict.fromkeys(LISTS, self._list),
            "prompts/get": self._get_prompt,
            "resources/read": self._read_resource,
            "completion/complete": self._complete,
        }

    async def _get_prompt(self, exchange: Exchange) -> Envelope:
        is_reached, on_used = self._bounds(exchange)
        return await self._prompts.get(exchange, is_reached=is_reached, on_used=on_used)

    async def _read_resource(self, exchange: Exchange) -> Envelope:
        return await self._skills.read(exchange, self._read_at)

    async def _read_at(self, exchange: Exchange, target: Target | None) -> Envelope:
        is_reached, on_used = self._bounds(exchange)
        return await self._resources.read(exchange, is_reached=is_reached, on_read=on_used, target=target)

    async def _complete(self, exchange: Exchange) -> Envelope:
        return await self._completion.complete(exchange, is_reached=self._bounds(exchange)[0])

    def _bounds(self, exchange: Exchange) -> tuple[Callable[[str], bool], Callable[[str], None]]:
        """Returns a function that tests whether the session may use a server, and a function that records that it uses one."""
        state = exchange.session.state
        return partial(self._views.reaches, state), partial(self._uses.used, state)

    async def _list(self, exchange: Exchange) -> Envelope:
        """Answers a list request with the joined lists of the servers that the session sees."""
        if is_continued(exchange):
            return failure(INVALID_PARAMS, NO_SUCH_CURSOR)
        return in_era(exchange, await self._listing(exchange.request.method, exchange))

    async def _listing(self, method: str, exchange: Exchange) -> Raw:
        room = self._views.room_of(exchange.session.state)
        whole = await self._whole_listing(method, room)
        is_shown = self._views.shown_servers(exchange.session.state)  # read after waiting for the servers
        of_era = self._copies_of_era(exchange)
        if method == "prompts/list" and of_era:
            return await self._prompts.listing_with(is_shown or anybody, of_era, room)
        if method != "prompts/list" and (own := of_era | self._copies_of_projects(exchange)):
            kind = RESOURCES if method == "resources/list" else TEMPLATES
            return await self._resources.listing_with(kind, is_shown or anybody, own)
        if is_shown is None:
            return whole
        if method == "prompts/list":
            return await self._prompts.listing_among(is_shown, room)
        return await self._resources.listing_among(RESOURCES if method == "resources/list" else TEMPLATES, is_shown)

    def _copies_of_era(self, exchange: Exchange) -> dict[str, McpClient | None]:
        """Returns the connections in the client's era, for servers with a connection per era whose shared lists come from the other era."""
        copies = {server.name: (server.client_for(exchange.era), server.client) for server in self._servers}
        return {name: client for name, (client, first) in copies.items() if client and client is not first}

    def _copies_of_projects(self, exchange: Exchange) -> dict[str, McpClient | None]:
        """Returns the session's connections to servers that start for a project, if the shared lists belong to another project."""
        copies = {server.name: (server, server.client_for(exchange.era, exchange.session)) for server in self._servers if server.by_project}
        return {name: client for name, (server, client) in copies.items() if client is None or client is not server.client}

    async def _whole_listing(self, method: str, room: int) -> Raw:
        if method == "prompts/list":
            return await self._prompts.listing(room)
        return await (self._resources.listing() if method == "resources/list" else self._resources.templates())


def in_era(exchange: Exchange, result: Raw) -> Envelope:
    """Returns a list in the form of the request's era."""
    if exchange.server is None:
        return own_result(exchange.request.method, result, exchange.era)
    return Envelope(result=eras.as_modern_result(exchange.request.method, result) if exchange.era is Era.MODERN else result)


def is_continued(exchange: Exchange) -> bool:
    """Returns whether a client asks for a further page of a list that the hub makes; such lists have only one page."""
    params = exchange.request.params
    cursor = opened(params).get("cursor", NOTHING) if params else NOTHING
    return bytes(cursor).startswith(b'"') and cursor != dump("")


SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE = "logging/setLevel", "resources/subscribe", "resources/unsubscribe"
SHARED = frozenset({SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE})


class SharedState:
    """Requests about the log level and the subscriptions of connections. Belongs to the engine's loop; has no state of its own."""

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
