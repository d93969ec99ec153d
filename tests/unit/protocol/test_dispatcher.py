"""One connection: who gets which answer, who gets none, and what happens when one side stops."""

import asyncio
import json
import logging
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.fake_channel import FakeChannel, line, make_dispatcher
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Record

from tooltray.protocol.channels import LOOKED_AT_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import JOIN_BELOW_BYTES, LOGGED_NOISE_LINES, RawDispatcher
from tooltray.protocol.envelope import (
    CONNECTION_CLOSED,
    NO_REPLY,
    NOT_DELIVERED,
    NOTHING,
    Envelope,
    NotDelivered,
    TooLarge,
    dump,
    load,
    success,
)
from tooltray.protocol.in_flight import FIRST_IN_FLIGHT, MAX_BACKLOG_BYTES, MAX_IN_FLIGHT
from tooltray.protocol.unsent import PEER_BYTES

CANCELLED = "notifications/cancelled"


class Answers:
    """Answers requests when the test says so, and notes which have begun, ended and been cancelled."""

    def __init__(self) -> None:
        self.begun: Record[Any] = Record()
        self.cancelled: Record[Any] = Record()
        self._go: dict[Any, asyncio.Event] = {}

    def let_go(self, id: Any) -> None:
        self._go.setdefault(id, asyncio.Event()).set()

    async def answer(self, request: Envelope) -> Envelope:
        id = json.loads(bytes(request.id))
        go = self._go.setdefault(id, asyncio.Event())
        self.begun.add(id)
        try:
            await go.wait()
        except asyncio.CancelledError:
            self.cancelled.add(id)
            raise
        finally:
            del self._go[id]
        return success({"of": id})


def errors(channel: FakeChannel) -> list[tuple[Any, int]]:
    return [(message["id"], message["error"]["code"]) for message in channel.messages if "error" in message]


async def settled() -> None:
    """Lets everything run that can run now."""
    for _ in range(10):
        await asyncio.sleep(0)


# requests of the peer


@pytest.mark.parametrize("id", [b"1", b'"a"', b'"\\u00e9 \\ud800"', b"-7", b"123456789012345678901234567890", b'""'])
@in_fake_time
async def test_a_request_is_answered_under_its_id_byte_for_byte(id: bytes) -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.feed(b'{"jsonrpc":"2.0","id":%b,"method":"m"}\n' % id)
    await channel.message()
    assert channel.lines.all == [b'{"jsonrpc":"2.0","id":%b,"result":{}}' % id]


@in_fake_time
async def test_a_payload_passes_verbatim() -> None:
    payload = b'{"n":1180591620717411303424,"e":1e400,"d":0.1000000000000000055,"s":"\\ud800","new":[null]}'

    async def echo(request: Envelope) -> Envelope:
        return Envelope(result=request.params)

    dispatcher, channel = make_dispatcher(answer=echo)
    dispatcher.feed(b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + payload + b"}\n")
    await channel.message()
    assert channel.lines.all == [b'{"jsonrpc":"2.0","id":1,"result":' + payload + b"}"]


@pytest.mark.parametrize(
    ("frame", "code", "id"),
    [
        (b"npm warn deprecated", -32700, None),
        (b'{"jsonrpc"', -32700, None),
        (b'{"jsonrpc":"2.0","id":4,"method":"m","params":{"n":NaN}}', -32700, 4),
        (b'{"jsonrpc":"2.0","id":4,"method":"m","params":' + b"[" * 50_000 + b"]" * 50_000 + b"}", -32700, 4),
        (b'{"jsonrpc":"2.0","id":3,"method":5}', -32600, 3),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"m"}', -32600, None),
        (b'{"id":3,"method":"m"}', -32600, 3),
        (b'{"jsonrpc":"1.0","id":3,"method":"m"}', -32600, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"m","params":"x"}', -32600, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"m","params":5}', -32600, 3),
        (b'[{"jsonrpc":"2.0","id":3,"method":"m"}]', -32600, 3),
        (b"[]", -32600, None),
        (b"1", -32600, None),
    ],
)
@in_fake_time
async def test_what_is_no_request_is_answered_with_the_code_of_json_rpc(frame: bytes, code: int, id: Any) -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.feed(frame + b"\n" + line(id="next", method="m"))
    await channel.reply("next")
    assert errors(channel) == [(id, code)]
    assert len(channel.messages) == 2


@in_fake_time
async def test_a_notification_is_heard_and_never_answered() -> None:
    heard: list[str] = []
    dispatcher, channel = make_dispatcher(take_notification=lambda message: heard.append(message.method))
    dispatcher.feed(line(method="n/one") + line(method="n/two", params=[]) + line(id=1, method="m"))
    await channel.reply(1)
    assert heard == ["n/one", "n/two"]
    assert len(channel.messages) == 1


@in_fake_time
async def test_replies_that_fit_to_nothing_are_not_answered() -> None:
    dispatcher, channel = make_dispatcher()
    for reply in (
        {"id": 5, "result": {}},
        {"id": None, "error": {"code": -32700, "message": "m"}},
        {"id": 1.5, "result": 1},
        {"result": 1},
    ):
        dispatcher.feed(line(**reply))
    dispatcher.feed(line(id=1, method="m"))
    await channel.reply(1)
    assert len(channel.messages) == 1


