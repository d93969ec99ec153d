"""flow_guard.py, grant_book.py: which tools read what strangers wrote and which send, and that the latter ask after the former."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.approval_desk import Desk, desk
from tests.fakes.scripted_server import tool

from tooltray.catalogue import auto_approve
from tooltray.catalogue.auto_approve import tool_of
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.consent.approvals import flow_guard
from tooltray.consent.approvals.flow_guard import NO_FLOW, Flow, FlowGuard, flow_of, in_words
from tooltray.consent.askers import WindowAsker
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.events import ConfigChanged, EventBus
from tooltray.protocol.sessions.session_state import SessionFlow, SessionState
from tooltray.records.audit_trail import AuditTrail

OPEN, CLOSED = {"openWorldHint": True}, {"openWorldHint": False}


def flow(name: str, hints: object = None, *, is_remote: bool = False, override: ToolOverride | None = None) -> tuple[bool, bool]:
    reads, sends, _ = flow_of(tool_of(name, hints), override, is_remote=is_remote)
    return reads, sends


@pytest.mark.parametrize(
    "name", ["fetch", "browse_page", "web_search", "get_issue", "list_comments", "read_inbox", "searchMessages", "http_get", "read_url"]
)
def test_a_tool_that_reads_the_web_mail_or_a_tracker_brings_what_strangers_wrote_whatever_its_hints_say(name: str) -> None:
    for hints in (None, OPEN, CLOSED, {"readOnlyHint": True, **CLOSED}):
        assert flow(name, hints)[0]


@pytest.mark.parametrize("name", ["read_file", "list_directory", "search_notes", "get_user", "write_file", "delete_branch", "git_commit"])
def test_what_stays_on_this_computer_neither_brings_nor_sends_anything(name: str) -> None:
    assert flow(name) == (False, False)


@pytest.mark.parametrize(
    "name",
    [
        *("send_mail", "mail_send", "post_message", "publish_package", "git_push", "upload_file", "create_issue", "add_comment"),
        *("updateIssue", "create_pull_request", "create_gist", "merge_pull_request", "browser_type", "browser_fill_form"),
        *("page_evaluate_url", "share_document"),
    ],
)
def test_a_tool_that_sends_or_publishes_does_whatever_its_hints_say(name: str) -> None:
    assert flow(name)[1]
    assert flow(name, CLOSED)[1]


def test_a_tool_that_writes_into_the_open_world_sends_and_one_that_reads_from_there_brings_it() -> None:
    assert flow("change_thing", OPEN) == (False, True)
    assert flow("change_thing", CLOSED) == (False, False)
    assert flow("get_thing", OPEN) == (True, False)
    assert flow("get_thing", is_remote=True) == (True, False)
    assert flow("change_thing", is_remote=True) == (False, True)
    assert flow("get_thing", CLOSED, is_remote=True) == flow("change_thing", CLOSED, is_remote=True) == (False, False)
    assert flow("browser_click", is_remote=True) == (True, False)  # every step in a browser would ask
    assert flow("create_folder") == (False, False)


def test_a_person_says_otherwise_for_one_tool() -> None:
    chosen = {choice: flow("send_mail", override=ToolOverride(flow=choice)) for choice in ("reads", "sends", "both", "none")}
    assert chosen == {"reads": (True, False), "sends": (False, True), "both": (True, True), "none": (False, False)}
    assert flow("send_mail", override=ToolOverride(name="other")) == (False, True)
    assert Flow(reads=False, sends=False, fetches=False) == NO_FLOW


FETCH, SEND, NOTE = tool("fetch"), tool("mail_send"), tool("save_note")
PAGE = {"url": "https://user:pw@evil.example/page?key=1"}
HIDDEN: tuple[dict[str, Any], ...] = (
    {"options": {"method": "Post"}},
    {"request": [{"init": {"httpMethod": "PUT"}}]},
    {"options": {"Post-Data": "secret"}},
)
"""How a fetch sends that has its body not where most have it."""
GUARDED = {"approvals": {"flowGuard": True}}


@asynccontextmanager
async def guarded(root: Path, settings: dict[str, Any] | None = None, **options: Any) -> AsyncIterator[Desk]:
    """All is allowed by the rules."""
    async with desk(root, FETCH, SEND, NOTE, autoApprove=["all"], settings=settings or GUARDED, **options) as here:
        yield here


async def test_a_call_that_sends_asks_after_a_page_was_read_and_names_both(tmp_path: Path) -> None:
    async with guarded(tmp_path) as here:
        assert "result" in await here.call("mail_send")
        assert "result" in await here.call("fetch", arguments=PAGE)
        assert "result" in await here.call("save_note")
        assert "result" in await here.call("fetch", arguments=PAGE)
        assert here.questions == 0
        call = here.calling("mail_send")
        question = await here.answer("once")
        assert question.flow == question.why == "it has read evil.example with fetch of s, and now wants to send with mail_send"
        assert question.choices == ("once", "session")
        assert "result" in await call
        again = here.calling("mail_send")
        await here.answer("refuse")
        assert "the user declined" in (await again)["error"]["message"]


async def test_neither_a_grant_nor_a_recent_yes_lets_it_through_but_a_yes_that_knows_does_in_its_session_alone(tmp_path: Path) -> None:
    async with guarded(tmp_path) as here:
        p = here.parts.presenter
        await p.add_grant("s", "tool", "mail_send")
        here.parts.grants.allow_in_session(here.parts.tools.routes("s")["mail_send"], here.client.state, "Cursor", knows_flow=False)
        await here.call("fetch", arguments=PAGE)
        call = here.calling("mail_send")
        await here.answer("session")
        assert "result" in await call
        await here.call("fetch", arguments=PAGE)
        assert "result" in await here.call("mail_send", arguments={"to": "b"})
        other = here.session("Cursor", "2")
        assert "result" in await here.call("mail_send", other)
        await here.call("fetch", other, arguments=PAGE)
        call = here.calling("mail_send", other)
        await here.answer("refuse")
        assert "error" in await call
        for grant in await p.get_grants():
            await p.remove_grant(grant.id)
        call = here.calling("mail_send")
        await here.answer("refuse")
        assert "error" in await call


async def test_a_lasting_yes_to_another_call_does_not_answer_one_that_the_guard_has_ask(tmp_path: Path) -> None:
    async with desk(tmp_path, FETCH, SEND, settings=GUARDED) as here:
        before = here.calling("mail_send")
        first = await here.asked()
        await here.allow("fetch", "hour", arguments=PAGE)
        after = here.calling("mail_send", arguments={"to": "b"})
        second = await here.asked()
        await here.parts.presenter.answer_approval(first.id, "always")
        assert "result" in await before
        assert [each.id for each in await here.parts.presenter.get_approvals()] == [second.id]
        await here.parts.presenter.answer_approval(second.id, "refuse")
        assert "error" in await after


async def test_a_rule_on_arguments_does_not_let_it_through_and_none_is_offered(tmp_path: Path) -> None:
    rule = {"tool": "mail_send", "arguments": {"to": {"equals": "me"}}}
    async with desk(tmp_path, FETCH, SEND, settings=GUARDED, autoApprove=["fetch"], callRules=[rule]) as here:
        assert "result" in await here.call("mail_send", arguments={"to": "me"})
        await here.call("fetch", arguments=PAGE)
        call = here.calling("mail_send", arguments={"to": "me"})
        assert (await here.answer("refuse")).rules == ()
        assert "error" in await call


async def test_with_nobody_to_ask_it_is_refused_with_the_command_for_this_call_alone(tmp_path: Path) -> None:
    async with guarded(tmp_path, has_window=False) as here:
        await here.call("fetch", arguments=PAGE)
        message = await here.refusal("mail_send")
        assert "this session has read evil.example with fetch of s, and 'mail_send' sends or publishes" in message
        assert "--always" not in message
        assert "autoApprove" not in message
        [waiting] = await here.parts.presenter.get_approvals()
        await here.parts.presenter.answer_approval(waiting.id, "once")
        assert "result" in await here.call("mail_send")
        assert "sends or publishes" in await here.refusal("mail_send")


async def test_a_fetch_with_a_body_sends_and_one_without_does_not(tmp_path: Path) -> None:
    async with guarded(tmp_path) as here:
        await here.call("fetch", arguments=PAGE)
        for more in ({}, {"method": "get"}, {"body": ""}, {"method": "HEAD", "data": None}, {"json": {}}):
            assert "result" in await here.call("fetch", arguments=PAGE | more)
        assert here.questions == 0
        for more in ({"method": "POST"}, {"body": "secret"}, {"data": {"a": 1}}, {"body": "x" * flow_guard.READ_BELOW_BYTES}, *HIDDEN):
            call = here.calling("fetch", arguments=PAGE | more)
            await here.answer("refuse")
            assert "error" in await call


async def test_it_is_off_until_it_is_switched_on_and_for_one_client_if_a_person_wants(tmp_path: Path) -> None:
    clients = {"Cursor": {"flowGuard": True}, "Trusted": {"flowGuard": False}}
    async with guarded(tmp_path, {"publish": {"clients": clients}}) as here:
        for name, asks in (("Cursor", True), ("Other", False), ("Trusted", False)):
            client = here.session(name, name + "1")
            await here.call("fetch", client, arguments=PAGE)
            call = here.calling("mail_send", client)
            if asks:
                await here.answer("refuse")
            assert ("error" in await call) is asks
        p = here.parts.presenter
        await p.change_settings({"approvals": {"flowGuard": True}, "publish": {"clients": {"Cursor": None}}})
        for name, asks in (("Cursor", True), ("Trusted", False)):
            client = here.session(name, name + "2")
            await here.call("fetch", client, arguments=PAGE)
            call = here.calling("mail_send", client)
            if asks:
                await here.answer("refuse")
            assert ("error" in await call) is asks
        await p.change_settings({"approvals": {"flowGuard": False}})
        assert not here.parts.flow_guard.is_on
        assert "result" in await here.call("mail_send")


async def test_what_a_person_said_of_a_tool_counts(tmp_path: Path) -> None:
    overrides = {"mail_send": {"flow": "none"}, "save_note": {"flow": "sends"}, "fetch": {"flow": "reads"}}
    async with guarded(tmp_path, toolOverrides=overrides) as here:
        await here.call("fetch", arguments=PAGE)
        assert "result" in await here.call("mail_send")
        call = here.calling("save_note")
        await here.answer("refuse")
        assert "error" in await call


# by itself


def route(name: str, server: str = "s") -> Route:
    tool = read_definition(f'{{"name":"{name}"}}'.encode())
    return Route(server, tool, auto_approve.decide(server, name, None, ["all"]))


def guard(settings: dict[str, Any] = GUARDED, *, transport: str = "stdio", is_builtin: bool = False) -> tuple[FlowGuard, EventBus]:
    bus = EventBus()
    server = SimpleNamespace(config=SimpleNamespace(transport=transport), is_builtin=is_builtin)
    read = read_settings(settings).settings
    clients = SimpleNamespace(settings=lambda client: SimpleNamespace(flow_guard=None))
    grants = SimpleNamespace(knows_flow=lambda route, state: False)
    servers = SimpleNamespace(find=lambda name: server if name == "s" else None)
    return FlowGuard(config=SimpleNamespace(settings=read), servers=servers, clients=clients, grants=grants, bus=bus), bus


def exchange(state: SessionState, arguments: bytes = b"{}") -> Any:
    return SimpleNamespace(session=SimpleNamespace(state=state), request=SimpleNamespace(params=Raw(b'{"arguments":%b}' % arguments)))


def test_requests_that_nobody_can_tie_together_count_as_one_session_of_their_client() -> None:
    of, _ = guard()
    of.note(route("fetch"), exchange(SessionState("r1", client="c", is_passing=True)))
    for n in range(flow_guard.MOST_PASSING):
        assert of.asks(route("mail_send"), SessionState(f"r{n}", client="c", is_passing=True), Raw(b"{}")) is not None
        of.note(route("fetch"), exchange(SessionState("r", client=f"c{n}", is_passing=True)))
    assert of.asks(route("mail_send"), SessionState("r2", client="c", is_passing=True), Raw(b"{}")) is None  # the oldest is forgotten
    assert of.asks(route("mail_send"), SessionState("s1", client="c0"), Raw(b"{}")) is None


def test_resources_and_prompts_of_a_server_elsewhere_count_and_those_of_one_here_do_not() -> None:
    state = SessionState("s1", client="c")
    here, _ = guard()
    here.note_other("s", state)
    here.note_other("gone", state)
    assert state.flow is None
    elsewhere, _ = guard(transport="http")
    elsewhere.note_other("s", state)
    assert state.flow == SessionFlow("s", "")
    off, _ = guard({}, transport="http")
    off.note_other("s", state := SessionState("s2"))
    assert state.flow is None


def test_calls_of_commands_and_programs_are_those_of_one_session_whatever_project_they_name() -> None:
    of, _ = guard()
    of.note(route("fetch"), exchange(SessionState("p", client="tooltray", is_persons=True)))
    with asked_by(UNATTENDED):
        assert of.asks(route("mail_send"), SessionState("p", client="tooltray", is_persons=True), Raw(b"{}")) is not None


def test_what_a_call_has_brought_counts_for_another_session_that_gets_it() -> None:
    of, _ = guard()
    of.note_again(route("save_note"), "s", state := SessionState("s1"))
    of.note_again(None, "s", state)
    assert state.flow is None
    of.note_again(route("fetch"), "s", state)
    assert state.flow == SessionFlow("s", "fetch")
    elsewhere, _ = guard(transport="http")
    elsewhere.note_again(None, "s", state := SessionState("s2"))
    assert state.flow == SessionFlow("s", "")


def test_the_person_at_the_window_and_what_comes_with_tooltray_are_not_guarded(tmp_path: Path) -> None:
    of, _ = guard()
    person = SessionState("p", client="tooltray", is_persons=True)
    with asked_by(WindowAsker(AuditTrail(tmp_path / "audit.jsonl"))):
        of.note(route("fetch"), exchange(person))
        assert of.asks(route("mail_send"), person, Raw(b"{}")) is None
    builtin, _ = guard(is_builtin=True)
    assert not builtin.sends(route("mail_send"))
    assert not of.sends(route("mail_send", "gone"))
    assert of.sends(route("mail_send"))


def test_what_is_known_of_tools_is_bounded_and_forgotten_when_settings_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_guard, "MOST_KNOWN", 2)
    of, bus = guard()
    one = route("mail_send")
    assert of.sends(one)
    assert of.sends(one)
    of.sends(route("get_1"))
    of.sends(route("get_2"))
    assert len(of._known) == 1
    bus.publish(ConfigChanged({}, (), True))
    assert not of._known
    assert of.sends(one)


def test_arguments_that_are_no_object_count_as_a_body() -> None:
    of, _ = guard()
    of.note(route("fetch"), exchange(state := SessionState("s1")))
    assert of.asks(route("fetch"), state, Raw(b'{"arguments":"text"}')) is not None
    assert of.asks(route("fetch"), state, Raw(b'{"arguments":{"url":"a","url":"b"}}')) is not None  # a server may read either
    assert of.asks(route("fetch"), state, Raw(b"{}")) is None
    assert of.asks(route("fetch"), state, Raw(b'{"arguments":{"method":null}}')) is None


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (SessionFlow("s", "fetch", "a.example"), "read a.example with fetch of s"),
        (SessionFlow("s", "fetch"), "read what strangers may have written, with fetch of s"),
        (SessionFlow("s", ""), "read what strangers may have written, from s"),
        (SessionFlow("s", "f\u202e", "a\nb"), "read a b with f\\u202e of s"),
    ],
)
def test_what_was_read_is_named_harmlessly(read: SessionFlow, words: str) -> None:
    assert in_words(read) == words
