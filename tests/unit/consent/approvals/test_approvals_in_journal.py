"""approvals.py, pending_approvals.py: who asked for what, how it was answered and by whom, and why each call ran, in the journal."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import FORM, Desk, desk
from tests.fakes.hub_parts import settled
from tests.fakes.scripted_server import tool

from tooltray.consent.approvals.pending_approvals import WAIT_S
from tooltray.foundation.confirm_widening import Person, asked_by
from tooltray.records.journal.journal_event import APPROVAL, CALL, JournalEvent


def listening(here: Desk) -> list[JournalEvent]:
    found: list[JournalEvent] = []
    here.parts.bus.subscribe(JournalEvent, found.append)
    return found


def approvals(found: list[JournalEvent]) -> list[tuple[str, str]]:
    return [(event.outcome, event.reason) for event in found if event.kind == APPROVAL]


def calls(found: list[JournalEvent]) -> list[tuple[str, str]]:
    return [(event.outcome, event.timings.allowed_by) for event in found if event.kind == CALL and event.timings]


async def test_an_answer_is_kept_with_who_asked_and_who_answered(here: Desk) -> None:
    found = listening(here)
    await here.allow(answer="once")
    await here.allow(answer="always")
    await here.call()
    call = here.calling("read_it")
    await here.answer("refuse")
    await call
    assert approvals(found) == [("once", "person"), ("always", "person"), ("refused", "person")]
    assert calls(found) == [("ok", "person"), ("ok", "person"), ("ok", "grant"), ("refused", "")]
    first = found[0]
    assert (first.client, first.server, first.tool, first.session) == ("Cursor", "s", "write_it", here.client.state.id)
    assert all(event.timings.person_s is not None for event in found if event.timings and event.timings.allowed_by == "person")


async def test_a_question_without_an_answer_is_late_and_one_that_is_given_up_is_cancelled(here: Desk) -> None:
    found = listening(here)
    call = here.calling()
    await here.asked()
    here.parts.wheel.expire(WAIT_S)
    await call
    call = here.calling()
    await here.asked()
    call.cancel()
    await settled()
    assert approvals(found) == [("late", "expired"), ("cancelled", "withdrawn")]
    assert calls(found) == [("refused", ""), ("cancelled", "")]


async def test_a_call_has_the_change_that_the_user_saw_last(here: Desk, tmp_path: Path) -> None:
    found, presenter = listening(here), here.parts.presenter
    (tmp_path / "a.md").write_text("old\n")
    arguments = {"path": str(tmp_path / "a.md"), "content": "new\n"}
    for is_compared in (False, True):
        call = here.calling(arguments=arguments)
        question = await here.asked()
        if is_compared:
            await presenter.get_approval_diff(question.id)
        await presenter.answer_approval(question.id, "once" if is_compared else "refuse")
        await call
    call = here.calling(arguments=arguments)
    await presenter.answer_approval((await here.asked()).id, "once", {**arguments, "content": "other\n"})
    await call
    await here.allow("read_it", "once")
    shown = [event.timings.diff for event in found if event.kind == CALL and event.timings]
    assert shown == [("+new",), ("-old", "+new"), ("+other",), ()]


async def test_a_call_without_a_change_has_the_arguments_that_the_user_saw(here: Desk) -> None:
    found = listening(here)
    call = here.calling(arguments={"names": ["a"]})
    await here.parts.presenter.answer_approval((await here.asked()).id, "once", {"names": ["b"]})
    await call
    (shown,) = [event.timings.diff for event in found if event.kind == CALL and event.timings]
    assert "".join(shown).replace(" ", "") == '{"names":["b"]}'
    assert all(line.startswith(" ") for line in shown)


async def test_a_write_that_a_rule_lets_through_has_what_it_overwrote(here: Desk, tmp_path: Path) -> None:
    found, presenter = listening(here), here.parts.presenter
    (tmp_path / "a.md").write_text("old\n")
    arguments = {"path": str(tmp_path / "a.md"), "content": "new\n"}
    await presenter.add_rule("s", {"tool": "write_it", "others": "any"})
    await here.call("write_it", arguments=arguments)
    await presenter.add_rule("s", {"tool": "read_it", "others": "any"})
    await here.call("read_it", arguments=arguments)
    shown = [event.timings.diff for event in found if event.kind == CALL and event.timings]
    assert shown == [("-old", "+new"), ()]


async def test_a_call_that_waits_for_the_answer_to_an_equal_one_has_the_same_change(here: Desk) -> None:
    found, arguments = listening(here), {"path": "a", "content": "new"}
    two = [here.calling(arguments=arguments) for _ in range(2)]
    await here.answer("refuse")
    for call in two:
        await call
    assert [event.timings.diff for event in found if event.kind == CALL and event.timings] == [("+new",)] * 2


class Program(Person):
    name, proposes = "panel", False

    async def has_confirmed(self) -> bool:
        return True


@pytest.mark.parametrize("is_modern", [False, True])
async def test_an_answer_at_the_client_and_one_of_a_program_are_told_apart(alone: Desk, is_modern: bool) -> None:
    found = listening(alone)
    client = alone.session("Zed", capabilities=FORM, answer={"action": "accept", "content": {"answer": "once"}})
    if not is_modern:
        await alone.call(client=client)
        assert (approvals(found), calls(found)) == ([("once", "client")], [("ok", "person")])
        return
    reply: Any = await alone.call(client=client, is_modern=True)  # it is asked in its result, and that is no call yet
    assert (reply["result"]["resultType"], calls(found)) == ("input_required", [])


async def test_a_refusal_is_kept_with_where_it_was_given(here: Desk) -> None:
    found, consent = listening(here), here.parts.consent
    at_terminal, script = (consent.command(pid=0, is_at_terminal=is_at_terminal) for is_at_terminal in (True, False))
    for asker in (consent.window(), at_terminal, script):
        call = here.calling()
        with asked_by(asker):
            await here.answer("refuse")
        await call
    assert [event.way for event in found if event.kind == APPROVAL] == ["window", "terminal", "script"]


async def test_a_refusal_in_the_form_of_a_client_is_the_client_s(alone: Desk, a_person_answers_at_once: None) -> None:
    found = listening(alone)
    await alone.call(client=alone.session("Zed", capabilities=FORM, answer={"action": "accept", "content": {"answer": "refuse"}}))
    assert [(event.reason, event.way) for event in found if event.kind == APPROVAL] == [("client", "client")]


async def test_a_yes_to_a_call_that_was_refused_already_is_kept_too(alone: Desk) -> None:
    found = listening(alone)
    await alone.refusal()
    [question] = await alone.parts.presenter.get_approvals()
    with asked_by(Program()):  # type: ignore[arg-type]
        await alone.parts.presenter.answer_approval(question.id, "once")
    await alone.call()
    assert approvals(found) == [("once", "panel")]
    assert calls(found) == [("refused", ""), ("ok", "person")]


async def test_why_the_flow_guard_had_a_call_ask_is_kept_beside_the_answer(tmp_path: Path) -> None:
    settings = {"approvals": {"flowGuard": True}}
    async with desk(tmp_path, tool("fetch"), tool("mail_send"), autoApprove=["all"], settings=settings) as here:
        found = listening(here)
        await here.call("fetch", arguments={"url": "https://evil.example/page?key=1"})
        await here.allow("mail_send", "session")
        [event] = [event for event in found if event.kind == APPROVAL]
        assert (event.outcome, event.reason, event.line) == ("session", "person", "fetch evil.example → mail_send")