@in_fake_time
async def test_the_second_of_two_requests_with_one_id_is_refused_and_the_first_is_answered() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m") + line(id=1, method="m") + line(id="1", method="m"))
    await answers.begun.wait(count=2)
    for id in (1, "1"):
        answers.let_go(id)
    await channel.message(3)
    assert errors(channel) == [(1, -32600)]
    assert channel.replies == {1: channel.messages[1], "1": channel.messages[2]}


@in_fake_time
async def test_an_id_is_free_again_once_it_is_answered() -> None:
    dispatcher, channel = make_dispatcher()
    for count in (1, 2, 3):
        dispatcher.feed(line(id=1, method="m"))
        assert (await channel.message(count))["result"] == {}
        await dispatcher.idle()


@in_fake_time
async def test_what_follows_the_handshake_waits_for_it() -> None:
    answers, heard = Answers(), []
    dispatcher, channel = make_dispatcher(
        answer=answers.answer, holds_back=frozenset({"initialize"}), take_notification=lambda message: heard.append(message.method)
    )
    dispatcher.feed(line(id=1, method="initialize") + line(method="notifications/initialized") + line(id=2, method="m"))
    await answers.begun.wait()
    await settled()
    assert (answers.begun.all, heard, dispatcher.requests_in_flight) == ([1], [], 3)
    answers.let_go(1)
    await answers.begun.wait(lambda id: id == 2)
    assert heard == ["notifications/initialized"]
    answers.let_go(2)
    await channel.message(2)
    await dispatcher.idle()
    assert dispatcher.requests_in_flight == 0


@pytest.mark.expected_warnings("answering m failed")
@in_fake_time
async def test_a_bug_while_answering_is_an_internal_error_for_this_request_alone() -> None:
    async def answer(request: Envelope) -> Envelope:
        if request.method == "m":
            raise KeyError("oops")
        return success({})

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.feed(line(id=1, method="m") + line(id=2, method="other"))
    await channel.message(2)
    assert errors(channel) == [(1, -32603)]
    assert channel.replies[2]["result"] == {}


@pytest.mark.expected_warnings("notifications/initialized could not be handled")
@in_fake_time
async def test_a_bug_with_a_notification_does_not_stop_what_follows() -> None:
    def take(message: Envelope) -> None:
        raise KeyError("oops")

    dispatcher, channel = make_dispatcher(take_notification=take, holds_back=frozenset({"initialize"}))
    dispatcher.feed(line(id=1, method="initialize") + line(method="notifications/initialized") + line(id=2, method="m"))
    assert (await channel.reply(2))["result"] == {}


@pytest.mark.expected_warnings("a message could not be handled")
@in_fake_time
async def test_a_message_that_cannot_be_handled_does_not_end_the_connection() -> None:
    class BrokenOnce(FakeChannel):
        is_broken = True

        def write(self, data: bytes | memoryview) -> None:
            if self.is_broken:
                self.is_broken = False
                raise OSError("no")
            super().write(data)

    dispatcher, channel = make_dispatcher()[0], BrokenOnce()
    dispatcher.attach(channel)
    dispatcher.feed(b"garbage\n" + line(id=1, method="m"))
    assert (await channel.reply(1))["result"] == {}


# cancelled by the peer


@pytest.mark.parametrize("is_in_same_chunk", [True, False])
@in_fake_time
async def test_a_cancelled_request_is_never_answered_and_its_id_is_free_again(is_in_same_chunk: bool) -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    cancel = line(method=CANCELLED, params={"requestId": 1, "reason": "half a pair: \ud800"})
    if is_in_same_chunk:
        dispatcher.feed(line(id=1, method="m") + cancel)
    else:
        dispatcher.feed(line(id=1, method="m"))
        await answers.begun.wait()
        dispatcher.feed(cancel)
    await dispatcher.idle()
    await settled()
    dispatcher.feed(line(id=1, method="m"))
    answers.let_go(1)
    await channel.message()
    assert channel.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"of": 1}}]


@in_fake_time
async def test_a_cancellation_is_not_queued_behind_the_request_that_it_cancels() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, holds_back=frozenset({"initialize"}))
    dispatcher.feed(line(id=1, method="initialize") + line(id=2, method="m") + line(id=3, method="m"))
    await answers.begun.wait()
    dispatcher.feed(line(method=CANCELLED, params={"requestId": 2}) + line(method=CANCELLED, params={"requestId": 1}))
    await answers.cancelled.wait(lambda id: id == 1)
    await answers.begun.wait(lambda id: id == 3)
    answers.let_go(3)
    await channel.message()
    assert (answers.begun.all, list(channel.replies)) == ([1, 3], [3])


