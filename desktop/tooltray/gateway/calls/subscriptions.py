"""AI clients' subscriptions to resources, counted over clients for each copy of a server.

The first client that subscribes asks the server, the last one withdraws, and a copy that starts again is asked again. A legacy server takes
`resources/subscribe`; at a modern one the URI becomes part of the hub's own listen. URIs are the
servers' own ones.
"""

import asyncio
import logging
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure, success
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionMoved
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_listen import ServerListens
from tooltray.servers.upstream.server_manager import ServerManager

logger = logging.getLogger(__name__)
START_WAIT_S = 20.0  # how long a subscription waits for its server, as a call does
ANSWER_TIMEOUT_S = 30.0  # a server only has to record it


class _Placed:
    """The subscriptions at one copy."""

    def __init__(self) -> None:
        self.uris: set[str] = set()
        self.refused: set[str] = set()  # URIs that the copy refused, by its last answer
        self.lock = asyncio.Lock()  # a subscription and its end arrive in their order


class _Wanted:
    """The subscriptions of one client, by server, in the era of its request."""

    def __init__(self) -> None:
        self.subscribed: dict[str, set[str]] = {}
        self.listened: dict[bytes, Mapping[str, frozenset[str]]] = {}

    def uris(self, server: str, era: Era) -> frozenset[str]:
        if era is Era.LEGACY:
            return frozenset(self.subscribed.get(server, ()))
        return frozenset(uri for listen in self.listened.values() for uri in listen.get(server, ()))

    @property
    def servers(self) -> set[str]:
        return self.subscribed.keys() | {server for listen in self.listened.values() for server in listen}


