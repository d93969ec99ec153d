"""approvals/approval_rounds.py: a person is asked until there is an answer to the tool as it is."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.approval_desk import READ, WRITE, desk
from tests.fakes.scripted_server import tool

from tooltray.approvals.approval_rounds import MOST_ROUNDS
from tooltray.approvals.waiting_approvals import TOLD_EVERY_S, WAIT_S
from tooltray.errors import TooltrayError
from tooltray.snapshots.clients import SessionProject

# a tool that is another one by the time of the answer


async def test_a_tool_that_changes_while_the_person_looks_is_asked_about_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        first = await here.asked()
        await here.redefine(tool("write_it", description="Sends it"), READ)
        second = await here.asked()
        assert second.id != first.id
        assert first.id in here.ended
        assert {"-description: Writes it", "+description: Sends it"} <= set(second.definition_diff)
        with pytest.raises(TooltrayError, match="waits no longer"):
            await here.parts.presenter.answer_approval(first.id, "once")
        assert here.calls == 0
        await here.parts.presenter.answer_approval(second.id, "once")
        assert "result" in await call


async def test_another_tools_change_leaves_a_question_alone(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        await here.redefine(WRITE, tool("read_it", description="Else"))
        await here.answer("once")
        assert "result" in await call
        assert here.questions == 1


async def test_a_tool_that_goes_while_the_person_looks_is_not_called(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
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


async def test_a_tool_that_changes_each_time_somebody_looks_is_not_called(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        for n in range(MOST_ROUNDS):
            await here.asked()
            await here.redefine(tool("write_it", description=f"{n}"))
        assert "changes while a person is asked" in (await call)["error"]["message"]
        assert (here.calls, here.questions) == (0, MOST_ROUNDS)


# a server or a session that is another one by the time of the yes


async def test_a_yes_to_a_server_that_did_not_run_counts_for_what_it_is_when_it_does(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.program.tools = [tool("write_it", description="Sends it"), READ]
        here.program.copy.die()
        call = here.calling()
        await here.answer("once")
        again = await here.answer("refuse")
        assert "+description: Sends it" in again.definition_diff
        assert "refused" in (await call)["error"]["message"]
        assert here.calls == 0


async def test_a_yes_is_not_carried_over_to_another_project(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.client.state.projects["folder"] = SessionProject("/a", "a", "folder")
        call = here.calling()
        question = await here.asked()
        here.client.state.projects["folder"] = SessionProject("/b", "b", "folder")
        await here.parts.presenter.answer_approval(question.id, "once")
        assert (await here.answer("refuse")).project == "/b"
        assert "error" in await call
        assert here.calls == 0


async def test_a_yes_to_a_server_whose_settings_change_meanwhile_is_asked_for_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        question = await here.asked()
        await here.parts.conf.change_server("s", env={"TARGET": "elsewhere"})
        await here.parts.presenter.answer_approval(question.id, "once")
        again = await here.answer("refuse")
        assert "started or reached in another way" in again.why
        assert "error" in await call
        assert here.calls == 0


async def test_an_approved_call_of_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        question = await here.asked()
        here.program.fails_to_open = TooltrayError("out of cheese")
        here.program.copy.die()
        await here.parts.presenter.answer_approval(question.id, "once")
        assert "server 's' is not running: out of cheese" in (await call)["error"]["message"]


async def test_a_session_that_two_clients_share_is_allowed_for_the_one_that_asked(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.allow(answer="session")
        here.client.state.client = "Another"
        call = here.calling()
        await here.answer("refuse")
        assert "error" in await call
        here.client.state.client = "Cursor"
        assert "result" in await here.call()


async def test_a_yes_to_all_reads_accepts_the_tool_as_it_was_seen_for_other_grants_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.parts.presenter.add_grant("s", "tool", "read_it")
        await here.redefine(WRITE, tool("read_it", description="Reads it twice"))
        assert [each.tool for each in await here.parts.presenter.get_tool_changes()] == ["read_it"]
        await here.allow("read_it", answer="reads")
        assert await here.parts.presenter.get_tool_changes() == []


# a disk that does not take the answer


async def test_a_disk_that_is_full_lets_the_call_wait_on(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        question = await here.asked()
        with here.unwritable(), pytest.raises(TooltrayError, match="cannot be saved"):
            await here.parts.presenter.answer_approval(question.id, "always")
        assert await here.parts.presenter.get_grants() == []
        assert not call.done()
        await here.parts.presenter.answer_approval(question.id, "always")
        assert "result" in await call


async def test_the_time_that_passes_while_the_disk_works_does_not_refuse_a_call(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        question = await here.asked()
        answering = here.parts.keeper.spawn(here.parts.presenter.answer_approval(question.id, "always"), name="answer")
        await asyncio.sleep(0)
        with pytest.raises(TooltrayError, match="waits no longer"):
            await here.parts.presenter.answer_approval(question.id, "refuse")
        here.parts.wheel.expire(WAIT_S)
        await answering
        assert "result" in await call


async def test_a_disk_that_fails_after_the_time_is_over_refuses_the_call(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        question = await here.asked()
        with here.unwritable():
            answering = asyncio.gather(here.parts.presenter.answer_approval(question.id, "always"), return_exceptions=True)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            here.parts.wheel.expire(WAIT_S)
            [error] = await answering
        assert isinstance(error, TooltrayError)
        assert "nobody answered" in (await call)["error"]["message"]


# while a person is asked


async def test_calls_of_one_server_do_not_wait_for_one_another(tmp_path: Path) -> None:
    async with desk(tmp_path, autoApprove=["read"]) as here:
        waiting = here.calling()
        await here.asked()
        assert "result" in await here.call("read_it")
        waiting.cancel()


async def test_a_client_that_wants_to_hear_of_its_call_is_told_that_it_waits(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling(_meta={"progressToken": "t"})
        question = await here.asked()
        for _ in range(2):
            assert here.parts.wheel.expire(TOLD_EVERY_S) == 1
        progress = [params for method, params in here.client.told.all if method == "notifications/progress"]
        assert [(each["progressToken"], each["progress"]) for each in progress] == [("t", 15), ("t", 30)]
        assert "Waiting for a person" in progress[0]["message"]
        await here.parts.presenter.answer_approval(question.id, "once")
        assert "result" in await call
        assert not here.parts.wheel.of(TOLD_EVERY_S)


async def test_a_client_that_does_not_want_to_hear_is_told_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling()
        await here.asked()
        assert not here.parts.wheel.of(TOLD_EVERY_S)
        call.cancel()