@pytest.mark.parametrize("params", [None, [], {}, {"requestId": 9}, {"requestId": "1"}, {"requestId": None}, {"requestId": {}}])
@in_fake_time
async def test_a_cancellation_of_nothing_changes_nothing(params: Any) -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m"))
    await answers.begun.wait()
    dispatcher.feed(line(method=CANCELLED, **({} if params is None else {"params": params})))
    answers.let_go(1)
    await channel.message()
    assert channel.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"of": 1}}]


@in_fake_time
async def test_a_request_that_is_called_like_a_cancellation_is_answered_as_a_request() -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.feed(line(id=1, method=CANCELLED, params={"requestId": 1}))
    assert (await channel.reply(1))["result"] == {}


# calls of ours


@in_fake_time
async def test_the_ids_of_two_connections_do_not_meet() -> None:
    ids = set()
    for _ in range(20):
        dispatcher, channel = make_dispatcher(is_server=True)
        dispatcher.start_call("m")
        ids.add((await channel.message())["id"])
    assert len(ids) == 20


# servers


@in_fake_time
async def test_lines_of_a_server_that_are_no_messages_go_to_whoever_wants_them() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    taken: list[bytes] = []
    dispatcher.take_noise = lambda line: taken.append(bytes(line))
    dispatcher.feed(b'Welcome!\n{"jsonrpc":"2.0","method":"m"}\n[1, 2]\n')
    assert (taken, channel.messages) == ([b"Welcome!", b"[1, 2]"], [])


@in_fake_time
async def test_noise_of_a_server_is_counted_never_answered_and_not_logged_without_end(caplog: pytest.LogCaptureFixture) -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    with caplog.at_level(logging.INFO):
        dispatcher.feed(b"Listening on stdio\n" * 100 + b"[]\n{}\n")
    assert (dispatcher.noise_lines, channel.messages) == (102, [])
    assert len(caplog.records) == LOGGED_NOISE_LINES


@in_fake_time
async def test_small_faults_of_a_server_are_forgiven() -> None:
    heard: list[Raw] = []
    dispatcher, channel = make_dispatcher(is_server=True, take_notification=lambda message: heard.append(message.params))
    dispatcher.feed(b'{"id":1,"method":"ping","params":null}\n{"method":"n","params":null}\n{"jsonrpc":"1.0","id":2,"method":"m"}\n')
    await channel.message(2)
    assert heard == [NOTHING]
    assert errors(channel) == []


# bounds


@in_fake_time
async def test_a_message_beyond_the_bound_is_answered_with_an_error_under_its_id() -> None:
    dispatcher, channel = make_dispatcher(max_line_bytes=2000)
    big = line(id=1, method="m", params={"a": "x" * 20_000})
    dispatcher.feed(big[:9000])
    dispatcher.feed(big[9000:] + line(id=2, method="m"))
    await channel.reply(2)
    assert errors(channel) == [(1, -32600)]
    assert f"{len(big) - 1:,} bytes is beyond the limit of 2,000" in channel.messages[0]["error"]["message"]


@in_fake_time
async def test_a_message_for_which_there_is_no_memory_is_an_error_of_its_own_alone() -> None:
    dispatcher, channel = make_dispatcher()

    def tap(is_sent: bool, message: bytes | bytearray) -> None:
        if not is_sent and b"large" in message:
            raise MemoryError

    dispatcher.tap = tap
    dispatcher.feed(line(id=1, method="large") + line(id=2, method="m"))
    await channel.reply(2)
    assert errors(channel) == [(1, -32600)]
    assert "not enough memory for a message of" in channel.messages[0]["error"]["message"]


@in_fake_time
async def test_a_message_beyond_the_bound_whose_id_cannot_be_found_is_answered_under_null() -> None:
    dispatcher, channel = make_dispatcher(max_line_bytes=2000)
    filler = "x" * 20_000
    dispatcher.feed(json.dumps({"a": filler, "id": 1, "b": filler}).encode() + b"\n")
    assert errors(channel) == [(None, -32600)]


@in_fake_time
async def test_a_reply_beyond_the_bound_fails_its_call() -> None:
    dispatcher, channel = make_dispatcher(is_server=True, max_line_bytes=2000)
    pending = dispatcher.start_call("m")
    request = await channel.message()
    dispatcher.feed(json.dumps({"result": "x" * 20_000, "jsonrpc": "2.0", "id": request["id"]}).encode() + b"\n")
    assert b"beyond the limit of 2,000" in bytes((await dispatcher.calls.outcome(pending)).error)


@in_fake_time
async def test_a_peer_that_asks_much_at_once_is_answered_in_portions() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(b"".join(line(id=id, method="m") for id in range(MAX_IN_FLIGHT + 50)))
    await answers.begun.wait(count=MAX_IN_FLIGHT)
    await settled()
    assert len(answers.begun.all) == MAX_IN_FLIGHT
    for id in range(MAX_IN_FLIGHT + 50):
        answers.let_go(id)
    await channel.message(MAX_IN_FLIGHT + 50)
    assert sorted(channel.replies) == list(range(MAX_IN_FLIGHT + 50))


