"""One message: what is understood, what is refused with which code, and what passes as the bytes it is."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.json_texts import texts, values

from tooltray.protocol import envelope
from tooltray.protocol.envelope import (
    INVALID_REQUEST,
    NOTHING,
    PARSE_ERROR,
    SEARCHED_FOR_ERROR_BYTES,
    Envelope,
    MalformedFrame,
    has_failed,
    load,
    readable,
)

DEEP = b"[" * 50_000
MEGABYTE = b'"' + b"x" * 2**20 + b'"'


def refusal(frame: bytes) -> tuple[int, bytes]:
    """Code and id of what is answered."""
    with pytest.raises(MalformedFrame) as caught:
        envelope.check_request(envelope.decode(frame))
    return caught.value.code, bytes(caught.value.id)


PAYLOADS = [
    b'{"n":1180591620717411303424}',
    b'{"n":1e400}',
    b'{"n":0.1000000000000000055,"later":[1.0]}',
    b'{"n":-0,"e":1E+2,"s":"\\/\\u0041\\u0000"}',
    b'{ "a" : 1 }',
    b'{"a":1,"a":2}',
    b'{"text":"\xe2\x80\xa8 and \xf0\x9f\x98\x80"}',
    b'{"text":"\\ud800","n":1e400}',
    b"[1]",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_parameters_leave_as_they_came(payload: bytes) -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id":7,"method":"m","params": %b }' % payload)
    assert b"".join(envelope.request_parts(b"8", message.method, message.params)) == (
        b'{"jsonrpc":"2.0","id":8,"method":"m","params":%b}\n' % payload
    )


@pytest.mark.parametrize("payload", [*PAYLOADS, b'"x"', b"null", b"1.0"])
@pytest.mark.parametrize("member", [b"result", b"error"])
def test_an_outcome_leaves_as_it_came(payload: bytes, member: bytes) -> None:
    if (member, payload) == (b"error", b"null"):
        return  # stands for no error
    message = envelope.decode(b'{"%b":%b,"jsonrpc":"2.0","id":7}' % (member, payload))
    assert b"".join(envelope.reply_parts(Raw(b"8"), message)) == b'{"jsonrpc":"2.0","id":8,"%b":%b}\n' % (member, payload)


@pytest.mark.parametrize(
    "id", [b"0", b"-1", b'"7"', b'"a\\"b"', b'"\\u00e9"', b'""', b'"\\ud800"', b"123456789012345678901234567890", b"-0"]
)
def test_an_id_is_echoed_as_it_came(id: bytes) -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id": %b ,"method":"m"}' % id)
    assert envelope.reply_parts(message.id, envelope.success({}))[0] == b'{"jsonrpc":"2.0","id":%b,"result":' % id


@pytest.mark.parametrize("id", [b"true", b"null", b"{}", b"[1]", b"1.5", b"1e2", b"1.0"])
@pytest.mark.parametrize("rest", [b'"method":"m"', b'"method":"\\ud800"', b'"method":5'])
def test_an_id_that_is_no_string_and_no_integer_is_an_invalid_request_answered_under_null(id: bytes, rest: bytes) -> None:
    assert refusal(b'{"jsonrpc":"2.0","id":%b,%b}' % (id, rest)) == (INVALID_REQUEST, b"")
    assert envelope.reply_parts(NOTHING, envelope.success(1))[0] == b'{"jsonrpc":"2.0","id":null,"result":'


@pytest.mark.parametrize(
    ("frame", "id"),
    [
        (b'{"jsonrpc":"2.0","id":1}', b"1"),
        (b'{"jsonrpc":"2.0","id":1,"method":""}', b"1"),
        (b'{"jsonrpc":"2.0","id":3,"method":5}', b"3"),
        (b'{"jsonrpc":"2.0","id":3,"method":null}', b"3"),
        (b'{"jsonrpc":2.0,"id":"a","method":"m"}', b'"a"'),
        (b'{"jsonrpc":"1.0","id":1,"method":"m"}', b"1"),
        (b'{"id":1,"method":"m"}', b"1"),
        (b'{"jsonrpc":"2.0","method":1,"params":"bar"}', b""),
        (b'{"jsonrpc":"1.0","method":"n"}', b""),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":5}', b"1"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":"\\ud800"}', b"1"),
        (b'{"jsonrpc":"2.0","id":1,"error":null}', b"1"),
        (b"{}", b""),
        (b"[]", b""),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m"}]', b""),
        (b'[{"jsonrpc":"2.0","id":1,"method":"\\ud800"}]', b""),
        (b"null", b""),
        (b'"text"', b""),
        (b"17", b""),
    ],
)
def test_json_that_is_no_request_is_an_invalid_request(frame: bytes, id: bytes) -> None:
    assert refusal(frame) == (INVALID_REQUEST, id)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"01", b"1.", b".5", b"+1", b"0x1"])
@pytest.mark.parametrize("beside", [b"", b',"s":"\\ud800"'])
def test_numbers_that_json_does_not_have_are_no_json(number: bytes, beside: bytes) -> None:
    assert refusal(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":%b%b}}' % (number, beside)) == (PARSE_ERROR, b"1")


@pytest.mark.parametrize(
    "frame",
    [
        b"npm warn deprecated",
        b"\xff\xfe{",
        b"{'jsonrpc':'2.0'}",
        b'{"jsonrpc":"2.0","method":"m","params":{"a":"\x01"}}',
        b'{"jsonrpc":"2.0","method":"m",}',
        b'{"jsonrpc":"2.0","method":"m"}}',
        b'{"jsonrpc":"2.0","method":"m"} {"jsonrpc":"2.0","method":"m"}',
    ],
)
def test_what_is_no_json_is_a_parse_error(frame: bytes) -> None:
    assert refusal(frame) == (PARSE_ERROR, b"")


@pytest.mark.parametrize(
    ("frame", "id"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":' + DEEP, b"5"),
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":' + DEEP + b"]" * 50_000 + b"}", b"5"),
        (b'{"result":' + DEEP + b',"jsonrpc":"2.0","id":"x-1"}', b'"x-1"'),
        (b'{"jsonrpc":"2.0","id":5,"result":{"a', b"5"),
        (b'{"id" : "a\\"b" , "jsonrpc":"2.0","method', b'"a\\"b"'),
        (b'loading...{"jsonrpc":"2.0","id":6,"result":{}}', b"6"),
        (b'"text":"x"}]},"jsonrpc":"2.0","id":7}', b"7"),
        (b'{"method":"m","id":9,"params":{"id":3', b""),
        (b'{"jsonrpc":"2.0","id":12', b""),  # the rest of the number may be missing
        (b'{"jsonrpc":"2.0","id":"12', b""),
        (b'{"jsonrpc":"2.0","id":1.5,"method', b""),
        (b'{"jsonrpc":"2.0","id":"\x01","method":"m"}', b""),
        (b'{"jsonrpc":"2.0","id":"\xff","method', b""),
        (b'{"jsonrpc":"2.0","id":"\\x","method":"m"}', b""),
    ],
)
def test_the_id_of_a_frame_that_cannot_be_read_is_found_where_it_is_certain(frame: bytes, id: bytes) -> None:
    assert refusal(frame) == (PARSE_ERROR, id)


@settings(deadline=None)
@given(st.integers() | texts, st.sampled_from(["first", "jsonrpc first", "last"]), st.binary(max_size=20))
def test_any_id_is_found_beside_garbage(id: Any, place: str, garbage: bytes) -> None:
    written = json.dumps(id).encode()
    front = {"first": b'{"id":%b,"x":', "jsonrpc first": b'{"jsonrpc":"2.0","id": %b ,', "last": b'{"x":\x00, "id":%b }'}[place] % written
    frame = front + (b"" if place == "last" else b"\x00" + garbage + b"{")
    assert bytes(envelope.find_id(frame)) == written


def test_the_id_of_a_huge_frame_is_looked_for_at_both_ends_only() -> None:
    filler = b"x" * 20_000
    assert bytes(envelope.find_id(b'{"id":1,"a":"' + filler + b'","id":2}')) == b"1"
    assert bytes(envelope.find_id(b'{"a":"' + filler + b'","id":2}')) == b"2"
    assert bytes(envelope.find_id(bytearray(b'{"a":"' + filler + b'","id":3,"result":"' + filler + b'"}'))) == b""


def test_half_a_surrogate_pair_passes_untouched() -> None:
    message = envelope.decode(b'{"id":1,"result":{"text":"\\ud800", "n":1e400}}')
    assert bytes(message.result) == b'{"text":"\\ud800", "n":1e400}'
    assert envelope.decode(b'{"jsonrpc":"2.0","method":"n/\\ud800"}').method == "n/\ud800"


def test_invalid_utf8_is_replaced() -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"result":{"text":"\xff\xed\xa0\x80"}}')
    assert envelope.load(message.result) == {"text": "\ufffd" * 4}
    bytes(message.result).decode("utf-8")


def test_a_huge_frame_is_taken_without_a_look_at_its_utf8() -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"result":{"a":%b,"b":"\xff"}}' % MEGABYTE)
    assert bytes(message.result).endswith(b'"b":"\xff"}')


def test_a_byte_order_mark_is_ignored() -> None:
    message = envelope.decode(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{"n":1.50}}')
    assert (bytes(message.id), bytes(message.result)) == (b"1", b'{"n":1.50}')


def test_of_members_that_stand_twice_the_last_one_counts_however_the_frame_is_read() -> None:
    twice = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":{"s":"%b"}}'
    for text in (b"x", b"\\ud800"):
        message = envelope.decode(twice % text)
        assert (bytes(message.id), message.method) == (b"2", "b")


def test_numbers_of_any_length_pass() -> None:
    digits = b"9" * 5000
    for beside in (b"x", b"\\ud800"):
        payload = b'{"n":%b,"s":"%b"}' % (digits, beside)
        assert bytes(envelope.decode(b'{"jsonrpc":"2.0","id":%b,"method":"m","params":%b}' % (digits, payload)).params) == payload


def test_a_reply_that_names_every_member_is_read_by_the_one_that_is_not_null() -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"error":null,"result":{"a":1}}')
    assert envelope.reply_parts(message.id, message)[1] == Raw(b'{"a":1}')
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"result":null}')
    assert envelope.reply_parts(message.id, message)[1] == Raw(b'{"code":1,"message":"m"}')


def test_parameters_that_are_null_are_none_where_small_faults_are_forgiven() -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"method":"roots/list","params":null}')
    envelope.forgive(message)
    assert b"".join(envelope.request_parts(b"2", message.method, message.params)) == b'{"jsonrpc":"2.0","id":2,"method":"roots/list"}\n'


@pytest.mark.parametrize("frame", [b'{"jsonrpc":"2.0","id":null,"error":{}}', b'{"id":1.5,"result":1}', b'{"result":{}}'])
def test_a_reply_that_fits_to_nothing_is_told_from_a_request(frame: bytes) -> None:
    with pytest.raises(MalformedFrame) as caught:
        envelope.decode(frame)
    assert caught.value.is_reply


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]), values))
def test_any_object_is_understood_or_refused_and_never_anything_else(frame: dict[str, Any]) -> None:
    text = json.dumps(frame).encode()
    try:
        message = envelope.decode(text)
    except MalformedFrame as refused:
        found = refused
    else:
        found = None
    if found:
        assert found.code == INVALID_REQUEST
        assert not found.id or json.loads(bytes(found.id)) == frame["id"]
        return
    assert message.method == frame.get("method", "")
    for member in ("id", "params", "result"):
        assert envelope.load(getattr(message, member)) == frame.get(member)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_understood_or_refused_and_never_anything_else(frame: bytes) -> None:
    try:
        envelope.decode(frame)
    except MalformedFrame:
        pass


@settings(deadline=None)
@given(values)
def test_our_own_values_become_json_that_means_the_same(value: Any) -> None:
    assert envelope.load(envelope.dump(value)) == value


def test_numbers_that_json_cannot_hold_become_null_in_our_own_values() -> None:
    value = {"a": [math.inf, (1, math.nan)], "big": 2**70, "s": "\ud800"}
    assert json.loads(bytes(envelope.dump(value))) == {"a": [None, [1, None]], "big": 2**70, "s": "\ud800"}
    assert bytes(envelope.dump({"a": math.inf})) == b'{"a":null}'


def test_a_payload_is_read_as_python_values_where_it_is_not_relayed() -> None:
    assert envelope.load(NOTHING) is None
    assert envelope.load(Raw(b'{"a":1180591620717411303424,"s":"\\ud800"}')) == {"a": 2**70, "s": "\ud800"}


@pytest.mark.parametrize("text", [b"{", b"NaN", b'{"a":NaN,"s":"\\ud800"}', DEEP + b"]" * 50_000, b""])
def test_a_payload_that_cannot_be_read_is_an_error_of_one_kind(text: bytes) -> None:
    if text:
        with pytest.raises(ValueError):
            envelope.load(Raw(text))


def test_our_own_errors_have_the_form_of_json_rpc() -> None:
    assert envelope.load(envelope.failure(-32601, "Method not found", "x").error) == {
        "code": -32601,
        "message": "Method not found",
        "data": "x",
    }
    assert envelope.load(envelope.failure(-32603, "Internal error").error) == {"code": -32603, "message": "Internal error"}


def test_a_notification_has_no_id_and_only_the_parameters_it_was_given() -> None:
    assert b"".join(envelope.request_parts(b"", "n", NOTHING)) == b'{"jsonrpc":"2.0","method":"n"}\n'
    assert b"".join(envelope.request_parts(b"", "n\ud800", Raw(b"{}"))) == b'{"jsonrpc":"2.0","method":"n\\ud800","params":{}}\n'


def test_every_reply_begins_with_its_id_for_the_bridge() -> None:
    for reply in (envelope.success({}), envelope.failure(1, "m"), Envelope(result=Raw(b"null"))):
        assert envelope.reply_parts(Raw(b'"a"'), reply)[0].startswith(b'{"jsonrpc":"2.0","id":"a",')


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Envelope(error=Raw(b'{"code":-1,"message":"m","data":1e400}')), None),
        (Envelope(error=Raw(b'{"code":-1.0,"message":"m"}')), None),
        (Envelope(error=Raw(b'{"code":1180591620717411303424,"message":"\\ud800"}')), None),
        (Envelope(result=Raw(b"{}"), error=Raw(b'""')), Envelope(result=Raw(b"{}"))),
        (Envelope(result=Raw(b"null")), Envelope(result=Raw(b"{}"))),
    ],
)
def test_a_reply_that_clients_can_read_stays_and_an_empty_member_is_left_out(reply: Envelope, expected: Envelope | None) -> None:
    assert readable(reply, "server 's'") == (expected or reply)


@pytest.mark.parametrize(
    "error",
    [b'"no"', b"{}", b'{"message":"m"}', b'{"code":-1}', b'{"code":"-1","message":"m"}', b'{"code":true,"message":"m"}', b"[" * 100_000],
)
def test_an_error_that_clients_cannot_read_is_quoted_in_one_that_they_can(error: bytes) -> None:
    reply = readable(Envelope(error=Raw(error)), "server 's'")
    said = load(reply.error)
    assert said["code"] == -32700
    assert said["message"].startswith("server 's' sent a reply that cannot be read: its error has no code or no message: ")
    assert len(said["message"]) < 300


@pytest.mark.parametrize("params", [b"null", b"[]", b"[ ]"])
def test_a_request_without_parameters_may_say_so_by_null_or_an_empty_array(params: bytes) -> None:
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":%b}' % params)
    envelope.check_request(message)
    assert message.params == NOTHING


@pytest.mark.parametrize("written", [b"7.0", b"7E0", b"0.7e1"])
def test_the_id_of_a_reply_that_is_an_integer_written_as_a_fraction_is_that_integer(written: bytes) -> None:
    assert bytes(envelope.decode(b'{"jsonrpc":"2.0","id":%b,"result":{}}' % written).id) == b"7"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Envelope(error=Raw(b'{"code":1,"message":"m"}')), True),
        (Envelope(result=Raw(b'{"content":[],"isError":true}')), True),
        (Envelope(result=Raw(b'{"content":[],"isError" : true }')), True),
        (Envelope(result=Raw(b'{"isError":false,"content":[]}')), False),
        (Envelope(result=Raw(b'{"isError":true,"content":["' + b"x" * 3 * SEARCHED_FOR_ERROR_BYTES + b'"]}')), True),
        (Envelope(result=Raw(b'{"content":["' + b"x" * 3 * SEARCHED_FOR_ERROR_BYTES + b'"],"isError":true}')), True),
        (Envelope(result=Raw(b'{"content":["' + b"x" * 3 * SEARCHED_FOR_ERROR_BYTES + b'"]}')), False),
    ],
)
def test_a_result_says_at_one_of_its_ends_whether_the_call_failed(reply: Envelope, expected: bool) -> None:
    assert has_failed(reply) is expected
