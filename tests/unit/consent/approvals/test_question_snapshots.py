"""question_snapshots.py, asked_call.py, and what approvals.py and api.py give of the file that a call would overwrite"""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.fakes.approval_desk import Desk
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import definition_text, read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals.asked_call import READ_BELOW_BYTES, AskedCall, asked_call
from tooltray.consent.approvals.question_snapshots import (
    LARGEST_FILE,
    LONGEST_ARGUMENTS,
    LONGEST_IN_FORM,
    LONGEST_TITLE,
    MOST_LINES,
    OTHER_SETTINGS,
    SAME_NAME_TWICE,
    QuestionSnapshots,
    form_answer,
    form_params,
)
from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Denied
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, failure, success
from tooltray.protocol.sessions.elicitation_form import AT_ONCE_S
from tooltray.protocol.sessions.session_state import SessionState

TOOL = read_definition(b'{"name":"edit_it\\u0007","description":"Edits\\nit","inputSchema":{}}')


def asked(arguments: bytes | None = None, client: str = "") -> AskedCall:
    decision = auto_approve.decide("s", TOOL.name, None, ())
    params = Raw(b'{"name":"x"' + (b',"arguments":' + arguments if arguments is not None else b"") + b"}")
    session = Client()
    session.state.client = client
    exchange = exchange_of(Envelope(params=params), session, client="Client 1")
    return asked_call(Route("s", TOOL, decision), decision, exchange, lambda: None, gone)


async def gone() -> None:
    return None


class Around:
    """What is known at the moment of a question; unless given no session, no recent approval, and no screen whose lock is heard of."""

    def __init__(self, *, is_new_read: bool, session: SessionState | None = None, similar_s: int = 0, is_awaited: bool = False) -> None:
        self.has_all_reads = lambda server, client: is_new_read
        self.find = lambda id: session
        self.similar_window_s = lambda call: similar_s
        self.is_awaited = is_awaited


def shown(
    arguments: bytes | None = None,
    call: AskedCall | None = None,
    *,
    before: str | None = None,
    note: str = "",
    is_new_read: bool = True,
    **known: Any,
) -> ApprovalSnapshot:
    around: Any = Around(is_new_read=is_new_read, **known)
    snapshots = QuestionSnapshots(
        states=around,
        grants=around,
        recent_approvals=around,
        screen_lock=around,
        servers=around,
        user_folder=Path("/home"),
        masked=lambda text: text.replace("hunter2", "***"),
    )
    return snapshots.of(call or asked(arguments), before, note, "1", 0.0)


def test_texts_are_harmless() -> None:
    question = shown(b'{"a":"\\u202eb"}', note="first")
    assert (question.tool, question.description, question.client) == ("edit_it\\u0007", "Edits\nit", "Client 1")
    assert question.arguments == '{\n  "a": "\\u202eb"\n}'
    assert question.why == "first; this tool can change things"
    assert (question.is_declined, question.is_editable) == (True, False)


@pytest.mark.parametrize(
    ("definition", "before", "why", "title"),
    [
        (b'{"name":"create_it"}', None, "this tool can change things", ""),
        (b'{"name":"delete_it","title":"Delete\\u202eIt"}', None, "this tool can delete or overwrite things", "DeleteIt"),
        (
            b'{"name":"put_it","title":1,"annotations":{"destructiveHint":true,"title":"Put"}}',
            "x",
            "the tool has changed since it was allowed or shown; it can delete or overwrite things",
            "",
        ),
        (b'{"name":"put_it","annotations":{"title":"Put"}}', None, "this tool can change things", "Put"),
    ],
)
def test_the_question_has_the_tools_title_and_says_whether_it_may_destroy(
    definition: bytes, before: str | None, why: str, title: str
) -> None:
    tool = read_definition(definition)
    route = Route("s", tool, auto_approve.decide("s", tool.name, tool.annotations, ()))
    call = asked_call(route, route.decision, exchange_of(Envelope(params=Raw(b'{"name":"x"}')), Client(), client="c"), lambda: None, gone)
    question = shown(call=call, before=before)
    assert (question.why, question.title) == (why, title)


def test_a_tool_that_reads_is_asked_about_because_of_its_server() -> None:
    reads = read_definition(b'{"name":"get_it","annotations":{"readOnlyHint":true}}')
    route = Route("s", reads, auto_approve.decide("s", reads.name, reads.annotations, ()))
    call = asked_call(route, route.decision, exchange_of(Envelope(params=Raw(b'{"name":"x"}')), Client(), client="c"), lambda: None, gone)
    for is_new_read, why in ((False, "this server may not read without asking"), (True, "this tool is new since then")):
        question = shown(call=call, is_new_read=is_new_read)
        assert (question.category, question.why.endswith(why)) == ("read", True)
        assert question.choices == ("once", "hour", "day", "always", "reads")


