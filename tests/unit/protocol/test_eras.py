"""Payloads between the eras: told apart, and changed in the first two levels only."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.json_texts import texts, values

from tooltray.protocol import eras
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.eras import SERVER_INFO, Era, own_result

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


# each row of the table, in both directions; what stands between the eras besides is in McpClient and in the calls across eras


def as_object(payload: Raw) -> Any:
    return json.loads(bytes(payload))


@EASY_OR_HARD
def test_the_level_of_a_modern_request_is_read(arguments: bytes) -> None:
    head = eras.read_head(params(arguments, _meta=ENVELOPE))
    assert head
    assert bytes(head.meta.log_level) == b'"info"'
    head = eras.read_head(params(arguments))
    assert head
    assert head.meta.log_level == NOTHING


@EASY_OR_HARD
def test_answers_and_state_of_a_call_do_not_reach_a_legacy_server(arguments: bytes) -> None:
    asked = params(arguments, requestState="x", _meta=ENVELOPE, inputResponses={"1": {"action": "accept"}})
    assert bytes(eras.without_envelope(asked)) == b'{"arguments":%b,"name":"echo"}' % arguments


MODERN_LIST = b'{"resultType":"complete","tools":[{"n":1e400}],"ttlMs":5,"cacheScope":"public","nextCursor":"2","_meta":{"a":1}}'


@pytest.mark.parametrize(
    ("method", "result", "expected"),
    [
        ("tools/list", MODERN_LIST, b'{"tools":[{"n":1e400}],"nextCursor":"2","_meta":{"a":1}}'),
        ("resources/read", b'{"contents":[],"ttlMs":0,"resultType":"complete"}', b'{"contents":[]}'),
        ("tools/call", b'{"content":[],"ttlMs":0,"cacheScope":"private"}', b'{"content":[],"ttlMs":0,"cacheScope":"private"}'),
        ("tools/call", b'{"resultType" : "complete","content":[],"n":1e400}', b'{"content":[],"n":1e400}'),
        ("tools/call", b'{"resultType":"task","task":{}}', b'{"resultType":"task","task":{}}'),
        ("tools/call", b'{"content":[{"resultType":"complete"}], "x" : 1}', b'{"content":[{"resultType":"complete"}], "x" : 1}'),
        ("tools/call", b'{"resultType":5}', b'{"resultType":5}'),
        ("tools/call", b"[1]", b"[1]"),
        ("tools/call", b"null", b"null"),
        ("tools/call", b'{"structuredContent":{"a":1e400}}', b'{"structuredContent":{"a":1e400}}'),
        ("tools/call", b'{"structuredContent":[1e400],"content":[]}', b'{"structuredContent":{"result":[1e400]},"content":[]}'),
        ("tools/call", b'{"resultType":"complete","structuredContent":null}', b'{"structuredContent":{"result":null}}'),
        ("prompts/get", b'{"structuredContent":5}', b'{"structuredContent":5}'),
        ("tools/call", b'{"half":"\\ud800","resultType":"complete"}', b'{"half":"\\ud800"}'),
    ],
)
def test_a_modern_result_loses_what_the_legacy_era_does_not_know(method: str, result: bytes, expected: bytes) -> None:
    assert bytes(eras.as_legacy_result(method, Raw(result))) == expected


def test_objects_are_wrapped_too_where_their_tool_may_answer_otherwise() -> None:
    result = Raw(b'{"structuredContent":{"result":1},"content":[]}')
    expected = b'{"structuredContent":{"result":{"result":1}},"content":[]}'
    assert bytes(eras.as_legacy_result("tools/call", result, is_wrapped=True)) == expected
    assert bytes(eras.as_legacy_result("tools/call", Raw(b'{"content":[]}'), is_wrapped=True)) == b'{"content":[]}'


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (b'{"structuredContent":[1] , "n":1e400}', b'{"structuredContent":{"result":[1]},"n":1e400}'),
        (b'{ "structuredContent":{} }', b'{ "structuredContent":{} }'),
        (b'{ "content":[] }', b'{ "content":[] }'),
        (b"[1]", b"[1]"),
    ],
)
def test_structured_content_of_a_legacy_server_becomes_an_object(result: bytes, expected: bytes) -> None:
    assert bytes(eras.with_content_of_legacy(Raw(result))) == expected


@settings(deadline=None)
@given(st.dictionaries(texts, values, max_size=4))
def test_a_result_is_the_same_after_the_way_there_and_back(result: dict[str, Any]) -> None:
    expected = {key: value for key, value in result.items() if key not in ("resultType", "ttlMs", "cacheScope")}
    there = eras.as_modern_result("tools/list", Raw(as_json(expected)))
    assert as_object(eras.as_legacy_result("tools/list", there)) == expected


NOT_FOUND = {"message": "Resource not found \u00e9", "data": {"uri": "x:/y", "n": 2**70}}


@pytest.mark.parametrize("method", ["resources/read", "resources/subscribe"])
def test_a_resource_that_is_not_found_has_the_code_of_each_era(method: str) -> None:
    modern = eras.as_modern_error(method, Raw(as_json({"code": -32002, **NOT_FOUND})))
    assert as_object(modern) == {"code": -32602, **NOT_FOUND}
    assert as_object(eras.as_legacy_error(method, modern)) == {"code": -32002, **NOT_FOUND}


@pytest.mark.parametrize("convert", [eras.as_modern_error, eras.as_legacy_error])
@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("tools/call", b'{"code":-32002,"message":"x","data":{"uri":"x:/"}}'),
        ("tools/call", b'{"code":-32602,"message":"x","data":{"uri":"x:/"}}'),
        ("tools/call", b'{"code":-32042,"message":"x","data":{"elicitations":[]}}'),
        ("resources/read", b'{"code":-32603,"message":"x","data":{"uri":"x:/"}}'),
        ("resources/read", b'{"code":-32602,"message":"x"}'),
        ("resources/read", b'{"code":-32602,"message":"x","data":[1]}'),
        ("resources/read", b'{"code":-32602,"message":"x","data":{"url":"x:/"}}'),
        ("resources/read", b'{"code":"-32002","message":"x"}'),
        ("resources/read", b'{"message":"x"}'),
        ("resources/read", b'"an error"'),
    ],
)
def test_every_other_error_passes_as_it_is(convert: Any, method: str, error: bytes) -> None:
    assert bytes(convert(method, Raw(error))) == error


UPDATED = {"uri": "x:/y", "_meta": {"io.modelcontextprotocol/subscriptionId": 7, "mine": 1}}


def test_an_address_that_a_person_is_sent_to_gets_an_id_for_legacy_clients() -> None:
    asked = Raw(b'{"mode":"url","message":"m","url":"https://example.org"}')
    first, second = (json.loads(bytes(eras.as_legacy_question("elicitation/create", asked))) for _ in range(2))
    assert first.pop("elicitationId") != second.pop("elicitationId")
    assert first == second == json.loads(bytes(asked))


@pytest.mark.parametrize(
    ("method", "question"),
    [
        ("elicitation/create", b'{"mode":"form"}'),
        ("elicitation/create", b'{"message":"m"}'),
        ("elicitation/create", b'{"mode":"url","elicitationId":"of the server"}'),
        ("elicitation/create", b"[]"),
        ("elicitation/create", b""),
        ("sampling/createMessage", b'{"mode":"url"}'),
    ],
)
def test_every_other_question_stays_as_it_is(method: str, question: bytes) -> None:
    assert bytes(eras.as_legacy_question(method, Raw(question))) == question


@pytest.mark.parametrize("half", [{}, {"half": "\ud800"}])
def test_the_hubs_own_subscription_is_taken_off_a_notification(half: dict[str, str]) -> None:
    updated = Raw(as_json({**UPDATED, **half}))
    assert bytes(eras.read_subscription_id(updated)) == b"7"
    assert as_object(eras.without_subscription_id(updated)) == {"uri": "x:/y", **half, "_meta": {"mine": 1}}


def test_meta_that_held_only_the_subscription_goes_with_it() -> None:
    alone = Raw(as_json({"_meta": {"io.modelcontextprotocol/subscriptionId": "a"}}))
    assert bytes(eras.without_subscription_id(alone)) == b"{}"


@pytest.mark.parametrize("text", [b"", b"{}", b'{"_meta":{"mine": 1e400}}', b'{"_meta":5}', b"[]"])
def test_a_notification_of_no_subscription_stays_as_it_is(text: bytes) -> None:
    assert eras.read_subscription_id(Raw(text)) == NOTHING
    assert bytes(eras.without_subscription_id(Raw(text))) == text


@pytest.mark.parametrize("other", ["Name", "NAME", "n\\u0041me"])
def test_a_name_that_stands_twice_for_a_parser_that_does_not_tell_letters_apart_is_suspected_and_taken_off(other: str) -> None:
    params = Raw(f'{{"name":"read","{other}":"write","arguments":{{}}}}'.encode())
    assert eras.may_repeat_name(params)
    assert bytes(eras.named_once(params, "name", name=dump("read"))) == b'{"name":"read","arguments":{}}'


def test_members_are_taken_off_for_the_names_that_count_alone() -> None:
    params = Raw(b'{"Other":1,"_meta":{"Name":2},"argument\xc5\xbf":3,"arguments":{"Arguments":4}}')
    assert json.loads(bytes(eras.named_once(params, "name", "arguments"))) == {
        "Other": 1,
        "_meta": {"Name": 2},
        "arguments": {"Arguments": 4},
    }


@pytest.mark.parametrize(
    ("params", "is_modern"),
    [
        (
            b'{"name":5,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}',
            True,
        ),
        (b'{"name":5}', False),
        (b'{"_meta":5}', None),
        (b"[5]", None),
    ],
)
def test_of_a_request_whose_members_are_not_known_the_envelope_alone_is_read(params: bytes, is_modern: bool | None) -> None:
    head = eras.read_meta_alone(Raw(params))
    assert (head.era is Era.MODERN if head else None) is is_modern


def test_a_modern_result_says_who_answers_and_a_legacy_one_is_as_it_was() -> None:
    made = Raw(b'{"tools":[1e400]}')
    assert own_result("tools/list", made, Era.LEGACY).result == made
    assert json.loads(bytes(own_result("tools/list", made, Era.MODERN).result)) == {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER_INFO},
        "tools": [float("inf")],
    }