@in_fake_time
async def test_a_peer_that_reads_nothing_is_served_no_further_until_it_reads() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=0, method="m"))
    await answers.begun.wait()
    dispatcher.pause_writing()
    assert dispatcher.is_congested
    dispatcher.feed(b"".join(line(id=id, method="m") for id in range(1, 20)) + line(method=CANCELLED, params={"requestId": 19}))
    answers.let_go(0)
    await channel.message()
    await settled()
    assert answers.begun.all == [0]
    dispatcher.resume_writing()
    for id in range(1, 20):
        answers.let_go(id)
    await channel.message(19)
    await dispatcher.idle()
    assert answers.begun.all == list(range(19))


@in_fake_time
async def test_a_result_that_does_not_fit_behind_what_the_peer_has_not_read_becomes_an_error_for_its_call() -> None:
    async def answer(request: Envelope) -> Envelope:
        return Envelope(result=Raw(b'"%b"' % (b"x" * (10 if request.id == Raw(b"3") else 10_000))))

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.unsent.add(PEER_BYTES - 1000)
    dispatcher.feed(line(id=1, method="m") + line(id=3, method="m"))
    error = (await channel.reply(1))["error"]
    assert error["code"] == CONNECTION_CLOSED
    why = "peer does not read its messages, and 67,107,864 bytes are already queued: the result of this call, 10,002 bytes, was dropped"
    assert error["message"] == why
    assert "result" in await channel.reply(3)  # no larger than an error
    dispatcher.unsent.hold(PEER_BYTES // 2)
    dispatcher.feed(line(id=4, method="m"))
    assert "result" in await channel.reply(4)


@in_fake_time
async def test_a_peer_that_does_not_read_is_asked_and_told_nothing_that_does_not_fit() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    dispatcher.unsent.add(PEER_BYTES)
    reply = await dispatcher.call("tools/call", Raw(b"{}"))
    assert json.loads(bytes(reply.error))["message"].endswith("tools/call with 2 bytes was not sent")
    dispatcher.send_notification("notifications/progress", Raw(b"{}"))
    dispatcher.send_notification(CANCELLED, Raw(b"{}"))
    assert [message["method"] for message in channel.messages] == [CANCELLED]


@in_fake_time
async def test_the_replies_of_a_batch_that_wait_for_each_other_are_bounded_too() -> None:
    may_answer = asyncio.Event()

    async def answer(request: Envelope) -> Envelope:
        if request.id == Raw(b"2"):
            await may_answer.wait()
        return Envelope(result=Raw(b'"%b"' % (b"x" * (PEER_BYTES if request.id == Raw(b"1") else 10_000))))

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.takes_batches = True
    dispatcher.feed(b'[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"method":"m"}]\n')
    await settled()
    assert dispatcher.unsent.bytes == PEER_BYTES + 2
    may_answer.set()
    await channel.lines.until(lambda: channel.lines.all)
    (batch,) = channel.messages
    assert [sorted(each) for each in batch] == [["id", "jsonrpc", "result"], ["error", "id", "jsonrpc"]]
    assert dispatcher.unsent.bytes == 0


@in_fake_time
async def test_requests_that_wait_for_their_turn_are_bounded_in_bytes() -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.pause_writing()
    dispatcher.feed(line(id=1, method="m", params={"text": "x" * (MAX_BACKLOG_BYTES - 10_000)}))
    dispatcher.feed(line(id=2, method="m", params={"text": "x" * 10_000}) + line(method="n", params={"text": "x" * 10_000}))
    assert "too many requests are queued" in (await channel.reply(2))["error"]["message"]
    dispatcher.resume_writing()
    assert "result" in await channel.reply(1)


@in_fake_time
async def test_a_paced_peer_gets_its_calls_on_the_way_as_it_reads_their_replies() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, is_paced=True)
    dispatcher.feed(b"".join(line(id=id, method="m") for id in range(100)))
    await answers.begun.wait(count=FIRST_IN_FLIGHT)
    for id in range(3):
        answers.let_go(id)
    await channel.message(3)
    await settled()
    assert len(answers.begun.all) == FIRST_IN_FLIGHT + 6
    dispatcher.pause_writing()
    dispatcher.resume_writing()
    await answers.begun.wait(count=100)  # time allows the rest
    await dispatcher.close("over")


# the end


@in_fake_time
async def test_the_end_of_the_stream_answers_every_call_also_in_the_middle_of_a_reply() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    pending = [dispatcher.start_call("m", timeout_s=100) for _ in range(3)]
    request = await channel.message(3)
    dispatcher.feed(b'{"jsonrpc":"2.0","id":%d,"result":{"text":"abc' % request["id"])
    dispatcher.connection_lost("server ended with exit code 3")
    dispatcher.connection_lost("again")
    replies = [bytes((await dispatcher.calls.outcome(each)).error) for each in pending]
    assert all(b"exit code 3" in reply for reply in replies[:2])
    assert b"cannot be read" in replies[2]
    assert dispatcher.closed_because == "server ended with exit code 3"
    assert b"exit code 3" in bytes((await dispatcher.call("later")).error)
    assert channel.is_closed