@pytest.mark.parametrize(
    ("known", "flow", "choices"),
    [
        ({}, "", "once hour day always"),
        ({"session": "its own"}, "", "once session hour day always"),
        ({"session": "another"}, "", "once hour day always"),
        ({"similar_s": 20, "is_awaited": True}, "", "once like hour day lock always"),
        ({"session": "its own", "similar_s": 20, "is_awaited": True}, "it has read mail", "once session"),
        ({}, "it has read mail", "once"),
    ],
)
def test_answers_that_make_no_sense_are_not_offered(known: dict[str, Any], flow: str, choices: str) -> None:
    call = asked(b"{}")
    call = replace(call, decision=replace(call.decision, flow=flow))
    if session := known.get("session"):
        known = {**known, "session": call.state if session == "its own" else Client().state}
    question = shown(call=call, **known)
    assert (" ".join(question.choices), question.like_for_s) == (choices, known.get("similar_s", 0))
    assert (question.why, bool(question.rules)) == (flow or "this tool can change things", not flow)


def test_a_tool_that_a_person_chose_to_ask_and_one_with_other_settings_say_so() -> None:
    call = asked()
    excepted = replace(call, decision=auto_approve.decide("s", TOOL.name, None, ("all", f"ask:{TOOL.name}")))
    assert shown(call=excepted).why == "you chose that this tool asks first"
    assert shown(before=definition_text(TOOL)).why == OTHER_SETTINGS


def test_a_tool_that_has_changed_since_it_was_seen_is_asked_about_with_its_change() -> None:
    question = shown(before="{}")
    assert question.why == "the tool has changed since it was allowed or shown"
    assert question.definition_diff


def test_who_calls_is_what_the_session_says() -> None:
    assert asked(client="Cursor").client == "Cursor"


def test_a_call_without_arguments_shows_none() -> None:
    assert (shown().arguments, shown().diff) == ("{}", ())


@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b'{"b":{"a":1,"a":2}}'])
def test_a_member_that_stands_twice_is_pointed_out_and_shown_as_it_came(text: bytes) -> None:
    question = shown(text)
    assert (question.arguments, question.warnings[0]) == (text.decode(), SAME_NAME_TWICE)


def test_arguments_that_are_too_deep_are_shown_as_they_came() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    assert shown(deep).arguments == "[" * LONGEST_ARGUMENTS + "…"


def test_very_large_arguments_are_shown_by_their_beginning() -> None:
    large = json.dumps({"path": "x", "content": "y" * READ_BELOW_BYTES}).encode()
    question = shown(large)
    assert question.warnings[0] == f"the arguments are very large ({len(large):,} bytes); only their beginning is shown"
    assert len(question.arguments) == LONGEST_ARGUMENTS + 1
    assert question.diff == ()


def test_secrets_are_masked_in_the_arguments_and_in_the_edit() -> None:
    question = shown(b'{"path":"p","edits":[{"oldText":"a","newText":"hunter2"}]}')
    assert "hunter2" not in str(question)
    assert question.diff == ("-a", "+***")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (b'{"a":1,"b":[2]}', b'{ "b": [2], "a": 1 }', True),
        (None, b"{}", True),
        (b'{"a":1}', b'{"a":2}', False),
        (b'{"a":1}', b'{"a":1.0}', False),
        (b'{"a":1,"a":1}', b'{"a":1}', False),
        (b'{"a":18446744073709551617}', b'{"a":18446744073709551618}', False),
    ],
)
def test_calls_are_the_same_if_their_arguments_say_the_same(one: bytes | None, other: bytes, is_same: bool) -> None:
    assert (asked(one).same_in_session == asked(other).same_in_session) is is_same


QUESTION = ApprovalSnapshot(
    id="1", server="s", tool="t", client="", category="read", arguments='{"a": 1}', why="so", ends_at=0.0, choices=("once", "reads")
)


def message(question: ApprovalSnapshot) -> list[str]:
    lines: list[str] = envelope.load(form_params(question))["message"].split("\n")
    return lines


def test_the_form_says_what_is_called_and_offers_a_no_first() -> None:
    assert message(QUESTION) == [
        "An AI client wants to call the tool 't' of the server 's' (read).",
        "It asks because so.",
        "Arguments:",
        '{"a": 1}',
    ]
    field = envelope.load(form_params(QUESTION))["requestedSchema"]["properties"]["answer"]
    assert (field["enum"], field["default"]) == (["refuse", "once", "reads"], "refuse")
    assert field["enumNames"] == ["No", "Yes, this once", "Yes, for all tools of this server that read"]


def test_the_form_has_all_that_the_window_shows() -> None:
    lines = message(replace(QUESTION, project="/p", warnings=("odd",), diff=("-a", "+b"), definition_diff=("+c",)))
    assert lines[1:8] == [
        "Project: /p",
        "It asks because so.",
        "Warning: odd",
        "The definition has changed:",
        "+c",
        "It would change:",
        "-a",
    ]


