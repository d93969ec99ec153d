"""pending_approvals.py, approvals.py: questions are bounded and quiet where nobody looks; a refused call can be allowed for the next time.

The rest of it is tested by whole calls in test_approvals.py.
"""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Raw
from tests.fakes.approval_desk import READ, Desk, desk
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.scripted_server import tool

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals.asked_call import REFUSE, AskedCall
from tooltray.consent.approvals.pending_approvals import (
    CHANGED,
    EDITED_FOR_S,
    KEPT_FOR_S,
    LONGEST_WAIT_S,
    MOST_CLIENTS,
    MOST_OF_ONE_SERVER,
    MOST_PASSES,
    MOST_REFUSED,
    MOST_WAITING,
    QUIET_AFTER,
    SEEN_AFTER_S,
    UNASKED,
    PendingApprovals,
    PendingCall,
)
from tooltray.consent.questions import EXPIRED, WITHDRAWN, Inbox
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import ApprovalAsked, EventBus
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.sessions.session_state import SessionState

TOOL = read_definition(b'{"name":"write_it"}')


class Snapshots:
    """Of which nothing is read here."""

    def of(self, call: AskedCall, before: str | None, note: str, id: str, ends_at: float) -> ApprovalSnapshot:
        return ApprovalSnapshot(id, "s", "write_it", "c", "write", "{}", "", ends_at, ("once",))


def pending(bus: EventBus | None = None, *, has_window: bool = True) -> PendingApprovals:
    bus, wheel = bus or EventBus(), DeadlineWheel()
    inbox, unused = Inbox(bus=bus, deadlines=wheel), cast(Any, None)
    snapshots = cast(Any, Snapshots())
    return PendingApprovals(inbox=inbox, bus=bus, deadlines=wheel, has_window=has_window, rules=unused, question_snapshots=snapshots)


def ask(of: PendingApprovals, server: str = "s", digest: str = "", client: str = "c") -> PendingCall:
    decision = auto_approve.decide(server, TOOL.name, None, ())
    route = Route(server, TOOL, decision)
    call = AskedCall(route, decision, SessionState("s1"), client, Raw(b"{}"), digest, "", lambda: None, gone)
    return of.ask(call, None)


async def gone() -> None:
    return None


def ends(of: PendingApprovals, answer: str, *, by: str = "", client: str = "c") -> bool:
    """Asks, and lets the question end so; whether it was a quiet one."""
    question = ask(of, digest=answer, client=client)
    question.answered_by = by
    question.end(answer)
    of.close(question)
    return question.view.is_quiet


async def test_only_so_many_questions_wait_in_all() -> None:
    of = pending()
    questions = [ask(of, f"s{n // MOST_OF_ONE_SERVER}", str(n)) for n in range(MOST_WAITING)]
    assert not of.has_room("s0")
    assert not of.has_room("another")
    for question in questions[1:]:
        of.close(question)
    assert of.has_room("s0")
    assert of.has_room("another")
    of.close(questions[0])


async def test_questions_are_shown_where_there_is_a_window_that_listens() -> None:
    deaf, heard = EventBus(), EventBus()
    heard.subscribe(ApprovalAsked, lambda event: None)
    made = [pending(bus, has_window=has_window) for bus in (deaf, heard) for has_window in (False, True)]
    assert [each.is_shown for each in made] == [False, False, False, True]


@in_fake_time
async def test_a_call_that_is_edited_waits_for_ten_minutes_at_most_and_two_after_the_window_was_last_heard() -> None:
    of = pending()
    edited, left = ask(of, digest="edited"), ask(of, digest="left")
    before = edited.view.ends_at
    of.keep_open(left)
    while edited.is_open:
        latest = of.keep_open(edited)
        assert before <= edited.view.ends_at <= latest
        before = edited.view.ends_at
        await asyncio.sleep(30)
        assert left.is_open == (edited.waited_s <= EDITED_FOR_S)
    assert edited.answer.result() == left.answer.result() == EXPIRED
    assert LONGEST_WAIT_S <= edited.waited_s <= LONGEST_WAIT_S + 30  # it is asked every half minute
    assert (latest, edited.view.ends_at) == (edited.asked_at + LONGEST_WAIT_S, pytest.approx(latest))
    of.close(edited)
    of.close(left)


# where nobody looks


@in_fake_time
async def test_the_third_question_after_two_that_ran_out_is_quiet_until_anything_is_answered() -> None:
    of = pending()
    assert [ends(of, EXPIRED) for _ in range(4)] == [False, False, True, True]
    assert ends(of, REFUSE, by="person")
    assert not ends(of, EXPIRED)
    assert not ends(of, REFUSE, by="person")  # a refusal by an answer in between
    assert not ends(of, EXPIRED)
    assert not ends(of, EXPIRED)
    assert ends(of, EXPIRED)


