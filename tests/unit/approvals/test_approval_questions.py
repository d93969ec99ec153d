"""approvals/approval_questions.py"""

import json
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client

from tooltray.approvals.approval_questions import (
    LONGEST_ARGUMENTS,
    READ_BELOW_BYTES,
    SAME_NAME_TWICE,
    AskedCall,
    Circumstances,
    asked_call,
    snapshot,
)
from tooltray.catalogue import approval
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.protocol.envelope import Envelope
from tooltray.snapshots.approvals import ApprovalSnapshot

TOOL = read_definition(b'{"name":"edit_it\\u0007","description":"Edits\\nit","inputSchema":{}}')


def asked(arguments: bytes | None = None, client: str = "") -> AskedCall:
    decision = approval.decide("s", TOOL.name, None, ())
    params = Raw(b'{"name":"x"' + (b',"arguments":' + arguments if arguments is not None else b"") + b"}")
    session = Client()
    session.state.client = client
    exchange = exchange_of(Envelope(params=params), session, client="Client 1")
    return asked_call(Route("s", TOOL, decision), decision, exchange, lambda: None, gone)


async def gone() -> None:
    return None


def shown(arguments: bytes | None = None, **options: Any) -> ApprovalSnapshot:
    circumstances = Circumstances(**{"before": None, "is_new_read": True, "has_session": False} | options)
    return snapshot(asked(arguments), circumstances, id="1", ends_at=0.0, masked=lambda text: text.replace("hunter2", "***"))


def test_texts_are_harmless() -> None:
    question = shown(b'{"a":"\\u202eb"}', note="first")
    assert (question.tool, question.description, question.client) == ("edit_it\\u0007", "Edits\nit", "Client 1")
    assert question.arguments == '{\n  "a": "\\u202eb"\n}'
    assert question.why == "first; asked because this tool can change things"


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
