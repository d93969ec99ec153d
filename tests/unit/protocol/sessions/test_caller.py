"""caller.py"""

import json
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.nesting import TOO_DEEP

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.sessions.caller import OwnCaller, Question, can_be_asked, lacking
from tooltray.protocol.sessions.session_state import SessionState


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list"])
async def test_nobody_is_there_to_be_asked_or_told(method: str) -> None:
    caller = OwnCaller()
    assert json.loads(bytes(caller.capabilities)) == {}
    assert not caller.can_answer(method)
    reply = await caller.ask(method, Raw(b"{}"))
    assert json.loads(bytes(reply.error)) == {"code": -32601, "message": f"no client can answer {method} here"}
    caller.tell("notifications/progress", Raw(b"{}"))


def test_a_person_without_a_client_is_one_session_and_may_work_on_a_project() -> None:
    caller, shop = OwnCaller(), SessionProject("/projects/shop", "shop", "person")
    assert caller.session is caller
    assert (caller.state.is_persons, dict(caller.state.projects)) == (True, {})
    there = caller.in_project(shop)
    assert (there.identity, dict(there.state.projects)) == (caller.identity, {"person": shop})
    assert dict(caller.state.projects) == {}


URL = {"mode": "url", "url": "https://example.com/", "elicitationId": "1", "message": "sign in"}


@pytest.mark.parametrize(
    ("method", "declared", "can"),
    [
        ("elicitation/create", {"elicitation": {}}, True),
        ("sampling/createMessage", {"sampling": {}, "roots": {}}, True),
        ("roots/list", {"roots": {"listChanged": True}}, True),
        ("roots/list", {"sampling": {}}, False),
        ("roots/list", {"roots": None}, False),
        ("roots/list", {"roots": True}, False),
        ("roots/list", ["roots"], False),
        ("tools/list", {"tools": {}, "": {}}, True),
    ],
)
def test_a_client_can_be_asked_what_it_declared(method: str, declared: Any, can: bool) -> None:
    assert can_be_asked(method, dump(declared)) is (can and method != "tools/list")


@pytest.mark.parametrize("text", [b"", b'{"roots":{"half":"\\ud800"}}', b"[" * TOO_DEEP + b"]" * TOO_DEEP])
def test_capabilities_that_cannot_be_read_are_none(text: bytes) -> None:
    assert not can_be_asked("roots/list", Raw(text))


@pytest.mark.parametrize(
    ("method", "params", "declared", "missing"),
    [
        ("roots/list", None, {"roots": {}}, {}),
        ("roots/list", None, {}, {"roots": {}}),
        ("elicitation/create", {"message": "x"}, {"elicitation": {}}, {}),
        ("elicitation/create", {"message": "x"}, {"elicitation": {"form": {}}}, {}),
        ("elicitation/create", {"mode": "form"}, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("elicitation/create", URL, {"elicitation": {"form": {}, "url": {}}}, {}),
        ("elicitation/create", URL, {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("elicitation/create", {"mode": "later"}, {"elicitation": {}}, {"elicitation": {"later": {}}}),
        ("elicitation/create", {"mode": 5}, {"elicitation": {}}, {}),
        ("sampling/createMessage", {"messages": []}, {"sampling": {}}, {}),
        ("sampling/createMessage", {"tools": []}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("sampling/createMessage", {"toolChoice": {}}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("sampling/createMessage", {"tools": []}, {"sampling": {"tools": {}}}, {}),
    ],
)
def test_what_a_question_needs_besides_what_was_declared(method: str, params: Any, declared: Any, missing: Any) -> None:
    assert lacking(Question(method, dump(params) if params is not None else NOTHING), dump(declared)) == missing


def test_a_question_stands_in_a_result_as_the_server_wrote_it() -> None:
    assert (
        bytes(dump(Question("elicitation/create", Raw(b'{"n":1e400}')).to_json()))
        == b'{"method":"elicitation/create","params":{"n":1e400}}'
    )
    assert Question("roots/list").to_json() == {"method": "roots/list"}


def test_hints_are_for_the_user_and_no_model_reads_them() -> None:
    error = TooltrayError("'s' is stopped", "you stopped it", "Start it: tooltray servers start s")
    assert OwnCaller().state.words(error) == "'s' is stopped: you stopped it. Start it: tooltray servers start s"
    for state in (OwnCaller().for_model().state, SessionState("client")):
        assert state.words(error) == state.words(error.problem) == "'s' is stopped: you stopped it. Ask the user to look at it in Tooltray"
        assert state.words(TooltrayError("it is so", "why")) == "it is so: why"