@in_fake_time
async def test_requests_that_stay_are_settled_by_the_transport_and_nothing_new_is_asked() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, is_server=True)
    answered, settled_later = dispatcher.start_call("m"), dispatcher.start_call("m")
    request = await channel.message()
    dispatcher.connection_lost("out of reach", requests_stay=True)
    assert dispatcher.closed_because == "out of reach"
    assert not answered.reply.done()
    dispatcher.receive(line(id=9, method="question"), along_with=answered.id)
    dispatcher.receive(line(id=request["id"], result="late"), along_with=answered.id)
    dispatcher.receive(line(method="said"))
    assert bytes((await dispatcher.calls.outcome(answered)).result) == b'"late"'
    assert not settled_later.reply.done()
    dispatcher.calls.settle(settled_later.id, NOT_DELIVERED)
    assert await dispatcher.calls.outcome(settled_later) is NOT_DELIVERED
    assert b"out of reach" in bytes((await dispatcher.call("later")).error)
    assert answers.begun.all == []


@in_fake_time
async def test_a_peer_that_is_gone_has_not_got_what_is_asked_of_it_then() -> None:
    dispatcher, _ = make_dispatcher(is_server=True)
    dispatcher.connection_lost("exit code 3")
    reply = await dispatcher.call("m")
    assert isinstance(reply, NotDelivered)
    assert b"exit code 3" in bytes(reply.error)


@in_fake_time
async def test_what_is_asked_of_a_peer_that_reads_no_more_is_told_apart_from_what_it_may_have_read() -> None:
    dispatcher, _ = make_dispatcher(is_server=True)
    before = dispatcher.start_call("m")
    dispatcher.peer_reads_no_more()
    behind = dispatcher.start_call("m")
    assert not behind.reply.done()
    dispatcher.connection_lost("exit code 3")
    replies = [await dispatcher.calls.outcome(pending) for pending in (before, behind)]
    assert [isinstance(reply, NotDelivered) for reply in replies] == [False, True]
    assert all(b"exit code 3" in bytes(reply.error) for reply in replies)


class Writes(FakeChannel):
    """Keeps each write, and takes nothing any more when the test says so."""

    def __init__(self, dispatcher: RawDispatcher) -> None:
        super().__init__()
        self.sizes: list[int] = []  # in messages
        self.is_broken = False
        self._dispatcher = dispatcher
        dispatcher.attach(self)

    def write(self, data: bytes | memoryview) -> None:
        self.sizes.append(bytes(data).count(b"\n"))
        super().write(data)
        if self.is_broken:
            self._dispatcher.peer_reads_no_more()


@in_fake_time
async def test_messages_of_one_turn_of_the_loop_are_written_together_and_one_alone_at_once() -> None:
    answers = Answers()
    dispatcher, _ = make_dispatcher(answer=answers.answer)
    channel = Writes(dispatcher)
    dispatcher.feed(b"".join(line(id=id, method="m") for id in range(5)))
    await answers.begun.until(lambda: len(answers.begun.all) == 5)
    for id in (0, 1, 2):
        answers.let_go(id)
    await settled()
    assert channel.sizes == [3]
    answers.let_go(3)
    await settled()
    answers.let_go(4)
    await settled()
    assert channel.sizes == [3, 1, 1]
    assert [message["id"] for message in channel.messages] == [0, 1, 2, 3, 4]
    dispatcher.start_call("only")
    assert channel.sizes[3:] == [1]


@in_fake_time
async def test_a_stream_of_either_side_delays_no_message() -> None:
    answers = Answers()
    dispatcher, _ = make_dispatcher(answer=answers.answer, stays_open=frozenset({"listen"}))
    channel = Writes(dispatcher)
    dispatcher.feed(line(id=1, method="listen"))
    dispatcher.calls.keep_open(dispatcher.start_call("listen"))
    await settled()
    dispatcher.send_notification("news")
    assert channel.sizes == [1, 1]
    await dispatcher.close("the end")


