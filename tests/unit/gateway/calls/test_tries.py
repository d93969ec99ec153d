"""own_calls.py: tries"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts, loaded, one_server, settled
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, never, text, tool

from tooltray.consent.approvals.asked_call import project_of
from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, Person, asked_by
from tooltray.foundation.errors import Conflict, Denied
from tooltray.foundation.events import ApprovalAsked, ElicitationAsked, ElicitationEnded, ToolCallResult, TryProgressed
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.gateway.calls.elicitations import Elicitations
from tooltray.gateway.calls.own_calls import ToldProgress, TriesApi, TryCaller
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY
from tooltray.protocol.sessions.caller import Session
from tooltray.records.journal.journal_event import JournalEvent

QUESTION = {"message": "Who?", "requestedSchema": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}


@pytest.fixture(params=["legacy", "modern"])
def program(request: pytest.FixtureRequest) -> ScriptedServer:
    return ScriptedServer(tool("get_it"), eras=(request.param,))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.presenter.start_server("s")
        await parts.tools.published()
        yield parts


def api_with(parts: HubParts, *, has_window: bool) -> TriesApi:
    return api_of(parts, Elicitations(inbox=parts.inbox, bus=parts.bus, has_window=has_window))


def api_of(parts: HubParts, elicitations: Elicitations) -> TriesApi:
    snapshots, spawn = parts.question_snapshots, parts.keeper.spawn
    return TriesApi(calls=parts.own_calls, elicitations=elicitations, question_snapshots=snapshots, bus=parts.bus, spawn=spawn)


def said(response: MCPToolResponse) -> str:
    assert response.result
    return str(response.result["content"][0]["text"])


async def test_a_try_gives_the_result_and_is_recorded_as_the_person_s_call(parts: HubParts) -> None:
    response = await parts.presenter.try_tool("t1", "get_it", {"text": "hello"})
    assert (response.tool, response.server, response.outcome, response.tool_call_id) == ("get_it", "s", "ok", "t1")
    assert said(response) == "hello"
    [event] = parts.heard.of(ToolCallResult)
    assert (event.response.client, event.response.outcome) == ("tooltray", "ok")


class _Window(Person):
    is_window = True


async def test_a_user_s_own_try_in_the_window_needs_no_approval_and_no_other_way_to_call_is_one(tmp_path: Path) -> None:
    program = ScriptedServer(tool("change_it"))
    async with hub_parts(tmp_path, **one_server(program, autoApprove=["read"])) as parts:
        await parts.presenter.start_server("s")
        await parts.tools.published()
        found: list[JournalEvent] = []
        parts.bus.subscribe(JournalEvent, found.append)
        with asked_by(_Window()):
            response = await parts.presenter.try_tool("t1", "change_it", {"text": "hello"})
        assert [event.timings.allowed_by for event in found if event.timings] == ["try"]
        assert (response.outcome, said(response)) == ("ok", "hello")
        assert parts.heard.of(ApprovalAsked) == []
        for asker in (PERSON, UNATTENDED):
            with asked_by(asker):
                assert (await parts.presenter.try_tool("t1", "change_it", {})).outcome == "refused"
                assert (await parts.presenter.run_tool_call(MCPToolCall("c", "change_it", {}))).outcome == "refused"
        with asked_by(_Window()):  # an AI client whose call is carried out while the window acts is not the user
            assert ", so it needs the user's approval" in (await parts.call("change_it"))["error"]["message"]


async def test_what_a_try_would_overwrite_is_shown_to_the_user_alone(tmp_path: Path) -> None:
    (file := tmp_path / "a.md").write_text("same\nold\n")
    arguments = {"path": str(file), "content": "same\nnew\n"}
    async with hub_parts(tmp_path / "hub", **one_server(ScriptedServer(tool("write_it")))) as parts:
        await parts.presenter.start_server("s")
        await parts.tools.published()
        with asked_by(_Window()):
            assert await parts.presenter.get_try_diff("write_it", arguments) == (" same", "-old", "+new")
            assert await parts.presenter.get_try_diff("write_it", {**arguments, "path": str(tmp_path / "b.md")}) == ()
            assert await parts.presenter.get_try_diff("gone", arguments) == ()
            found: list[JournalEvent] = []
            parts.bus.subscribe(JournalEvent, found.append)
            await parts.presenter.try_tool("t1", "write_it", arguments)
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await parts.presenter.get_try_diff("write_it", arguments)
        with asked_by(UNATTENDED):
            await parts.presenter.try_tool("t2", "write_it", arguments)
        assert [event.timings.diff for event in found if event.timings] == [(" same", "-old", "+new"), ()]


async def test_a_try_in_a_project_waits_until_the_servers_there_are_known_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[tuple[str, str]] = []
    (project := tmp_path / "project").mkdir()

    async def look(session: Session) -> None:
        waited.append(("known", project_of(session.state)))

    async def list_servers(session: Session, server: None) -> None:
        waited.append(("listed", project_of(session.state)))

    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("get_it"))), waits={"look_at_project": look}) as parts:
        monkeypatch.setattr(parts.projects, "before_listing", list_servers)
        await parts.presenter.start_server("s")
        await parts.presenter.allow_folder(str(project))
        await parts.presenter.try_tool("t1", "get_it", {}, project=str(project))
    assert waited[:2] == [("known", str(project)), ("listed", str(project))]


async def test_what_goes_nowhere_is_a_response_that_says_so(parts: HubParts) -> None:
    response = await parts.presenter.try_tool("t1", "gone", {})
    assert (response.server, response.outcome, said(response)) == ("", "error", "Unknown tool: gone")
    assert "no_such_folder" in await refusal(parts.presenter.try_tool("t1", "get_it", {}, project="/no_such_folder"))


async def test_progress_is_told_under_the_attempt_s_id_and_not_too_often(
    parts: HubParts, program: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, ended, end = asyncio.Event(), list[ToldProgress](), ToldProgress.end
    monkeypatch.setattr(ToldProgress, "end", lambda progress: (ended.append(progress), end(progress)))

    async def work(copy: Any, params: Any) -> Any:
        token = params["_meta"]["progressToken"]
        copy.notify("notifications/progress", {"progressToken": token, "progress": 1, "total": 9, "message": "on \x1b it"})
        for step in range(2, 9):
            copy.notify("notifications/progress", {"progressToken": token, "progress": step})
        copy.notify("notifications/progress", {"progressToken": token, "progress": "odd"})
        await go_on.wait()
        return text("done")

    program.calls["get_it"] = work
    running = asyncio.ensure_future(parts.presenter.try_tool("t1", "get_it", {}))
    last = await parts.heard.event(TryProgressed, count=1, progress=8.0)
    assert parts.heard.of(TryProgressed) == [TryProgressed("t1", 1.0, 9.0, "on  it"), last]
    assert not ended
    go_on.set()
    assert said(await running) == "done"
    assert len(ended) == 1


async def test_a_try_that_is_given_up_is_given_up_by_its_server_too(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = never
    running = asyncio.ensure_future(parts.presenter.try_tool("t1", "get_it", {}))
    await program.call("get_it")
    with pytest.raises(Conflict):
        await parts.presenter.try_tool("t1", "get_it", {})
    await parts.presenter.cancel_try("t1")
    response = await running
    assert (response.tool, response.server, response.outcome, response.result) == ("get_it", "s", "cancelled", None)
    await program.cancelled.wait()
    await parts.presenter.cancel_try("t1")  # has ended


async def test_a_try_ends_with_whoever_waits_for_it(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = never
    running = asyncio.ensure_future(parts.presenter.try_tool("t1", "get_it", {}))
    await program.call("get_it")
    running.cancel()
    await program.cancelled.wait()
    await parts.heard.event(ToolCallResult)


async def test_a_question_of_its_server_carries_the_attempt_and_its_answer_goes_there(parts: HubParts, program: ScriptedServer) -> None:
    asking = Elicitations(inbox=parts.inbox, bus=parts.bus, has_window=True)
    tries = api_of(parts, asking)

    async def ask(copy: Any, params: Any) -> Any:
        if "legacy" in program.eras:
            return text((await copy.ask("elicitation/create", QUESTION))["content"]["name"])
        if "inputResponses" not in params:
            question = {"method": "elicitation/create", "params": QUESTION}
            return {"resultType": "input_required", "inputRequests": {"1": question}}
        return {**text(params["inputResponses"]["1"]["content"]["name"]), "resultType": "complete"}

    program.calls["get_it"] = ask
    running = asyncio.ensure_future(tries.try_tool("t1", "get_it", {}))
    question = (await parts.heard.event(ElicitationAsked)).question
    assert (question.attempt, question.server, question.message) == ("t1", "s", "Who?")
    asking.answer(question.id, "accept", {"name": "Ada"})
    assert said(await running) == "Ada"


async def test_a_question_goes_with_the_try_that_is_given_up(parts: HubParts, program: ScriptedServer) -> None:
    asking = Elicitations(inbox=parts.inbox, bus=parts.bus, has_window=True)
    tries = api_of(parts, asking)

    async def ask(copy: Any, params: Any) -> Any:
        if "legacy" in program.eras:
            copy.server.answer = asyncio.ensure_future(copy.ask("elicitation/create", QUESTION))  # a server that withdraws nothing
            return await never(copy, params)
        return {"resultType": "input_required", "inputRequests": {"1": {"method": "elicitation/create", "params": QUESTION}}}

    program.calls["get_it"] = ask
    running = asyncio.ensure_future(tries.try_tool("t1", "get_it", {}))
    question = (await parts.heard.event(ElicitationAsked)).question
    await tries.cancel_try("t1")
    assert (await running).outcome == "cancelled"
    assert (await parts.heard.event(ElicitationEnded)).id == question.id


@pytest.mark.parametrize("has_window", [True, False])
async def test_it_is_asked_nothing_that_no_window_shows(parts: HubParts, program: ScriptedServer, has_window: bool) -> None:
    async def ask(copy: Any, params: Any) -> Any:
        if "legacy" not in program.eras:
            assert ("elicitation" in params["_meta"][CLIENT_CAPABILITIES_KEY]) is has_window
            return {"resultType": "input_required", "inputRequests": {"1": {"method": "sampling/createMessage"}}}
        return text(str(await copy.ask("sampling/createMessage")))

    program.calls["get_it"] = ask
    response = await api_with(parts, has_window=has_window).try_tool("t1", "get_it", {})
    assert any(words in said(response) for words in ("no AI client", "cannot answer"))


async def test_the_caller_answers_nothing_but_elicitations(parts: HubParts) -> None:
    caller = TryCaller(parts.caller, None, ToldProgress("t", parts.bus))
    caller.tell("notifications/message", dump({"progress": 1}))
    await settled()
    assert parts.heard.of(TryProgressed) == []
    assert not caller.can_answer("elicitation/create")
    assert "no client can answer" in loaded((await caller.ask("elicitation/create", dump({}))).error)["message"]


async def test_nothing_is_told_of_an_attempt_that_has_ended(parts: HubParts) -> None:
    progress = ToldProgress("t", parts.bus, every_s=0.0)
    for step in (1, 2):
        progress.take(dump({"progress": step}))
    progress.end()
    await settled()
    assert parts.heard.of(TryProgressed) == [TryProgressed("t", 1.0)]


async def test_after_a_pause_progress_is_told_at_once_again(parts: HubParts) -> None:
    progress = ToldProgress("t", parts.bus, every_s=0.0)
    for step in (1, 2):
        progress.take(dump({"progress": step}))
        await settled()
    assert parts.heard.of(TryProgressed) == [TryProgressed("t", 1.0), TryProgressed("t", 2.0)]
    progress.end()
