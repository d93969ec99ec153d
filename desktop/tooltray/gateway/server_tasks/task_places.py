"""At which connection each task of a server is: two copies of one server may give the same id, and one where a task works is not idle.

Above it: ServerTasks and TaskNews. Below it: TaskBook. A connection that is gone takes its tasks with it, as far as this is concerned: a
server that still knows one is asked again, over the next connection.
"""

import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from tooltray.gateway.server_tasks.task_book import TaskBook
from tooltray.gateway.server_tasks.task_store import ServerTask
from tooltray.servers.upstream.mcp_client import McpClient

WORKS_FOR_S = 86400.0  # a task without a time of its own keeps its server from being stopped as idle for so long


class TaskPlaces:
    """Belongs to the engine's loop."""

    def __init__(self, *, book: TaskBook, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            now: unix seconds, as for the book.
        """
        self._book, self._now = book, now
        self._at: WeakKeyDictionary[McpClient, dict[str, ServerTask]] = WeakKeyDictionary()

    def put(self, task: ServerTask, client: McpClient) -> None:
        """A task was begun, or asked for, over a connection."""
        if task.is_over:
            self.take(task)
        else:
            self._at.setdefault(client, {})[task.id] = task

    def take(self, task: ServerTask) -> None:
        """It has ended."""
        for tasks in self._at.values():
            tasks.pop(task.id, None)

    def client_of(self, task: ServerTask) -> McpClient | None:
        """The connection at which it works, if that is still there."""
        return next((client for client, tasks in self._at.items() if task.id in tasks and not client.dispatcher.is_closed), None)

    def works_at(self, client: McpClient) -> bool:
        """Whether a task works there, so that its server is in use although nobody calls it."""
        tasks = self._at.get(client, {})
        return any(not task.is_over and self._now() < task.created_at + _works_for_s(task) for task in tasks.values())

    def begin(self, task: ServerTask, client: McpClient) -> None:
        """A server has begun a task. An earlier one with the same id is no more, unless another copy of the server has it."""
        for other in self._book.at(task.server, task.own_id):
            place = self.client_of(other)
            if other is not task and (place is None or place is client):
                self.take(other)
                self._book.drop(other)
        self.put(task, client)

    def task_at(self, client: McpClient, own_id: str) -> ServerTask | None:
        """Which task the server means that says something over this connection."""
        same = [(task, self.client_of(task)) for task in self._book.at(client.name, own_id)]
        here = [task for task, place in same if place is client]
        unplaced = [task for task, place in same if place is None and client.owner is None]  # from before the hub or the server restarted
        return next(reversed(here or unplaced), None)


def _works_for_s(task: ServerTask) -> float:
    return WORKS_FOR_S if task.ttl_s is None else min(task.ttl_s, WORKS_FOR_S)