@in_fake_time
async def test_many_and_large_messages_of_one_turn_keep_their_order_and_do_not_wait_for_its_end() -> None:
    dispatcher, _ = make_dispatcher()
    channel = Writes(dispatcher)
    for size in (1, 1, 10, 10, JOIN_BELOW_BYTES, 5, JOIN_BELOW_BYTES // 2, JOIN_BELOW_BYTES // 2, 1):
        dispatcher.start_call("m", dump({"x": "x" * size}))
    sent = [len(message["params"]["x"]) for message in channel.messages]
    assert sent == [1, 1, 10, 10, JOIN_BELOW_BYTES, 5, JOIN_BELOW_BYTES // 2, JOIN_BELOW_BYTES // 2]
    await settled()
    assert len(channel.messages) == 9


@in_fake_time
async def test_calls_whose_common_write_fails_are_certainly_not_delivered() -> None:
    dispatcher, _ = make_dispatcher()
    channel = Writes(dispatcher)
    first = dispatcher.start_call("m")
    others = [dispatcher.start_call("m") for _ in range(3)]
    channel.is_broken = True
    await settled()
    dispatcher.connection_lost("it ended")
    replies = [await dispatcher.calls.outcome(pending) for pending in (first, *others)]
    assert [isinstance(reply, NotDelivered) for reply in replies] == [False, True, True, True]


@in_fake_time
async def test_what_was_to_be_written_together_is_written_before_the_end() -> None:
    dispatcher, _ = make_dispatcher()
    channel = Writes(dispatcher)
    for _ in range(3):
        dispatcher.start_call("m")
    dispatcher.connection_lost("it ended")
    assert len(channel.messages) == 3
    await settled()
    assert channel.sizes == [1, 2]


@in_fake_time
async def test_the_last_replies_are_waited_for_within_a_time() -> None:
    dispatcher, _ = make_dispatcher(is_server=True)
    await dispatcher.calls.last_replies(timeout_s=900.0)
    first, second = dispatcher.start_call("m"), dispatcher.start_call("m")
    dispatcher.calls.settle(first.id, success({}))
    assert dispatcher.calls.unanswered() == [second.id]
    loop = asyncio.get_running_loop()
    begun_at = loop.time()
    await dispatcher.calls.last_replies(timeout_s=3.0)
    assert loop.time() - begun_at == pytest.approx(3.0)
    loop.call_later(1.0, dispatcher.calls.settle, second.id, success({}))
    await dispatcher.calls.last_replies(timeout_s=900.0)
    assert dispatcher.calls.unanswered() == []


@in_fake_time
async def test_what_a_transport_leaves_unanswered_ends_with_it() -> None:
    dispatcher, _ = make_dispatcher(is_server=True)
    pending = dispatcher.start_call("m")
    dispatcher.connection_lost("out of reach", requests_stay=True)
    dispatcher.calls.settle_rest(dispatcher.closed_because)
    assert b"out of reach" in bytes((await dispatcher.calls.outcome(pending)).error)


@in_fake_time
async def test_a_reply_that_only_lacks_its_newline_at_the_end_is_taken() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    pending = dispatcher.start_call("m")
    dispatcher.feed(line(id=(await channel.message())["id"], result={"a": 1})[:-1])
    dispatcher.connection_lost("gone")
    assert bytes((await dispatcher.calls.outcome(pending)).result) == b'{"a": 1}'


@pytest.mark.parametrize("rest", [line(id=1, method="m")[:-1], line(id=1, method="m")[:-5], b"garbage"])
@in_fake_time
async def test_a_cut_line_at_the_end_is_neither_answered_nor_carried_out(rest: bytes) -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(rest)
    dispatcher.end_of_input("gone", grace_s=2)
    await channel.closing()
    await settled()
    assert (channel.messages, answers.begun.all) == ([], [])


@in_fake_time
async def test_a_lost_peer_ends_the_work_for_it() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m"))
    await answers.begun.wait()
    dispatcher.connection_lost("gone")
    await answers.cancelled.wait()
    await dispatcher.idle()
    assert (channel.messages, channel.is_closed) == ([], True)


@in_fake_time
async def test_a_peer_that_only_stops_sending_still_gets_its_answers() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, holds_back=frozenset({"initialize"}))
    dispatcher.feed(line(id=1, method="initialize") + line(id=2, method="tools/list"))
    dispatcher.end_of_input("gone", grace_s=2)
    for id in (1, 2):
        await answers.begun.wait(lambda begun, id=id: begun == id)
        assert not channel.is_closed
        answers.let_go(id)
    await channel.closing()
    assert list(channel.replies) == [1, 2]
    assert dispatcher.closed_because == "gone"


@in_fake_time
async def test_a_peer_that_stops_sending_is_not_waited_for_longer_than_the_grace() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m"))
    await answers.begun.wait()
    begun = asyncio.get_running_loop().time()
    dispatcher.end_of_input("gone", grace_s=2)
    await channel.closing()
    assert asyncio.get_running_loop().time() - begun >= 2
    await answers.cancelled.wait()
    await dispatcher.idle()


@in_fake_time
async def test_a_peer_that_waits_for_nothing_is_let_go_at_the_end_of_its_input() -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.end_of_input("gone", grace_s=2)
    assert channel.is_closed


@in_fake_time
async def test_requests_that_stay_open_are_no_reason_to_wait_at_the_end() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, stays_open=frozenset({"subscriptions/listen"}))
    dispatcher.feed(line(id=1, method="subscriptions/listen"))
    await answers.begun.wait()
    assert dispatcher.requests_in_flight == 1
    await dispatcher.idle()
    begun = asyncio.get_running_loop().time()
    dispatcher.end_of_input("gone", grace_s=2)
    await channel.closing()
    assert asyncio.get_running_loop().time() == begun
    await answers.cancelled.wait()
    assert channel.messages == []


@in_fake_time
async def test_closing_ends_requests_that_stay_open_with_a_farewell_where_there_is_one() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, stays_open=frozenset({"subscriptions/listen"}))
    dispatcher.farewell = lambda id: success({"ended": id})
    dispatcher.feed(line(id=1, method="subscriptions/listen"))
    await answers.begun.wait()
    await dispatcher.close("the hub ends")
    assert channel.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"ended": 1}}]


