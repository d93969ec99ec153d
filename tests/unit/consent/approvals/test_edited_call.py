"""edited_call.py, asked_call.py, approvals.py, api.py: the user changes the arguments of a waiting call, and its client is told."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.fakes.approval_desk import FORM, Desk, desk
from tests.fakes.hub_parts import settled
from tests.fakes.scripted_server import error, raw, text, tool

from tooltray.consent.approvals.asked_call import READ_BELOW_BYTES
from tooltray.consent.approvals.edited_call import INTRODUCTION, LONGEST_NOTE, META_KEY
from tooltray.consent.approvals.pending_approvals import EDITED_FOR_S
from tooltray.consent.askers import WindowAsker
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.records.journal.journal_event import APPROVAL, CALL, JournalEvent

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]}
WRITE = tool("write_it", description="Writes it", inputSchema=SCHEMA)


def ran(here: Desk) -> list[Any]:
    """The arguments with which the server was called."""
    return [asked.params["arguments"] for asked in here.program.asked.all if asked.method == "tools/call"]


async def test_a_call_runs_with_the_arguments_of_the_user_and_its_client_is_told(tmp_path: Path) -> None:
    found: list[JournalEvent] = []
    async with desk(tmp_path, WRITE) as here:
        here.parts.bus.subscribe(JournalEvent, found.append)
        call = here.calling(arguments={"path": "a.txt", "text": "done", "n": 1})
        question = await here.asked()
        assert question.is_editable
        form = await here.parts.presenter.get_approval_form(question.id)
        assert (form.schema, form.arguments) == (SCHEMA, {"path": "a.txt", "text": "done", "n": 1})
        changed = {"path": "b.txt", "text": "done", "more": [True]}
        with asked_by(WindowAsker(here.parts.trail)):
            await here.parts.presenter.answer_approval(question.id, "once", changed)
        result = (await call)["result"]
        assert ran(here) == [changed]
        lines = ('- path: "a.txt" → "b.txt"', "- n: removed", "- more: [true] (added)")
        assert result["content"] == [{"type": "text", "text": "\n".join((INTRODUCTION, *lines))}, *text("done")["content"]]
        assert result["_meta"][META_KEY] == changed
        [approval], [event] = ([each for each in found if each.kind == kind] for kind in (APPROVAL, CALL))
        assert (approval.outcome, approval.line) == ("once", "a.txt → b.txt (path, n, more)")
        assert json.loads(bytes(approval.params))["arguments"] == {"path": "a.txt", "text": "done", "n": 1}
        assert json.loads(bytes(event.params))["arguments"] == changed
        assert event.timings is not None
        assert event.timings.allowed_by == "edited"
        [decision] = await here.parts.trail.entries()
        assert decision.about["changed"] == "path, n, more"
        assert "b.txt" not in str(decision)


async def test_arguments_that_were_not_changed_are_nobody_s_news_and_stay_the_same_bytes(tmp_path: Path) -> None:
    async with desk(tmp_path, WRITE) as here:
        call = here.calling(arguments={"path": "a", "text": "x"})
        question = await here.asked()
        assert await here.parts.presenter.preview_approval(question.id, {"path": "a", "text": "x"}) == question
        await here.parts.presenter.answer_approval(question.id, "once", {"text": "x", "path": "a"})
        assert (await call)["result"] == text("x")
        call = here.calling(arguments=Raw(b'{"path": "a", "share": 1.00, "big": 123456789012345678901234567890}'))
        question = await here.asked()
        big = 123456789012345678901234567890
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "b", "share": 1.0, "big": big})
        await call
        assert ran(here)[-1] == {"path": "b", "share": 1.0, "big": big}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"path": 5}, "path: 5 is not of type 'string'"),
        ({"n": 1}, "'path' is a required property"),
        ({"path": "x" * READ_BELOW_BYTES}, "too large"),
        ({"path": "x", "deep": None}, "nested too deeply"),
    ],
)
async def test_arguments_that_the_tool_does_not_take_are_refused_and_the_call_waits_on(
    tmp_path: Path, arguments: dict[str, Any], reason: str
) -> None:
    if "deep" in arguments:
        arguments["deep"] = deep = []
        for _ in range(100_000):
            deep.append(deep := [])
    async with desk(tmp_path, WRITE) as here:
        call = here.calling(arguments={"path": "a"})
        question = await here.asked()
        for asking in (
            here.parts.presenter.preview_approval(question.id, arguments),
            here.parts.presenter.answer_approval(question.id, "once", arguments),
        ):
            with pytest.raises(TooltrayError, match=reason):
                await asking
        assert (here.calls, call.done()) == (0, False)
        await here.parts.presenter.answer_approval(question.id, "refuse", arguments)  # a no needs no arguments
        assert "declined" in (await call)["error"]["message"]


@pytest.mark.parametrize(
    "arguments", ['{"path": "a\u200bb"}', '{"path": "a", "path": "b"}', '{"n": 1e400}', "[1]", '{"path": "%s"}' % ("x" * READ_BELOW_BYTES)]
)
async def test_what_cannot_be_shown_exactly_cannot_be_changed(tmp_path: Path, arguments: str) -> None:
    async with desk(tmp_path, WRITE) as here:
        call = here.calling(arguments=Raw(arguments.encode()))
        question = await here.asked()
        assert not question.is_editable
        with pytest.raises(Conflict, match="cannot be changed"):
            await here.parts.presenter.get_approval_form(question.id)
        with pytest.raises(Conflict, match="cannot be changed"):
            await here.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        call.cancel()


async def test_a_call_that_was_declined_already_or_waits_no_longer_cannot_be_changed(alone: Desk) -> None:
    await alone.refusal(arguments={"path": "a"})
    [question] = await alone.parts.presenter.get_approvals()
    assert (question.is_editable, question.is_declined) == (False, True)
    for asking in (
        alone.parts.presenter.get_approval_form(question.id),
        alone.parts.presenter.answer_approval(question.id, "once", {"path": "b"}),
        alone.parts.presenter.keep_approval_open(question.id),
    ):
        with pytest.raises(Conflict, match="declined already"):
            await asking
    with pytest.raises(NotFound):
        await alone.parts.presenter.get_approval_form("gone")


async def test_a_call_that_is_edited_waits_for_longer_and_says_so(here: Desk) -> None:
    call = here.calling(arguments={"path": "a"})
    question = await here.asked()
    latest = await here.parts.presenter.keep_approval_open(question.id)
    longer = await here.asked()
    assert question.ends_at < longer.ends_at < latest
    assert replace(longer, ends_at=question.ends_at) == question
    here.parts.wheel.expire(EDITED_FOR_S)
    assert "did not answer in time" in (await call)["error"]["message"]


async def test_only_the_user_reads_arguments_that_are_not_masked(here: Desk) -> None:
    call = here.calling(arguments={"path": "hunter2"})
    question = await here.asked()
    assert "hunter2" not in question.arguments
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await here.parts.presenter.get_approval_form(question.id)
    assert (await here.parts.presenter.get_approval_form(question.id)).arguments == {"path": "hunter2"}
    call.cancel()


async def test_a_rule_is_made_of_the_arguments_of_the_user(tmp_path: Path) -> None:
    async with desk(tmp_path, WRITE) as here:
        call = here.calling(arguments={"path": "/tmp/a"})
        question = await here.asked()
        shown = await here.parts.presenter.preview_approval(question.id, {"path": "/tmp/b"})
        assert (shown.id, shown.ends_at, shown.why) == (question.id, question.ends_at, question.why)
        assert "/tmp/b" in shown.rules[0].words
        await here.parts.presenter.answer_approval(question.id, shown.rules[0].answer, {"path": "/tmp/b"})
        assert "result" in await call
        assert "result" in await here.call(arguments={"path": "/tmp/b"})
        again = here.calling(arguments={"path": "/tmp/a"})
        await here.answer("refuse")
        assert "error" in await again


async def test_an_equal_call_of_the_session_does_not_share_an_answer_with_other_arguments(tmp_path: Path) -> None:
    async with desk(tmp_path, WRITE) as here:
        calls = [here.calling(arguments={"path": "a"}) for _ in range(2)]
        question = await here.asked()
        await settled()
        await here.parts.presenter.answer_approval(question.id, "hour", {"path": "b"})
        await here.answer("refuse")
        replies = [await call for call in calls]
        assert sum("result" in reply for reply in replies) == 1
        assert ran(here) == [{"path": "b"}]


async def test_for_some_seconds_a_repeat_runs_as_changed_whichever_arguments_the_client_sends(tmp_path: Path) -> None:
    writes = tool("write_it", inputSchema=SCHEMA, annotations={"destructiveHint": False, "idempotentHint": True})
    async with desk(tmp_path, writes, settings={"approvals": {"sameForSeconds": 60}}) as here:
        call = here.calling(arguments={"path": "a"})
        question = await here.asked()
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        await call
        assert (await here.call(arguments={"path": "b"}))["result"] == text("")
        again = await here.call(arguments={"path": "a"})
        assert '- path: "a" → "b"' in again["result"]["content"][0]["text"]
        assert ran(here) == [{"path": "b"}] * 3
        other = here.calling(arguments={"path": "c"})
        await here.answer("refuse")
        assert "error" in await other


async def test_a_server_that_asks_more_gets_the_arguments_of_the_user_from_a_client_that_repeats_its_own(tmp_path: Path) -> None:
    async with desk(tmp_path, WRITE, eras=("modern",)) as here:
        states = iter(("first", "second"))

        def ask(copy: Any, params: Any) -> Any:
            if state := next(states, ""):
                return {"resultType": "input_required", "inputRequests": {"1": {"method": "elicitation/create"}}, "requestState": state}
            return text("done") | {"resultType": "complete"}

        here.program.calls["write_it"] = ask
        call = here.calling(is_modern=True, arguments={"path": "a"})
        question = await here.asked()
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        reply = (await call)["result"]
        for _ in range(2):
            answer = {"requestState": reply["requestState"], "inputResponses": {"1": {"action": "accept"}}}
            reply = (await here.call(is_modern=True, arguments={"path": "a"}, **answer))["result"]
        assert '- path: "a" → "b"' in reply["content"][0]["text"]
        assert ran(here) == [{"path": "b"}] * 3
        assert here.questions == 1


async def test_a_tool_that_changed_meanwhile_is_asked_about_again_with_the_arguments_of_the_user(tmp_path: Path) -> None:
    async with desk(tmp_path, WRITE) as here:
        call = here.calling(arguments={"path": "a"})
        question = await here.asked()
        await here.redefine(tool("write_it", description="Sends it", inputSchema=SCHEMA))
        with pytest.raises(TooltrayError, match="no longer waits"):
            await here.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        again = await here.asked()
        assert json.loads(again.arguments) == {"path": "a"}
        here.program.tools = [tool("write_it", description="Sells it", inputSchema=SCHEMA)]
        may_start = here.program.hold("initialize")
        here.program.copy.die()
        await here.parts.presenter.answer_approval(again.id, "once", {"path": "b"})  # to a server that does not run
        may_start.set()
        last = await here.asked()
        assert json.loads(last.arguments) == {"path": "b"}
        assert "+description: Sells it" in last.definition_diff
        await here.parts.presenter.answer_approval(last.id, "once", {"path": "c"})
        assert '- path: "a" → "c"' in (await call)["result"]["content"][0]["text"]
        assert ran(here) == [{"path": "c"}]


async def test_a_yes_with_other_arguments_is_not_carried_over_to_another_project(tmp_path: Path) -> None:
    async with desk(tmp_path, WRITE) as here:
        here.client.state.projects["folder"] = SessionProject("/a", "a", "folder")
        call = here.calling(arguments={"path": "a"})
        question = await here.asked()
        here.client.state.projects["folder"] = SessionProject("/b", "b", "folder")
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        assert (await here.answer("refuse")).project == "/b"
        assert "error" in await call
        assert here.calls == 0


@pytest.mark.parametrize("is_modern", [False, True])
async def test_an_answer_with_other_arguments_from_elsewhere_counts_for_a_call_that_its_client_asks_about(
    alone: Desk, is_modern: bool
) -> None:
    async def wait(method: str) -> Any:
        await asyncio.get_running_loop().create_future()

    client = alone.session("Own", capabilities=FORM, answer=wait)
    alone.program.calls["write_it"] = lambda copy, params: text("done")
    first = alone.calling(client=client, is_modern=is_modern, arguments={"path": "a"})
    question = await alone.asked()
    if is_modern:
        state = (await first)["result"]["requestState"]
        await alone.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        await settled()
        reply = await alone.call(
            client=client, is_modern=True, arguments={"path": "a"}, requestState=state, inputResponses={"1": {"action": "cancel"}}
        )
    else:
        await alone.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        reply = await first
    assert '- path: "a" → "b"' in reply["result"]["content"][0]["text"]
    assert ran(alone) == [{"path": "b"}]


def _task(copy: Any, params: Any) -> Any:
    return {"task": {"taskId": "1", "status": "working"}}


@pytest.mark.parametrize(
    ("answered", "content", "message"),
    [
        (lambda copy, params: {"content": [], "structuredContent": {"a": 1}}, 1, ""),
        (_task, 0, ""),
        (lambda copy, params: raw(b'{"content": [], "_meta": 5}'), 1, ""),
        (lambda copy, params: error(-32602, "No such path"), 0, "No such path\n" + INTRODUCTION),
        (lambda copy, params: raw(b'{"content": "none"}'), 0, ""),
    ],
)
async def test_every_kind_of_reply_says_what_was_changed(tmp_path: Path, answered: Any, content: int, message: str) -> None:
    async with desk(tmp_path, WRITE) as here:
        here.program.calls["write_it"] = answered
        call = here.calling(arguments={"path": "a"})
        question = await here.asked()
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "b"})
        reply = await call
        if message:
            assert reply["error"]["message"].startswith(message)
        else:
            blocks = reply["result"].get("content")
            assert len(blocks if isinstance(blocks, list) else []) == content
            assert reply["result"]["_meta"][META_KEY] == {"path": "b"}


async def test_of_a_long_text_the_lines_that_differ_are_told(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(200)]
    async with desk(tmp_path, WRITE) as here:
        call = here.calling(arguments={"path": "\n".join(lines)})
        question = await here.asked()
        lines[100] = "another"
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "\n".join(lines)})
        note = (await call)["result"]["content"][0]["text"]
        assert note == f"{INTRODUCTION}\n- path:\n@@ -100,3 +100,3 @@\n line 99\n-line 100\n+another\n line 101"
        call = here.calling(arguments={"path": "a", "text": "b"})
        question = await here.asked()
        await here.parts.presenter.answer_approval(question.id, "once", {"path": "x" * 2 * LONGEST_NOTE, "text": "b"})
        note = (await call)["result"]["content"][0]["text"]
        assert note.endswith("all arguments are in _meta of this result)")
        assert len(note) < LONGEST_NOTE + 100


async def test_a_schema_that_is_none_and_a_call_without_arguments(tmp_path: Path) -> None:
    async with desk(tmp_path, tool("write_it", inputSchema=None)) as here:
        call = here.calling()
        question = await here.asked()
        form = await here.parts.presenter.get_approval_form(question.id)
        assert form.arguments == {}
        await here.parts.presenter.answer_approval(question.id, "once", {"text": "x"})
        assert '- text: "x" (added)' in (await call)["result"]["content"][0]["text"]
