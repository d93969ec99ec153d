"""task_news.py, task_book.py: news and questions of servers about tasks reach the task's own client, wherever it is now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.everything_server import answered
from tests.fakes.hub_parts import MODERN_META, HubParts, hub_parts, one_server, settled, started, started_parts, two_servers
from tests.fakes.modern_subscriptions import LISTENED, acknowledging, wanted
from tests.fakes.scripted_server import Copy, error
from tests.fakes.task_server import EXTENSION, KNOWS_TASKS, LEGACY, RELATED, TaskClient, TaskServer, begun

from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.server_tasks.task_book import ServerTask
from tooltray.gateway.server_tasks.task_news import LONGEST_EARLY_BYTES, MOST_EARLY, TaskListens
from tooltray.protocol.envelope import success
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY

STATUS, CHANGED = "notifications/tasks/status", "notifications/tasks"
MODERN = {"_meta": {**MODERN_META, CLIENT_CAPABILITIES_KEY: KNOWS_TASKS}}
ASKS = {"elicitation": {}}
YES = {"action": "accept", "content": {}}
KEY = Raw(b"7")
LINK = {"type": "resource_link", "uri": "x://1", "name": "n"}


@asynccontextmanager
async def with_clients(root: Path, program: TaskServer, clients: list[TaskClient], **fields: Any) -> AsyncIterator[HubParts]:
    """A hub at which these clients are connected; a test changes the list."""
    async with hub_parts(root, **one_server(program, **fields), waits={"connected": lambda: clients}) as parts:
        await started(parts)
        yield parts


def question(id: str) -> dict[str, Any]:
    return {"message": "?", "requestedSchema": {"type": "object", "properties": {}}, "_meta": {RELATED: {"taskId": id}}}


async def test_news_reach_the_tasks_client_alone_each_session_under_the_id_it_knows(tmp_path: Path) -> None:
    program = TaskServer()
    owner, alone, other, elsewhere = TaskClient("A"), TaskClient("A", server="s"), TaskClient("B"), TaskClient("A", server="x")
    async with with_clients(tmp_path, program, [owner, alone, other, elsewhere]) as parts:
        id = await begun(parts, owner)
        await settled()
        program.end("task-1")
        ended = program.state("task-1") | {"result": {"content": [LINK]}}
        program.copy.notify(STATUS, ended)
        await owner.told.wait(lambda told: True)
        assert owner.told.all == [(STATUS, ended | {"taskId": id})]
        assert alone.told.all == [(STATUS, ended)]
        assert not other.told.all
        assert not elsewhere.told.all
        [task] = parts.task_book.of("A")
        assert (task.status, parts.task_places.client_of(task)) == ("completed", None)


async def test_news_and_questions_of_a_task_link_to_what_the_client_knows(tmp_path: Path) -> None:
    programs = program, _ = TaskServer(), TaskServer()
    known = LINK | {"uri": "tooltray://a/x%3A%2F%2F1"}
    for each in programs:
        each.capabilities = LEGACY | {"resources": {}}
        each.handlers["resources/list"] = lambda copy, params: {"resources": [LINK]}
    client, alone = TaskClient("A", capabilities={"sampling": {}}, answer=success({})), TaskClient("A", server="a")
    async with started_parts(tmp_path, "a", "b", **two_servers(*programs), waits={"connected": lambda: [client, alone]}) as parts:
        await parts.listed()
        await parts.resources.listing()
        id = await begun(parts, client, "a_slow")
        await settled()
        program.copy.notify(STATUS, {"taskId": "task-1", "result": {"content": [LINK]}})
        assert (await client.told.wait(lambda told: True))[1] == {"taskId": id, "result": {"content": [known]}}
        assert alone.told.all == [(STATUS, {"taskId": "task-1", "result": {"content": [LINK]}})]
        asks = {"messages": [{"role": "user", "content": LINK}], "_meta": {RELATED: {"taskId": "task-1"}}}
        await program.copy.ask("sampling/createMessage", asks)
        assert client.asked.all[0][1]["messages"] == [{"role": "user", "content": known}]


async def test_the_flow_guard_hears_of_an_outcome_that_comes_as_news(tmp_path: Path) -> None:
    program, client, alone = TaskServer(), TaskClient("A"), TaskClient("A", server="s")
    async with with_clients(tmp_path, program, [client, alone]) as parts:
        noted: list[tuple[str, str]] = []
        parts.flow_guard.note_again = lambda route, server, state: noted.append((route.definition.name if route else "", state.id))
        await begun(parts, client)
        await settled()
        program.copy.notify(CHANGED, {"taskId": "task-1", "status": "working"})
        await settled()
        assert noted == []
        program.copy.notify(CHANGED, {"taskId": "task-1", "status": "completed", "result": {"content": []}})
        await settled()
        assert noted == [("slow", client.state.id), ("slow", alone.state.id)]


async def test_the_flow_guard_hears_of_the_outcome_of_a_task_that_only_its_own_copy_knows(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A", server="s")
    async with with_clients(tmp_path, program, [client], isolation="session") as parts:
        noted: list[str] = []
        parts.flow_guard.note_again = lambda route, server, state: noted.append(f"{server} {route} {state.id}")
        await begun(parts, client, server="s")
        await settled()
        program.copy.notify(STATUS, {"taskId": "begun elsewhere", "status": "failed", "error": {"code": 1, "message": "no"}})
        await client.told.wait(lambda told: True)
        assert noted == [f"s None {client.state.id}"]


async def test_news_that_come_before_the_answer_follow_it(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A")
    async with with_clients(tmp_path, program, [client]) as parts:
        usual = program.calls["slow"]

        def early(copy: Copy, params: Any) -> Any:
            copy.notify(STATUS, {"taskId": "task-1", "status": "working", "statusMessage": "early"})
            copy.notify(STATUS, {"taskId": "task-1", "status": "input_required", "statusMessage": "x" * LONGEST_EARLY_BYTES})
            return usual(copy, params)

        program.calls["slow"] = early
        id = await begun(parts, client)
        assert not client.told.all
        await client.told.wait(lambda told: told[1] == {"taskId": id, "status": "working", "statusMessage": "early"})


async def test_news_that_come_while_the_task_is_written_down_follow_the_answer(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A")
    async with with_clients(tmp_path, program, [client]) as parts:
        usual = parts.task_book.written

        async def written() -> None:
            program.copy.notify(STATUS, {"taskId": "task-1", "status": "working"})
            await settled()
            assert not client.told.all
            await usual()

        parts.task_book.written = written  # type: ignore[method-assign]
        id = await begun(parts, client)
        assert not client.told.all
        await client.told.wait(lambda told: told[1] == {"taskId": id, "status": "working"})


async def test_news_of_tasks_that_nobody_has_are_kept_for_a_few_and_told_to_nobody(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A")
    async with with_clients(tmp_path, program, [client]) as parts:
        program.copy.notify(STATUS, {"taskId": "task-1", "status": "failed"})
        for number in range(MOST_EARLY):
            program.copy.notify(STATUS, {"taskId": f"x{number}"})
        for nonsense in ([], {"taskId": 7}, {}):
            program.copy.notify(STATUS, nonsense)
        await settled()
        await begun(parts, client)
        await settled()
        assert not client.told.all


async def test_a_copy_of_ones_own_tells_its_client_everything(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A", server="s")
    async with with_clients(tmp_path, program, [client], isolation="session") as parts:
        await begun(parts, client, server="s")
        await settled()
        program.copy.notify(STATUS, {"taskId": "begun elsewhere"})
        await client.told.wait(lambda told: told == (STATUS, {"taskId": "begun elsewhere"}))


async def test_a_task_of_an_earlier_hub_is_heard_of_again(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A")
    async with with_clients(tmp_path, program, [client]) as parts:
        id = await begun(parts, client)
    async with started_parts(tmp_path, programs={"program": program}, waits={"connected": lambda: [client]}) as parts:
        program.copy.notify(STATUS, program.state("task-1"))
        await client.told.wait(lambda told: told[1]["taskId"] == id)


async def test_a_question_of_a_task_is_asked_of_its_client_although_another_one_has_a_call_in_flight(tmp_path: Path) -> None:
    program = TaskServer()
    owner, other = TaskClient("A", capabilities=ASKS, answer=success(YES)), TaskClient("B", capabilities=ASKS, answer=success({}))
    async with with_clients(tmp_path, program, [other, owner]) as parts:
        id = await begun(parts, owner)
        calling = parts.spawn(parts.call("hang", other, server="s"), name="call")
        assert await program.copy.ask("elicitation/create", question("task-1")) == YES
        assert owner.asked.all == [("elicitation/create", question(id))]
        assert not other.asked.all
        calling.cancel()


async def test_the_connection_that_waits_for_the_result_is_asked_first(tmp_path: Path) -> None:
    program = TaskServer()
    waiting = TaskClient("A", server="s", capabilities=ASKS, answer=success(YES))
    owner = TaskClient("A", capabilities=ASKS, answer=success({}))
    async with with_clients(tmp_path, program, [owner, waiting]) as parts:
        await begun(parts, owner)
        usual = program.handlers["tasks/result"]

        async def asks(copy: Copy, params: Any) -> Any:
            assert await copy.ask("elicitation/create", question("task-1")) == YES
            return usual(copy, params)

        program.handlers["tasks/result"] = asks
        assert (await answered(parts, "tasks/result", waiting, server="s", taskId="task-1"))["result"]["content"][0]["text"] == "done"
        assert waiting.asked.all == [("elicitation/create", question("task-1"))]
        assert waiting.abouts == [1]


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage"])
async def test_where_its_client_is_away_the_person_is_asked_and_never_another_client(tmp_path: Path, method: str) -> None:
    program, clients = TaskServer(), [TaskClient("A", capabilities=ASKS | {"sampling": {}}, answer=success({}))]
    asked: list[str] = []

    async def ask_person(server: str, params: Any) -> Any:
        asked.append(server)
        return success(YES)

    waits = {"connected": lambda: clients, "ask_person": ask_person}
    async with started_parts(tmp_path, **one_server(program), waits=waits) as parts:
        await begun(parts, clients.pop())
        other = TaskClient("B", capabilities=ASKS, answer=success({}))
        clients.append(other)
        calling = parts.spawn(parts.call("slow", other), name="call")
        answer = await program.copy.ask(method, question("task-1"))
        await calling
        assert not other.asked.all
        if method == "elicitation/create":
            assert (answer, asked) == (YES, ["s"])
        else:
            assert answer["message"] == "the client of this task cannot answer sampling/createMessage now"
            assert not asked


async def test_a_question_that_names_no_task_of_anybody_goes_the_way_of_all_questions(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A", capabilities=ASKS, answer=success(YES))
    async with with_clients(tmp_path, program, [client]) as parts:

        async def asks(copy: Copy, params: Any) -> Any:
            return await copy.ask("elicitation/create", question("no such task"))

        program.calls["slow"] = asks
        assert (await parts.call("slow", client))["result"] == YES


async def test_progress_goes_on_under_the_calls_token_until_as_many_others_have_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooltray.servers.upstream.mcp_client.MOST_TASK_TOKENS", 3)
    program, client = TaskServer(), TaskClient("A")
    async with with_clients(tmp_path, program, [client]) as parts:
        await begun(parts, client, _meta={"progressToken": 7})
        await begun(parts, client, _meta={"progressToken": 7})  # the client's own doing; the server sees another one
        tokens = [call.params["_meta"]["progressToken"] for call in program.asked.all if call.method == "tools/call"]
        assert tokens == [7, "shared-0"]
        for token in tokens:
            program.copy.notify("notifications/progress", {"progressToken": token, "progress": 1})
        await client.told.wait(lambda told: True, count=2)
        assert client.told.all == [("notifications/progress", {"progressToken": 7, "progress": 1})] * 2
        assert client.abouts == [None, None]  # its request is answered
        for number in range(3):
            await parts.call("slow", client, task={}, _meta={"progressToken": f"n{number}"})
        program.copy.notify("notifications/progress", {"progressToken": 7, "progress": 2})
        program.copy.notify("notifications/progress", {"progressToken": "n2", "progress": 2})
        await client.told.wait(lambda told: told[1]["progressToken"] == "n2")
        assert len(client.told.all) == 3


async def test_a_call_that_did_not_become_a_task_leaves_its_token(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A")
    async with with_clients(tmp_path, program, [client]) as parts:
        program.calls["slow"] = lambda copy, params: {"content": []}
        await parts.call("slow", client, task={}, _meta={"progressToken": 7})
        program.copy.notify("notifications/progress", {"progressToken": 7, "progress": 1})
        await settled()
        assert not client.told.all


@asynccontextmanager
async def listened_hub(root: Path, program: TaskServer, clients: list[TaskClient]) -> AsyncIterator[HubParts]:
    async with hub_parts(root, **one_server(program), waits={"connected": lambda: clients}) as parts:
        await started(parts)
        yield parts


async def test_a_server_is_asked_for_the_tasks_that_somebody_listens_for_and_its_news_come_through(tmp_path: Path) -> None:
    program, client, other = TaskServer(eras=("modern",)), TaskClient("A"), TaskClient("B")
    program.handlers[LISTENED] = acknowledging()
    async with listened_hub(tmp_path, program, [client, other]) as parts:
        id = await begun(parts, client, **MODERN)
        assert await parts.client_listens.to_tasks(client, KEY, [id, "s:no such", "task-1"]) == [id]
        assert await parts.client_listens.to_tasks(other, KEY, [id]) == []
        assert wanted(program) == [{"taskIds": ["task-1"]}]
        declared = program.asked.all[-1].params["_meta"][CLIENT_CAPABILITIES_KEY]
        assert declared["extensions"] == {EXTENSION: {}}
        program.copy.notify("notifications/tasks", program.state("task-1") | {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}})
        await client.told.wait(lambda told: told == (id, program.state("task-1") | {"taskId": id}))
        assert not other.told.all
        parts.client_listens.end(client, KEY)
        await program.cancelled.wait(lambda asked: asked.method == LISTENED)
        parts.client_listens.end(client, KEY)


async def test_each_server_is_asked_for_its_own_tasks_alone(tmp_path: Path) -> None:
    programs, client = (TaskServer(eras=("modern",)), TaskServer(eras=("modern",))), TaskClient("A")
    for program in programs:
        program.handlers[LISTENED] = acknowledging()
    async with started_parts(tmp_path, "a", "b", **two_servers(*programs), waits={"connected": lambda: [client]}) as parts:
        await parts.listed()
        ids = [await begun(parts, client, f"{server}_slow", **MODERN) for server in "ab"]
        assert await parts.client_listens.to_tasks(client, KEY, ids) == ids
        assert [wanted(program) for program in programs] == [[{"taskIds": ["task-1"]}]] * 2


class Place:
    """In the place of a connection."""

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.expected_warnings("broken")
async def test_a_server_that_fails_to_listen_costs_no_other_ones_tasks() -> None:
    tasks = {f"{name}:1": ServerTask(id=f"{name}:1", own_id="1", server=name, owner="A", created_at=0.0) for name in "ab"}
    places, keeper = {name: Place(name) for name in "ab"}, TaskKeeper()

    async def listen_to_tasks(wanted: frozenset[str]) -> frozenset[str]:
        return wanted

    async def fail(wanted: frozenset[str]) -> frozenset[str]:
        raise RuntimeError("broken")

    book: Any = SimpleNamespace(find=tasks.get)
    at: Any = SimpleNamespace(client_of=lambda task: places[task.server])
    servers: Any = SimpleNamespace(of=lambda client: SimpleNamespace(listen_to_tasks=fail if client.name == "a" else listen_to_tasks))
    listens = TaskListens(book=book, places=at, listens=servers, spawn=keeper.spawn)
    session: Any = TaskClient("A")
    assert await listens.listen(session, b"k", list(tasks)) == ["b:1"]
    await keeper.close()


@pytest.mark.parametrize("answers", [acknowledging(lambda wanted: {}), lambda copy, params: error(-32021, "no")])
async def test_nothing_is_promised_where_the_server_tells_nothing(tmp_path: Path, answers: Any) -> None:
    program, client = TaskServer(eras=("modern",)), TaskClient("A")
    program.handlers[LISTENED] = answers
    async with listened_hub(tmp_path, program, [client]) as parts:
        ids = [await begun(parts, client, **MODERN) for _ in range(2)]
        for id in ids:
            assert await parts.client_listens.to_tasks(client, KEY, [id]) == []


async def test_a_legacy_servers_task_and_one_that_has_ended_are_not_listened_for(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A", server="s")
    async with listened_hub(tmp_path, program, [client]) as parts:
        assert await begun(parts, client, server="s") == "task-1"
        assert await parts.client_listens.to_tasks(client, KEY, ["task-1"]) == []
        parts.task_book.of("A")[0].status = "completed"
        assert await parts.client_listens.to_tasks(client, KEY, ["task-1"]) == []
        program.copy.die()
        parts.task_book.of("A")[0].status = "working"
        assert await parts.client_listens.to_tasks(client, KEY, ["task-1"]) == []
        parts.client_listens.end(client, KEY)
        await settled()
        assert program.count(LISTENED) == 0
