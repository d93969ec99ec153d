"""Notifications of servers about their tasks: changes of state, and questions. Both reach only the sessions of the task's own client.

Delivery is not guaranteed. Until a client has the answer that begins a task, the task's last notification waits for that answer;
notifications for a disconnected client are dropped.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

from msgspec import Raw

from tooltray.catalogue.result_uris import Publish, in_passing
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.gateway.server_tasks.task_book import ServerTask, TaskBook, TaskPlaces
from tooltray.protocol import eras
from tooltray.protocol import task_messages as messages
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.protocol.task_messages import TaskState
from tooltray.servers.upstream.managed_server import ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient, TaskQuestion
from tooltray.servers.upstream.server_listen import ServerListens

RecordDelivery = Callable[[str, str, SessionState], None]
"""Takes a server, its tool (empty: unknown), and the state of a session."""
MOST_EARLY, LONGEST_EARLY_BYTES = 256, 2**16  # notifications that arrive before the answer which begins their task
LISTENS_WITHIN_S = 5.0  # a server may be slow to confirm; the client is answered anyway


class Hearing(Session, Protocol):
    """A connected session of an AI client."""

    def tell_server_news(self, method: str, params: Raw) -> None:
        """Notifies a legacy client that has had its first answer."""
        ...

    def tell_task_news(self, id: str, params: Raw) -> None:
        """Notifies a modern client if it listens for the task."""
        ...


class TaskNews:
    """Passes notifications and questions of servers to the clients of their tasks. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        book: TaskBook,
        places: TaskPlaces,
        connected: Callable[[], Collection[Hearing]],
        publisher: Callable[[str], Publish | None],
        record_delivery: RecordDelivery,
        bus: EventBus,
    ) -> None:
        """
        Args:
            connected: the sessions of AI clients that are connected now.
            publisher: returns for a server's name the published forms of its URIs; None: they stay unchanged.
            record_delivery: called when the outcome of a task is sent to a session.
        """
        self._book, self._places, self._connected, self._publisher = book, places, connected, publisher
        self._record_delivery = record_delivery
        self._unannounced: set[str] = set()
        self._early: OrderedDict[tuple[McpClient, str], tuple[str, Raw]] = OrderedDict()
        bus.subscribe(ServerNotified, self._on_server_notified)

    @contextlib.contextmanager
    def unannounced(self, task: ServerTask) -> Iterator[None]:
        """Holds back notifications of a task until its client has the answer with the task's id: one turn of the loop after the block
        ends.
        """
        self._unannounced.add(task.id)
        try:
            yield
        finally:
            asyncio.get_running_loop().call_soon(self._announced, task)

    def question(self, client: McpClient, params: Raw) -> TaskQuestion | None:
        """Returns the sessions that get a server's question about a task; None if its params name no known task."""
        task = self._places.task_at(client, messages.read_related(params))
        if task is None:
            return None
        of_all = self._linked(task.server, messages.related_to(params, task.id))
        return TaskQuestion([(session, params if session.state.server else of_all) for session in self._of(task)])

    def _linked(self, server: str, params: Raw) -> Raw:
        publish = self._publisher(server)
        return in_passing(params, publish) if publish else params

    def _of(self, task: ServerTask) -> list[Hearing]:
        """Returns the connected sessions that may be notified of a task."""
        return [each for each in self._connected() if each.state.owner == task.owner and each.state.server in (None, task.server)]

    def _announced(self, task: ServerTask) -> None:
        self._unannounced.discard(task.id)
        if (client := self._places.client_of(task)) and (early := self._early.pop((client, task.own_id), None)):
            self._tell(client, task, *early)

    def _on_server_notified(self, event: ServerNotified) -> None:
        if event.method not in messages.STATUS_NEWS:
            return
        client, params = event.client, eras.without_subscription_id(event.params)
        state = messages.read_state(params)
        if state is None or not state.id:
            return
        task = self._places.task_at(client, state.id)
        if task and task.id not in self._unannounced:
            self._tell(client, task, event.method, params)
        elif task is None and client.owner and client.owner.state.server:
            if messages.has_outcome(params):
                self._record_delivery(client.owner.state.server, "", client.owner.state)
            client.owner.tell(event.method, params)  # the session's own copy of its only server, where all tasks are its own
        else:
            self._keep_early(client, state.id, event.method, params)

    def _keep_early(self, client: McpClient, own_id: str, method: str, params: Raw) -> None:
        if len(memoryview(params)) <= LONGEST_EARLY_BYTES:
            self._early[client, own_id] = method, params
            if len(self._early) > MOST_EARLY:
                self._early.popitem(last=False)

    def _tell(self, client: McpClient, task: ServerTask, method: str, params: Raw) -> None:
        self._book.record(task, messages.read_state(params) or TaskState(task.own_id))
        if task.is_over:
            self._places.drop(task)
        of_all = self._linked(task.server, params)
        for session in self._of(task):
            if messages.has_outcome(params):
                self._record_delivery(task.server, task.tool, session.state)
            id, news = (task.own_id, params) if session.state.server else (task.id, of_all)
            if client.era is Era.MODERN:
                session.tell_task_news(id, messages.with_id(news, id))
            else:
                session.tell_server_news(method, messages.with_id(news, id))


class TaskListens:
    """The tasks that modern clients listen for; a client is notified only of its own tasks, and only if their servers confirm.

    Belongs to the engine's loop.
    """

    def __init__(self, *, book: TaskBook, places: TaskPlaces, listens: ServerListens, spawn: Spawn) -> None:
        self._book, self._places, self._listens, self._spawn = book, places, listens, spawn
        self._wanted: dict[tuple[Session, bytes], list[ServerTask]] = {}

    async def listen(self, session: Session, key: bytes, ids: Sequence[str]) -> list[str]:
        """Begins to listen; returns the ids, as the client knows them, of the tasks whose notifications it will get.

        Args:
            key: distinguishes the listens of one session.
        """
        known = {id: task for id in ids if (task := self._find(session, id)) and not task.is_over}
        if not known:
            return []
        self._wanted[session, key] = list(known.values())
        clients = {client for task in known.values() if (client := self._places.client_of(task))}
        asking = [self._spawn(self._subscribe(client), name=f"tasks of '{client.name}'") for client in clients]
        done = (await asyncio.wait(asking, timeout=LISTENS_WITHIN_S))[0] if asking else set()
        confirmed = {task for each in done if not each.cancelled() and not each.exception() for task in each.result()}
        return [id for id, task in known.items() if task.id in confirmed]

    def end(self, session: Session, key: bytes) -> None:
        """Ends what `listen` began."""
        for client in {self._places.client_of(task) for task in self._wanted.pop((session, key), [])}:
            if client:
                self._spawn(self._subscribe(client), name=f"tasks of '{client.name}'")

    def _find(self, session: Session, id: str) -> ServerTask | None:
        state = session.state
        same = self._book.at(state.server, id) if state.server else [self._book.find(id)]
        return next((task for task in same if task and task.owner == state.owner), None)

    async def _subscribe(self, client: McpClient) -> frozenset[str]:
        """Subscribes at a server to exactly the tasks that clients listen for; returns the ids that the server confirms."""
        wanted = {task.own_id: task.id for tasks in self._wanted.values() for task in tasks if self._places.client_of(task) is client}
        if not (listen := self._listens.of(client)):
            return frozenset()
        confirmed = await listen.listen_to_tasks(frozenset(wanted))
        return frozenset(wanted[own_id] for own_id in confirmed & wanted.keys())
