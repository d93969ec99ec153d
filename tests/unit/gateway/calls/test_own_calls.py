"""own_calls.py, elicitations.py and api.py: calls through the verb `run_tool_call`, and questions of servers to the user."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.nesting import TOO_DEEP
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, tool

from tooltray.consent.questions import Inbox
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, EventBus, ToolCallResult
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.gateway.calls.elicitations import MOST_OF_ONE_SERVER, MOST_WAITING, Elicitations
from tooltray.gateway.calls.own_calls import result_of
from tooltray.protocol import envelope
from tooltray.protocol.deadlines import TICK_S, DeadlineWheel
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, Envelope, dump
from tooltray.records.journal.journal_event import JournalEvent


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("get_it"), tool("drop_it"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with a server `s` that runs, of which only reading tools are approved."""
    servers = {"s": entry("program", autoApprove=["read"])}
    async with hub_parts(tmp_path, servers=servers, default=("s",), programs={"program": program}) as parts:
        await parts.presenter.start_server("s")
        await parts.tools.published()
        yield parts


async def run(parts: HubParts, name: str = "get_it", **arguments: Any) -> MCPToolResponse:
    return await parts.presenter.run_tool_call(MCPToolCall("call_1", name, arguments))


def said(response: MCPToolResponse) -> str:
    assert response.result
    assert response.result["isError"] is True
    (block,) = response.result["content"]
    return str(block["text"])


async def test_a_call_gives_the_result_with_all_that_is_known_of_it(parts: HubParts) -> None:
    response = await run(parts, text="hello")
    assert (response.tool, response.server, response.client, response.outcome) == ("get_it", "s", "tooltray", "ok")
    assert (response.tool_call_id, response.result) == ("call_1", {"content": [{"type": "text", "text": "hello"}]})
    assert response.duration_s > 0
    assert response.argument_bytes > 0
    assert response.result_bytes > 0


async def test_the_event_of_a_call_has_its_id_and_not_its_result(parts: HubParts) -> None:
    response = await run(parts, text="hello")
    event = parts.heard.of(ToolCallResult)[-1].response
    assert (event.tool_call_id, event.result) == (response.tool_call_id, None) == ("call_1", None)
    assert (event.tool, event.outcome, event.duration_s) == ("get_it", "ok", response.duration_s)


async def test_calls_of_ai_clients_get_ids_of_which_there_are_no_two(parts: HubParts) -> None:
    for _ in range(2):
        await parts.call("get_it")
    one, other = (event.response.tool_call_id for event in parts.heard.of(ToolCallResult)[-2:])
    assert one
    assert one != other


