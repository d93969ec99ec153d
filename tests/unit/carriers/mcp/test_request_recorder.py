"""request_recorder.py"""

import asyncio
import json
import time

import pytest
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import settled
from tests.fakes.kept_log import KeptLog
from tests.fakes.nesting import TOO_DEEP

from tooltray.carriers.mcp.request_recorder import WRITTEN_AFTER_S, Recorder
from tooltray.protocol.envelope import Envelope, failure

REQUEST = Envelope(id=Raw(b'"a"'), method="tools/call", params=Raw(b'{"name":"echo"}'))


def make_recorder() -> tuple[Recorder, KeptLog]:
    log = KeptLog()
    return Recorder(log, "client 1"), log  # type: ignore[arg-type]


async def recorded(reply: Envelope) -> KeptLog:
    recorder, log = make_recorder()
    recorder.answered(recorder.received(REQUEST), reply)
    await settled()
    return log


async def test_a_reply_is_recorded_with_its_size_and_how_long_it_took() -> None:
    log = await recorded(Envelope(result=Raw(b'{"a":1}')))
    assert log.received == [("client 1", b'"a"', "tools/call", b'{"name":"echo"}')]
    assert (log.sent, log.errors) == ([("client 1", b'"a"', 7)], [])
    assert all(duration >= 0 for duration in log.durations_s)


async def test_an_error_is_recorded_with_its_code_and_message() -> None:
    log = await recorded(failure(-32601, "Method not found", {"more": 1}))
    assert (log.sent, log.errors) == ([], [("client 1", b'"a"', -32601, "Method not found")])


@pytest.mark.parametrize(
    "error",
    [
        b"5",
        b'"no"',
        b'{"code":"x"}',
        b'{"code":1,"message":"\\ud800"}',
        b'{"code":1,"data":' + b"[" * TOO_DEEP + b"]" * TOO_DEEP + b"}",
    ],
    ids=["number", "text", "code", "half a pair", "deep"],
)
async def test_an_error_that_cannot_be_read_is_recorded_as_such(error: bytes) -> None:
    log = await recorded(Envelope(error=Raw(error)))
    assert log.errors == [("client 1", b'"a"', 0, "an error that cannot be read")]


async def test_an_error_that_lacks_a_part_is_recorded_with_the_rest() -> None:
    log = await recorded(Envelope(error=Raw(json.dumps({"code": 5}).encode())))
    assert log.errors == [("client 1", b'"a"', 5, "")]


async def test_a_client_may_be_named_later() -> None:
    recorder, log = make_recorder()
    begun = recorder.received(REQUEST)
    recorder.client = "claude-code 2.1"
    recorder.answered(begun, Envelope(result=Raw(b"{}")))
    await settled()
    assert [name for name, *_ in log.received] == ["claude-code 2.1"]
    assert log.sent == [("claude-code 2.1", b'"a"', 2)]


async def test_nothing_is_recorded_before_the_reply_could_leave() -> None:
    recorder, log = make_recorder()
    begun = recorder.received(REQUEST)
    await settled()
    recorder.answered(begun, Envelope(result=Raw(b"{}")))
    assert log.order == []
    await settled()
    assert log.order == ["received", "sent"]


@in_fake_time
async def test_a_request_that_is_not_answered_is_recorded_all_the_same() -> None:
    recorder, log = make_recorder()
    for count in (1, 2):
        recorder.received(REQUEST)
        await asyncio.sleep(2 * WRITTEN_AFTER_S)
        assert log.order == ["received"] * count


async def test_the_request_is_recorded_as_it_came_although_it_was_changed_meanwhile() -> None:
    recorder, log = make_recorder()
    request = Envelope(id=Raw(b"1"), method="tools/call", params=Raw(b'{"name":"fs_echo"}'))
    begun = recorder.received(request)
    request.params = Raw(b'{"name":"echo"}')
    recorder.answered(begun, Envelope(result=Raw(b"{}")))
    await settled()
    assert log.received == [("client 1", b"1", "tools/call", b'{"name":"fs_echo"}')]


async def test_records_keep_the_order_and_the_time_of_what_happened() -> None:
    recorder, log = make_recorder()
    before = time.time()
    for number in range(5):
        request = Envelope(id=Raw(b"%d" % number), method="ping")
        recorder.answered(recorder.received(request), Envelope(result=Raw(b"{}")))
    after = time.time()
    await settled()
    assert [id for _, id, *_ in log.received] == [id for _, id, _ in log.sent] == [b"0", b"1", b"2", b"3", b"4"]
    assert log.order == ["received", "sent"] * 5
    assert log.times == sorted(log.times)
    assert before <= log.times[0] <= log.times[-1] <= after


@in_fake_time
async def test_a_long_request_is_recorded_before_its_answer_and_once() -> None:
    recorder, log = make_recorder()
    long, failing = recorder.received(REQUEST), recorder.received(REQUEST)
    await asyncio.sleep(2 * WRITTEN_AFTER_S)
    recorder.answered(long, Envelope(result=Raw(b"{}")))
    recorder.answered(failing, failure(-1, "no"))
    await asyncio.sleep(2 * WRITTEN_AFTER_S)
    assert log.order == ["received", "received", "sent", "error"]
