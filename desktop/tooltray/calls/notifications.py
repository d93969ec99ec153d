"""Notifications in both directions: which of them a session gets (changed lists, updates of resources, log messages), by what it has asked
for, and to which servers those of an AI client go.

Above it: RequestRouter, and the sessions of AI clients. Below it: Views, Subscriptions, LogLevels, and ServerRelay.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec import Raw

from tooltray.calls.extension_listens import ExtensionListens
from tooltray.calls.extension_routes import DEFINED, ExtensionRoutes
from tooltray.calls.subscriptions import Subscriptions
from tooltray.catalogue.resource_manager import ResourceManager, not_found, read_uri
from tooltray.errors import TooltrayError
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.task_messages import STATUS_NEWS
from tooltray.server_tasks.task_listens import TaskListens
from tooltray.sessions.caller import Session
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.session_state import SessionState
from tooltray.upstream.log_levels import LogLevels, read_level
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.relay import START_WAIT_S, ServerRelay, paused
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.views import Views

PREFIX = "notifications/"  # how the methods of all of them begin
PROGRESS, ROOTS_CHANGED = "notifications/progress", "notifications/roots/list_changed"
SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE = "logging/setLevel", "resources/subscribe", "resources/unsubscribe"
SHARED = frozenset({SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE})  # state of a connection, which legacy clients share
LISTENS_WITHIN_S = 5.0  # a server may be slow to say that it tells updates; the client is answered all the same


class Notifications:
    """Belongs to the engine's loop; has no state of its own.

    Attributes:
        extension_listens: what modern clients want to hear of extensions.
    """

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        resources: ResourceManager,
        subscriptions: Subscriptions,
        log_levels: LogLevels,
        relay: ServerRelay,
        task_listens: TaskListens,
        extensions: ExtensionRoutes,
        extension_listens: ExtensionListens,
    ) -> None:
        self._extensions, self.extension_listens = extensions, extension_listens
        self._servers, self._views, self._resources = servers, views, resources
        self._subscriptions, self._log_levels, self._relay = subscriptions, log_levels, relay
        self._task_listens = task_listens

    # state that legacy clients share

    async def set_level(self, exchange: Exchange) -> Envelope:
        """A legacy client's `logging/setLevel` to all servers."""
        session = exchange.session
        return await self._log_levels.set(session, read_level(exchange.request.params), self._copies_for(session))

    async def subscribe(self, exchange: Exchange) -> Envelope:
        """A legacy client's `resources/subscribe` or `resources/unsubscribe`, by the URI that clients of all servers know."""
        uri = read_uri(exchange.request.params)
        is_reached = partial(self._views.reaches, exchange.session.state)
        owner = await self._resources.owner(uri, is_reached=is_reached) if uri is not None else None
        return await self._subscribe_at(exchange, *owner) if owner else not_found(uri or "", exchange.era)

    async def share(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """One of SHARED to the server that a session has alone; a server that has no such thing says so itself."""
        if self._relay.is_paused:
            return paused()
        request, session = exchange.request, exchange.session
        try:
            client = await managed.running(Era.LEGACY, timeout_s=START_WAIT_S, session=session)
        except TooltrayError as error:
            return failure(CONNECTION_CLOSED, str(error))
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

    def _copies_for(self, session: Session) -> list[McpClient]:
        return [client for client in self._servers.clients_for(session) if self.reaches(session, client.name)]

    # what sessions get

    def follow_lists(self, session: Session, tell: Callable[[str], None]) -> Callable[[], None]:
        """Calls `tell` with the notification that says so whenever a list has changed for this session alone; returns what ends that."""
        return self._views.follow(session.state, tell)

    def named(self, state: SessionState) -> None:
        """A session's client has said who it is: the names that it sees may be others from now on."""
        self._views.named(state)

    def concerns(self, session: Session, server: str, changed: str) -> bool:
        """Whether a session sees what a server lists. `changed`: the notification that says which list."""
        return self._views.shows(session.state, server, changed)

    def reaches(self, session: Session, server: str) -> bool:
        """Whether a session may have anything of a server."""
        return self._views.is_plain(session.state) or self._views.reaches(session.state, server)

    def told_of_tools(self, session: Session) -> None:
        """A session's client has been told that its tools have changed."""
        self._views.told(session.state)

    async def listen_to_resources(self, session: Session, id: Raw, uris: Iterable[str], *, server: str | None) -> list[str]:
        """What one `subscriptions/listen` of a modern client wants to hear of.

        Returns:
            What it will hear of, when the servers have said so, at most after a while: without what nobody has or its server refuses.
        """
        wanted: dict[str, frozenset[str]] = {}
        places: dict[str, tuple[str, str]] = {}
        for uri in uris:
            if place := await self._place_of(session, uri, server):
                places[uri] = place
                wanted[place[0]] = wanted.get(place[0], frozenset()) | {place[1]}
        asking = self._subscriptions.set_listened(session, bytes(id), wanted)
        if wanted and asking:
            await asyncio.wait(asking, timeout=LISTENS_WITHIN_S)
        return [uri for uri, place in places.items() if not self._subscriptions.is_refused(session, *place)]

    async def _place_of(self, session: Session, uri: str, server: str | None) -> tuple[str, str] | None:
        """The server that tells updates of a resource, and its own URI for it; None if there is none for this session."""
        if server is not None:
            return (server, uri) if self.reaches(session, server) else None
        owner = await self._resources.owner(uri, is_reached=partial(self._views.reaches, session.state))
        return (owner[0].name, owner[1]) if owner else None

    async def listen_to_tasks(self, session: Session, id: Raw, tasks: Sequence[str]) -> list[str]:
        """Of which tasks one `subscriptions/listen` of a modern client will hear, by the ids that it knows."""
        return await self._task_listens.listen(session, bytes(id), tasks)

    def end_listening(self, session: Session, id: Raw) -> None:
        self._subscriptions.set_listened(session, bytes(id), {})
        self._task_listens.end(session, bytes(id))

    def hearers(self, client: McpClient, params: Raw) -> tuple[str, list[tuple[Session, str]]]:
        """Of an update that a server tells: its URI; who wants to hear of it, and which URI they asked for."""
        uri = read_uri(params) or ""
        return uri, self._subscriptions.hearers(client, uri)

    def may_hear(self, session: Session, client: McpClient, method: str) -> bool:
        """Whether a session may hear of a server what no part of the hub knows."""
        return client.owner is session or self._extensions.may_hear(session, client, method)

    def wants_log_message(self, session: Session, params: Raw) -> bool:
        return self._log_levels.wants(session, read_level(params))

    def end_session(self, session: Session) -> None:
        self._subscriptions.end(session)
        self._log_levels.end(session)

    # what AI clients send

    def take(self, session: Session, method: str, params: Raw, *, server: str | None) -> None:
        """Passes on what an AI client says outside of requests, to the servers that it concerns.

        A request without an id is none of it: a server that carries it out all the same would do so unasked.
        """
        if not method.startswith(PREFIX):
            return
        if method in STATUS_NEWS:
            self._tell_of_task(session, method, params)
            return
        if server is None and method not in DEFINED:
            if told := self._extensions.concerned(session, method, params):
                told[0].notify(method, told[1])
            return
        for client in self._concerned(session, method, server):
            client.notify(method, params)

    def _tell_of_task(self, session: Session, method: str, params: Raw) -> None:
        """A client's task is the one server's that it was begun for."""
        for client in self._copies_for(session):
            if (news := client.client_tasks.news(session, params)) is not None:
                client.notify(method, news)

    def _concerned(self, session: Session, method: str, server: str | None) -> list[McpClient]:
        reached = self._copies_for(session)
        if method == PROGRESS:
            return [client for client in reached if client.is_asking(session)]
        if method == ROOTS_CHANGED:
            return [client for client in reached if client.era is Era.LEGACY and server in (None, client.name)]
        managed = self._servers.find(server) if server else None
        own = managed.client_for(Era.LEGACY if session.introduction else Era.MODERN, session) if managed else None
        return [own] if own else []


def _subscribes(client: McpClient) -> bool:
    resources = client.greeting.capabilities.get("resources")
    return isinstance(resources, dict) and resources.get("subscribe") is True
