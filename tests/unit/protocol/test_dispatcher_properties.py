"""Requests alone and in batches, under any ids, cut anywhere: each is answered once, and nothing breaks the connection."""

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.fake_channel import FakeChannel, make_dispatcher
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import settled
from tests.fakes.json_texts import json_objects, spaces, texts, values

from tooltray.protocol import envelope
from tooltray.protocol.batches import MOST_REFUSED, refused_ids
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, success
from tooltray_bridge import scan

FEW = settings(max_examples=20)  # of hundreds of messages each
ids = st.integers() | st.integers(-(2**70), 2**70) | texts | st.text(alphabet='"\\[]{},:\u00e9', max_size=6)


class MessageEnd:
    """A channel of whole messages; keeps what the dispatcher sends."""

    def __init__(self) -> None:
        self.sent: list[Outgoing] = []

    def send(self, message: Outgoing) -> None:
        self.sent.append(message)

    def close(self) -> None: ...


def written(value: Any, is_ascii: bool) -> bytes:
    return json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "replace")


@st.composite
def requests(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """An id as it is written, and a request under it with its members in any order."""
    id = written(draw(ids), draw(st.booleans()))
    members = [b'"jsonrpc":"2.0"', b'"id":' + id, b'"method":"m"', b'"params":' + draw(json_objects()).strip()]
    between = draw(spaces).encode().replace(b"\n", b"")
    return id, b"{" + between + (b"," + between).join(draw(st.permutations(members))).replace(b"\n", b" ") + b"}"


def without_repeats(asked: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return list(dict(asked).items())


streams = st.lists(requests(), max_size=10).map(without_repeats)


async def echo(request: Envelope) -> Envelope:
    """Answers with the id and the params that it was asked with."""
    return Envelope(result=Raw(b"[%b,%b]" % (bytes(request.id), bytes(request.params))))


def answers_late(rng: random.Random) -> Any:
    async def answer(request: Envelope) -> Envelope:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return await echo(request)

    return answer


def in_lines(asked: Sequence[tuple[bytes, bytes]], rng: random.Random) -> list[bytes]:
    """Some of them alone on a line, others several in a batch."""
    rest, lines = [message for _, message in asked], []
    while rest:
        size = rng.randrange(4)
        taken, rest = rest[: size or 1], rest[size or 1 :]
        lines.append(b"[%b]" % b" , ".join(taken) if size else taken[0])
    return lines


async def feed_in_pieces(dispatcher: RawDispatcher, stream: bytes, rng: random.Random) -> None:
    cuts = sorted(rng.randrange(len(stream) + 1) for _ in range(rng.randrange(20)))
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        dispatcher.feed(stream[start:end])
        if rng.random() < 0.3:
            await asyncio.sleep(0)


def elements(line: bytes) -> list[bytes]:
    """The replies in a line of ours, each as it is written."""
    if not line.startswith(b"["):
        return [line]
    return scan.elements(line)


@FEW
@given(streams, st.integers(0, 2**32))
@example([(b'"\\ud800"', b'{"id":"\\ud800","jsonrpc":"2.0","method":"m","params":{}}')], 0)
@in_fake_time
async def test_every_request_alone_or_in_a_batch_is_answered_once_under_its_id_byte_for_byte(
    asked: list[tuple[bytes, bytes]], seed: int
) -> None:
    rng = random.Random(seed)
    dispatcher, channel = make_dispatcher(answer=answers_late(rng))
    dispatcher.takes_batches = True
    lines = in_lines(asked, rng)
    await feed_in_pieces(dispatcher, b"".join(line + b"\n" for line in lines), rng)
    await channel.lines.until(lambda: len(channel.lines.all) >= len(lines))
    await settled()

    replies = [each for line in channel.lines.all for each in elements(line)]
    assert len(channel.lines.all) == len(lines)
    assert sorted(reply.split(b'"result":[')[0] for reply in replies) == sorted(b'{"jsonrpc":"2.0","id":%b,' % id for id, _ in asked)
    assert all(b'"id":%b,"result":[%b,' % (id, id) in b"".join(replies) for id, _ in asked)
    await dispatcher.close("over")


@FEW
@given(json_objects(), st.booleans())
@in_fake_time
async def test_any_params_pass_verbatim_also_in_a_batch(params: bytes, is_in_batch: bool) -> None:
    params = params.strip().replace(b"\n", b" ")
    request = b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % params
    dispatcher, channel = make_dispatcher(answer=echo)
    dispatcher.takes_batches = True
    dispatcher.feed((b"[%b]" % request if is_in_batch else request) + b"\n")
    await channel.lines.until(lambda: bool(channel.lines.all))

    reply = b'{"jsonrpc":"2.0","id":1,"result":[1,%b]}' % params
    assert channel.lines.all == [b"[%b]" % reply if is_in_batch else reply]
    await dispatcher.close("over")


@FEW
@given(streams, st.integers(0, 2**32))
@in_fake_time
async def test_a_channel_of_messages_gets_the_same_as_one_of_bytes_and_each_reply_names_its_request(
    asked: list[tuple[bytes, bytes]], seed: int
) -> None:
    rng = random.Random(seed)
    dispatcher, channel = make_dispatcher(answer=answers_late(rng))
    dispatcher.takes_batches = True
    end = MessageEnd()
    dispatcher.attach_messages(end)
    lines = in_lines(asked, rng)
    for line in lines:
        dispatcher.receive(line)
    await channel.lines.until(lambda: len(channel.lines.all) >= len(lines))

    assert [message.joined() for message in end.sent] == channel.lines.all
    for message in end.sent:
        first, *_ = elements(message.joined())
        assert bytes(message.about) in [id for id, request in asked]
        assert bytes(message.id) == (b"" if message.joined().startswith(b"[") else bytes(message.about))
        assert message.method == ""
        assert first.startswith(b'{"jsonrpc":"2.0","id":')
    await dispatcher.close("over")


@FEW
@given(st.lists(values, max_size=12), st.integers(0, 2**32))
@in_fake_time
async def test_every_call_of_ours_gets_its_own_reply_however_a_server_writes_them(results: list[Any], seed: int) -> None:
    rng = random.Random(seed)
    dispatcher, _ = make_dispatcher(is_server=True)
    pending = [dispatcher.start_call("m") for _ in results]
    replies = [
        b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (written(result, True), b'"%b"' % id if rng.random() < 0.3 else id)
        for result, id in zip(results, [bytes(each.id) for each in pending], strict=True)
    ]
    rng.shuffle(replies)
    await feed_in_pieces(dispatcher, b"".join(line + b"\n" for line in in_lines([(b"", reply) for reply in replies], rng)), rng)

    for call, result in zip(pending, results, strict=True):
        assert bytes((await dispatcher.calls.outcome(call)).result) == written(result, True)
    await dispatcher.close("over")


# batches, rule by rule


def request(id: int, method: str = "m") -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"%b"}' % (id, method.encode())


@in_fake_time
async def test_the_replies_to_a_batch_leave_together_once_the_last_is_there() -> None:
    last = asyncio.Event()

    async def answer(request: Envelope) -> Envelope:
        if request.method == "last":
            await last.wait()
        return envelope.success({})

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.takes_batches = True
    dispatcher.feed(b"[%b,%b]\n%b\n" % (request(1), request(2, "last"), request(3)))
    await channel.reply(3)
    await settled()
    assert len(channel.lines.all) == 1
    last.set()
    await channel.lines.until(lambda: len(channel.lines.all) == 2)
    assert [reply["id"] for reply in json.loads(channel.lines.all[1])] == [1, 2]


@in_fake_time
async def test_a_batch_behind_a_handshake_in_flight_is_taken_and_waits_for_it() -> None:
    greeted: list[str] = []

    async def answer(request: Envelope) -> Envelope:
        greeted.append(request.method)
        dispatcher.takes_batches = True
        return envelope.success({})

    dispatcher, channel = make_dispatcher(answer=answer, holds_back=frozenset({"initialize"}))
    dispatcher.feed(b"%b\n[%b,%b]\n" % (request(1, "initialize"), request(2), request(3)))
    await channel.lines.until(lambda: len(channel.lines.all) == 2)
    assert [reply["id"] for reply in json.loads(channel.lines.all[1])] == [2, 3]
    assert greeted == ["initialize", "m", "m"]


@in_fake_time
async def test_a_cancelled_request_of_a_batch_holds_no_reply_up() -> None:
    async def answer(request: Envelope) -> Envelope:
        if request.method == "hang":
            await asyncio.get_running_loop().create_future()
        return envelope.success({})

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.takes_batches = True
    cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    dispatcher.feed(b"[%b,%b]\n%b\n" % (request(1, "hang"), request(2), cancel))
    await channel.lines.until(lambda: bool(channel.lines.all))
    assert [reply["id"] for reply in json.loads(channel.lines.all[0])] == [2]


@pytest.mark.parametrize(
    ("batch", "replies"),
    [
        (b"[]", [(None, -32600)]),
        (b"[1,", [(None, -32700)]),
        (b"[1,]", [(None, -32700)]),
        (
            b'[{"jsonrpc":"2.0","id":1,"method":"m","params":[NaN]},{"jsonrpc":"2.0","id":2,"method":"m","params":["\\ud800"]}]',
            [(1, -32600), (2, 0)],
        ),
        (b"[1]", [(None, -32600)]),
        (b'[{"jsonrpc":"2.0","id":1.5,"result":{}}]', []),
        (b'[{"jsonrpc":"2.0","id":1},[],{"jsonrpc":"2.0","id":2,"method":"m"}]', [(1, -32600), (None, -32600), (2, 0)]),
        (b'[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":9,"result":{}}]', []),
    ],
)
@in_fake_time
async def test_what_is_no_request_in_a_batch_is_answered_in_it(batch: bytes, replies: list[tuple[Any, int]]) -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.takes_batches = True
    dispatcher.feed(batch + b"\n" + request(77) + b"\n")
    await channel.lines.until(lambda: any(b'"id":77' in line for line in channel.lines.all))
    await settled()
    got = [json.loads(each) for line in channel.lines.all for each in elements(line)]
    assert [(reply["id"], reply.get("error", {}).get("code", 0)) for reply in got if reply["id"] != 77] == replies


@pytest.mark.parametrize(
    ("batch", "replies"),
    [
        (b' [{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":"b","method":"n"}]', [(1, -32600), ("b", -32600)]),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":1,"method":"m"}]', [(1, -32600)]),
        (b'[{"jsonrpc":"1.0","id":1,"method":"m"},7,[{"jsonrpc":"2.0","id":2,"method":"m"}],{"id":3}]', [(1, -32600), (3, -32600)]),
        (b'[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":9,"result":{}}]', [(None, -32600)]),
        (b"[]", [(None, -32600)]),
        (b"[1,", [(None, -32700)]),
        (b'[{"jsonrpc":"2.0","id":"hangs","method":"m"}]', [(None, -32600)]),  # its own answer is still to come
    ],
)
@in_fake_time
async def test_where_there_are_no_batches_each_request_of_one_is_refused_by_itself(batch: bytes, replies: list[tuple[Any, int]]) -> None:
    async def answer(asked: Envelope) -> Envelope:
        if bytes(asked.id) == b'"hangs"':
            await asyncio.sleep(60.0)
        return success({})

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.feed(b'{"jsonrpc":"2.0","id":"hangs","method":"m"}\n')
    await settled()
    dispatcher.feed(batch + b"\n")
    got = [json.loads(line) for line in channel.lines.all]
    assert [(reply["id"], reply["error"]["code"]) for reply in got] == replies
    await dispatcher.close("over")


def test_an_array_of_very_many_requests_is_refused_for_a_bounded_number() -> None:
    line = b"[%b]" % b",".join(b'{"jsonrpc":"2.0","id":%d,"method":"m"}' % number for number in range(MOST_REFUSED + 5))
    assert len(refused_ids(line)) == MOST_REFUSED


@in_fake_time
async def test_closing_answers_every_request_of_a_batch() -> None:
    async def hang(request: Envelope) -> Envelope:
        return await asyncio.get_running_loop().create_future()

    dispatcher, channel = make_dispatcher(answer=hang)
    dispatcher.takes_batches = True
    dispatcher.feed(b"[%b,%b]\n" % (request(1), request(2)))
    await settled()
    await dispatcher.close("the hub stops")
    (answers,) = channel.lines.all
    assert [(reply["id"], reply["error"]["message"]) for reply in json.loads(answers)] == [(1, "the hub stops"), (2, "the hub stops")]


# hostile bytes


HOSTILE = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b",",
    b":",
    b"\\",
    b"\n",
    b"\xff",
    b"\\ud800",
    b"null",
    b"1e999",
    b'"id":1',
    b'"method":"m"',
    b"[[[[",
    b" ",
]


