"""The known tasks of servers, also on the disk, and the connection of each.

Their number and time are bounded. They are in one file of the home, so that a client can return to its task after the hub has ended; the
file has no arguments and no results of calls.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.tools import ServerTaskSnapshot
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol import task_messages as messages
from tooltray.protocol.envelope import load
from tooltray.protocol.eras import TASKS_EXTENSION, Era
from tooltray.protocol.task_messages import ENDED, STATES, WORKING, TaskState
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

LARGEST_BYTES = 64 * 2**20  # the most tasks, each with the longest id, have 45 MB
logger = logging.getLogger(__name__)
MOST_TASKS = 10_000  # of a client that begins more, the oldest are dropped
ID_BYTES = 16  # random bytes, so that an id cannot be guessed: only this protects the tasks of clients without an identity
KEPT_WITHOUT_TTL_S = 7 * 86400.0  # for tasks whose servers do not declare how long they keep them
GRACE_S = 3600.0  # after a task's time: its server knows better than the hub that the task is gone
LONGEST_KEPT_S = 30 * 86400.0  # whatever a server declares
SWEPT_EVERY_S = 60.0  # looking through 10,000 tasks takes milliseconds
WORKS_FOR_S = 86400.0  # a task without a time of its own keeps its server from being stopped as idle for so long


class ServerTask(msgspec.Struct, kw_only=True):
    """A task of a server.

    Attributes:
        id: its id for clients of all servers.
        own_id: its id for its server, and for clients with only that server.
        owner: see SessionState; empty for a client without an identity, which needs only the id.
        client: the client's own name, shown to the user.
        tool: the server's own name for it.
        is_modern: the task belongs to the connection for modern clients.
        status: the last that was seen.
        created_at: unix seconds.
        ttl_s: how long its server keeps it, in seconds; None if undeclared or unlimited.
    """

    id: str
    own_id: str
    server: str
    owner: str
    client: str = ""
    tool: str = ""
    is_modern: bool = False
    status: str = WORKING
    created_at: float
    ttl_s: float | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ENDED


class TaskStore:
    """The file of one home. `save` blocks on the disk and may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """Reads the file. An unusable file is set aside, and earlier tasks are then unknown."""
        self._path, self._writing = path, threading.Lock()
        self.found: list[ServerTask] = []
        try:
            self.found = msgspec.json.decode(read_own(path, LARGEST_BYTES), type=list[ServerTask])
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError):
            logger.warning("the owners of server tasks cannot be read; the file is now %s", set_aside(path))
        except OSError as error:
            logger.warning("the owners of server tasks cannot be read: %s", error.strerror or error)

    def save(self, tasks: Sequence[ServerTask]) -> None:
        """Writes the tasks. If the disk is full, they are known until the hub ends, which is logged."""
        try:
            with self._writing:
                write_atomically(self._path, msgspec.json.encode(tasks))
        except OSError as error:
            logger.warning("the owners of server tasks could not be saved: %s", error.strerror or error)


