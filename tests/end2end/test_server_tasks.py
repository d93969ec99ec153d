"""Tasks of servers through a real bridge: begun, asked for, and got again from the next hub after a kill -9."""

import json
import sys
from pathlib import Path

import pytest
from tests.end2end.processes import new_world, wait_until
from tests.end2end.steered import start_and_wait

LASTING = Path(__file__).parent / "servers" / "lasting_tasks.py"
EXTENSION = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "end2end", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": EXTENSION,
}


@pytest.fixture(scope="module")
def world():
    """A hub with two servers of each era, whose tasks outlive them."""
    with new_world() as world:
        for name in ("a", "b"):
            for era in ("legacy", "modern"):
                file = str(world.home / f"{name}-{era}.json")
                world.add_server(f"{name}_{era}", sys.executable, str(LASTING), file, era, f"{name}_{era}")
        start_and_wait(world)
        yield world


@pytest.fixture
def bridges(world):
    """Two AI clients."""
    bridges = world.start_bridge(), world.start_bridge()
    yield bridges
    assert [bridge.end() for bridge in bridges] == [0, 0]


def begun(bridge, name, era):
    params = {"name": f"{name}_{era}_work", "arguments": {}, **({"task": {}} if era == "legacy" else {"_meta": MODERN})}
    reply = bridge.request("tools/call", params)
    assert "result" in reply, reply
    result = reply["result"]
    return result.get("task", result)["taskId"]


def status(bridge, id, era):
    """How a task is; None while the hub is being started again."""
    reply = bridge.request("tasks/get", {"taskId": id, **({"_meta": MODERN} if era == "modern" else {})})
    return reply.get("result", {}).get("status")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_tasks_of_two_servers_are_there_again_after_a_kill_of_the_hub_and_are_their_clients_alone(world, bridges, era):
    owner, other = bridges
    for bridge in (owner, other):
        if era == "legacy":
            bridge.initialize(capabilities={"elicitation": {}})
    ids = [begun(owner, name, era) for name in ("a", "b")]
    assert [status(owner, id, era) for id in ids] == ["working", "working"]
    killed = world.kill_hub()
    for id in ids:
        wait_until(lambda id=id: status(owner, id, era) == "working", "the task to be there again")
    assert world.hub_pid() != killed
    params = {"taskId": ids[0], **({"_meta": MODERN} if era == "modern" else {})}
    for method in ("tasks/get", "tasks/cancel"):
        assert other.request(method, params)["error"]["code"] == -32602
    listed = json.loads(world.tooltray("tasks", "list", "--json").stdout)
    assert {task["id"]: task["server"] for task in listed if task["id"] in ids} == {ids[0]: f"a_{era}", ids[1]: f"b_{era}"}
    assert "error" not in owner.request("tasks/cancel", params)
    assert [status(owner, id, era) for id in ids] == ["cancelled", "working"]
    assert world.tooltray("tasks", "cancel", ids[1]).returncode == 0
    assert status(owner, ids[1], era) == "cancelled"


def test_what_a_task_asks_is_asked_of_its_client_in_the_middle_of_the_wait(bridges):
    owner, other = bridges
    for bridge in (owner, other):
        bridge.initialize(capabilities={"elicitation": {}})
    task = owner.request("tools/call", {"name": "a_legacy_ask", "arguments": {}, "task": {}})["result"]["task"]
    assert task["status"] == "input_required"
    owner.send_request("tasks/result", {"taskId": task["taskId"]}, id=7)
    question = owner.read()
    assert question["method"] == "elicitation/create"
    related = {"io.modelcontextprotocol/related-task": {"taskId": task["taskId"]}}
    assert question["params"]["_meta"] == related
    owner.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}})
    result = owner.reply_to(7)["result"]
    assert (result["content"][0]["text"], result["_meta"]) == ("done accept", related)
    assert [each["taskId"] for each in owner.request("tasks/list")["result"]["tasks"]] == [task["taskId"]]
    assert other.request("tasks/list")["result"] == {"tasks": []}
