"""Which tasks modern clients listen for, and what the hub's own listen at each server asks for their sake.

Above it: Notifications. Below it: TaskBook, and the listens of servers. Of a task that is not the client's own, and of one whose server
tells nothing, the client is not promised anything: it asks for the state instead.
"""

import asyncio
from collections.abc import Sequence

from tooltray.foundation.tasks import Spawn
from tooltray.gateway.server_tasks.task_book import TaskBook
from tooltray.gateway.server_tasks.task_places import TaskPlaces
from tooltray.gateway.server_tasks.task_store import ServerTask
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_listen import ServerListens

LISTENS_WITHIN_S = 5.0  # a server may be slow to say what it tells; the client is answered all the same


class TaskListens:
    """Belongs to the engine's loop."""

    def __init__(self, *, book: TaskBook, places: TaskPlaces, listens: ServerListens, spawn: Spawn) -> None:
        self._book, self._places, self._listens, self._spawn = book, places, listens, spawn
        self._wanted: dict[tuple[Session, bytes], list[ServerTask]] = {}

    async def listen(self, session: Session, key: bytes, ids: Sequence[str]) -> list[str]:
        """Begins to listen; returns those of which the client will hear, by the ids that it knows.

        Args:
            key: tells the listens of one session apart.
        """
        known = {id: task for id in ids if (task := self._find(session, id)) and not task.is_over}
        if not known:
            return []
        self._wanted[session, key] = list(known.values())
        clients = {client for task in known.values() if (client := self._places.client_of(task))}
        asking = [self._spawn(self._follow(client), name=f"tasks of '{client.name}'") for client in clients]
        done = (await asyncio.wait(asking, timeout=LISTENS_WITHIN_S))[0] if asking else set()
        told = {task for each in done if not each.cancelled() and not each.exception() for task in each.result()}
        return [id for id, task in known.items() if task.id in told]

    def end(self, session: Session, key: bytes) -> None:
        """The client listens no longer."""
        for client in {self._places.client_of(task) for task in self._wanted.pop((session, key), [])}:
            if client:
                self._spawn(self._follow(client), name=f"tasks of '{client.name}'")

    def _find(self, session: Session, id: str) -> ServerTask | None:
        state = session.state
        same = self._book.at(state.server, id) if state.server else [self._book.find(id)]
        return next((task for task in same if task and task.owner == state.owner), None)

    async def _follow(self, client: McpClient) -> frozenset[str]:
        """Has a server tell of exactly those that somebody listens for; returns which of them it does."""
        wanted = {task.own_id: task.id for tasks in self._wanted.values() for task in tasks if self._places.client_of(task) is client}
        if not (listen := self._listens.of(client)):
            return frozenset()
        told = await listen.listen_to_tasks(frozenset(wanted))
        return frozenset(wanted[own_id] for own_id in told & wanted.keys())
