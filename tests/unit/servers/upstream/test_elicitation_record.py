"""elicitation_record.py"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, hub_parts, one_server, started
from tests.fakes.scripted_server import Copy, ScriptedServer, error, text, tool

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import Envelope, dump, failure, load, success
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.servers.upstream import elicitation_record
from tooltray.servers.upstream.elicitation_record import REMEMBERED, UrlQuestions, at_person, recorded


def client() -> Client:
    made = Client(name="s1")
    made.state.client = "Cursor"
    return made


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (success({"action": "accept", "content": {"name": "secret"}}), "accept"),
        (success({"action": "decline"}), "decline"),
        (success({"action": "cancel"}), "cancel"),
        (success({"action": "perhaps"}), "error"),
        (success([1]), "error"),
        (failure(-32601, "not here"), "error"),
        (Envelope(result=Raw(b"{")), "error"),
    ],
)
async def test_how_it_was_answered_and_never_what(reply: Envelope, outcome: str) -> None:
    async def asking() -> Envelope:
        return reply

    found: list[JournalEvent] = []
    session: Any = client()
    session.state.projects["person"] = SessionProject("/p", "p", "person")
    assert await recorded(asking(), "files", session, found.append) is reply
    [event] = found
    assert (event.kind, event.outcome, event.server, event.client, event.session, event.project) == (
        *("question", outcome, "files", "Cursor", "s1", "/p"),
    )
    assert "secret" not in repr(event)


async def test_one_that_nobody_waits_for_any_more_is_cancelled() -> None:
    found: list[JournalEvent] = []
    session: Any = client()
    waiting = asyncio.get_running_loop().create_task(recorded(asyncio.Event().wait(), "files", session, found.append))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [(event.outcome, event.project) for event in found] == [("cancelled", "")]


def test_the_calls_that_it_is_for_wait_for_a_person() -> None:
    calls = [exchange_of(Envelope(method="tools/call"), Client()) for _ in range(2)]
    with at_person(calls):
        assert [call.timings.waits_for for call in calls] == ["person", "person"]
    assert all(call.timings.person_s is not None for call in calls)


PAGE = {"mode": "url", "message": "Sign in", "url": "https://example.org/"}
WANTED = {"elicitations": [{**PAGE, "elicitationId": "e1"}, {**PAGE, "elicitationId": "e2"}]}


async def ask_in_place(copy: Copy, params: Any) -> Any:
    return text((await copy.ask("elicitation/create", {**PAGE, "elicitationId": "e"}))["action"])


def ask_by_result(copy: Copy, params: Any) -> Any:
    if answers := params.get("inputResponses"):
        return text(answers["q"]["action"])
    question = {"method": "elicitation/create", "params": PAGE}
    return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "s"}


@pytest.mark.parametrize("server_era", ["legacy", "modern"])
@pytest.mark.parametrize("client_era", ["legacy", "modern"])
async def test_a_page_is_shown_to_the_client_and_its_yes_reaches_the_server(tmp_path: Path, client_era: str, server_era: str) -> None:
    program = ScriptedServer(tool("t"), eras=(server_era,))
    program.calls["t"] = ask_in_place if server_era == "legacy" else ask_by_result
    capabilities = {"elicitation": {"form": {}, "url": {}}}
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        client = parts.client(capabilities=capabilities, answer={"action": "accept"})
        if client_era == "legacy":
            reply = await parts.call("t", client)
            ((_, page),) = client.asked.all
            assert page.pop("elicitationId")
        else:
            meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": capabilities}
            first = (await parts.call("t", client, is_modern=True, _meta=meta))["result"]
            ((key, question),) = first["inputRequests"].items()
            page = question["params"]
            page.pop("elicitationId", None)
            more: Any = {"inputResponses": {key: {"action": "accept"}}, "requestState": first["requestState"]}
            reply = await parts.call("t", client, is_modern=True, _meta=meta, **more)
        assert page == PAGE
        assert reply["result"]["content"] == text("accept")["content"]


async def test_who_was_asked_or_refused_for_a_page_is_known_once(tmp_path: Path) -> None:
    program = ScriptedServer(tool("ask"), tool("refuse"), tool("fail"))
    program.calls["ask"] = ask_in_place
    program.calls["refuse"] = lambda copy, params: error(-32042, "open it", WANTED)
    program.calls["fail"] = lambda copy, params: error(-32000, "no", WANTED)
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        first, second = (parts.client(capabilities={"elicitation": {"url": {}}}, answer={"action": "accept"}) for _ in range(2))
        await parts.call("ask", first)
        assert (await parts.call("refuse", second))["error"] == {"code": -32042, "message": "open it", "data": WANTED}
        await parts.call("fail", first)
        server = parts.servers.get("s").client
        assert server
        told = [server.url_questions.ended(dump({"elicitationId": id})) for id in ("e", "e1", "e2", "e", "unknown")]
        assert told == [first, second, second, None, None]


async def test_a_client_that_shows_forms_alone_gets_no_page_and_the_person_at_the_machine_does(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["t"] = ask_in_place
    shown: list[Any] = []

    async def ask_person(server: str, params: Raw) -> Envelope:
        shown.append((server, load(params)["url"]))
        return success({"action": "accept"})

    async with hub_parts(tmp_path, waits={"ask_person": ask_person}, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        client = parts.client(capabilities={"elicitation": {"form": {}}}, answer={"action": "decline"})
        assert (await parts.call("t", client))["result"]["content"] == text("accept")["content"]
        assert (client.asked.all, shown) == ([], [("s", PAGE["url"])])


def test_only_the_latest_pages_are_remembered_and_nonsense_is_none() -> None:
    questions, client = UrlQuestions(), Client()
    for id in (*range(REMEMBERED), 0, REMEMBERED):
        questions.asked(dump({"elicitationId": f"e{id}"}), client)
    assert questions.ended(dump({"elicitationId": "e1"})) is None
    assert [questions.ended(dump({"elicitationId": id})) for id in ("e0", "e2")] == [client, client]
    questions.asked(dump({"elicitationId": 5}), client)
    questions.required(dump({"code": -32042, "data": {"elicitations": 5}}), client)
    questions.required(dump({"code": -32042}), client)
    assert questions.ended(dump([])) is None


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
    tasks, clients = elicitation_record.ClientTasks(), [answering("1") for _ in range(elicitation_record.MOST_KEPT + 1)]
    refusal = success({})
    assert tasks.noted(clients[0], refusal) is refusal
    for client in clients:
        tasks.noted(client, success({"task": {"taskId": "1"}}))
    assert tasks.news(clients[0], dump({"taskId": "1"})) is None
    assert tasks.news(clients[-1], dump({"taskId": "1"})) is not None
