"""protocol/in_flight.py"""

import asyncio
import json
import random

import pytest
from msgspec import Raw
from tests.fakes.fake_channel import FakeChannel, line, make_dispatcher
from tests.fakes.fake_clock import in_fake_time

from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import CANCELLED, JOIN_BELOW_BYTES
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.in_flight import FIRST_IN_FLIGHT, GROWS_EVERY_S, MAX_BACKLOG_BYTES, MAX_IN_FLIGHT, Backlog, Pace


def asked(id: int, size: int = 0) -> Envelope:
    return Envelope(id=Raw(b"%d" % id), method="m", params=Raw(b"[%b]" % (b" " * size)))


def test_what_does_not_fit_is_refused_and_a_large_one_passes_alone() -> None:
    backlog = Backlog()
    assert backlog.add(asked(1, MAX_BACKLOG_BYTES))
    assert not backlog.add(asked(2))
    backlog.next()
    assert backlog.add(asked(2))
    assert not backlog.add(asked(3, MAX_BACKLOG_BYTES))
    assert [bytes(each.id) for each in backlog.waiting] == [b"2"]


def test_what_is_taken_out_leaves_room() -> None:
    backlog = Backlog()
    for id in range(3):
        assert backlog.add(asked(id, MAX_BACKLOG_BYTES // 4))
    assert not backlog.add(asked(3, MAX_BACKLOG_BYTES // 3))
    assert backlog.remove(b"1")
    assert not backlog.remove(b"1")
    assert backlog.add(asked(3, MAX_BACKLOG_BYTES // 3))
    backlog.clear()
    assert backlog.add(asked(4))
    assert backlog.add(asked(5, MAX_BACKLOG_BYTES // 2))


def test_a_peer_with_an_even_pace_is_never_slowed_down() -> None:
    pace = Pace(is_even=True, go_on=lambda: None)
    pace.slow_down()
    pace.grow_later()
    assert pace.max_in_flight == MAX_IN_FLIGHT


@in_fake_time
async def test_while_requests_wait_time_allows_more_up_to_all_of_them() -> None:
    seen: list[int] = []

    def go_on() -> None:
        seen.append(pace.max_in_flight)
        pace.grow_later()

    pace = Pace(is_even=False, go_on=go_on)
    pace.grow_later()
    pace.grow_later()
    await asyncio.sleep(20 * GROWS_EVERY_S)
    assert seen == [*(FIRST_IN_FLIGHT * times for times in (2, 4, 8, 16, 32)), MAX_IN_FLIGHT]
    pace.slow_down()
    assert pace.max_in_flight == FIRST_IN_FLIGHT
    pace.grow_later()
    pace.close()
    await asyncio.sleep(2 * GROWS_EVERY_S)
    assert len(seen) == 6
    Pace(is_even=False, go_on=go_on).close()


@pytest.mark.parametrize("template", ['"%d"', "%d"])
@in_fake_time
async def test_a_reply_goes_to_its_caller_even_with_its_id_as_a_string(template: str) -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(dispatcher.call("m", dump({"a": 1})))
        request = await channel.message()
        assert (request["method"], request["params"]) == ("m", {"a": 1})
        dispatcher.feed(b'{"id":%b,"result":{"b": 2}}\n' % (template % request["id"]).encode())
    assert bytes(call.result().result) == b'{"b": 2}'


@in_fake_time
async def test_replies_may_come_in_any_order() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    async with asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(dispatcher.call("m", dump({"n": n}))) for n in range(20)]
        await channel.message(20)
        requests = channel.messages
        random.Random(1).shuffle(requests)
        dispatcher.feed(b"".join(line(id=each["id"], result=each["params"]) for each in requests))
    assert [json.loads(bytes(call.result().result)) for call in calls] == [{"n": n} for n in range(20)]


@pytest.mark.parametrize(
    "body", [b'"result":' + b"[" * 50_000, b'"result":{"a":NaN}}', b'"result":{"a', b'"error":null}', b'"jsonrpc":2,"result":{}}']
)
@in_fake_time
async def test_a_reply_that_cannot_be_read_fails_its_call(body: bytes) -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(dispatcher.call("m"))
        request = await channel.message()
        dispatcher.feed(b'{"jsonrpc":"2.0","id":%d,%b\n' % (request["id"], body))
    assert b"cannot be read" in bytes(call.result().error)


@in_fake_time
async def test_a_call_that_is_given_up_tells_the_peer_once_and_a_late_reply_is_dropped() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    keeper = TaskKeeper()
    call = keeper.spawn(dispatcher.call("m"), name="call")
    request = await channel.message()
    call.cancel()
    assert (await channel.notification(CANCELLED))["requestId"] == request["id"]
    dispatcher.feed(line(id=request["id"], result={}))
    await keeper.close()
    assert call.cancelled()
    assert len(channel.messages) == 2


@in_fake_time
async def test_a_call_that_must_not_be_cancelled_is_given_up_in_silence() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    keeper = TaskKeeper()
    keeper.spawn(dispatcher.call("initialize", is_cancellable=False), name="call")
    await channel.message()
    await keeper.close()
    assert len(channel.messages) == 1


@in_fake_time
async def test_a_reply_that_comes_with_the_cancellation_sends_no_cancel() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    keeper = TaskKeeper()
    call = keeper.spawn(dispatcher.call("m"), name="call")
    request = await channel.message()
    dispatcher.feed(line(id=request["id"], result={}))
    call.cancel()
    await keeper.close()
    assert len(channel.messages) == 1


@in_fake_time
async def test_a_call_without_an_answer_times_out_and_leaves_no_deadline() -> None:
    wheel = DeadlineWheel()
    dispatcher, channel = make_dispatcher(is_server=True, deadlines=wheel)
    begun = asyncio.get_running_loop().time()
    reply = await dispatcher.call("m", timeout_s=30)
    assert json.loads(bytes(reply.error)) == {"code": -32001, "message": "peer did not answer m within 30 s"}
    assert asyncio.get_running_loop().time() - begun >= 30
    assert [message["method"] for message in channel.messages] == ["m", CANCELLED]
    assert len(wheel) == 0


@in_fake_time
async def test_a_call_that_was_answered_leaves_no_deadline() -> None:
    wheel = DeadlineWheel()
    dispatcher, channel = make_dispatcher(is_server=True, deadlines=wheel)
    pending = dispatcher.start_call("m", timeout_s=30)
    dispatcher.feed(line(id=(await channel.message())["id"], result={}))
    await dispatcher.calls.outcome(pending)
    assert len(wheel) == 0


@in_fake_time
async def test_progress_gives_a_call_its_time_anew() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    pending = dispatcher.start_call("m", timeout_s=10)
    without_limit = dispatcher.start_call("m")
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(dispatcher.calls.outcome(pending))
        for _ in range(5):
            await asyncio.sleep(8)
            pending.progressed()
            without_limit.progressed()
        dispatcher.feed(line(id=(await channel.message())["id"], result={}))
    assert bytes(call.result().result) == b"{}"


@in_fake_time
async def test_a_second_reply_to_one_call_is_dropped() -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    pending = dispatcher.start_call("m")
    id = (await channel.message())["id"]
    dispatcher.feed(line(id=id, result=1) + line(id=id, result=2))
    assert bytes((await dispatcher.calls.outcome(pending)).result) == b"1"


@in_fake_time
async def test_a_large_payload_is_written_beside_its_frame_and_not_copied_into_it() -> None:
    class Parts(FakeChannel):
        sizes: list[int]

        def write(self, data: bytes | memoryview) -> None:
            self.sizes.append(len(data))

    channel, payload = Parts(), Raw(b'"' + b"x" * JOIN_BELOW_BYTES + b'"')
    channel.sizes = []
    dispatcher, _ = make_dispatcher()
    dispatcher.attach(channel)
    dispatcher.send_notification("n", payload)
    dispatcher.send_notification("n", Raw(b"{}"))
    assert len(channel.sizes) == 3 + 1
    assert channel.sizes[1] == len(payload)
