"""What a line says of itself."""

import pytest
from tests.fakes.fake_hub import reply, request

from tooltray_bridge import lines
from tooltray_bridge.lines import answered_id, identify, is_batch, is_refusal, replay_key, reply_id_at, requested_id


@pytest.mark.parametrize(
    ("line", "id", "method"),
    [
        (b'{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"id":3}}', b"12", b"tools/call"),
        (b'{"jsonrpc": "2.0", "id": "a-1", "method": "x"}', b'"a-1"', b"x"),
        (b'{\t"id" :\t7 , "method" : "x" }', b"7", b"x"),
        (b'{"method":"x","params":{"method":"initialize","id":3},"jsonrpc":"2.0","id":4}', b"4", b"x"),
        (b'{"method":"x","params":{},"id" : "four" }\r', b'"four"', b"x"),
        (b'{"method":"x","params":{"id":3}}', b"", b"x"),
        (b'{"method":"x","params":{"id":3},"x":"id","y":5}', b"", b"x"),
        (b'{"method":"x","params":[],"a\\"id":5}', b"", b"x"),
        (b'{"id":1}', b"1", b""),
        (b'{"id":null,"method":"x"}', b"null", b"x"),
        (b'{"id":1.5e3,"method":"x"}', b"1.5e3", b"x"),
        (b"garbage", b"", b""),
        (b'{"id', b"", b""),
        (b'{"id":"', b"", b""),
        (b'{"id":{"id":1},"method":"x"}', b'{"id":1}', b"x"),
        (b"", b"", b""),
        # ids with what looks like an end, or like a space that may go
        (b'{"jsonrpc":"2.0","id":"a b","method":"x"}', b'"a b"', b"x"),
        (b'{"jsonrpc":"2.0","id":"say \\"id\\":5","method":"x"}', b'"say \\"id\\":5"', b"x"),
        (b'{"method":"x","id":"back\\\\"}', b'"back\\\\"', b"x"),
        # in the middle, behind much else, or very long
        (b'{"params":{"id":3},"id":5,"method":"x","jsonrpc":"2.0"}', b"5", b"x"),
        (b'{"method":"x","params":{"a":[{"id":1},"id"]},"id":5,"jsonrpc":"2.0"}', b"5", b"x"),
        (b'{"jsonrpc":"2.0","id":5,"params":{},"method":"x"}', b"5", b"x"),
        (b'{"jsonrpc":"2.0","id":"%b","method":"x"}' % (b"i" * 500), b'"%b"' % (b"i" * 500), b"x"),
        (b'{"method":"x","params":{},"id":"%b"}' % (b"i" * 500), b'"%b"' % (b"i" * 500), b"x"),
        (b' {"jsonrpc":"2.0","id":5,"method":"x"}', b"5", b"x"),
        # replies of the client
        (b'{"jsonrpc":"2.0","id":5,"result":{"method":"x"}}', b"", b""),
        (b'{"result":{"id":1},"jsonrpc":"2.0","id":5}', b"", b""),
        (b'{"jsonrpc":"2.0","id":5,"_meta":{},"error":{"id":1}}', b"", b""),
        # batches
        (b'[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}]', b"", b""),
        (b" [ ]", b"", b""),
    ],
)
def test_the_id_and_the_method_are_the_messages_own_wherever_they_stand(line: bytes, id: bytes, method: bytes) -> None:
    assert identify(line, []) == (id, method)


@pytest.mark.parametrize("line", [b"[]", b' \t[{"id":1,"method":"x"}]\r\n'])
def test_an_array_is_a_batch(line: bytes) -> None:
    assert is_batch(line)
    assert not is_batch(request(1, "x", list=[]))


@pytest.mark.parametrize("id", [1, "a", 'a "b" \\', "i" * 500])
def test_a_reply_is_told_by_its_head_and_whether_it_refuses_by_what_follows(id: object) -> None:
    granted, refused = reply(id), reply(id).replace(b'"result"', b'"error"')
    found = reply_id_at(granted, 0)

    assert found
    assert reply_id_at(b"before\n" + refused, 7) == found
    assert (is_refusal(granted, found), is_refusal(refused, found)) == (False, True)


def test_of_a_reply_that_is_cut_before_its_id_ends_nothing_can_be_told() -> None:
    line = reply("some id")

    assert {reply_id_at(line[:size], 0) for size in range(1, len(b'{"jsonrpc":"2.0","id":"some id"'))} == {None}


def test_a_request_is_no_reply() -> None:
    assert reply_id_at(request(1, "roots/list"), 0) == b""


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":77,"result":{"id":1}}',
        b'{"result":{"id":1},"jsonrpc":"2.0","id":77}',
        b'{"error":{"code":1},"id":"77","jsonrpc":"2.0"}\r\n',
    ],
)
def test_a_reply_of_the_client_names_the_question_wherever_it_has_the_id(line: bytes) -> None:
    assert answered_id(line) == b"77"


def test_a_cancellation_names_the_request_that_it_is_about() -> None:
    assert requested_id(b'{"method":"notifications/cancelled","params":{"reason":"x","requestId" : "a b"}}') == b'"a b"'
    assert requested_id(b'{"method":"notifications/cancelled"}') == b""


def test_of_what_is_kept_for_the_next_hub_the_last_of_its_kind_counts_but_each_stream_and_each_resource() -> None:
    def key(id: int, method: str, **params: object) -> bytes:
        line = request(id, method, **params)
        return replay_key(*identify(line, []), line)

    assert key(1, "logging/setLevel", level="debug") == key(2, "logging/setLevel", level="error")
    assert key(1, "subscriptions/listen") != key(2, "subscriptions/listen")
    assert key(1, "resources/subscribe", uri="a://b") == key(2, "resources/unsubscribe", x={"uri": "no"}, uri="a://b")
    assert key(1, "resources/subscribe", uri="a://b") != key(2, "resources/subscribe", uri="a://c")
    assert key(1, "resources/subscribe", uri="") != key(1, "resources/subscribe")


def test_the_message_to_the_client_says_what_to_do() -> None:
    assert b"call again" in lines.HUB_LOST