async def test_a_tool_that_says_it_failed_is_an_error_with_its_own_words(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: {"content": [{"type": "text", "text": "no"}], "isError": True}
    response = await run(parts)
    assert (response.outcome, said(response)) == ("error", "no")


async def test_an_unknown_tool_is_a_response_that_says_so(parts: HubParts) -> None:
    response = await run(parts, "gone", a=1)
    assert (response.tool, response.server, response.outcome, response.tool_call_id) == ("gone", "", "error", "call_1")
    assert said(response) == "Unknown tool: gone"
    assert response.argument_bytes == len('{"a":1}')
    assert response.result_bytes > 0
    assert response.duration_s > 0


async def test_a_tool_that_is_not_approved_is_refused_in_words(parts: HubParts) -> None:
    response = await run(parts, "drop_it")
    assert (response.server, response.outcome) == ("s", "refused")
    assert "drop_it" in said(response)


async def test_an_error_of_the_protocol_becomes_words(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: error(-32602, "wrong arguments")
    response = await run(parts)
    assert (response.outcome, said(response)) == ("error", "wrong arguments")


async def test_a_server_that_dies_in_the_middle_becomes_words(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = never
    running = asyncio.ensure_future(run(parts))
    await program.call("get_it")
    program.running[0].die()
    response = await running
    assert response.outcome == "error"
    assert "out of cheese" in said(response)


def test_a_result_that_cannot_be_read_becomes_words() -> None:
    found = result_of(raw(b'{"content":[],"x":' + b"[" * TOO_DEEP + b"]" * TOO_DEEP + b"}"))
    assert found == {"content": [{"type": "text", "text": "The tool's result is nested too deeply to be read."}], "isError": True}


async def test_a_call_that_is_given_up_is_given_up_by_the_server_too(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = never
    running = asyncio.ensure_future(run(parts))
    await program.call("get_it")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await program.cancelled.wait()
    assert parts.heard.of(ToolCallResult)[-1].response.outcome == "cancelled"


FORM = {
    "message": "Who?\nYou?\x07",
    "requestedSchema": {"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]},
}
PAGE = {"mode": "url", "message": "Sign in", "url": "https://example.org/", "elicitationId": "1"}


class Person:
    """Sees questions as the desktop does."""

    def __init__(self, *, has_window: bool = True, listens: bool = True) -> None:
        self.bus = EventBus()
        self.elicitations = Elicitations(inbox=Inbox(bus=self.bus, deadlines=DeadlineWheel()), bus=self.bus, has_window=has_window)
        self.seen: asyncio.Queue[ElicitationSnapshot] = asyncio.Queue()
        self.ended: list[str] = []
        if listens:
            self.bus.subscribe(ElicitationAsked, lambda event: self.seen.put_nowait(event.question))
            self.bus.subscribe(ElicitationEnded, lambda event: self.ended.append(event.id))

    def asked(self, params: Any = FORM, server: str = "files") -> "asyncio.Task[Envelope]":
        return asyncio.get_running_loop().create_task(self.elicitations.ask(server, params if isinstance(params, Raw) else dump(params)))

    async def ask(self, params: Any = FORM, server: str = "files") -> Envelope:
        return await self.elicitations.ask(server, params if isinstance(params, Raw) else dump(params))


def result(reply: Envelope) -> Any:
    return envelope.load(reply.result)


def code(reply: Envelope) -> int:
    return int(envelope.load(reply.error)["code"])


async def test_a_form_is_shown_and_its_answer_is_the_reply() -> None:
    person = Person()
    call = person.asked()
    question = await person.seen.get()
    assert (question.server, question.mode, question.message) == ("files", "form", "Who?\nYou?")
    assert [field.name for field in question.fields] == ["name", "age"]
    person.elicitations.answer(question.id, "accept", {"name": "A", "age": 2})
    assert result(await call) == {"action": "accept", "content": {"name": "A", "age": 2}}
    assert person.ended == [question.id]


async def test_a_page_is_shown_and_accepting_it_has_no_content() -> None:
    person = Person()
    call = person.asked(PAGE)
    question = await person.seen.get()
    assert (question.mode, question.url, question.fields) == ("url", "https://example.org/", ())
    person.elicitations.answer(question.id, "accept", {"anything": 1})
    assert result(await call) == {"action": "accept"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_declining_sends_nothing_that_was_typed(action: str) -> None:
    person = Person()
    call = person.asked()
    person.elicitations.answer((await person.seen.get()).id, action, {"name": "A"})
    assert result(await call) == {"action": action}


@pytest.mark.parametrize("content", [None, {}, {"age": 1}, {"name": "A", "more": 1}])
async def test_an_answer_that_does_not_fit_is_refused_and_the_question_waits_on(content: Any) -> None:
    person = Person()
    call = person.asked()
    question = await person.seen.get()
    with pytest.raises(TooltrayError, match="does not fit"):
        person.elicitations.answer(question.id, "accept", content)
    with pytest.raises(TooltrayError, match="'maybe' is not an answer"):
        person.elicitations.answer(question.id, "maybe")
    person.elicitations.answer(question.id, "accept", {"name": "A"})
    assert result(await call)["content"] == {"name": "A"}


async def test_a_question_is_answered_once() -> None:
    person = Person()
    call = person.asked()
    question = await person.seen.get()
    person.elicitations.answer(question.id, "decline")
    with pytest.raises(TooltrayError, match="has ended"):
        person.elicitations.answer(question.id, "accept", {"name": "A"})
    assert result(await call) == {"action": "decline"}
    with pytest.raises(TooltrayError, match="has ended"):
        person.elicitations.answer(question.id, "cancel")


@in_fake_time
async def test_a_question_that_nobody_answers_ends_after_ten_minutes() -> None:
    person = Person()
    before = asyncio.get_running_loop().time()
    assert result(await person.ask()) == {"action": "cancel"}
    assert asyncio.get_running_loop().time() - before == pytest.approx(600.0, abs=TICK_S)
    assert person.ended == [person.seen.get_nowait().id]


async def test_a_question_that_the_server_withdraws_is_taken_away() -> None:
    person = Person()
    call = person.asked()
    question = await person.seen.get()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert person.ended == [question.id]
    with pytest.raises(TooltrayError, match="has ended"):
        person.elicitations.answer(question.id, "decline")


@pytest.mark.parametrize(("has_window", "listens"), [(False, True), (True, False)])
async def test_where_nobody_sees_it_the_server_is_told_at_once(has_window: bool, listens: bool) -> None:
    person = Person(has_window=has_window, listens=listens)
    reply = await person.ask()
    assert code(reply) == INTERNAL_ERROR
    assert b"the user cannot be asked" in bytes(reply.error)
    assert person.seen.empty()


@pytest.mark.parametrize(
    "params", [Raw(b"[]"), Raw(b""), Raw(b'"\\ud800'), {}, {"mode": "voice"}, {"mode": "url", "url": "file:///"}, {"requestedSchema": 5}]
)
async def test_what_cannot_be_shown_is_refused_with_the_reason(params: Any) -> None:
    person = Person()
    reply = await person.ask(params)
    assert code(reply) == INVALID_PARAMS
    assert b"this question cannot be shown: " in bytes(reply.error)
    assert person.seen.empty()


async def test_several_questions_wait_in_line_and_no_server_fills_it() -> None:
    person = Person()
    calls = [person.asked(server="loud") for _ in range(MOST_OF_ONE_SERVER)]
    questions = [await person.seen.get() for _ in calls]
    assert code(await person.ask(server="loud")) == INTERNAL_ERROR
    more = [person.asked(server=f"quiet {number}") for number in range(MOST_WAITING - len(calls))]
    questions += [await person.seen.get() for _ in more]
    assert code(await person.ask(server="one too many")) == INTERNAL_ERROR
    for question in questions:
        person.elicitations.answer(question.id, "decline")
    assert [result(await call)["action"] for call in calls + more] == ["decline"] * MOST_WAITING


async def test_an_answer_stands_in_no_event_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    person = Person()
    told: list[str] = []
    person.bus.subscribe_all(lambda event: told.append(repr(event)))
    call = person.asked()
    question = await person.seen.get()
    person.elicitations.answer(question.id, "accept", {"name": "my answer"})
    await call
    with pytest.raises(TooltrayError) as caught:
        person.elicitations.answer(question.id, "accept", {"name": "my answer"})
    assert "my answer" not in "".join(told) + caplog.text + str(caught.value) + repr(person.elicitations.__dict__)


async def test_the_journal_hears_that_a_person_was_asked_and_never_what() -> None:
    person = Person()
    found: list[JournalEvent] = []
    person.bus.subscribe(JournalEvent, found.append)
    call = person.asked()
    person.elicitations.answer((await person.seen.get()).id, "accept", {"name": "confidential"})
    await call
    withdrawn = person.asked()
    await person.seen.get()
    withdrawn.cancel()
    await asyncio.wait({withdrawn})
    assert [(event.kind, event.outcome, event.client, event.server) for event in found] == [
        ("question", "accept", "tooltray", "files"),
        ("question", "cancelled", "tooltray", "files"),
    ]
    assert "confidential" not in repr(found)