@in_fake_time
async def test_a_request_without_an_answer_leaves_its_id_free() -> None:
    replies = [NO_REPLY, success({})]

    async def answer(request: Envelope) -> Envelope:
        return replies.pop(0)

    dispatcher, channel = make_dispatcher(answer=answer)
    dispatcher.feed(line(id=1, method="m"))
    await dispatcher.idle()
    assert channel.messages == []
    dispatcher.feed(line(id=1, method="m"))
    await dispatcher.idle()
    assert channel.messages == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@in_fake_time
async def test_a_request_under_the_id_of_one_that_stayed_open_is_waited_for() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer, stays_open=frozenset({"subscriptions/listen"}))
    dispatcher.feed(line(id=1, method="subscriptions/listen"))
    await answers.begun.wait()
    dispatcher.feed(line(method=CANCELLED, params={"requestId": 1}))
    await answers.cancelled.wait()
    await settled()
    dispatcher.feed(line(id=1, method="m"))
    await answers.begun.wait(count=2)
    dispatcher.end_of_input("gone", grace_s=2)
    assert not channel.is_closed
    answers.let_go(1)
    await channel.closing()
    assert channel.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"of": 1}}]


@in_fake_time
async def test_closing_answers_what_is_open_with_the_reason_and_only_that() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(
        answer=answers.answer, holds_back=frozenset({"initialize"}), stays_open=frozenset({"subscriptions/listen"})
    )
    dispatcher.feed(line(id=1, method="subscriptions/listen") + line(id=2, method="m") + line(id="three", method="initialize"))
    dispatcher.feed(line(id=4, method="m") + line(method="n") + line(id=5, method="subscriptions/listen"))
    await answers.begun.wait(lambda id: id == "three")
    await dispatcher.close("Tooltray has ended")
    assert sorted(map(str, channel.replies)) == ["2", "4", "three"]
    assert all(reply["error"] == {"code": -32000, "message": "Tooltray has ended"} for reply in channel.messages)
    assert channel.is_closed
    assert sorted(map(str, answers.cancelled.all)) == ["1", "2", "three"]


@in_fake_time
async def test_closing_lets_open_requests_finish_within_the_grace() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m") + line(id=2, method="m"))
    await answers.begun.wait(count=2)
    asyncio.get_running_loop().call_later(3, answers.let_go, 1)
    await dispatcher.close("ended", grace_s=5)
    assert channel.replies[1]["result"] == {"of": 1}
    assert channel.replies[2]["error"]["message"] == "ended"
    assert len(channel.messages) == 2


@in_fake_time
async def test_errors_that_no_answer_has_given_are_noted_by_their_ids() -> None:
    answers, noted = Answers(), list[tuple[bytes, int]]()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.note_refusal = lambda id, refusal: noted.append((bytes(id), load(refusal.error)["code"]))
    dispatcher.takes_batches = True
    dispatcher.feed(b'nonsense\n[{"jsonrpc":"1.0","id":4,"method":"m"}]\n' + line(id=1, method="m") * 2)
    await answers.begun.wait()
    await dispatcher.close("ended")
    assert noted == [(b"", -32700), (b"4", -32600), (b"1", -32600), (b"1", CONNECTION_CLOSED)]
    assert len(channel.messages) == len(noted)


@in_fake_time
async def test_closing_with_nothing_open_does_not_wait() -> None:
    dispatcher, channel = make_dispatcher()
    begun = asyncio.get_running_loop().time()
    await dispatcher.close("ended", grace_s=5)
    await dispatcher.close("again", grace_s=5)
    assert (channel.messages, dispatcher.closed_because) == ([], "ended")
    assert asyncio.get_running_loop().time() == begun


@in_fake_time
async def test_a_request_that_finishes_in_the_moment_of_closing_is_answered_once() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m"))
    await answers.begun.wait()
    answers.let_go(1)
    await channel.message()  # goes on before the dispatcher has noted the end of its task
    await dispatcher.close("ended")
    assert [message.get("result") for message in channel.messages] == [{"of": 1}]


@in_fake_time
async def test_a_request_that_was_cancelled_right_before_closing_is_not_answered() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    dispatcher.feed(line(id=1, method="m"))
    await answers.begun.wait()
    dispatcher.feed(line(method=CANCELLED, params={"requestId": 1}))
    await dispatcher.close("ended")
    assert channel.messages == []


@in_fake_time
async def test_closing_fails_our_own_calls() -> None:
    dispatcher, channel = make_dispatcher()
    pending = dispatcher.start_call("elicitation/create")
    await channel.message()
    await dispatcher.close("ended")
    assert json.loads(bytes((await dispatcher.calls.outcome(pending)).error)) == {"code": -32000, "message": "ended"}
    assert len(channel.messages) == 1


@in_fake_time
async def test_nothing_is_done_for_a_peer_whose_connection_is_closed() -> None:
    answers = Answers()
    dispatcher, channel = make_dispatcher(answer=answers.answer)
    await dispatcher.close("ended")
    dispatcher.feed(line(id=1, method="m") + b"garbage\n")
    dispatcher.resume_writing()
    dispatcher.send_notification("n")
    await settled()
    assert (channel.messages, answers.begun.all) == ([], [])