@FEW
@given(st.lists(st.sampled_from(HOSTILE) | json_objects() | requests().map(lambda asked: asked[1]), max_size=30), st.integers(0, 2**32))
@in_fake_time
async def test_no_bytes_break_a_connection_that_takes_batches(parts: list[bytes], seed: int) -> None:
    rng = random.Random(seed)
    dispatcher, channel = make_dispatcher(max_line_bytes=2000)
    dispatcher.takes_batches = True
    await feed_in_pieces(dispatcher, b"".join(parts) + b"\n" + request(12345678, "last") + b"\n", rng)
    await last_reply(channel)
    await dispatcher.close("over")


async def last_reply(channel: FakeChannel) -> None:
    await channel.lines.until(lambda: any(line.startswith(b'{"jsonrpc":"2.0","id":12345678,') for line in channel.lines.all))
    assert all(reply.startswith(b'{"jsonrpc":"2.0","id":') for line in channel.lines.all for reply in elements(line))


# a channel of messages, rule by rule


@in_fake_time
async def test_the_transport_can_answer_in_the_peers_place_and_only_what_is_open() -> None:
    dispatcher, _ = make_dispatcher(is_server=True)
    end = MessageEnd()
    dispatcher.attach_messages(end)
    pending = dispatcher.start_call("m", Raw(b'{"a":1}'), about=Raw(b"7"))
    (asked,) = end.sent
    assert (asked.id, asked.method) == (pending.id, "m")
    assert (bytes(asked.payload), bytes(asked.about)) == (b'{"a":1}', b"7")
    assert dispatcher.calls.waits_for(pending.id)
    dispatcher.calls.settle(Raw(b"1"), envelope.failure(1, "of nobody"))
    dispatcher.calls.settle(pending.id, envelope.failure(404, "gone"))
    assert not dispatcher.calls.waits_for(pending.id)
    assert not dispatcher.calls.waits_for(Raw(b"1"))
    assert b"gone" in bytes((await dispatcher.calls.outcome(pending)).error)


@in_fake_time
async def test_a_request_of_a_batch_that_is_cancelled_gets_no_answer() -> None:
    cancelled = asyncio.Event()

    async def hang(request: Envelope) -> Envelope:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()

    dispatcher, channel = make_dispatcher(answer=hang)
    dispatcher.takes_batches = True
    dispatcher.receive(b"[%b]" % request(1))
    await settled()
    dispatcher.receive(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    await cancelled.wait()
    await settled()
    assert channel.lines.all == []


@in_fake_time
async def test_nothing_is_taken_in_behind_the_end() -> None:
    dispatcher, channel = make_dispatcher()
    await dispatcher.close("over")
    dispatcher.receive(request(1))
    await settled()
    assert channel.lines.all == []
