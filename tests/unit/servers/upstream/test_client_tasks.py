"""client_tasks.py: a server asks for the tasks that AI clients have begun for its questions, each of the client that has it."""

from pathlib import Path
from typing import Any

from tests.fakes.hub_parts import Client, HubParts, hub_parts, one_server, started
from tests.fakes.scripted_server import Copy, ScriptedServer, tool

from tooltray.protocol.envelope import dump, failure, success
from tooltray.servers.upstream import client_tasks

RELATED = "io.modelcontextprotocol/related-task"
STATUS = "notifications/tasks/status"


def answering(id: str) -> Client:
    """A client that makes a task of each question, and answers what is asked about it."""

    async def answer(method: str) -> Any:
        state = {"taskId": id, "status": "working"}
        return {
            "sampling/createMessage": {"task": state},
            "elicitation/create": {"task": state},
            "tasks/result": {"content": "done", "_meta": {RELATED: {"taskId": id}}},
        }.get(method, state)

    return Client(capabilities={"elicitation": {}, "sampling": {}}, answer=answer)


async def begin(parts: HubParts, client: Client, method: str = "elicitation/create") -> str:
    """Lets the server ask during a call; returns the id by which it knows the client's task."""
    program: ScriptedServer = parts.programs["program"]

    async def asks(copy: Copy, params: Any) -> Any:
        return {"content": [{"type": "text", "text": (await copy.ask(method, {"message": "?", "task": {}}))["task"]["taskId"]}]}

    program.calls["t"] = asks
    return str((await parts.call("t", client))["result"]["content"][0]["text"])


async def test_two_clients_give_one_id_and_the_server_reaches_each(tmp_path: Path) -> None:
    program, first, second = ScriptedServer(tool("t")), answering("1"), answering("1")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        ids = [await begin(parts, first), await begin(parts, second, "sampling/createMessage"), await begin(parts, first)]
        assert ids == ["1", "1-1", "1"]
        for method in ("tasks/get", "tasks/cancel"):
            assert await program.copy.ask(method, {"taskId": "1-1"}) == {"taskId": "1-1", "status": "working"}
            assert second.asked.all[-1] == (method, {"taskId": "1"})
        assert await program.copy.ask("tasks/result", {"taskId": "1"}) == {"content": "done", "_meta": {RELATED: {"taskId": "1"}}}
        assert first.asked.all[-1] == ("tasks/result", {"taskId": "1"})
        assert (await program.copy.ask("tasks/get", {"taskId": "2"}))["code"] == -32601
        second.answer = failure(-32602, "gone")
        assert (await program.copy.ask("tasks/get", {"taskId": "1-1"}))["message"] == "gone"
        for client in (first, second, answering("1")):
            parts.notifications.take(client, STATUS, dump({"taskId": "1", "status": "completed"}), server=None)
        parts.notifications.take(first, STATUS, dump({"taskId": "2"}), server=None)
        await program.told.wait(lambda told: told.method == STATUS and told.params["taskId"] == "1-1")
        assert [told.params["taskId"] for told in program.told.all if told.method == STATUS] == ["1", "1-1"]


async def test_errors_pass_and_of_many_tasks_the_oldest_go() -> None:
    tasks, clients = client_tasks.ClientTasks(), [answering("1") for _ in range(client_tasks.MOST_KEPT + 1)]
    refusal = success({})
    assert tasks.noted(clients[0], refusal) is refusal
    for client in clients:
        tasks.noted(client, success({"task": {"taskId": "1"}}))
    assert tasks.news(clients[0], dump({"taskId": "1"})) is None
    assert tasks.news(clients[-1], dump({"taskId": "1"})) is not None
