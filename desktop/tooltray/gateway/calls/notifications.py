"""Notifications in both directions: those that a session gets (changed lists, updates of resources, log messages), those that an AI client
sends to servers, and the updates that the window and programs follow.
"""

import asyncio
from collections import Counter
from collections.abc import Callable

from msgspec import Raw

from tooltray.catalogue.resource_manager import ResourceManager, read_uri
from tooltray.catalogue.views.views import Views
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import EventBus, ResourceUpdated
from tooltray.foundation.phrases import Phrase
from tooltray.gateway.calls.extensions import DEFINED, ExtensionClaims, ExtensionRoutes
from tooltray.gateway.calls.listens import ClientListens
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.protocol.envelope import load
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import OwnCaller, Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.protocol.task_messages import STATUS_NEWS
from tooltray.servers.relay.log_levels import LogLevels, read_level
from tooltray.servers.upstream.managed_server import ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_listen import UPDATED
from tooltray.servers.upstream.server_manager import ServerManager

PREFIX = "notifications/"  # the prefix of all their methods
PROGRESS, ROOTS_CHANGED = "notifications/progress", "notifications/roots/list_changed"
TOLD_EVERY_S = 0.25  # seconds between events of one resource, which each reader then reads whole; a log may change with each line


class Notifications:
    """The notifications that sessions send and get. Has no state of its own.

    Attributes:
        listens: the listens of modern clients.
    """

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        subscriptions: Subscriptions,
        log_levels: LogLevels,
        extensions: ExtensionRoutes,
        extension_claims: ExtensionClaims,
        client_listens: ClientListens,
    ) -> None:
        self._servers, self._views, self._subscriptions, self._log_levels = servers, views, subscriptions, log_levels
        self._extensions, self._claims, self.listens = extensions, extension_claims, client_listens

    def copies_for(self, session: Session) -> list[McpClient]:
        """Returns the running connections, of servers that a session reaches, whose notifications the session may get."""
        return [client for client in self._servers.clients_for(session) if self.reaches(session, client.name)]

    # what sessions get

    def follow_lists(self, session: Session, tell: Callable[[str], None]) -> Callable[[], None]:
        """Calls `tell` with the method of the notification whenever a list has changed for this session only; returns what ends that."""
        return self._views.follow(session.state, tell)

    def named(self, state: SessionState) -> None:
        """Records that a session's client has introduced itself, which may change the names that it sees."""
        self._views.named(state)

    def concerns(self, session: Session, server: str, changed: str) -> bool:
        """Returns whether a session sees a server's list. `changed`: the notification for that list."""
        return self._views.shows(session.state, server, changed)

    def reaches(self, session: Session, server: str) -> bool:
        """Returns whether a session may use a server."""
        return self._views.is_plain(session.state) or self._views.reaches(session.state, server)

    def told_of_tools(self, session: Session) -> None:
        """Records that a session's client was notified of changed tools."""
        self._views.told(session.state)

    def hearers(self, client: McpClient, params: Raw) -> tuple[str, list[tuple[Session, str]]]:
        """Returns the URI of a server's update, and the sessions that subscribed to it, each with the URI that it asked for."""
        uri = read_uri(params) or ""
        return uri, self._subscriptions.hearers(client, uri)

    def may_hear(self, session: Session, client: McpClient, method: str) -> bool:
        """Returns whether a session may hear notifications of a server that are not defined by the specification."""
        return client.owner is session or self._claims.may_hear(session, client, method)

    def wants_log_message(self, session: Session, params: Raw) -> bool:
        return self._log_levels.wants(session, read_level(params))

    def end_session(self, session: Session) -> None:
        self._subscriptions.end(session)
        self._log_levels.end(session)

    # what AI clients send

    def take(self, session: Session, method: str, params: Raw, *, server: str | None) -> None:
        """Passes an AI client's notification on to the servers that it concerns.

        A request without an id is not passed on: a server that carries it out all the same would do so without approval.
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
        """Passes the state of a client's task on to the one server that it was begun for."""
        for client in self.copies_for(session):
            if (news := client.client_tasks.news(session, params)) is not None:
                client.notify(method, news)

    def _concerned(self, session: Session, method: str, server: str | None) -> list[McpClient]:
        reached = self.copies_for(session)
        if method == PROGRESS:
            return [client for client in reached if client.is_asking(session)]
        if method == ROOTS_CHANGED:
            return [client for client in reached if client.era is Era.LEGACY and server in (None, client.name)]
        managed = self._servers.find(server) if server else None
        own = managed.client_for(Era.LEGACY if session.introduction else Era.MODERN, session) if managed else None
        return [own] if own else []


class FollowedResources:
    """The resources that the window and programs watch: updates become events, bounded in number per resource.

    URIs are those that AI clients see. Belongs to the engine's loop.
    """

    def __init__(
        self,
        *,
        resources: ResourceManager,
        subscriptions: Subscriptions,
        notifications: Notifications,
        caller: OwnCaller,
        bus: EventBus,
    ) -> None:
        self._resources, self._subscriptions, self._notifications = resources, subscriptions, notifications
        self._caller, self._bus = caller, bus
        self._followers: Counter[str] = Counter()  # number of subscriptions by URI
        self._just_told: dict[str, bool] = {}  # by URI: whether there was an update since the last event
        bus.subscribe(ServerNotified, self._on_server_notified)

    async def follow(self, uri: str) -> None:
        """Subscribes to a resource.

        Raises:
            TooltrayError: the resource does not exist, or its server sends no updates.
        """
        owner = await self._resources.owner(uri)
        if owner is None:
            raise NotFound(Phrase("Resource '{uri}' not found", uri=uri))
        reply = await self._subscriptions.subscribe(self._caller, *owner)
        if reply.error:
            error = load(reply.error)
            message = str(error.get("message", "")) if isinstance(error, dict) else ""
            raise TooltrayError(Phrase("'{server}' does not report changes of this resource", server=owner[0].name), message)
        self._followers[uri] += 1

    async def leave(self, uri: str) -> None:
        """Ends one subscription to a resource."""
        if not self._followers[uri]:
            return
        self._followers[uri] -= 1
        if not self._followers[uri] and (owner := await self._resources.owner(uri)):
            await self._subscriptions.unsubscribe(self._caller, *owner)

    def _on_server_notified(self, event: ServerNotified) -> None:
        if event.method != UPDATED or not any(self._followers.values()):
            return
        _, hearers = self._notifications.hearers(event.client, event.params)
        for session, asked in hearers:
            if session is self._caller:
                self._tell(self._resources.published_uri(event.client.name, asked))

    def _tell(self, uri: str) -> None:
        if uri in self._just_told:
            self._just_told[uri] = True
            return
        self._just_told[uri] = False
        asyncio.get_running_loop().call_later(TOLD_EVERY_S, self._tell_again, uri)
        self._bus.publish(ResourceUpdated(uri))

    def _tell_again(self, uri: str) -> None:
        if self._just_told.pop(uri):
            self._tell(uri)
