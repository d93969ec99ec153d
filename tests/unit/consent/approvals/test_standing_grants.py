"""standing_grants.py, asked_call.py, approvals.py: within seconds the same call is not asked about again, and what lasts is saved."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.approval_desk import FORM, WRITE, Desk, desk
from tests.fakes.hub_parts import settled
from tests.fakes.scripted_server import tool
from tests.fakes.set_clock import SetClock
from tests.unit.consent.approvals.test_flow_guard import guard

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.settings_reading import read_settings
from tooltray.consent.approvals.asked_call import READ_BELOW_BYTES, AskedCall
from tooltray.consent.approvals.grants import ScreenLocked
from tooltray.consent.approvals.standing_grants import MOST_KEPT, RecentApprovals
from tooltray.protocol.sessions.session_state import SessionState

SOON = {"approvals": {"sameForSeconds": 30}}
SAFE = tool("write_it", annotations={"destructiveHint": False})
READ = tool("read_it")


LARGE = "x" * READ_BELOW_BYTES  # compared byte by byte


@pytest.mark.parametrize(
    ("allowed", "same", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2, "b": 2}),
        ({"a": LARGE, "b": 2}, {"a": LARGE, "b": 2}, {"b": 2, "a": LARGE}),
    ],
)
async def test_the_same_call_within_seconds_is_the_same_question_and_with_other_arguments_it_is_not(
    tmp_path: Path, allowed: dict[str, Any], same: dict[str, Any], other: dict[str, Any]
) -> None:
    async with desk(tmp_path, settings=SOON) as here:
        await here.allow(answer="once", arguments=allowed)
        assert "result" in await here.call(arguments=same)
        assert here.questions == 1
        for client, arguments in 2 * ((None, other), (here.session("Other"), same)):
            call = here.calling(client=client, arguments=arguments)
            await here.answer("refuse")
            assert "error" in await call
        await here.redefine(tool("write_it", description="Else"), READ)
        call = here.calling(arguments=same)
        await here.answer("refuse")
        assert "error" in await call


async def test_the_like_of_a_call_goes_through_for_some_seconds_where_a_person_chose_that(tmp_path: Path) -> None:
    async with desk(tmp_path, READ, SAFE, settings=SOON) as here:
        waiting = [here.calling("read_it", arguments={"n": n}) for n in range(4)]
        questions = [await here.asked() for _ in waiting]
        assert (questions[0].choices[:2], questions[0].like_for_s) == (("once", "like"), 30)
        await here.parts.presenter.answer_approval(questions[0].id, "like")
        assert all("result" in reply for reply in await asyncio.gather(*waiting))
        assert "result" in await here.call("read_it", arguments={"n": 14})
        [grant] = await here.parts.presenter.get_grants()
        assert (grant.tool, grant.client, grant.expires_at - grant.created_at) == ("read_it", "Cursor", 30)


@pytest.mark.parametrize("settings", [{}, {"approvals": {"sameForSeconds": 0}}])
async def test_each_call_is_its_own_question_unless_the_settings_say_otherwise(tmp_path: Path, settings: dict[str, Any]) -> None:
    async with desk(tmp_path, READ, settings=settings) as here:
        await here.allow("read_it", "once")
        call = here.calling("read_it")
        question = await here.answer("refuse")
        assert ("like" in question.choices, question.like_for_s) == (False, 0)
        assert "error" in await call


# by itself


def call(name: str, hints: str = "{}", digest: str = "d", flow: str = "") -> AskedCall:
    definition = read_definition(f'{{"name":"{name}","annotations":{hints}}}'.encode())
    decision = auto_approve.Decision(False, "write", flow=flow)
    route = Route("s", definition, decision)
    return AskedCall(route, decision, SessionState("s1"), "c", Raw(b"{}"), digest, "", lambda: None, gone)


async def gone() -> None:
    return None


def yeses(clock: SetClock, settings: dict[str, Any] = SOON) -> tuple[RecentApprovals, Any]:
    of, bus = guard(settings)
    config = SimpleNamespace(settings=read_settings(settings).settings)
    return RecentApprovals(config=config, flow_guard=of, bus=bus, now=clock), bus


@pytest.mark.parametrize(
    ("name", "hints", "same", "like"),
    [
        ("read_it", "{}", True, True),
        ("write_it", '{"destructiveHint":false}', True, True),
        ("write_it", "{}", True, False),  # its server does not say that it destroys nothing
        ("write_it", '{"destructiveHint":true}', False, False),
        ("run_command", '{"destructiveHint":false,"readOnlyHint":true}', False, False),
        ("delete_it", '{"destructiveHint":false}', False, False),
        ("pay", '{"destructiveHint":false}', False, False),
        ("upload_it", '{"destructiveHint":false}', False, False),
    ],
)
def test_what_destroys_sends_or_does_a_thing_twice_is_asked_about_each_time(name: str, hints: str, same: bool, like: bool) -> None:
    of, _ = yeses(SetClock())
    of.remember(asked := call(name, hints))
    assert (of.covers(asked), of.similar_window_s(asked)) == (same, 30 if like else 0)


def test_it_ends_after_the_seconds_and_when_the_screen_locks_and_when_it_is_switched_off() -> None:
    clock = SetClock()
    of, bus = yeses(clock)
    assert not of.covers(call("read_it"))
    of.remember(call("read_it"))
    clock.now += 29.9
    assert of.covers(call("read_it"))
    assert not of.covers(call("read_it", digest="other"))
    clock.now += 0.1
    assert not of.covers(call("read_it"))
    of.remember(call("read_it"))
    assert of.covers(call("read_it"))
    bus.publish(ScreenLocked())
    assert not of.covers(call("read_it"))
    off, _ = yeses(clock, {})
    off.remember(call("read_it"))
    assert not off.covers(call("read_it"))


def test_a_call_that_the_flow_guard_has_ask_is_never_the_same() -> None:
    of, _ = yeses(SetClock())
    of.remember(call("read_it", flow="it has read"))
    assert not of.covers(call("read_it"))
    assert of.similar_window_s(call("read_it", flow="it has read")) == 0


def test_only_so_many_are_kept() -> None:
    of, _ = yeses(SetClock())
    for n in range(MOST_KEPT + 1):
        of.remember(call("read_it", digest=str(n)))
    assert not of.covers(call("read_it", digest="0"))
    assert of.covers(call("read_it", digest="1"))


async def test_a_yes_to_all_reads_accepts_the_tool_as_it_was_seen_for_other_grants_too(here: Desk) -> None:
    await here.parts.presenter.add_grant("s", "tool", "read_it")
    await here.redefine(WRITE, tool("read_it", description="Reads it twice"))
    assert [each.tool for each in await here.parts.presenter.get_tool_changes()] == ["read_it"]
    await here.allow("read_it", answer="reads")
    assert await here.parts.presenter.get_tool_changes() == []


async def test_what_is_allowed_for_longer_in_a_client_s_form_is_recorded_before_it_counts(alone: Desk) -> None:
    client = alone.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "always"}})
    assert "result" in await alone.call(client=client)
    [entry] = await alone.parts.trail.entries()
    assert (entry.answer, entry.way, entry.who) == ("yes", "client", "Own")
    assert {**entry.about, "definitions": ""} == {
        "server": "s",
        "tool": "write_it",
        "client": "Own",
        "answer": "always",
        "definitions": "",
    }


async def test_what_cannot_be_recorded_does_not_last(alone: Desk) -> None:
    alone.parts.home.audit.mkdir()
    client = alone.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "always"}})
    assert "error" in await alone.call(client=client)
    assert await alone.parts.presenter.get_grants() == []


async def test_what_lasts_is_for_all_calls_that_wait_and_are_covered_by_it(here: Desk) -> None:
    calls = [here.calling(arguments={"a": 1, "b": 2}), here.calling(arguments={"b": 2, "a": 1})]
    question = await here.asked()
    await settled()
    calls.append(here.calling(arguments={"a": 2}))
    await here.asked()
    other_tool, other_session = here.calling("read_it"), here.calling(client=here.session("Cursor", "2"))
    left = [await here.asked(), await here.asked()]
    assert here.questions == 4
    await here.parts.presenter.answer_approval(question.id, "session")
    assert all("result" in reply for reply in await asyncio.gather(*calls))
    for each in left:
        await here.parts.presenter.answer_approval(each.id, "refuse")
    assert all("error" in reply for reply in await asyncio.gather(other_tool, other_session))