@in_fake_time
async def test_a_dispatcher_without_a_channel_can_be_closed() -> None:
    dispatcher = RawDispatcher(
        name="peer", deadlines=DeadlineWheel(), answer=Answers().answer, take_notification=lambda message: None, max_line_bytes=100
    )
    dispatcher.send_notification("n")
    await dispatcher.close("ended")
    assert dispatcher.closed.is_set()


# anything


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 5) | st.text(max_size=3), unique_by=json.dumps, max_size=12),
    st.lists(st.integers(0, 900), max_size=20),
    st.integers(0, 2**32),
)
@in_fake_time
async def test_every_request_is_answered_exactly_once_however_the_bytes_are_cut(ids: list[Any], cuts: list[int], seed: int) -> None:
    rng = random.Random(seed)

    async def answer(request: Envelope) -> Envelope:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return Envelope(result=request.id)

    dispatcher, channel = make_dispatcher(answer=answer, holds_back=frozenset({"initialize"}))
    stream = b"".join(line(id=id, method=rng.choice(["initialize", "m"])) for id in ids)
    for start, end in zip(sorted([0, *cuts]), [*sorted(cuts), len(stream)], strict=True):
        dispatcher.feed(stream[start : max(start, end)])
        if rng.random() < 0.2:
            await asyncio.sleep(0)
    if ids:
        await channel.message(len(ids))
    await settled()
    assert sorted(json.dumps(message["id"]) for message in channel.messages) == sorted(map(json.dumps, ids))
    assert all(message["result"] == message["id"] for message in channel.messages)


@pytest.mark.parametrize("seed", range(5))
@in_fake_time
async def test_hostile_bytes_never_break_the_connection(seed: int) -> None:
    rng = random.Random(seed)
    samples = [
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1}}}',
        b'{"jsonrpc":"2.0","id":2,"result":{"a":"\\ud800"}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        b'{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"2.0","method":"n","params":' + b"[" * 700 + b"]" * 700 + b"}",
    ]
    damage = [b"", b"{", b'"', b"\xff", b"\\u", b"null", b"1e999", b"\n", b"\\ud800", b"NaN"]
    dispatcher, channel = make_dispatcher(max_line_bytes=1000)
    for _ in range(2000):
        frame = bytearray(rng.choice(samples))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(frame))
            frame[at : at + rng.randrange(3)] = rng.choice([*damage, bytes([rng.randrange(256)])])
        dispatcher.feed(bytes(frame) + b"\n")
        if rng.random() < 0.3:
            await asyncio.sleep(0)
    dispatcher.feed(b"\n" + line(id="last", method="m"))
    assert (await channel.reply("last"))["result"] == {}
    for written in channel.lines.all:
        assert json.loads(written)["jsonrpc"] == "2.0"


@in_fake_time
async def test_a_transport_of_whole_messages_knows_whether_a_request_still_waits_and_may_answer_it() -> None:
    sent: list[Any] = []

    class Messages:
        send = staticmethod(sent.append)
        close = staticmethod(lambda: None)

    dispatcher, _ = make_dispatcher(is_server=True)
    dispatcher.attach_messages(Messages())
    first, second = dispatcher.start_call("m"), dispatcher.start_call("m")
    assert [message.id for message in sent] == [first.id, second.id]
    assert dispatcher.calls.waits_for(first.id)
    dispatcher.calls.settle(first.id, success({"in": "its place"}))
    dispatcher.receive(b'{"jsonrpc": "2.0",\r\n "id": %b, "result": {\n}}' % bytes(second.id))
    assert not dispatcher.calls.waits_for(first.id)
    assert not dispatcher.calls.waits_for(dump(0))
    assert bytes((await dispatcher.calls.outcome(first)).result) == b'{"in":"its place"}'
    assert bytes((await dispatcher.calls.outcome(second)).result) == b"{ }"


@pytest.mark.parametrize("is_whole", [False, True])
@in_fake_time
async def test_a_reply_that_is_much_larger_than_what_was_asked_for_is_dropped_as_it_arrives(is_whole: bool) -> None:
    dispatcher, _ = make_dispatcher(is_server=True, max_line_bytes=4 * LOOKED_AT_BYTES)
    asked = {"small": dispatcher.start_call("list", max_reply_bytes=2**20), "large": dispatcher.start_call("call")}
    for name, pending in asked.items():
        big = b'{"jsonrpc":"2.0","id":%b,"result":"%b"}' % (bytes(pending.id), b"x" * (LOOKED_AT_BYTES + 1))
        if is_whole:
            dispatcher.receive(big)
        else:
            dispatcher.feed(big[: LOOKED_AT_BYTES + 100])
            dispatcher.feed(big[LOOKED_AT_BYTES + 100 :] + b"\n")
        reply = await dispatcher.calls.outcome(pending)
        assert isinstance(reply, TooLarge) is (name == "small")
        if isinstance(reply, TooLarge):
            assert reply.size_bytes == len(big)
            assert b"exceeds the requested size" in bytes(reply.error)
