"""Payloads between the eras: told apart, and changed in the first two levels only."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.json_texts import texts, values

from tooltray.wire import eras
from tooltray.wire.envelope import NOTHING, dump
from tooltray.wire.eras import Era

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/logLevel": "info",
}
VERBATIM = b'{"n":1180591620717411303424,"e":1e400,"d":0.1000000000000000055,"s":"\\u00e9"}'
HARD = {"half a surrogate pair": b'{"half":"\\ud800"}', "as deep as a frame can be": b"[" * 950 + b"]" * 950}  # msgspec refuses these
EASY_OR_HARD = pytest.mark.parametrize("arguments", [VERBATIM, *HARD.values()], ids=["numbers", *HARD])


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def params(arguments: bytes = VERBATIM, **members: Any) -> Raw:
    return Raw(b'{"arguments":%b,%b' % (arguments, as_json({"name": "echo", **members})[1:]))


def deeper(levels: int, work: Any) -> Any:
    """Calls from within some frames, as a task of the hub does."""
    return work() if not levels else deeper(levels - 1, work)


@EASY_OR_HARD
def test_a_request_is_modern_when_its_envelope_names_a_version(arguments: bytes) -> None:
    modern = deeper(40, lambda: eras.read_head(params(arguments, _meta={**ENVELOPE, "progressToken": 7})))
    legacy = deeper(40, lambda: eras.read_head(params(arguments, _meta={"progressToken": "a"})))
    assert modern
    assert legacy
    assert (modern.era, modern.name, bytes(modern.meta.progress_token), eras.is_version_spoken(modern)) == (Era.MODERN, "echo", b"7", True)
    assert (legacy.era, legacy.name, bytes(legacy.meta.progress_token)) == (Era.LEGACY, "echo", b'"a"')
    assert json.loads(bytes(modern.meta.capabilities)) == {"elicitation": {}}


@EASY_OR_HARD
def test_the_answers_of_a_second_call_are_read(arguments: bytes) -> None:
    answers = {"1": {"action": "accept", "content": {"a": "\ud83d"}}}
    head = eras.read_head(params(arguments, requestState="abc", inputResponses=answers))
    assert head
    assert head.request_state == "abc"
    assert {key: json.loads(bytes(answer)) for key, answer in head.input_responses.items()} == answers


def test_a_request_without_parameters_is_a_legacy_one() -> None:
    head = eras.read_head(NOTHING)
    assert head
    assert (head.era, head.name, head.request_state, head.input_responses) == (Era.LEGACY, "", "", {})


@pytest.mark.parametrize("beside", [b'"other":"x"', b'"half":"\\ud800"'])
@pytest.mark.parametrize(
    "members",
    [b'"name":5', b'"name":null', b'"_meta":null', b'"_meta":[]', b'"requestState":{}', b'"inputResponses":[]', b'"inputResponses":"x"'],
)
def test_fields_of_another_type_are_told(members: bytes, beside: bytes) -> None:
    assert eras.read_head(Raw(b"{%b,%b}" % (members, beside))) is None
    assert eras.read_head(Raw(b"{%b,%b}" % (beside, members))) is None


@pytest.mark.parametrize("text", [b"[1]", b'["\\ud800"]', b'{"name":"\\ud800"}'])
def test_what_is_no_object_or_has_no_readable_name_is_told(text: bytes) -> None:
    assert eras.read_head(Raw(text)) is None


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ({"name": "claude-code", "title": "Claude Code", "version": "2.1.330"}, ("claude-code", "2.1.330")),
        ({"name": "t"}, ("t", "")),
        ({}, ("AI client", "")),
        ("t", ("AI client", "")),
        ({"name": 5}, ("AI client", "")),
        ({"name": "half a pair: \ud800"}, ("AI client", "")),
    ],
)
def test_a_modern_request_tells_who_sent_it_as_far_as_it_says_so(info: Any, name: tuple[str, str]) -> None:
    found = eras.read_client_info(params(_meta={**ENVELOPE, "io.modelcontextprotocol/clientInfo": info}))
    assert (found.name, found.version) == name


@EASY_OR_HARD
def test_who_sent_a_request_is_asked_for_in_vain_where_it_is_not_told(arguments: bytes) -> None:
    assert deeper(40, lambda: eras.read_client_info(params(arguments))).name == "AI client"
    assert eras.read_client_info(NOTHING).name == "AI client"


@pytest.mark.parametrize("version", [b'"2099-01-01"', b'"2025-11-25"', b"5", b"null"])
def test_a_modern_request_may_name_a_version_that_is_not_spoken(version: bytes) -> None:
    head = eras.read_head(Raw(b'{"_meta":{"io.modelcontextprotocol/protocolVersion":%b}}' % version))
    assert head
    assert (head.era, eras.is_version_spoken(head)) == (Era.MODERN, False)


@EASY_OR_HARD
def test_a_legacy_server_sees_nothing_of_the_envelope(arguments: bytes) -> None:
    stripped = bytes(eras.without_envelope(params(arguments, _meta={**ENVELOPE, "progressToken": 7, "mine": 1})))
    assert stripped == b'{"arguments":%b,"name":"echo","_meta":{"progressToken":7,"mine":1}}' % arguments


def test_meta_that_held_only_the_envelope_goes_with_it() -> None:
    assert bytes(eras.without_envelope(params(_meta=ENVELOPE))) == b'{"arguments":%b,"name":"echo"}' % VERBATIM


@EASY_OR_HARD
def test_members_of_meta_are_added_or_replaced_and_the_rest_stays_verbatim(arguments: bytes) -> None:
    added = {"progressToken": dump("shared-1"), "x": dump(1)}
    changed = bytes(eras.with_meta(params(arguments, _meta={"progressToken": 7, "mine": 1}), added))
    assert changed == b'{"arguments":%b,"name":"echo","_meta":{"progressToken":"shared-1","mine":1,"x":1}}' % arguments


def test_meta_is_made_where_there_is_none() -> None:
    assert bytes(eras.with_meta(NOTHING, {"a": dump(1)})) == b'{"_meta":{"a":1}}'
    assert bytes(eras.with_meta(Raw(b'{"b":2}'), {"a": dump(1)})) == b'{"b":2,"_meta":{"a":1}}'


@EASY_OR_HARD
def test_a_tool_is_renamed_without_a_look_at_its_arguments(arguments: bytes) -> None:
    assert bytes(eras.with_members(params(arguments), name=dump("other"))) == b'{"arguments":%b,"name":"other"}' % arguments


@settings(deadline=None)
@given(st.dictionaries(texts, values, max_size=4), values)
def test_whatever_the_members_are_all_but_the_changed_one_mean_the_same(members: dict[str, Any], value: Any) -> None:
    changed = json.loads(bytes(eras.with_members(Raw(as_json(members)), name=Raw(as_json(value)))))
    assert changed == {**members, "name": value}


@pytest.mark.parametrize("token", [b"1", b'"a"', b"null", b'{"odd":1}', b"1.5"])
@pytest.mark.parametrize("message", [b"x", b"\\ud800"])
def test_a_progress_token_is_read_as_it_stands(token: bytes, message: bytes) -> None:
    assert bytes(eras.read_progress_token(Raw(b'{"progressToken":%b,"progress":1,"message":"%b"}' % (token, message)))) == token


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'"x"', b'{"progress":1}'])
def test_progress_without_a_token_is_told(text: bytes) -> None:
    with pytest.raises(ValueError):
        eras.read_progress_token(Raw(text))


LISTED = b'"resultType":"complete","ttlMs":0,"cacheScope":"private"'


@pytest.mark.parametrize(
    ("method", "result", "expected"),
    [
        ("tools/call", b'{"content":[]}', b'{"resultType":"complete","content":[]}'),
        ("tools/list", b'{"tools":[]}', b"{%b,%b}" % (LISTED, b'"tools":[]')),
        ("tools/call", b"{}", b'{"resultType":"complete"}'),
        ("resources/read", b"{" + b" \n" * 40 + b"}", b"{" + LISTED + b" \n" * 40 + b"}"),
        ("tools/call", b'{ "a":1e400}', b'{"resultType":"complete", "a":1e400}'),
        ("tools/call", b"null", b"null"),
        ("tools/call", b"[1]", b"[1]"),
        ("tools/call", b'"}"', b'"}"'),
    ],
)
def test_a_legacy_result_gets_what_the_modern_era_requires(method: str, result: bytes, expected: bytes) -> None:
    assert bytes(eras.as_modern_result(method, Raw(result))) == expected


@settings(deadline=None)
@given(st.dictionaries(texts, values, max_size=4))
def test_a_modern_result_is_always_json_and_keeps_what_the_server_said(result: dict[str, Any]) -> None:
    modern = json.loads(bytes(eras.as_modern_result("tools/list", Raw(json.dumps(result, indent=1).encode()))))
    assert modern == {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}


@pytest.mark.parametrize(
    ("params", "is_uncertain"),
    [
        (b'{"name":"read","arguments":{"text":"x"}}', False),
        (b'{"name":"read","arguments":{},"name":"write"}', True),
        (b'{"n\\u0061me":"read","arguments":{},"name":"write"}', True),
        (b'{"name":"read","arguments":{"name":"x"}}', True),
        (b'{"name":"read","arguments":{"text":"%b"}}' % (b"x" * eras.NAME_LOOKED_FOR_BELOW_BYTES), True),
    ],
)
def test_a_name_that_may_stand_twice_is_suspected(params: bytes, is_uncertain: bool) -> None:
    assert eras.may_repeat_name(Raw(params)) is is_uncertain
