"""Servers that begin a task with each call of `slow`, in either form, and AI clients that hear of it."""

import itertools
from typing import Any

from tests.fakes.hub_parts import Client, HubParts
from tests.fakes.scripted_server import Copy, ScriptedServer, error, text, tool

EXTENSION = "io.modelcontextprotocol/tasks"
RELATED = "io.modelcontextprotocol/related-task"
KNOWS_TASKS = {"extensions": {EXTENSION: {}}}
LEGACY = {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
MODERN = {"tools": {}, "extensions": {EXTENSION: {}}}


class TaskServer(ScriptedServer):
    """
    Attributes:
        states: of each task, by its id; a test changes them.
        ids: what the next tasks are called.
        capabilities: of the legacy greeting.
    """

    def __init__(self, *, eras: tuple[str, ...] = ("legacy",)) -> None:
        super().__init__(tool("slow", execution={"taskSupport": "optional"}), eras=eras)
        self.states: dict[str, str] = {}
        self.ids = (f"task-{number}" for number in itertools.count(1))
        self.ttl_ms: int | None = 60000
        self.capabilities = LEGACY
        self.calls["slow"] = self._slow
        self.handlers |= {
            "initialize": self._initialize,
            "tasks/get": lambda copy, params: self._about(params, self.state(params["taskId"])),
            "tasks/cancel": self._cancel,
            "tasks/update": lambda copy, params: self._about(params, {"resultType": "complete"}),
            "tasks/list": lambda copy, params: {"tasks": [self.state(id) for id in self.states]},
            "tasks/result": self._result,
        }
        if "modern" in eras:
            found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": MODERN}
            self.handlers["server/discover"] = lambda copy, params: found
            self.handlers["tasks/cancel"] = lambda copy, params: self._about(params, {"resultType": "complete"})

    @property
    def is_modern(self) -> bool:
        return "modern" in self.eras

    def state(self, id: str) -> dict[str, Any]:
        state = {"taskId": id, "status": self.states.get(id, "working"), "createdAt": "2026-11-01T00:00:00Z"}
        return state | ({"ttlMs": self.ttl_ms, "resultType": "complete"} if self.is_modern else {"ttl": self.ttl_ms})

    def end(self, id: str) -> None:
        self.states[id] = "completed"

    def _initialize(self, copy: Copy, params: Any) -> Any:
        if "legacy" not in self.eras:
            return error(-32601, "Method not found")
        return {"protocolVersion": "2025-11-25", "capabilities": self.capabilities, "serverInfo": {"name": "s", "version": "1"}}

    def _slow(self, copy: Copy, params: Any) -> Any:
        if not self.is_modern and "task" not in params:
            return text("at once")
        id = next(self.ids)
        self.states[id] = "working"
        state = self.state(id)
        return state | {"resultType": "task"} if self.is_modern else {"task": state}

    def _about(self, params: Any, answer: Any) -> Any:
        return answer if params["taskId"] in self.states else error(-32602, "no such task")

    def _cancel(self, copy: Copy, params: Any) -> Any:
        self.states[params["taskId"]] = "cancelled"
        return self.state(params["taskId"])

    def _result(self, copy: Copy, params: Any) -> Any:
        self.end(params["taskId"])
        return text("done") | {"_meta": {RELATED: {"taskId": params["taskId"]}, "x": 1}}


class TaskClient(Client):
    """An AI client that is told apart from others by its owner.

    Attributes:
        news: of tasks, as it was told them.
    """

    def __init__(self, owner: str, *, server: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.state.owner, self.state.server = owner, server
        self.news: list[tuple[str, Any]] = []

    def tell_server_news(self, method: str, params: Any) -> None:
        self.tell(method, params)

    def tell_task_news(self, id: str, params: Any) -> None:
        self.tell(id, params)


async def begun(parts: HubParts, client: Client, name: str = "slow", **options: Any) -> str:
    """Begins a task; returns its id as the client has it."""
    reply = await parts.call(name, client, **({"task": {"ttl": 60000}} | options))
    return str(reply["result"].get("task", reply["result"])["taskId"])
