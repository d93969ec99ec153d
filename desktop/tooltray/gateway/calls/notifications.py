"""Notifications in both directions: which of them a session gets (changed lists, updates of resources, log messages), by what it has asked
for, and to which servers those of an AI client go.

Above it: RequestRouter, and the sessions of AI clients. Below it: Views, Subscriptions, LogLevels, and ExtensionRoutes.
"""

from collections.abc import Callable

from msgspec import Raw

from tooltray.catalogue.resource_manager import read_uri
from tooltray.catalogue.views.views import Views
from tooltray.gateway.calls.client_listens import ClientListens
from tooltray.gateway.calls.extension_claims import DEFINED, ExtensionClaims
from tooltray.gateway.calls.extension_routes import ExtensionRoutes
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.protocol.task_messages import STATUS_NEWS
from tooltray.servers.relay.log_levels import LogLevels, read_level
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

PREFIX = "notifications/"  # how the methods of all of them begin
PROGRESS, ROOTS_CHANGED = "notifications/progress", "notifications/roots/list_changed"


class Notifications:
    """Belongs to the engine's loop; has no state of its own.

    Attributes:
        listens: what modern clients want to hear of.
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
        """The running connections that a session may hear of, of servers that it reaches."""
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

    def hearers(self, client: McpClient, params: Raw) -> tuple[str, list[tuple[Session, str]]]:
        """Of an update that a server tells: its URI; who wants to hear of it, and which URI they asked for."""
        uri = read_uri(params) or ""
        return uri, self._subscriptions.hearers(client, uri)

    def may_hear(self, session: Session, client: McpClient, method: str) -> bool:
        """Whether a session may hear of a server what no part of the hub knows."""
        return client.owner is session or self._claims.may_hear(session, client, method)

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
