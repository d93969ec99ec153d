"""approvals.py, asked_call.py, pending_approvals.py, question_snapshots.py: a person is asked until an answer to the tool as it is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import FORM, READ, WRITE, Desk, desk
from tests.fakes.hub_parts import settled
from tests.fakes.scripted_server import raw, text, tool

from tooltray.consent.approvals.approvals import MOST_ROUNDS
from tooltray.consent.approvals.pending_approvals import KEPT_FOR_S, LONGEST_WAIT_S, WAIT_S
from tooltray.foundation.confirm_widening import Person, asked_by, with_current_asker
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ApprovalEnded
from tooltray.foundation.snapshots.clients import SessionProject

# a tool that is another one by the time of the answer


async def test_a_tool_that_changes_while_the_person_looks_is_asked_about_again(here: Desk) -> None:
    call = here.calling()
    first = await here.asked()
    await here.redefine(tool("write_it", description="Sends it"), READ)
    second = await here.asked()
    assert second.id != first.id
    assert first.id in here.ended
    assert {"-description: Writes it", "+description: Sends it"} <= set(second.definition_diff)
    with pytest.raises(TooltrayError, match="no longer waits"):
        await here.parts.presenter.answer_approval(first.id, "once")
    assert here.calls == 0
    await here.parts.presenter.answer_approval(second.id, "once")
    assert "result" in await call


class Told(Person):
    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_asked(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def test_who_makes_a_call_hears_that_a_person_is_asked(tmp_path: Path) -> None:
    command = Told()
    async with desk(tmp_path) as here:
        with asked_by(command):
            call = here.parts.keeper.spawn(with_current_asker(here.call()), name="a command")
        await here.answer("once")
        assert "result" in await call
    assert command.seconds == [LONGEST_WAIT_S]


async def test_another_tools_change_leaves_a_question_alone(here: Desk) -> None:
    call = here.calling()
    await here.redefine(WRITE, tool("read_it", description="Else"))
    await here.answer("once")
    assert "result" in await call
    assert here.questions == 1


async def test_a_tool_that_goes_while_the_person_looks_is_not_called(here: Desk) -> None:
    call = here.calling()
    await here.asked()
    await here.redefine(READ)
    assert (await call)["error"]["message"] == "the tool 'write_it' is not offered any more"


async def test_a_tool_that_the_rules_allow_after_a_change_is_called(tmp_path: Path) -> None:
    async with desk(tmp_path, autoApprove=["hint:non-destructive"]) as here:
        call = here.calling()
        await here.asked()
        await here.redefine(tool("write_it", annotations={"destructiveHint": False}))
        assert "result" in await call


async def test_a_tool_that_changes_each_time_somebody_looks_is_not_called(here: Desk) -> None:
    call = here.calling()
    for n in range(MOST_ROUNDS):
        await here.asked()
        await here.redefine(tool("write_it", description=f"{n}"))
    assert "changed while the user was asked" in (await call)["error"]["message"]
    assert (here.calls, here.questions) == (0, MOST_ROUNDS)


# a server or a session that is another one by the time of the yes


async def test_a_yes_to_a_server_that_did_not_run_counts_for_what_it_is_when_it_does(here: Desk) -> None:
    here.program.tools = [tool("write_it", description="Sends it"), READ]
    here.program.copy.die()
    call = here.calling()
    await here.answer("once")
    again = await here.answer("refuse")
    assert "+description: Sends it" in again.definition_diff
    assert "declined" in (await call)["error"]["message"]
    assert here.calls == 0


async def test_a_yes_is_not_carried_over_to_another_project(here: Desk) -> None:
    here.client.state.projects["folder"] = SessionProject("/a", "a", "folder")
    call = here.calling()
    question = await here.asked()
    here.client.state.projects["folder"] = SessionProject("/b", "b", "folder")
    await here.parts.presenter.answer_approval(question.id, "once")
    assert (await here.answer("refuse")).project == "/b"
    assert "error" in await call
    assert here.calls == 0


async def test_a_yes_to_a_server_whose_settings_change_meanwhile_is_asked_for_again(here: Desk) -> None:
    call = here.calling()
    question = await here.asked()
    await here.parts.conf.change_server("s", env={"TARGET": "elsewhere"})
    await here.parts.presenter.answer_approval(question.id, "once")
    again = await here.answer("refuse")
    assert "started or reached in another way" in again.why
    assert "error" in await call
    assert here.calls == 0


async def test_an_approved_call_of_a_server_that_cannot_start_says_why(here: Desk) -> None:
    call = here.calling()
    question = await here.asked()
    here.program.fails_to_open = TooltrayError("out of cheese")
    here.program.copy.die()
    await here.parts.presenter.answer_approval(question.id, "once")
    assert "server 's' is not running: out of cheese" in (await call)["error"]["message"]


async def test_a_session_that_two_clients_share_is_allowed_for_the_one_that_asked(here: Desk) -> None:
    await here.allow(answer="session")
    here.client.state.client = "Another"
    call = here.calling()
    await here.answer("refuse")
    assert "error" in await call
    here.client.state.client = "Cursor"
    assert "result" in await here.call()


# a disk that does not take the answer


async def test_a_disk_that_is_full_lets_the_call_wait_on(here: Desk) -> None:
    call = here.calling()
    question = await here.asked()
    with here.unwritable(), pytest.raises(TooltrayError, match="cannot be saved"):
        await here.parts.presenter.answer_approval(question.id, "always")
    assert await here.parts.presenter.get_grants() == []
    assert not call.done()
    await here.parts.presenter.answer_approval(question.id, "always")
    assert "result" in await call


async def test_the_time_that_passes_while_the_disk_works_does_not_refuse_a_call(here: Desk) -> None:
    call = here.calling()
    question = await here.asked()
    answering = here.parts.keeper.spawn(with_current_asker(here.parts.presenter.answer_approval(question.id, "always")), name="answer")
    await asyncio.sleep(0)
    with pytest.raises(TooltrayError, match="no longer waits"):
        await here.parts.presenter.answer_approval(question.id, "refuse")
    here.parts.wheel.expire(WAIT_S)
    await answering
    assert "result" in await call


async def test_a_disk_that_fails_after_the_time_is_over_refuses_the_call(here: Desk) -> None:
    call = here.calling()
    question = await here.asked()
    with here.unwritable():
        answering = asyncio.gather(here.parts.presenter.answer_approval(question.id, "always"), return_exceptions=True)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        here.parts.wheel.expire(WAIT_S)
        [error] = await answering
    assert isinstance(error, TooltrayError)
    assert "did not answer" in (await call)["error"]["message"]


# while a person is asked


async def test_calls_of_one_server_do_not_wait_for_one_another(tmp_path: Path) -> None:
    async with desk(tmp_path, autoApprove=["read"]) as here:
        waiting = here.calling()
        await here.asked()
        assert "result" in await here.call("read_it")
        waiting.cancel()


YES = {"action": "accept", "content": {"answer": "once"}}


# legacy clients


async def test_a_legacy_client_is_asked_where_no_desktop_is(alone: Desk) -> None:
    client = alone.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "session"}})
    assert "result" in await alone.call(client=client, arguments={"a": 1})
    [(method, params)] = client.asked.all
    assert method == "elicitation/create"
    assert "Own wants to call the tool 'write_it' of the server 's' (write)." in params["message"]
    assert params["requestedSchema"]["properties"]["answer"]["enum"] == ["refuse", "once", "session", "hour", "day", "always", "rule-1"]
    assert "result" in await alone.call(client=client)
    assert len(client.asked.all) == 1


async def test_a_no_in_a_form_refuses_the_call(alone: Desk, a_person_answers_at_once: None) -> None:
    client = alone.session("Own", capabilities=FORM, answer={"action": "decline"})
    assert await alone.refusal(client=client) == "the user declined this call of 'write_it'"
    assert (alone.calls, await alone.parts.presenter.get_approvals()) == (0, [])


async def test_a_client_that_says_no_at_once_has_asked_nobody_and_the_call_can_still_be_allowed(alone: Desk) -> None:
    client = alone.session("Own", capabilities=FORM, answer={"action": "decline"})
    refusal = await alone.refusal(client=client)
    assert "Its AI client was asked, and no one answered there. Ask the user to look at it in Tooltray" in refusal
    [waiting] = await alone.parts.presenter.get_approvals()
    assert f"waits as {waiting.id}." in refusal
    await alone.parts.presenter.answer_approval(waiting.id, "once")
    assert "result" in await alone.call(client=client)
    assert len(client.asked.all) == 1


async def test_a_clients_answer_that_cannot_be_written_is_asked_for_again_and_then_given_up(alone: Desk) -> None:
    client = alone.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "always"}})
    with alone.unwritable():
        assert "waits as" in await alone.refusal(client=client)
    assert len(client.asked.all) == 3
    assert "cannot be saved" in client.asked.all[1][1]["message"]


async def test_a_call_that_a_client_is_asked_about_can_be_answered_elsewhere(alone: Desk) -> None:
    async def wait(method: str) -> Any:
        await asyncio.get_running_loop().create_future()

    client = alone.session("Own", capabilities=FORM, answer=wait)
    call = alone.calling(client=client)
    await alone.answer("once")
    assert "result" in await call


# modern clients


async def modern(here: Any, client: Any, state: str = "", answer: Any = None, **params: Any) -> dict[str, Any]:
    rounds = {"requestState": state, "inputResponses": {"1": answer}} if state else {}
    return dict(await here.call(client=client, is_modern=True, **rounds, **params))


@pytest.mark.parametrize("spoken", [("legacy",), ("modern",)])
async def test_a_modern_client_is_asked_in_its_way_and_comes_back_with_the_answer(tmp_path: Path, spoken: tuple[str, ...]) -> None:
    async with desk(tmp_path, has_window=False, eras=spoken) as alone:
        client = alone.session("Own")
        first = (await modern(alone, client, arguments={"text": "x"}))["result"]
        assert first["resultType"] == "input_required"
        assert "write_it" in first["inputRequests"]["1"]["params"]["message"]
        assert alone.calls == 0
        last = await modern(alone, client, first["requestState"], YES, arguments={"text": "x"})
        assert last["result"]["content"][0]["text"] == "x"
        assert {"requestState", "inputResponses"}.isdisjoint(alone.program.asked.all[-1].params)
        assert (await modern(alone, client, arguments={"text": "x"}))["result"]["resultType"] == "input_required"


async def test_an_old_yes_does_not_let_other_arguments_through(alone: Desk) -> None:
    client = alone.session("Own")
    first = (await modern(alone, client, arguments={"text": "good"}))["result"]
    second = (await modern(alone, client, first["requestState"], YES, arguments={"text": "bad"}))["result"]
    assert second["resultType"] == "input_required"
    assert second["requestState"] != first["requestState"]
    assert alone.calls == 0


async def test_a_modern_client_that_cannot_be_asked_gets_the_command(alone: Desk) -> None:
    meta: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {}}
    assert "waits as" in await alone.refusal(client=alone.session("Own"), is_modern=True, _meta=meta)


@pytest.mark.parametrize("spoken", [("legacy",), ("modern",)])
async def test_a_call_whose_server_asks_more_is_not_asked_about_again(tmp_path: Path, spoken: tuple[str, ...]) -> None:
    async def ask(copy: Any, params: Any) -> Any:
        if spoken == ("legacy",):
            return text(str(await copy.ask("elicitation/create", {"message": "sure?", "requestedSchema": {"properties": {}}})))
        if "requestState" in params:
            return text("done") | {"resultType": "complete"}
        return {"resultType": "input_required", "inputRequests": {"1": {"method": "elicitation/create"}}, "requestState": "theirs"}

    async with desk(tmp_path, eras=spoken) as here:
        here.program.calls["write_it"] = ask
        call = here.calling(is_modern=True)
        await here.answer("once")
        state = (await call)["result"]["requestState"]
        again = await modern(here, here.client, state, {"action": "accept"})
        assert again["result"]["resultType"] == "complete"
        assert here.questions == 1
        once_more = here.calling(is_modern=True, requestState=state, inputResponses={"1": {}})
        await here.answer("refuse")
        assert "error" in await once_more


async def test_a_call_that_its_server_wants_repeated_is_not_asked_about_again(tmp_path: Path) -> None:
    def wait(copy: Any, params: Any) -> Any:
        done = text("done") | {"resultType": "complete"}
        return done if "requestState" in params else {"resultType": "input_required", "requestState": "theirs"}

    async with desk(tmp_path, eras=("modern",)) as here:
        here.program.calls["write_it"] = wait
        call = here.calling(is_modern=True)
        await here.answer("once")
        again = await here.call(is_modern=True, requestState=(await call)["result"]["requestState"])
        assert (again["result"]["resultType"], here.questions) == ("complete", 1)


@pytest.mark.parametrize("result", [b'{"resultType":7}', b'{"resultType":"complete"}', b'{"a":"' + b"x" * 300_000 + b'"}'])
async def test_a_modern_call_that_is_over_leaves_no_yes_behind(tmp_path: Path, result: bytes) -> None:
    async with desk(tmp_path, eras=("modern",)) as here:
        here.program.calls["write_it"] = lambda copy, params: raw(result)
        call = here.calling(is_modern=True)
        await here.answer("once")
        await call
        assert not here.parts.wheel.of(KEPT_FOR_S)


async def test_a_modern_call_that_fails_leaves_no_yes_behind(tmp_path: Path) -> None:
    async with desk(tmp_path, eras=("modern",)) as here:
        here.program.tools = []
        call = here.calling(is_modern=True)
        await here.answer("once")
        assert "error" in await call
        assert not here.parts.wheel.of(KEPT_FOR_S)


async def test_a_modern_call_that_is_given_up_withdraws_its_question(alone: Desk) -> None:
    client = alone.session("Own")
    await modern(alone, client)
    [question] = await alone.parts.presenter.get_approvals()
    client.held.close()
    await alone.parts.heard.event(ApprovalEnded, id=question.id)
    assert await alone.parts.presenter.get_approvals() == []


async def test_a_question_waits_until_the_project_of_its_session_is_known(here: Desk, tmp_path: Path) -> None:
    sources, state, is_found = here.parts.project_sources, here.client.state, asyncio.Event()

    async def find() -> None:
        await is_found.wait()
        sources.set(state, "folder", SessionProject(str(tmp_path), "p", "folder"))

    sources._begin(state, find())
    call = here.calling()
    await settled()
    assert not await here.parts.presenter.get_approvals()
    is_found.set()
    question = await here.asked()
    assert question.project == str(tmp_path)
    await here.parts.presenter.answer_approval(question.id, "once")
    await call
    assert not await here.parts.presenter.get_approvals(), "it is not asked about again"