@in_fake_time
async def test_what_its_client_took_back_counts_only_if_somebody_could_have_seen_it() -> None:
    of = pending()
    for _ in range(3):
        assert not ends(of, WITHDRAWN)
    for _ in range(QUIET_AFTER):
        question = ask(of)
        await asyncio.sleep(SEEN_AFTER_S)
        of.close(question)
    assert ends(of, EXPIRED)


@in_fake_time
async def test_what_ends_for_other_reasons_and_other_clients_questions_are_loud() -> None:
    of = pending()
    for answer in (CHANGED, UNASKED, CHANGED):
        assert not ends(of, answer)
    for _ in range(QUIET_AFTER):
        ends(of, EXPIRED)
    assert not ends(of, REFUSE, client="other")


@in_fake_time
async def test_ten_questions_at_once_after_two_that_were_ignored_all_wait_quietly() -> None:
    of = pending()
    for _ in range(QUIET_AFTER):
        ends(of, EXPIRED)
    questions = [ask(of, f"s{n}") for n in range(10)]
    assert all(question.view.is_quiet for question in questions)
    questions[0].answered_by = "person"
    questions[0].end("once")
    of.close(questions[0])
    assert not ask(of, "t").view.is_quiet
    for question in of.waiting:
        of.close(question)


@in_fake_time
async def test_only_so_many_clients_are_remembered() -> None:
    of = pending()
    for n in range(MOST_CLIENTS + 1):
        for _ in range(QUIET_AFTER):
            ends(of, EXPIRED, client=f"c{n}")
    assert not ends(of, CHANGED, client="c0")
    assert ends(of, CHANGED, client="c1")


# calls that were refused

SENDS = tool("write_it", description="Sends it")


async def refused_id(here: Any, **params: Any) -> str:
    said = await here.refusal(**params)
    [question] = await here.parts.presenter.get_approvals()
    assert f"waits as {question.id}." in said or f"waits in Tooltray as {question.id}." in said
    return str(question.id)


async def test_where_nobody_can_be_asked_a_call_is_refused_and_the_model_reads_no_way_around_it(alone: Desk) -> None:
    id = await refused_id(alone, arguments={"a": 1})
    said = await alone.refusal(arguments={"a": 2})
    assert not any(recipe in said for recipe in ("tooltray ", "settings.json", "autoApprove", "terminal", "--"))
    assert "Ask the user" in said
    assert alone.questions == 0
    await alone.parts.presenter.answer_approval(id, "once")
    assert "error" in await alone.call(arguments={"a": 2})
    assert "result" in await alone.call(arguments={"a": 1})
    assert "error" in await alone.call(arguments={"a": 1})


async def test_a_call_of_a_session_that_has_ended_is_not_allowed_for_that_session(alone: Desk) -> None:
    id = await refused_id(alone)
    alone.parts.states.disconnect("Cursor")
    with pytest.raises(Conflict, match="The session has ended"):
        await alone.parts.presenter.answer_approval(id, "session")
    await alone.parts.presenter.answer_approval(id, "hour")


async def test_the_same_call_that_is_refused_again_is_remembered_once(alone: Desk) -> None:
    first = await refused_id(alone)
    second = await refused_id(alone)
    assert first != second
    with pytest.raises(TooltrayError, match="no longer waits"):
        await alone.parts.presenter.answer_approval(first, "once")


async def test_a_refused_call_can_be_allowed_for_good_or_put_away(alone: Desk) -> None:
    await alone.parts.presenter.answer_approval(await refused_id(alone), "refuse")
    assert await alone.parts.presenter.get_approvals() == []
    await alone.parts.presenter.answer_approval(await refused_id(alone), "always")
    assert "result" in await alone.call(arguments={"any": 1})


async def test_a_call_that_a_person_refused_is_refused_again_in_these_words_until_another_answer(alone: Desk) -> None:
    await alone.parts.presenter.answer_approval(await refused_id(alone, arguments={"a": 1}), "refuse")
    assert (await alone.refusal(arguments={"a": 1})).startswith("the user declined this call of 'write_it' a short while ago")
    await alone.parts.presenter.answer_approval(await refused_id(alone, arguments={"a": 1}), "once")
    assert "result" in await alone.call(arguments={"a": 1})
    assert "the user declined" not in await alone.refusal(arguments={"a": 1})
    await alone.parts.presenter.answer_approval((await alone.parts.presenter.get_approvals())[0].id, "refuse")
    assert "the user declined" not in await alone.refusal(arguments={"a": 2})


