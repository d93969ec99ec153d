"""server_tasks.py, task_book.py: whose a task is, what its id means, and the way of `tasks/*` to its server and back."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.everything_server import answered
from tests.fakes.hub_parts import MODERN_META, HubParts, hub_parts, one_server, settled, started_parts, two_servers
from tests.fakes.scripted_server import error, raw, text
from tests.fakes.set_clock import SetClock
from tests.fakes.task_server import KNOWS_TASKS, LEGACY, RELATED, TaskClient, TaskServer, begun

from tooltray.gateway.server_tasks.server_tasks import RESULT_WAIT_S
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY

IDLE_S = 321.0
UNKNOWN = {"code": -32602, "message": "Failed to retrieve task: Task not found"}
MODERN = {"_meta": {**MODERN_META, CLIENT_CAPABILITIES_KEY: KNOWS_TASKS}}


@pytest.fixture
def program() -> TaskServer:
    return TaskServer()


@pytest.fixture
async def parts(tmp_path: Path, program: TaskServer) -> AsyncIterator[HubParts]:
    async with started_parts(tmp_path, **one_server(program)) as parts:
        yield parts


async def asked(parts: Any, method: str, client: Any, id: Any = None, **options: Any) -> dict[str, Any]:
    return await answered(parts, method, client, **({} if id is None else {"taskId": id}), **options)


async def test_two_servers_give_one_id_and_each_task_is_its_own_servers(tmp_path: Path) -> None:
    first, second = TaskServer(), TaskServer()
    async with started_parts(tmp_path, "a", "b", **two_servers(first, second)) as parts:
        client = TaskClient("A")
        ids = [await begun(parts, client, name) for name in sorted(await parts.listed())]
        assert list(first.states) == list(second.states) == ["task-1"]
        assert ids[0] != ids[1]
        second.end("task-1")
        states = [(await asked(parts, "tasks/get", client, id))["result"] for id in ids]
        assert [state["status"] for state in states] == ["working", "completed"]
        assert [state["taskId"] for state in states] == ids
        listed = (await asked(parts, "tasks/list", client))["result"]["tasks"]
        assert [(task["taskId"], task["status"]) for task in listed] == list(zip(ids, ["working", "completed"], strict=True))
        assert (await asked(parts, "tasks/cancel", client, ids[0]))["result"] == first.state("task-1") | {"taskId": ids[0]}
        assert first.states == {"task-1": "cancelled"}
        result = (await asked(parts, "tasks/result", client, ids[1]))["result"]
        assert result == text("done") | {"_meta": {RELATED: {"taskId": ids[1]}, "x": 1}}


async def test_a_task_is_its_clients_alone_also_at_one_server_alone(parts: HubParts, program: TaskServer) -> None:
    owner, other = TaskClient("A"), TaskClient("B")
    id = await begun(parts, owner)
    before = len(program.asked.all)
    for method in ("tasks/get", "tasks/result", "tasks/cancel", "tasks/update"):
        assert (await asked(parts, method, other, id))["error"] == UNKNOWN
        assert (await asked(parts, method, other, "task-1"))["error"] == UNKNOWN
        assert (await asked(parts, method, other, "task-1", server="s"))["error"] == UNKNOWN
    assert len(program.asked.all) == before
    assert (await asked(parts, "tasks/list", other))["result"] == {"tasks": []}
    assert (await asked(parts, "tasks/list", other, server="s"))["result"] == {"tasks": []}
    again = TaskClient("A")  # its next connection
    assert (await asked(parts, "tasks/get", again, id))["result"]["taskId"] == id
    assert (await asked(parts, "tasks/get", again, "task-1", server="s"))["result"]["taskId"] == "task-1"
    assert (await asked(parts, "tasks/list", again, server="s"))["result"]["tasks"] == [program.state("task-1")]


async def test_a_session_of_one_server_has_the_servers_own_ids_and_messages(parts: HubParts, program: TaskServer) -> None:
    client = TaskClient("A", server="s")
    assert await begun(parts, client, server="s") == "task-1"
    result = (await asked(parts, "tasks/result", client, "task-1", server="s"))["result"]
    assert result["_meta"][RELATED] == {"taskId": "task-1"}
    assert (await asked(parts, "tasks/get", client, "never seen", server="s"))["error"]["message"] == "no such task"
    program.handlers["tasks/list"] = lambda copy, params: error(-32601, "no lists") if "cursor" in params else raw(b"[]")
    assert (await asked(parts, "tasks/list", client, server="s", cursor="x"))["error"]["message"] == "no lists"
    assert "its result is not an object" in (await asked(parts, "tasks/list", client, server="s"))["error"]["message"]
    program.handlers["tasks/list"] = lambda copy, params: raw(b'{"tasks": 1}')
    assert "a malformed reply" in (await asked(parts, "tasks/list", client, server="s"))["error"]["message"]


async def test_with_a_copy_of_the_server_for_each_client_the_same_ids_do_not_meet(tmp_path: Path) -> None:
    program = TaskServer()
    async with hub_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        clients = [TaskClient("A", server="s"), TaskClient("B", server="s")]
        for client in clients:
            program.ids = iter(["task-1"])
            assert await begun(parts, client, server="s") == "task-1"
        for client in clients:
            assert (await asked(parts, "tasks/get", client, "task-1", server="s"))["result"]["taskId"] == "task-1"
            assert len((await asked(parts, "tasks/list", client, server="s"))["result"]["tasks"]) == 1
        stranger = TaskClient("C", server="s")
        parts.task_book.drop(parts.task_book.of("B")[0])
        assert (await asked(parts, "tasks/get", clients[1], "task-1", server="s"))["result"]["taskId"] == "task-1"  # all is its own there
        assert (await asked(parts, "tasks/get", stranger, "task-1", server="s"))["error"] == UNKNOWN


async def test_what_another_copy_of_the_server_does_not_know_is_not_lost_for_the_session_that_began_it(tmp_path: Path) -> None:
    program = TaskServer()
    async with started_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        first, second = TaskClient("A"), TaskClient("A")  # two sessions of one token
        id = await begun(parts, first)
        usual = program.handlers["tasks/get"]
        program.handlers["tasks/get"] = lambda copy, params: error(-32602, "not here")
        assert (await asked(parts, "tasks/get", second, id))["error"]["message"] == "not here"
        program.handlers["tasks/get"] = usual
        assert (await asked(parts, "tasks/get", first, id))["result"]["taskId"] == id


async def test_a_task_is_known_again_after_the_hub_was_ended_in_the_middle(tmp_path: Path) -> None:
    program = TaskServer()
    async with started_parts(tmp_path, **one_server(program)) as parts:
        id = await begun(parts, TaskClient("A"))  # answered when it is on the disk
        kept = json.loads(parts.home.server_tasks.read_bytes())
        assert [each["id"] for each in kept] == [id]
        assert parts.home.server_tasks.stat().st_mode & 0o777 == 0o600
    async with hub_parts(tmp_path, programs={"program": program}) as parts:
        assert (await asked(parts, "tasks/get", TaskClient("B"), id))["error"] == UNKNOWN
        assert (await asked(parts, "tasks/get", TaskClient("A"), id))["result"]["taskId"] == id


async def test_the_result_of_a_task_is_as_large_as_its_client_may_have_it(tmp_path: Path) -> None:
    program = TaskServer()
    program.handlers["tasks/result"] = lambda copy, params: text("word " * 5000)
    async with started_parts(tmp_path, **one_server(program, resultLimit=500)) as parts:
        client = TaskClient("A")
        result = (await asked(parts, "tasks/result", client, await begun(parts, client)))["result"]
        assert "To continue, call read_result" in result["content"][-1]["text"]


async def test_a_server_that_has_forgotten_its_tasks_says_so_itself(parts: HubParts, program: TaskServer) -> None:
    client = TaskClient("A")
    id = await begun(parts, client)
    program.states.clear()
    program.copy.die()
    await parts.servers.start("s")
    assert (await asked(parts, "tasks/get", client, id))["error"]["message"] == "no such task"
    assert (await asked(parts, "tasks/get", client, id))["error"] == UNKNOWN
    assert not list(parts.task_book)


async def test_an_id_that_a_restarted_server_gives_again_is_the_new_task_alone(parts: HubParts, program: TaskServer) -> None:
    old, new = TaskClient("A"), TaskClient("B")
    before = await begun(parts, old)
    program.copy.die()
    await parts.servers.start("s")
    program.ids = iter(["task-1"])
    id = await begun(parts, new)
    assert (await asked(parts, "tasks/get", old, before))["error"] == UNKNOWN
    assert (await asked(parts, "tasks/get", old, "task-1", server="s"))["error"] == UNKNOWN
    assert (await asked(parts, "tasks/get", new, id))["result"]["taskId"] == id


async def test_a_modern_client_that_knows_tasks_gets_one_and_updates_and_cancels_it(tmp_path: Path) -> None:
    program = TaskServer(eras=("modern",))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        client = TaskClient("A")
        reply = (await parts.call("slow", client, **MODERN))["result"]
        id = reply["taskId"]
        assert (reply["resultType"], id) == ("task", parts.task_book.of("A")[0].id)
        assert (await asked(parts, "tasks/get", client, id, **MODERN))["result"]["taskId"] == id
        assert (await asked(parts, "tasks/update", client, id, inputResponses={"k": 1}, **MODERN))["result"] == {"resultType": "complete"}
        assert program.asked.all[-1].params["taskId"] == "task-1"
        assert (await asked(parts, "tasks/get", client, id, is_modern=True))["error"]["code"] == -32021
        for method in ("tasks/list", "tasks/result"):
            assert (await asked(parts, method, client, id, **MODERN))["error"]["code"] == -32601
        assert (await asked(parts, "tasks/cancel", client, id, **MODERN))["result"] == {"resultType": "complete"}
        assert parts.task_book.of("A")[0].status == "cancelled"


async def test_neither_era_asks_the_other_for_a_task(tmp_path: Path) -> None:
    legacy, modern = TaskServer(), TaskServer(eras=("modern",))
    async with started_parts(tmp_path, "a", "b", **two_servers(legacy, modern)) as parts:
        of_legacy, of_modern = sorted(await parts.listed())
        client = TaskClient("A")
        client.held = parts.client().held
        reply = await parts.call(of_legacy, client, task={}, **MODERN)
        assert reply["result"] == {"resultType": "complete", **text("at once")}
        await parts.call(of_modern, client, task={})
        assert all("task" not in each.params for program in (legacy, modern) for each in program.asked.all if each.method == "tools/call")


async def test_a_call_that_waits_for_a_result_has_its_own_time_and_its_end_does_not_end_the_task(tmp_path: Path) -> None:
    program = TaskServer()
    async with started_parts(tmp_path, **one_server(program, callTimeout=1)) as parts:
        client = TaskClient("A")
        id = await begun(parts, client)
        program.hold("tasks/result")
        waiting = asyncio.ensure_future(asked(parts, "tasks/result", client, id))
        await program.request("tasks/result")
        assert parts.wheel.of(RESULT_WAIT_S)
        assert not parts.wheel.expire(1.0)
        waiting.cancel()
        await program.cancelled.wait(lambda asked: asked.method == "tasks/result")
        assert (await asked(parts, "tasks/get", client, id))["result"]["status"] == "working"


@pytest.mark.parametrize("id", [7, None, "x" * 4097, {"a": 1}])
async def test_a_task_without_an_id_that_can_be_used_is_an_error_for_clients_of_all_servers(
    parts: HubParts, program: TaskServer, id: Any
) -> None:
    program.calls["slow"] = lambda copy, params: {"task": {"taskId": id}}
    assert "without a usable id" in (await parts.call("slow", TaskClient("A"), task={}))["error"]["message"]
    alone = await parts.call("slow", TaskClient("A", server="s"), server="s", task={})
    assert alone["result"] == {"task": {"taskId": id}}
    assert not list(parts.task_book)


async def test_a_call_that_asks_for_a_task_may_have_its_result_at_once_or_fail(parts: HubParts, program: TaskServer) -> None:
    for answer in (text("at once"), text("x") | {"task": 1}, error(-32601, "no tasks here"), {"task": []}):
        program.calls["slow"] = lambda copy, params, answer=answer: answer
        reply = await parts.call("slow", TaskClient("A"), task={})
        assert reply.get("result", answer) == answer or reply["error"]["message"] == "no tasks here"
    assert not list(parts.task_book)


@pytest.mark.parametrize("id", [7, None, [], "", "x" * 2**20, "s:task-1"])
async def test_ids_that_are_none_are_unknown_and_reach_no_server(parts: HubParts, program: TaskServer, id: Any) -> None:
    client = TaskClient("A")
    await begun(parts, client)
    before = len(program.asked.all)
    assert (await answered(parts, "tasks/get", client, taskId=id))["error"] == UNKNOWN
    assert len(program.asked.all) == before


async def test_nonsense_of_a_server_is_passed_on_and_names_no_other_task(parts: HubParts, program: TaskServer) -> None:
    client = TaskClient("A")
    id = await begun(parts, client)
    program.handlers["tasks/get"] = lambda copy, params: {"taskId": "of somebody else", "status": ["?"], "ttl": "soon"}
    assert (await asked(parts, "tasks/get", client, id))["result"]["taskId"] == id
    assert (await asked(parts, "tasks/update", client, id))["result"]["resultType"] == "complete"
    program.handlers["tasks/get"] = lambda copy, params: error(-32603, "not now")
    assert (await asked(parts, "tasks/get", client, id))["error"]["message"] == "not now"
    for nonsense in (b"[]", b"7"):
        program.handlers["tasks/get"] = lambda copy, params, nonsense=nonsense: raw(nonsense)
        assert "its result is not an object" in (await asked(parts, "tasks/get", client, id))["error"]["message"]
    program.handlers["tasks/get"] = lambda copy, params: raw(b'{"x":1}')
    assert (await asked(parts, "tasks/get", client, id))["result"] == {"x": 1}
    assert [task.status for task in parts.task_book] == ["working"]


async def test_lists_go_over_all_pages_and_leave_out_what_cannot_be_read(parts: HubParts, program: TaskServer) -> None:
    client = TaskClient("A")
    ids = [await begun(parts, client) for _ in range(2)]
    pages = {None: {"tasks": [program.state("task-2"), 7], "nextCursor": "a"}, "a": {"tasks": [program.state("task-1")]}}
    program.handlers["tasks/list"] = lambda copy, params: pages[params.get("cursor")]
    assert [each["taskId"] for each in (await asked(parts, "tasks/list", client))["result"]["tasks"]] == ids
    assert (await asked(parts, "tasks/list", client, cursor="a"))["error"]["code"] == -32602
    program.handlers["tasks/list"] = lambda copy, params: {"tasks": [], "nextCursor": "for ever"}
    assert (await asked(parts, "tasks/list", client))["result"] == {"tasks": []}
    for nonsense in (error(-1, "no"), raw(b"[]"), {"tasks": 7}, {"tasks": [], "x": "y" * (17 * 2**20)}):
        program.handlers["tasks/list"] = lambda copy, params, nonsense=nonsense: nonsense
        assert (await asked(parts, "tasks/list", client))["result"] == {"tasks": []}


async def test_of_a_server_without_a_list_each_task_is_asked_for_and_none_is_started_to_list_nothing(tmp_path: Path) -> None:
    program = TaskServer()
    program.capabilities = {**LEGACY, "tasks": {"requests": {"tools": {"call": {}}}}}
    async with started_parts(tmp_path, **one_server(program)) as parts:
        client = TaskClient("A")
        ids = [await begun(parts, client) for _ in range(2)]
        del program.states["task-1"]
        assert [each["taskId"] for each in (await asked(parts, "tasks/list", client))["result"]["tasks"]] == ids[1:]
        assert program.count("tasks/list") == 0
        await parts.servers.stop("s")
        copies = len(program.copies.all)
        assert (await asked(parts, "tasks/list", client))["result"] == {"tasks": []}
        assert len(program.copies.all) == copies
        await parts.conf.remove_server("s")
        assert (await asked(parts, "tasks/list", client))["result"] == {"tasks": []}
        assert (await asked(parts, "tasks/get", client, ids[1]))["error"] == UNKNOWN


async def test_a_tool_that_was_switched_off_meanwhile_leaves_its_task_to_its_client(parts: HubParts) -> None:
    client = TaskClient("A")
    id = await begun(parts, client)
    await parts.tools_api.set_tool_enabled("s", "slow", False)
    assert (await asked(parts, "tasks/get", client, id))["result"]["status"] == "working"
    assert (await asked(parts, "tasks/cancel", client, id))["result"]["status"] == "cancelled"


async def test_a_server_where_a_task_works_is_not_idle(tmp_path: Path) -> None:
    program, clock = TaskServer(), SetClock()
    async with started_parts(tmp_path, **one_server(program, idleStop=IDLE_S), clock=clock) as parts:
        client = TaskClient("A")
        id = await begun(parts, client)
        clock.now += IDLE_S
        parts.wheel.expire(IDLE_S)
        assert program.running
        program.end("task-1")
        await asked(parts, "tasks/get", client, id)
        while program.running:  # a server that has just come may still be asked for its lists
            clock.now += IDLE_S
            parts.wheel.expire(IDLE_S)
            await settled()


LINK = {"type": "resource_link", "uri": "x://1", "name": "n"}
OF_A = {**LINK, "uri": "tooltray://a/x%3A%2F%2F1"}


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_links_in_what_comes_of_a_task_are_those_that_the_client_of_all_servers_knows(tmp_path: Path, era: str) -> None:
    state = {"resultType": "complete", "status": "completed", "result": {"content": [LINK]}, "createdAt": "2026-11-01T00:00:00Z"}
    capabilities = KNOWS_TASKS | {"tools": {}, "resources": {}}
    found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities}
    programs = [TaskServer(eras=(era,)), TaskServer(eras=(era,))]
    for program in programs:
        program.capabilities = LEGACY | {"resources": {}}
        program.handlers |= {
            "resources/list": lambda copy, params: {"resources": [LINK]},
            "tasks/result": lambda copy, params: {"content": [LINK]},
            "tasks/get": lambda copy, params: state | {"taskId": params["taskId"]},
        }
        if era == "modern":
            program.handlers["server/discover"] = lambda copy, params: found
    async with started_parts(tmp_path, "a", "b", **two_servers(*programs)) as parts:
        await parts.listed()
        await parts.resources.listing()
        client, alone = TaskClient("A"), TaskClient("A", server="a")
        options: dict[str, Any] = MODERN if era == "modern" else {}
        id = await begun(parts, client, "a_slow", **options)
        method = "tasks/result" if era == "legacy" else "tasks/get"
        for asking, of_task, known, server in ((client, id, OF_A, None), (alone, "task-1", LINK, "a")):
            result = (await asked(parts, method, asking, of_task, server=server, **options))["result"]
            assert result.get("result", result)["content"] == [known]


async def test_a_modern_client_may_escape_the_slash_in_the_name_of_the_extension(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(TaskServer(eras=("modern",)))) as parts:
        declared = Raw(bytes(dump(KNOWS_TASKS)).replace(b"/", rb"\/"))
        id = await begun(parts, client := TaskClient("A"), _meta={**MODERN_META, CLIENT_CAPABILITIES_KEY: declared}, task=None)
        assert (await asked(parts, "tasks/get", client, id, **MODERN))["result"]["taskId"] == id
