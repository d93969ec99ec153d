"""The listens of modern AI clients: each `subscriptions/listen` names resources, tasks, and members of extensions. A server sends a modern
client only requested notifications (2026-07-28, "subscriptions"). So the members that the specification does not define are sent to the
servers that may know them, in a separate listen for each server, and their notifications are passed on to the client's listen. A server
that starts later gets such a listen when it starts.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.views.views import Views
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.gateway.calls.extensions import ExtensionClaims
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.gateway.server_tasks.task_news import TaskListens
from tooltray.protocol import declarations, eras
from tooltray.protocol.envelope import load
from tooltray.protocol.in_flight import PendingCall
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.upstream.managed_server import InstanceOpened, ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_listen import ACKNOWLEDGED

logger = logging.getLogger(__name__)
DEFINED = frozenset({"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds"})
"""Members that other parts of the hub handle."""
MEMBER = "notifications"  # of the params
MOST_BYTES = 65_536  # of the members for extensions in one listen, which are kept while the listen is open
ACKNOWLEDGED_WITHIN_S = 5.0  # seconds; then the client gets its other notifications without waiting for a slow or silent server

Tell = Callable[[str, Raw], None]
"""Takes a notification for the client's listen: its method and its params."""
LISTENS_WITHIN_S = 5.0  # a server may be slow to confirm updates; the client is answered anyway


class Wish(msgspec.Struct, frozen=True, eq=False):
    """The members of one client's listen that concern extensions.

    Attributes:
        params: of the client's request, with only these members in `notifications`.
        server: the one server that the session has; None: all.
        tell: takes the notifications of servers.
    """

    session: Session
    params: Raw
    server: str | None
    tell: Tell


class _Stream(msgspec.Struct, eq=False):
    """
    Attributes:
        honored: the members that the server has acknowledged; empty if it refuses or ends.
    """

    wish: Wish
    pending: PendingCall
    honored: "asyncio.Future[dict[str, object]]"


class ExtensionListens:
    """The listens for extensions that are open at servers. Belongs to the engine's loop."""

    def __init__(self, *, extension_claims: ExtensionClaims, bus: EventBus, spawn: Spawn) -> None:
        self._claims, self._spawn = extension_claims, spawn
        self._wishes: dict[tuple[Session, bytes], Wish] = {}
        self._streams: dict[tuple[McpClient, bytes], _Stream] = {}  # by the id of the hub's request
        self._tasks: dict[Wish, list[asyncio.Task[None]]] = {}
        bus.subscribe(InstanceOpened, self._on_instance_opened)
        bus.subscribe(ServerNotified, self._on_server_notified)

    async def open(self, session: Session, id: Raw, params: Raw, *, server: str | None, tell: Tell) -> Mapping[str, object]:
        """Begins to listen for one `subscriptions/listen` of a client.

        Args:
            params: of the client's request.

        Returns:
            The members for extensions that servers have acknowledged.
        """
        wanted = {name: value for name, value in opened(opened(params)[MEMBER]).items() if name not in DEFINED}
        if not wanted or sum(map(len, map(bytes, wanted.values()))) > MOST_BYTES:
            return {}
        wish = Wish(session, _asking(params, wanted), server, tell)
        self._wishes[session, bytes(id)] = wish
        streams = [self._begin(wish, client) for client in self._claims.speaking(session, server)]
        if streams:
            await asyncio.wait([stream.honored for stream in streams], timeout=ACKNOWLEDGED_WITHIN_S)
        honored = [{MEMBER: stream.honored.result()} for stream in streams if stream.honored.done()]
        together = declarations.joined(honored).get(MEMBER, {})
        return {name: value for name, value in together.items() if name in wanted}

    def close(self, session: Session, id: Raw) -> None:
        """Ends a client's listen at all servers."""
        if wish := self._wishes.pop((session, bytes(id)), None):
            for task in self._tasks.pop(wish, []):
                task.cancel()

    def has(self, client: McpClient, params: Raw) -> bool:
        """Returns whether a notification of a server belongs to one of these listens."""
        return (client, bytes(eras.read_subscription_id(params))) in self._streams

    def _begin(self, wish: Wish, client: McpClient) -> _Stream:
        pending = client.dispatcher.start_call("subscriptions/listen", wish.params)
        stream = _Stream(wish, pending, asyncio.get_running_loop().create_future())
        self._streams[client, bytes(pending.id)] = stream
        task = self._spawn(self._follow(stream, client), name=f"extensions of '{client.name}'")
        self._tasks.setdefault(wish, []).append(task)
        task.add_done_callback(partial(self._on_ended, stream, client))
        return stream

    async def _follow(self, stream: _Stream, client: McpClient) -> None:
        over = await client.dispatcher.calls.outcome(stream.pending)
        if over.error:
            logger.info("'%s' refuses subscriptions to extensions: %s", client.name, bytes(over.error).decode(errors="replace"))

    def _on_ended(self, stream: _Stream, client: McpClient, task: "asyncio.Task[None]") -> None:
        self._streams.pop((client, bytes(stream.pending.id)), None)
        if task in (tasks := self._tasks.get(stream.wish, [])):
            tasks.remove(task)
        if not stream.honored.done():
            stream.honored.set_result({})

    def _on_server_notified(self, event: ServerNotified) -> None:
        stream = self._streams.get((event.client, bytes(eras.read_subscription_id(event.params)))) if self._streams else None
        if stream is None:
            return
        if event.method != ACKNOWLEDGED:
            stream.wish.tell(event.method, event.params)
        elif not stream.honored.done():
            stream.honored.set_result(_honored(event.params))

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """Opens the listens of clients at a server that was started."""
        for wish in self._wishes.values():
            if event.client in self._claims.speaking(wish.session, wish.server):
                self._begin(wish, event.client)