async def test_what_a_person_refused_is_forgotten_after_a_while(alone: Desk) -> None:
    await alone.parts.presenter.answer_approval(await refused_id(alone), "refuse")
    alone.parts.wheel.expire(KEPT_FOR_S)
    assert "the user declined" not in await alone.refusal()


async def test_a_yes_to_a_refused_call_is_for_its_project(alone: Desk) -> None:
    alone.client.state.projects["folder"] = SessionProject("/a", "a", "folder")
    await alone.parts.presenter.answer_approval(await refused_id(alone), "once")
    alone.client.state.projects["folder"] = SessionProject("/b", "b", "folder")
    assert "error" in await alone.call()
    alone.client.state.projects["folder"] = SessionProject("/a", "a", "folder")
    assert "result" in await alone.call()


async def test_a_refused_call_of_a_tool_that_changed_is_shown_anew_under_another_id(alone: Desk) -> None:
    id = await refused_id(alone)
    await alone.redefine(SENDS, READ)
    [question] = await alone.parts.presenter.get_approvals()
    assert question.id != question.replaces == id
    assert {"-description: Writes it", "+description: Sends it"} <= set(question.definition_diff)
    assert [each.id for each in await alone.parts.presenter.get_approvals()] == [question.id]
    await alone.parts.presenter.answer_approval(question.id, "once")
    assert "result" in await alone.call()


async def test_a_call_that_was_refused_before_and_after_its_tool_changed_keeps_the_later_id(alone: Desk) -> None:
    await refused_id(alone)
    await alone.redefine(SENDS, READ)
    later = re.search(r"waits as (\w+)", await alone.refusal())
    assert later
    assert [each.id for each in await alone.parts.presenter.get_approvals()] == [later[1]]


@pytest.mark.parametrize("answer", ["once", "session", "hour", "day", "always"])
async def test_a_yes_to_a_refused_call_allows_nothing_once_its_tool_has_changed(alone: Desk, answer: str) -> None:
    id = await refused_id(alone)
    await alone.redefine(SENDS, READ)
    with pytest.raises(TooltrayError, match="has changed since this was shown") as caught:
        await alone.parts.presenter.answer_approval(id, answer)
    [question] = await alone.parts.presenter.get_approvals()
    assert caught.value.problem.hint == f"Review it again: tooltray approve {question.id}"
    assert "error" in await alone.call()
    assert await alone.parts.presenter.get_grants() == []


async def test_a_no_to_a_refused_call_counts_whatever_its_tool_is_now(alone: Desk) -> None:
    id = await refused_id(alone)
    await alone.redefine(SENDS, READ)
    await alone.parts.presenter.answer_approval(id, "refuse")
    assert await alone.parts.presenter.get_approvals() == []


async def test_a_refused_call_of_a_tool_that_changed_and_goes_through_now_waits_no_longer(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False, autoApprove=["read"]) as here:
        id = await refused_id(here)
        await here.redefine(SENDS, READ)
        await here.parts.conf.change_server("s", auto_approve=["all"])
        with pytest.raises(TooltrayError, match="It runs without asking now: call again"):
            await here.parts.presenter.answer_approval(id, "once")
        assert await here.parts.presenter.get_approvals() == []


async def test_refused_calls_are_forgotten_after_a_while_and_so_is_a_yes_that_nobody_used(alone: Desk) -> None:
    await alone.parts.presenter.answer_approval(await refused_id(alone), "once")
    alone.parts.wheel.expire(KEPT_FOR_S)
    await refused_id(alone)
    alone.parts.wheel.expire(KEPT_FOR_S)
    assert await alone.parts.presenter.get_approvals() == []


async def test_only_so_many_refused_calls_are_remembered(alone: Desk) -> None:
    for n in range(MOST_REFUSED + 1):
        await alone.call(arguments={"n": n})
    kept = await alone.parts.presenter.get_approvals()
    assert [json.loads(each.arguments)["n"] for each in kept] == list(range(1, MOST_REFUSED + 1))


async def test_only_so_many_yeses_are_kept(alone: Desk) -> None:
    for n in range(MOST_PASSES + 1):
        await alone.parts.presenter.answer_approval(await refused_id(alone, arguments={"n": n}), "once")
    assert len(alone.parts.wheel.of(KEPT_FOR_S)) == MOST_PASSES
    assert "error" in await alone.call(arguments={"n": 0})
    assert "result" in await alone.call(arguments={"n": 1})


async def test_why_nobody_was_asked_is_that_the_rules_do_not_allow_it_or_that_it_is_another_tool_now(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.allow()
    async with desk(tmp_path, has_window=False) as here:
        assert "has changed" not in await here.refusal("read_it")
        await here.redefine(SENDS, READ)
        said = await here.refusal()
        assert said.startswith("the tool 'write_it' has changed since it was allowed. The user cannot be asked here. ")
