"""The notifications of modern servers: one `subscriptions/listen` is kept open on each running copy.

A modern server sends only the notifications that were requested, so without this its lists would never be refreshed. Its notifications take
the way of a legacy server's.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import msgspec
from msgspec import Raw

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure, success
from tooltray.protocol.eras import TASKS_EXTENSION, Era
from tooltray.protocol.in_flight import PendingCall
from tooltray.servers.upstream.managed_server import InstanceOpened, ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient

logger = logging.getLogger(__name__)
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"
KINDS = ("tools", "prompts", "resources")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0  # before a listen that ended is opened again
HEALTHY_AFTER_S = 60.0  # after a stream of this length the pauses begin again with the first
ACKNOWLEDGED_WITHIN_S = 10.0  # a server that forgets to acknowledge is trusted nevertheless

Publish = Callable[[McpClient, str, Raw], None]


class _Filter(msgspec.Struct):
    uris: list[str] = msgspec.field(name="resourceSubscriptions", default_factory=list)
    tasks: list[str] = msgspec.field(name="taskIds", default_factory=list)


class _Acknowledged(msgspec.Struct):
    notifications: _Filter = msgspec.field(default_factory=_Filter)


class _Wanted(msgspec.Struct, frozen=True):
    """The notifications that are requested from a server: lists by their kinds, resources by their URIs, tasks by their ids."""

    kinds: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        named = {"resourceSubscriptions": self.uris, "taskIds": self.tasks}
        return {f"{kind}ListChanged": True for kind in self.kinds} | {name: each for name, each in named.items() if each}


NOTHING_WANTED = _Wanted()


class _Stream:
    """One `subscriptions/listen` request that is open, or was."""

    def __init__(self, pending: PendingCall, wanted: _Wanted) -> None:
        loop = asyncio.get_running_loop()
        self.pending, self.wanted, self.opened_at = pending, wanted, loop.time()
        self.answered: asyncio.Future[None] = loop.create_future()  # acknowledged, or over
        self.honored: frozenset[str] = frozenset(wanted.uris)
        self.reported_tasks: frozenset[str] = frozenset(wanted.tasks)
        self.over: Envelope | None = None  # how it ended
        self.task: asyncio.Task[None]

    def settle(self) -> None:
        if not self.answered.done():
            self.answered.set_result(None)


class ServerListen:
    """The listen of one copy; lives as long as its connection."""

    def __init__(self, client: McpClient, *, spawn: Spawn, publish: Publish) -> None:
        self._client, self._spawn, self._publish = client, spawn, publish
        self._uris: frozenset[str] = frozenset()
        self._tasks: frozenset[str] = frozenset()
        self._stream: _Stream | None = None
        self._opening: _Stream | None = None
        self._lock = asyncio.Lock()  # one renewal at a time
        self._is_unknown = False  # the server has no such method
        self._pause_s = FIRST_PAUSE_S
        self._is_reopening = False
        self._spawn(self._renew(), name=self._name)

    async def add(self, uri: str) -> Envelope:
        """Listens for updates of a resource too; returns an error if the server does not report them."""
        self._uris |= {uri}
        fault = await self._renew()
        if fault is None and self._stream and uri not in self._stream.honored:
            fault = failure(INVALID_PARAMS, f"server '{self._client.name}' does not send updates of {uri}")
        if fault:
            self._uris -= {uri}
        return fault or success({})

    async def remove(self, uri: str) -> Envelope:
        self._uris -= {uri}
        return await self._renew() or success({})

    async def listen_to_tasks(self, ids: frozenset[str]) -> frozenset[str]:
        """Listens for notifications about exactly these tasks; returns the ids of those tasks that the server reports."""
        before, self._tasks = self._tasks, ids
        if await self._renew():
            self._tasks = before & ids
        return ids & self._stream.reported_tasks if self._stream else frozenset()

    def acknowledged(self, params: Raw) -> None:
        stream = self._opening
        if stream and eras.read_subscription_id(params) == stream.pending.id:
            with contextlib.suppress(ValueError, RecursionError):
                told = msgspec.json.decode(params, type=_Acknowledged).notifications
                stream.honored, stream.reported_tasks = frozenset(told.uris), frozenset(told.tasks)
            stream.settle()

    @property
    def _name(self) -> str:
        return f"listen to '{self._client.name}'"

    @property
    def _wanted(self) -> _Wanted:
        capabilities = self._client.greeting.capabilities
        telling = [kind for kind in KINDS if isinstance(said := capabilities.get(kind), dict) and said.get("listChanged") is True]
        return _Wanted(tuple(telling), tuple(sorted(self._uris)), tuple(sorted(self._tasks)))

    async def _renew(self) -> Envelope | None:
        """Replaces the listen request by one for the present subscriptions. The old one ends when the new one is acknowledged, so that no
        notification is lost.

        Returns:
            The error if the server refuses; the old listen request then stays. None otherwise.
        """
        async with self._lock:
            old, wanted = self._stream, self._wanted
            if self._client.dispatcher.is_closed:
                return failure(CONNECTION_CLOSED, self._client.dispatcher.closed_because)
            if wanted == (old.wanted if old else NOTHING_WANTED):
                return None
            if self._is_unknown:
                return failure(METHOD_NOT_FOUND, f"server '{self._client.name}' has no subscriptions")
            self._stream = new = await self._opened(wanted) if wanted != NOTHING_WANTED else None
            if new is None or new.over is None:
                if old:
                    old.task.cancel()
                return None
            self._stream = old if old and old.over is None else None
            if self._stream is None:
                self._open_again()
            return new.over if new.over.error else failure(CONNECTION_CLOSED, f"server '{self._client.name}' has ended its subscriptions")

    async def _opened(self, wanted: _Wanted) -> _Stream:
        extension = TASKS_EXTENSION if wanted.tasks else ""
        params = {"notifications": wanted.to_json()}
        stream = _Stream(self._client.start_request("subscriptions/listen", params, extension=extension), wanted)
        self._opening = stream
        stream.task = self._spawn(self._follow(stream), name=self._name)
        try:
            async with asyncio.timeout(ACKNOWLEDGED_WITHIN_S):
                await stream.answered
        except TimeoutError:
            logger.info("'%s' has not acknowledged its subscriptions", self._client.name)
        except asyncio.CancelledError:
            stream.task.cancel()
            raise
        return stream

    async def _follow(self, stream: _Stream) -> None:
        stream.over = await self._client.dispatcher.calls.outcome(stream.pending)
        stream.settle()
        self._is_unknown |= eras.error_code(stream.over.error) == METHOD_NOT_FOUND
        if asyncio.get_running_loop().time() - stream.opened_at >= HEALTHY_AFTER_S:
            self._pause_s = FIRST_PAUSE_S
        if self._stream is stream:
            self._stream = None
            self._open_again()

    def _open_again(self) -> None:
        if not (self._is_reopening or self._is_unknown or self._client.dispatcher.is_closed):
            self._is_reopening = True
            self._spawn(self._reopen(), name=self._name)

    async def _reopen(self) -> None:
        pause_s, self._pause_s = self._pause_s, min(2 * self._pause_s, LONGEST_PAUSE_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._client.lost()
        self._is_reopening = False
        await self._renew()
        if self._stream:
            self._publish_all(self._stream.wanted)

    def _publish_all(self, wanted: _Wanted) -> None:
        """Reports everything that may have changed while the listen was closed as changed."""
        for kind in wanted.kinds:
            self._publish(self._client, f"notifications/{kind}/list_changed", NOTHING)
        for uri in wanted.uris:
            self._publish(self._client, UPDATED, dump({"uri": uri}))


class ServerListens:
    """The listens of all copies. Belongs to the engine's loop."""

    def __init__(self, *, spawn: Spawn, bus: EventBus) -> None:
        self._spawn, self._bus = spawn, bus
        self._listens: dict[McpClient, ServerListen] = {}
        bus.subscribe(InstanceOpened, self._on_instance_opened)
        bus.subscribe(ServerNotified, self._on_server_notified)

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        client = event.client
        self._listens = {each: listen for each, listen in self._listens.items() if not each.dispatcher.is_closed}
        if client.era is Era.MODERN:
            self._listens[client] = ServerListen(client, spawn=self._spawn, publish=self._publish)

    def _on_server_notified(self, event: ServerNotified) -> None:
        """Takes acknowledgements; other subscribers take everything else."""
        if event.method == ACKNOWLEDGED and (listen := self._listens.get(event.client)):
            listen.acknowledged(event.params)

    def _publish(self, client: McpClient, method: str, params: Raw) -> None:
        self._bus.publish(ServerNotified(client, method, params))

    def of(self, client: McpClient) -> ServerListen | None:
        return self._listens.get(client)