def _asking(params: Raw, wanted: Mapping[str, Raw]) -> Raw:
    """Returns params with the client's own envelope, so that a server sees whether the client has declared the extension."""
    members = opened(params)
    meta = {name: value for name, value in opened(members["_meta"]).items() if name != "progressToken"}
    return closed({"_meta": closed(meta), MEMBER: closed(wanted)})


def _honored(params: Raw) -> dict[str, object]:
    try:
        honored = load(opened(params)[MEMBER])
    except (KeyError, ValueError):
        return {}
    return honored if isinstance(honored, dict) else {}


class ClientListens:
    """The `subscriptions/listen` requests of modern clients. Belongs to the engine's loop; has no state of its own.

    Attributes:
        extensions: those for extensions.
    """

    def __init__(
        self,
        *,
        views: Views,
        resources: ResourceManager,
        subscriptions: Subscriptions,
        task_listens: TaskListens,
        extension_listens: ExtensionListens,
    ) -> None:
        self._views, self._resources, self._subscriptions = views, resources, subscriptions
        self._task_listens, self.extensions = task_listens, extension_listens

    async def to_resources(self, session: Session, id: Raw, uris: Iterable[str], *, server: str | None) -> list[str]:
        """Subscribes one `subscriptions/listen` of a modern client to resources.

        Returns:
            The URIs whose updates it will get: without URIs that no server has, or whose server refuses. Waits a bounded time.
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
        """Returns the server of a resource, and its own URI for it; None if this session reaches no such server."""
        if server is not None:
            return (server, uri) if self._views.reaches(session.state, server) else None
        owner = await self._resources.owner(uri, is_reached=partial(self._views.reaches, session.state))
        return (owner[0].name, owner[1]) if owner else None

    async def to_tasks(self, session: Session, id: Raw, tasks: Sequence[str]) -> list[str]:
        """Subscribes one listen of a modern client to tasks, by the ids that it knows; returns the ids of tasks whose updates the client
        will get.
        """
        return await self._task_listens.listen(session, bytes(id), tasks)

    def end(self, session: Session, id: Raw) -> None:
        """Ends a client's listen."""
        self.extensions.close(session, id)
        self._subscriptions.set_listened(session, bytes(id), {})
        self._task_listens.end(session, bytes(id))