class TaskBook:
    """All known tasks of servers, by id, by server and by owner. Belongs to the engine's loop."""

    def __init__(self, store: TaskStore, *, spawn: Spawn, most: int = MOST_TASKS, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            most: tasks that are kept.
            now: unix seconds.
        """
        self._store, self._spawn, self._most, self._now = store, spawn, most, now
        self._by_id: dict[str, ServerTask] = {}  # the oldest first
        self._by_own: dict[tuple[str, str], list[ServerTask]] = {}
        self._of: dict[str, dict[str, ServerTask]] = {}  # by owner
        self._swept_at = now()
        self._changes = self._written = 0
        self._saving: asyncio.Task[None] | None = None
        for task in store.found[-most:]:
            self._enter(task)
        self._sweep()

    def __iter__(self) -> Iterator[ServerTask]:
        return iter(list(self._by_id.values()))

    def find(self, id: str) -> ServerTask | None:
        """Returns the task of an id that clients of all servers know; None for an unknown id."""
        return self._unexpired(self._by_id.get(id))

    def at(self, server: str, own_id: str) -> list[ServerTask]:
        """Returns the tasks with this id at a server: several if each client has its own copy of the server."""
        return [task for task in self._by_own.get((server, own_id), []) if self._unexpired(task)]

    def of(self, owner: str) -> list[ServerTask]:
        """Returns the tasks of one owner, the oldest first."""
        return [task for task in list(self._of.get(owner, {}).values()) if self._unexpired(task)]

    def add(self, server: str, state: TaskState, *, owner: str, client: str, tool: str, is_modern: bool) -> ServerTask:
        """Adds a task that a server has begun."""
        self._sweep()
        if len(self._by_id) >= self._most:
            self._make_room()
        task = ServerTask(
            id=f"{server}:{secrets.token_urlsafe(ID_BYTES)}",
            own_id=state.id,
            server=server,
            owner=owner,
            client=client,
            tool=tool,
            is_modern=is_modern,
            status=_known(state.status),
            created_at=self._now(),
            ttl_s=state.ttl_s,
        )
        self._enter(task)
        self._change()
        return task

    def record(self, task: ServerTask, state: TaskState) -> None:
        """Records the state of a task; one that has ended stays ended."""
        status = task.status if task.is_over else _known(state.status)
        if (status, state.ttl_s) != (task.status, task.ttl_s):
            task.status, task.ttl_s = status, state.ttl_s
            self._change()

    def drop(self, task: ServerTask) -> None:
        """Drops a task that its server no longer has."""
        if self._by_id.get(task.id) is task:
            self._leave(task)
            self._change()

    async def written(self) -> None:
        """Waits until everything until now is written, or has failed to be; simultaneous calls share one write."""
        until = self._changes
        while self._written < until and self._saving and not self._saving.cancelled():
            await asyncio.wait({self._saving})

    async def _save(self) -> None:
        while self._written < self._changes:
            changes = self._changes
            await finish_in_thread(self._store.save, list(self._by_id.values()))
            self._written = changes

    def _change(self) -> None:
        self._changes += 1
        if self._saving is None or self._saving.done():
            self._saving = self._spawn(self._save(), name="save the owners of server tasks")

    def _enter(self, task: ServerTask) -> None:
        self._by_id[task.id] = task
        self._by_own.setdefault((task.server, task.own_id), []).append(task)
        self._of.setdefault(task.owner, {})[task.id] = task

    def _leave(self, task: ServerTask) -> None:
        del self._by_id[task.id]
        same, of_owner = self._by_own[task.server, task.own_id], self._of[task.owner]
        same.remove(task)
        del of_owner[task.id]
        if not same:
            del self._by_own[task.server, task.own_id]
        if not of_owner:
            del self._of[task.owner]

    def _make_room(self) -> None:
        """Drops a task of the owner with the most tasks: an ended one, else the oldest."""
        most = max(self._of.values(), key=len)
        self._leave(next((task for task in most.values() if task.is_over), None) or next(iter(most.values())))

    def _unexpired(self, task: ServerTask | None) -> ServerTask | None:
        return task if task and self._now() < _kept_until(task) else None

    def _sweep(self) -> None:
        now = self._now()
        if now - self._swept_at >= SWEPT_EVERY_S or not self._changes:
            self._swept_at = now
            for task in [task for task in self._by_id.values() if now >= _kept_until(task)]:
                self._leave(task)


def _kept_until(task: ServerTask) -> float:
    kept_s = KEPT_WITHOUT_TTL_S if task.ttl_s is None else task.ttl_s + GRACE_S
    return task.created_at + min(kept_s, LONGEST_KEPT_S)


def _known(status: str) -> str:
    return status if status in STATES else "working"


class TaskPlaces:
    """The connection of each task: copies of one server may give the same id, and a copy with a task is not idle.

    Belongs to the engine's loop.
    """

    def __init__(self, *, book: TaskBook, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            now: unix seconds, as for the book.
        """
        self._book, self._now = book, now
        self._at: WeakKeyDictionary[McpClient, dict[str, ServerTask]] = WeakKeyDictionary()

    def put(self, task: ServerTask, client: McpClient) -> None:
        """Records the connection over which a task was begun or requested."""
        if task.is_over:
            self.drop(task)
        else:
            self._at.setdefault(client, {})[task.id] = task

    def drop(self, task: ServerTask) -> None:
        """Drops a task that has ended."""
        for tasks in self._at.values():
            tasks.pop(task.id, None)

    def client_of(self, task: ServerTask) -> McpClient | None:
        """Returns the connection of a task; None if it is closed."""
        return next((client for client, tasks in self._at.items() if task.id in tasks and not client.dispatcher.is_closed), None)

    def works_at(self, client: McpClient) -> bool:
        """Returns whether a task works at a connection, so that its server is in use without a call."""
        tasks = self._at.get(client, {})
        return any(not task.is_over and self._now() < task.created_at + _works_for_s(task) for task in tasks.values())

    def begin(self, task: ServerTask, client: McpClient) -> None:
        """Records the connection of a new task. Drops an earlier one with the same id, unless another copy of the server has it."""
        for other in self._book.at(task.server, task.own_id):
            place = self.client_of(other)
            if other is not task and (place is None or place is client):
                self.drop(other)
                self._book.drop(other)
        self.put(task, client)

    def task_at(self, client: McpClient, own_id: str) -> ServerTask | None:
        """Returns the task that a server means by an id over a connection; None if it is unknown."""
        same = [(task, self.client_of(task)) for task in self._book.at(client.name, own_id)]
        here = [task for task, place in same if place is client]
        unplaced = [task for task, place in same if place is None and client.owner is None]  # from before the hub or the server restarted
        return next(reversed(here or unplaced), None)


def _works_for_s(task: ServerTask) -> float:
    return WORKS_FOR_S if task.ttl_s is None else min(task.ttl_s, WORKS_FOR_S)


CANCEL_WITHIN_S = 30.0  # a server confirms the request; it need not have ended the work by then
START_WAIT_S = 20.0  # as a call waits for its server


class ServerTasksApi:
    def __init__(self, *, servers: ServerManager, book: TaskBook, places: TaskPlaces) -> None:
        self._servers, self._book, self._places = servers, book, places

    async def get_server_tasks(self) -> list[ServerTaskSnapshot]:
        """Returns the tasks that servers work on for AI clients, and ended ones that are kept, the latest first."""
        return [_snapshot(task) for task in reversed(list(self._book))]

    async def cancel_server_task(self, id: str) -> None:
        """Asks a server to cancel a task. The server decides whether and when it ends the work.

        Args:
            id: as `get_server_tasks` has it.

        Raises:
            NotFound: the task does not exist.
            TooltrayError: it has ended, or its server does not run or refuses.
        """
        task = self._book.find(id)
        if task is None or self._servers.find(task.server) is None:
            raise NotFound(Phrase("Task '{id}' not found", id=id))
        if task.is_over:
            raise TooltrayError(Phrase("This task has ended"))
        era = Era.MODERN if task.is_modern else Era.LEGACY
        client = self._places.client_of(task) or await self._servers.get(task.server).running(era, timeout_s=START_WAIT_S)
        reply = await client.request("tasks/cancel", {"taskId": task.own_id}, timeout_s=CANCEL_WITHIN_S, extension=TASKS_EXTENSION)
        if reply.error:
            error = load(reply.error)
            message = str(error.get("message", "")) if isinstance(error, dict) else ""
            raise TooltrayError(Phrase("'{server}' does not cancel this task", server=task.server), message)
        state = messages.read_state(reply.result)
        self._book.record(task, state if state and state.id else TaskState(task.own_id, messages.CANCELLED, task.ttl_s))
        self._places.drop(task)


def _snapshot(task: ServerTask) -> ServerTaskSnapshot:
    return ServerTaskSnapshot(
        id=task.id, server=task.server, tool=task.tool, client=task.client, status=task.status, created_at=task.created_at, ttl_s=task.ttl_s
    )
