"""Tasks of servers: records each one as a call begins it, gives it an id for clients of all servers, and carries `tasks/*` to its server.

A task belongs to one client and does not exist for others. Clients with one server know its tasks by the server's own ids. Their requests
with an unknown id are sent to the server, as without a hub; requests with the id of another client's task are not.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial

from msgspec import Raw

from tooltray.catalogue.list_pages import MAX_PAGES, TooLong, check_length
from tooltray.catalogue.resource_manager import LinkingRelay
from tooltray.catalogue.views.views import Views
from tooltray.gateway.server_tasks.task_book import ServerTask, TaskBook, TaskPlaces
from tooltray.gateway.server_tasks.task_news import TaskNews
from tooltray.protocol import eras
from tooltray.protocol import task_messages as messages
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, elements_of, opened
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.protocol.task_messages import TaskState
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

GET, RESULT, LIST, CANCEL, UPDATE = "tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"
OF_ERA = {Era.LEGACY: frozenset({GET, RESULT, LIST, CANCEL, UPDATE}), Era.MODERN: frozenset({GET, CANCEL, UPDATE})}
RESULT_WAIT_S = 86400.0  # seconds; `tasks/result` waits for the task, which has its own time limit, and ends when the client leaves
MOST_ASKED_FOR = 100  # the latest tasks of a server without a list, each requested separately

Fit = Callable[[str, str, Exchange, Envelope], Awaitable[Envelope]]
"""Takes a server, its tool, the requesting exchange, and the reply with the result."""
ServerHandler = Callable[[ManagedServer, Exchange], Coroutine[object, None, Envelope]]


class ServerTasks:
    """The handlers of `tasks/*`. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        relay: LinkingRelay,
        views: Views,
        book: TaskBook,
        places: TaskPlaces,
        news: TaskNews,
        fit: Fit,
    ) -> None:
        """
        Args:
            fit: makes the result of a server's tool as large as a client may have it.
        """
        self._fit = fit
        self._servers, self._relay, self._views = servers, relay, views
        self._book, self._places, self._news = book, places, news

    def handlers(self) -> Mapping[str, Work]:
        """Returns the handlers for sessions with all servers."""
        return {**dict.fromkeys((GET, RESULT, CANCEL, UPDATE), self._of_all), LIST: self._list_all}

    def handlers_of_one(self) -> Mapping[str, ServerHandler]:
        """Returns the handlers for sessions with one server."""
        return {**dict.fromkeys((GET, RESULT, CANCEL, UPDATE), self._of_one), LIST: self._list_one}

    # beginning a task

    def may_begin(self, exchange: Exchange) -> bool:
        """Returns whether a call may be answered with a task. Runs with every call."""
        if exchange.head.task:
            return True
        declared = exchange.head.meta.capabilities if exchange.era is Era.MODERN else exchange.caller.capabilities
        return messages.EXTENSION_HINT in bytes(declared)

    async def noted(self, server: str, tool: str, exchange: Exchange, sending: Coroutine[object, None, Envelope]) -> Envelope:
        """Returns the reply to a call that may begin a task, after the task is on the disk, so that the next hub knows it."""
        reply = await sending
        state = None if reply.error else messages.read_begun(reply.result)
        if state is None:
            return reply
        client = self._servers.get(server).client_for(exchange.era, exchange.session)
        if not state.id or client is None:
            is_alone = exchange.server is not None
            return reply if is_alone else failure(INTERNAL_ERROR, f"server '{server}' has started a task without a usable id")
        owner, is_modern = exchange.session.state.owner, exchange.era is Era.MODERN
        task = self._book.add(server, state, owner=owner, client=exchange.client, tool=tool, is_modern=is_modern)
        self._places.begin(task, client)
        with self._news.unannounced(task):
            await self._book.written()
        return reply if exchange.server is not None else Envelope(result=messages.begun_as(reply.result, task.id))

    # requests about a task

    async def _of_all(self, exchange: Exchange) -> Envelope:
        if fault := _fault(exchange):
            return fault
        task = self._book.find(messages.read_id(exchange.request.params))
        if task is None or not self._may_have(exchange, task) or self._servers.find(task.server) is None:
            return messages.not_found()
        reply = await self._ask(task, exchange)
        if reply.error:
            return reply
        named = messages.related_to if exchange.request.method == RESULT else messages.with_id
        return Envelope(result=named(reply.result, task.id))

    async def _of_one(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """Answers a session with one server, which itself refuses methods that its era does not have."""
        own_id = messages.read_id(exchange.request.params)
        same = self._book.at(managed.name, own_id) if own_id else []
        if own := [task for task in same if self._may_have(exchange, task)]:
            return await self._ask(own[-1], exchange)
        client = managed.client_for(exchange.era, exchange.session)
        is_shared = client is None or client.owner is None
        return messages.not_found() if same and is_shared else await self._send(managed, exchange)

    def _may_have(self, exchange: Exchange, task: ServerTask) -> bool:
        state = exchange.session.state
        return task.owner == state.owner and self._views.reaches(state, task.server)

    async def _ask(self, task: ServerTask, exchange: Exchange) -> Envelope:
        managed, asked = self._servers.get(task.server), exchange.request
        params = messages.asked_with(asked.params, task.own_id)
        reply = await self._send(managed, exchange.child(request=Envelope(id=asked.id, method=asked.method, params=params)))
        client, place = managed.client_for(exchange.era, exchange.session), self._places.client_of(task)
        if client and place in (None, client):  # another copy of the server does not know it
            self._places.put(task, client)
            self._note(task, asked.method, reply)
        if reply.error or asked.method not in (GET, RESULT):
            return reply
        return await messages.with_result(reply, asked.method == GET, partial(self._fit, task.server, task.tool, exchange))

    async def _send(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        is_wait = exchange.request.method == RESULT
        return await self._relay.send_with_retry(managed, exchange, timeout_s=RESULT_WAIT_S if is_wait else None)

    def _note(self, task: ServerTask, method: str, reply: Envelope) -> None:
        """Records the state that a reply gives of its task."""
        if reply.error:
            if method == GET and eras.error_code(reply.error) == INVALID_PARAMS:  # the server no longer has the task
                self._places.drop(task)
                self._book.drop(task)
            return
        state = messages.read_state(reply.result) if method in (GET, CANCEL) else None
        if state and state.id:
            self._book.record(task, state)
        elif method in (RESULT, CANCEL):  # a modern server only confirms a cancellation
            self._book.record(task, TaskState(task.own_id, messages.CANCELLED if method == CANCEL else messages.COMPLETED, task.ttl_s))
        if task.is_over:
            self._places.drop(task)

    # lists

    async def _list_all(self, exchange: Exchange) -> Envelope:
        if fault := _fault(exchange):
            return fault
        if "cursor" in (opened(exchange.request.params) if exchange.request.params else {}):
            return failure(INVALID_PARAMS, "Invalid cursor: all tasks are on one page")
        own = [task for task in self._book.of(exchange.session.state.owner) if self._may_have(exchange, task)]
        by_server: dict[str, list[ServerTask]] = {}
        for task in own:
            by_server.setdefault(task.server, []).append(task)
        lists = await asyncio.gather(*(self._listed(server, tasks, exchange) for server, tasks in by_server.items()))
        listed: dict[str, Raw] = {id: state for each in lists for id, state in each.items()}
        return Envelope(result=closed({"tasks": dump([listed[task.id] for task in own if task.id in listed])}))

    async def _listed(self, server: str, tasks: list[ServerTask], exchange: Exchange) -> dict[str, Raw]:
        """Returns the tasks that a server still has, by id. A stopped server is not started, as it would have no tasks."""
        managed = self._servers.find(server)
        if managed is None:
            return {}
        client = managed.client_for(exchange.era, exchange.session)
        if client is None and not is_remote(managed.config.transport):
            return {}
        has_list = client is None or "list" in _tasks_of(client.greeting.capabilities)
        states = await (self._pages(managed, exchange) if has_list else self._each(managed, tasks[-MOST_ASKED_FOR:], exchange))
        found: dict[str, Raw] = {}
        for task in tasks:
            if state := states.get(task.own_id):
                found[task.id] = messages.with_id(state, task.id)
                self._book.record(task, messages.read_state(state) or TaskState(task.own_id))
        return found

    async def _pages(self, managed: ManagedServer, exchange: Exchange) -> dict[str, Raw]:
        """Returns all tasks that a server lists, by its own ids."""
        found: dict[str, Raw] = {}
        asked, params, size_bytes = set[bytes](), Raw(b"{}"), 0
        while params and bytes(params) not in asked and len(asked) < MAX_PAGES:
            asked.add(bytes(params))
            request = Envelope(id=exchange.request.id, method=LIST, params=params)
            reply = await self._relay.send_with_retry(managed, exchange.child(request=request))
            size_bytes += len(memoryview(reply.result))
            try:
                check_length(LIST, 0, size_bytes)
                members = {} if reply.error else opened(reply.result)
                found |= {state.id: raw for raw in elements_of(members.get("tasks", Raw(b"[]"))) if (state := messages.read_state(raw))}
            except (TooLong, ValueError):
                return found
            cursor = members.get("nextCursor", NOTHING)
            params = closed({"cursor": cursor}) if bytes(cursor).startswith(b'"') else NOTHING
        return found

    async def _each(self, managed: ManagedServer, tasks: list[ServerTask], exchange: Exchange) -> dict[str, Raw]:
        """Returns tasks of a server without a list by a separate request for each."""
        found: dict[str, Raw] = {}
        for task in tasks:
            request = Envelope(id=exchange.request.id, method=GET, params=dump({"taskId": task.own_id}))
            reply = await self._relay.send_with_retry(managed, exchange.child(request=request))
            if not reply.error:
                found[task.own_id] = reply.result
            self._note(task, GET, reply)
        return found

    async def _list_one(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """Answers page by page, as the server does; over a connection that clients share, only with the client's own tasks."""
        reply = await self._relay.send_with_retry(managed, exchange)
        client = managed.client_for(exchange.era, exchange.session)
        if reply.error or exchange.era is Era.MODERN or (client and client.owner):
            return reply
        own = {task.own_id for task in self._book.of(exchange.session.state.owner) if task.server == managed.name}
        try:
            members = opened(reply.result)
            listed = elements_of(members.get("tasks", Raw(b"[]")))
        except ValueError:
            return failure(INTERNAL_ERROR, f"server '{managed.name}' sent a malformed reply to tasks/list")
        kept = [raw for raw in listed if (state := messages.read_state(raw)) and state.id in own]
        return Envelope(result=closed(members | {"tasks": dump(kept)}))


def _fault(exchange: Exchange) -> Envelope | None:
    """Returns why a request is refused for any task; None if it is not."""
    if exchange.request.method not in OF_ERA[exchange.era]:
        return failure(METHOD_NOT_FOUND, "Method not found", exchange.request.method)
    if exchange.era is Era.MODERN and not messages.declares_tasks(exchange.request.params):
        return messages.undeclared()
    return None


def _tasks_of(capabilities: Mapping[str, object]) -> Mapping[str, object]:
    tasks = capabilities.get("tasks")
    return tasks if isinstance(tasks, dict) else {}
