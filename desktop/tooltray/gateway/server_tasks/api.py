"""The API about tasks of servers: lists and cancels them."""

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.server_tasks import ServerTaskSnapshot
from tooltray.gateway.server_tasks.task_book import ServerTask, TaskBook, TaskPlaces
from tooltray.protocol import task_messages as messages
from tooltray.protocol.envelope import load
from tooltray.protocol.eras import TASKS_EXTENSION, Era
from tooltray.protocol.task_messages import TaskState
from tooltray.servers.upstream.server_manager import ServerManager

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
            NotFound: there is no such task.
            TooltrayError: it has ended, or its server does not run or refuses.
        """
        task = self._book.find(id)
        if task is None or self._servers.find(task.server) is None:
            raise NotFound(Phrase("There is no task '{id}'", id=id))
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