class Subscriptions:
    """The subscriptions of sessions, and the resulting ones at servers. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, listens: ServerListens, spawn: Spawn, bus: EventBus) -> None:
        self._servers, self._listens, self._spawn = servers, listens, spawn
        self._wanted: dict[Session, _Wanted] = {}
        self._placed: WeakKeyDictionary[McpClient, _Placed] = WeakKeyDictionary()
        bus.subscribe(InstanceOpened, self._on_instance_opened)
        bus.subscribe(SessionMoved, self._on_session_moved)

    async def subscribe(self, session: Session, managed: ManagedServer, uri: str) -> Envelope:
        """Carries out a legacy client's `resources/subscribe`; returns the reply, the server's own if the request was sent to it."""
        try:
            client = await managed.running(Era.LEGACY, timeout_s=START_WAIT_S, session=session)
        except TooltrayError as error:
            return failure(CONNECTION_CLOSED, session.state.words(error))
        uris = self._wanted.setdefault(session, _Wanted()).subscribed.setdefault(managed.name, set())
        is_kept = uri in uris
        uris.add(uri)  # before the request, so that another client does not withdraw it meanwhile
        try:
            reply = await self._place(client, uri)
            is_kept = is_kept or not reply.error
        finally:
            if not is_kept:
                uris.discard(uri)
        return reply

    async def unsubscribe(self, session: Session, managed: ManagedServer, uri: str) -> Envelope:
        """Carries out a legacy client's `resources/unsubscribe`; the server gets it when no other client wants the URI."""
        wanted = self._wanted.get(session)
        if wanted and uri in (uris := wanted.subscribed.get(managed.name, set())):
            uris.discard(uri)
        client = managed.client_for(Era.LEGACY, session)
        return await self._withdraw(managed, client, uri) if client else success({})

    def set_listened(self, session: Session, key: bytes, wanted: Mapping[str, frozenset[str]]) -> list["asyncio.Task[None]"]:
        """Replaces the URIs of one `subscriptions/listen` of a modern client, by server; an empty mapping ends the listen.

        Args:
            key: identifies the listen among the client's listens.

        Returns:
            The tasks that end when the servers have been informed.
        """
        of_session = self._wanted.setdefault(session, _Wanted())
        before = of_session.servers
        of_session.listened.pop(key, None)
        if wanted:
            of_session.listened[key] = wanted
        if not of_session.servers:
            del self._wanted[session]
        concerned = [managed for server in before | wanted.keys() if (managed := self._servers.find(server))]
        return [self._spawn(self._follow(each, Era.MODERN, session), name=f"subscriptions of '{each.name}'") for each in concerned]

    def is_refused(self, session: Session, server: str, uri: str) -> bool:
        """Returns whether the copy that a modern client uses has refused to send updates of a resource."""
        managed = self._servers.find(server)
        client = managed.client_for(Era.MODERN, session) if managed else None
        placed = self._placed.get(client) if client else None
        return placed is not None and uri in placed.refused

    def _on_session_moved(self, event: SessionMoved) -> None:
        """Moves the subscriptions of a session to the instances that it uses from now on."""
        state = event.state
        for session, wanted in self._wanted.items():
            for managed in [managed for managed in self._servers if session.state is state and managed.name in wanted.servers]:
                self._settle_soon(managed)
                for era in [era for era in Era if wanted.uris(managed.name, era)]:
                    self._spawn(self._follow(managed, era, session), name=f"subscriptions of '{managed.name}'")

    def end(self, session: Session) -> None:
        """Ends all subscriptions of a client that is gone."""
        wanted = self._wanted.pop(session, None)
        for managed in self._servers:
            if wanted and managed.name in wanted.servers:
                self._settle_soon(managed)

    def hearers(self, client: McpClient, uri: str) -> list[tuple[Session, str]]:
        """Returns the sessions to notify of an updated resource of one copy, each with the URI that it asked for: this one or a parent."""
        managed = self._servers.find(client.name)
        wanted = {session: self._wanted_by(session, managed, client) for session in self._wanted} if managed else {}
        return [(session, asked) for session, uris in wanted.items() if (asked := _asked_for(uris, uri))]

    def is_wanted(self, client: McpClient) -> bool:
        """Returns whether a session wants updates of a resource of this copy."""
        managed = self._servers.find(client.name)
        return managed is not None and bool(self._wanted_at(managed, client))

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """Subscribes again at a copy that was started, and at other instances, which ended with it."""
        managed, client = event.server, event.client
        if self._wanted_at(managed, client):
            self._spawn(self._settle(managed, client), name=f"subscriptions of '{managed.name}'")
        for session, wanted in self._wanted.items():
            for era in Era:
                if wanted.uris(managed.name, era) and managed.client_for(era, session) is None:
                    self._spawn(self._follow(managed, era, session), name=f"subscriptions of '{managed.name}'")

    def _wanted_by(self, session: Session, managed: ManagedServer, client: McpClient) -> frozenset[str]:
        wanted = self._wanted[session]
        uris = [wanted.uris(managed.name, era) for era in Era if managed.client_for(era, session) is client]
        return frozenset().union(*uris)

    def _wanted_at(self, managed: ManagedServer, client: McpClient) -> frozenset[str]:
        return frozenset().union(*(self._wanted_by(session, managed, client) for session in self._wanted))

    def _settle_soon(self, managed: ManagedServer) -> None:
        for client in [instance.client for instance in managed.instances if instance.client]:
            self._spawn(self._settle(managed, client), name=f"subscriptions of '{managed.name}'")

    async def _follow(self, managed: ManagedServer, era: Era, session: Session) -> None:
        """Makes the copy that a client uses send the wanted updates; starts the copy if need be."""
        client = managed.client_for(era, session)
        wanted = self._wanted.get(session)
        if client is None and wanted and wanted.uris(managed.name, era):
            try:
                client = await managed.running(era, timeout_s=START_WAIT_S, session=session)
            except TooltrayError as error:
                logger.info("updates of '%s' cannot be forwarded: %s", managed.name, error)
        if client:
            await self._settle(managed, client)

    async def _settle(self, managed: ManagedServer, client: McpClient) -> None:
        """Makes the subscriptions at one copy match the wishes of the sessions."""
        placed = self._placed.get(client)
        has = placed.uris if placed else set()
        wanted = self._wanted_at(managed, client)
        replies = await asyncio.gather(*(self._place(client, uri) for uri in sorted(wanted - has)))
        for reply in replies:
            if reply.error:
                logger.info("'%s' refuses subscriptions to updates: %s", client.name, bytes(reply.error).decode(errors="replace"))
        await asyncio.gather(*(self._withdraw(managed, client, uri) for uri in sorted(has - wanted)))

    async def _place(self, client: McpClient, uri: str) -> Envelope:
        placed = self._placed.setdefault(client, _Placed())
        reply = await self._ask(client, placed, uri)
        placed.refused.discard(uri)
        if reply.error:
            placed.refused.add(uri)
        return reply

    async def _ask(self, client: McpClient, placed: _Placed, uri: str) -> Envelope:
        if listen := self._listens.of(client):
            placed.uris.add(uri)
            reply = await listen.add(uri)  # several at a time become one listen
            if reply.error:
                placed.uris.discard(uri)
            return reply
        async with placed.lock:
            if uri in placed.uris:
                return success({})
            reply = await client.request("resources/subscribe", {"uri": uri}, timeout_s=ANSWER_TIMEOUT_S)
            if not reply.error:
                placed.uris.add(uri)
            return reply

    async def _withdraw(self, managed: ManagedServer, client: McpClient, uri: str) -> Envelope:
        """Unsubscribes at a copy, unless a session still wants the URI."""
        placed = self._placed.setdefault(client, _Placed())
        async with placed.lock:
            if uri not in placed.uris or uri in self._wanted_at(managed, client):
                return success({})
            placed.uris.discard(uri)
            client.usage.note()
            if listen := self._listens.of(client):
                return await listen.remove(uri)
            return await client.request("resources/unsubscribe", {"uri": uri}, timeout_s=ANSWER_TIMEOUT_S)


def _asked_for(wanted: frozenset[str], uri: str) -> str:
    """Returns the URI to notify for an update of `uri`: `uri` itself, else its nearest parent among these; empty if there is neither."""
    parents = [each for each in wanted if each == uri or uri.startswith(each.rstrip("/") + "/")]
    return max(parents, key=len, default="")