def test_long_parts_are_cut_and_that_is_said() -> None:
    lines = message(replace(QUESTION, arguments="\n".join("x" * 9 for _ in range(500)), diff=("+y",) * (MOST_LINES + 1)))
    assert lines.count("…") == 2
    assert len("\n".join(lines)) < LONGEST_IN_FORM + 1000
    assert message(replace(QUESTION, arguments="z" * (LONGEST_IN_FORM + 1)))[-2:] == ["z" * LONGEST_IN_FORM, "…"]
    for number, shown in ((MOST_LINES, ["x"]), (MOST_LINES + 1, ["…"])):
        assert message(replace(QUESTION, arguments="\n".join("x" * number)))[-1:] == shown


def test_the_form_offers_the_narrowest_rule_if_its_words_are_short() -> None:
    rules = tuple(OfferedRule(f"rule-{place}", "b", "w" * length, {}) for place, length in ((1, LONGEST_TITLE), (2, 3)))
    question = replace(QUESTION, rules=rules)
    field = envelope.load(form_params(question))["requestedSchema"]["properties"]["answer"]
    assert (field["enum"][-1], field["enumNames"][-1]) == ("rule-1", f"Yes, always: {'w' * LONGEST_TITLE}")
    replies = [success({"action": "accept", "content": {"answer": f"rule-{place}"}}) for place in (1, 2)]
    assert [form_answer(reply, question, AT_ONCE_S) for reply in replies] == ["rule-1", "refuse"]
    wordy = replace(QUESTION, rules=(replace(rules[0], words="w" * (LONGEST_TITLE + 1)),))
    assert envelope.load(form_params(wordy)) == envelope.load(form_params(QUESTION))


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (success({"action": "accept", "content": {"answer": "once"}}), "once"),
        (success({"action": "accept", "content": {"answer": "always"}}), "refuse"),
        (success({"action": "accept", "content": []}), "refuse"),
        (success({"action": "accept", "content": {"answer": ["once"]}}), "refuse"),
        (success({"action": "accept"}), "refuse"),
        (success({"action": "decline"}), "refuse"),
        (success({"action": "cancel"}), None),
        (success([]), None),
        (Envelope(result=Raw(b"{")), None),
        (Envelope(result=Raw(b"[" * 100_000 + b"]" * 100_000)), None),
        (failure(-1, "no"), None),
    ],
)
def test_only_a_choice_that_was_offered_is_a_yes(reply: Envelope, answer: str | None) -> None:
    assert form_answer(reply, QUESTION, AT_ONCE_S) == answer


def test_a_no_within_a_moment_is_nobodys_and_a_yes_is_one() -> None:
    assert form_answer(success({"action": "decline"}), QUESTION, AT_ONCE_S / 2) is None
    assert form_answer(success({"action": "accept", "content": {"answer": "refuse"}}), QUESTION, AT_ONCE_S / 2) is None
    assert form_answer(success({"action": "accept", "content": {"answer": "once"}}), QUESTION, 0.0) == "once"


def test_a_call_is_about_one_tool_in_one_project() -> None:
    call = asked()
    assert call.is_for(call.route)
    assert not call.is_for(replace(call.route, definition=read_definition(b'{"name":"edit_it\\u0007","description":"Else"}')))
    moved = replace(call, project="/projects/elsewhere")
    assert not moved.is_for(moved.route)
    assert moved.of(moved.route, moved.route.decision).is_for(moved.route)


async def test_a_caller_without_a_session_is_not_offered_one(here: Desk) -> None:
    call = here.calling(client=here.parts.client())
    assert (await here.answer("refuse")).choices == ("once", "hour", "day", "always")
    await call


async def test_an_overwrite_is_compared_with_the_file_on_disk_for_the_user_s_eyes_only(here: Desk, tmp_path: Path) -> None:
    file = tmp_path / "n0.md"
    file.write_text("title\nhunter2 old\nend\n")
    presenter = here.parts.presenter
    call = here.calling(arguments={"path": str(file), "content": "title\nnew\nend\n"})
    question = await here.asked()
    assert question.diff == ("+title", "+new", "+end")
    with asked_by(PERSON):
        assert await presenter.get_approval_diff(question.id) == (" title", "-*** old", "+new", " end")
        file.write_bytes(b"\xff")
        assert await presenter.get_approval_diff(question.id) == ()
        file.write_bytes(b"x" * (LARGEST_FILE + 1))
        assert await presenter.get_approval_diff(question.id) == ()
        file.unlink()
        assert await presenter.get_approval_diff(question.id) == ()
        file.mkdir()
        assert await presenter.get_approval_diff(question.id) == ()
        assert await presenter.get_approval_diff("gone") == ()
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await presenter.get_approval_diff(question.id)
    await presenter.answer_approval(question.id, "refuse")
    await call
    other = here.calling(arguments={"text": "x"})
    question = await here.asked()
    with asked_by(PERSON):
        assert await presenter.get_approval_diff(question.id) == ()
    await presenter.answer_approval(question.id, "refuse")
    await other
