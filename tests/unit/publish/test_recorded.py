"""What the structured log is told of requests and replies."""

import json

import pytest
from msgspec import Raw
from tests.fakes.kept_log import KeptLog

from tooltray.publish.recorded import Recorder
from tooltray.wire.envelope import Envelope, failure

REQUEST = Envelope(id=Raw(b'"a"'), method="tools/call", params=Raw(b'{"name":"echo"}'))


def recorded(reply: Envelope) -> KeptLog:
    log = KeptLog()
    recorder = Recorder(log, "client 1")  # type: ignore[arg-type]
    recorder.answered(recorder.received(REQUEST), REQUEST, reply)
    return log


def test_a_reply_is_recorded_with_its_size_and_how_long_it_took() -> None:
    log = recorded(Envelope(result=Raw(b'{"a":1}')))
    assert log.received == [("client 1", b'"a"', "tools/call", b'{"name":"echo"}')]
    assert (log.sent, log.errors) == ([("client 1", b'"a"', 7)], [])
    assert all(duration >= 0 for duration in log.durations_s)


def test_an_error_is_recorded_with_its_code_and_message() -> None:
    log = recorded(failure(-32601, "Method not found", {"more": 1}))
    assert (log.sent, log.errors) == ([], [("client 1", b'"a"', -32601, "Method not found")])


@pytest.mark.parametrize(
    "error",
    [
        b"5",
        b'"no"',
        b'{"code":"x"}',
        b'{"code":1,"message":"\\ud800"}',
        b'{"code":1,"data":' + b"[" * 2000 + b"]" * 2000 + b"}",
    ],
    ids=["number", "text", "code", "half a pair", "deep"],
)
def test_an_error_that_cannot_be_read_is_recorded_as_such(error: bytes) -> None:
    log = recorded(Envelope(error=Raw(error)))
    assert log.errors == [("client 1", b'"a"', 0, "an error that cannot be read")]


def test_an_error_that_lacks_a_part_is_recorded_with_the_rest() -> None:
    assert recorded(Envelope(error=Raw(json.dumps({"code": 5}).encode()))).errors == [("client 1", b'"a"', 5, "")]


def test_a_client_may_be_named_later() -> None:
    log = KeptLog()
    recorder = Recorder(log, "client 1")  # type: ignore[arg-type]
    begun = recorder.received(REQUEST)
    recorder.client = "claude-code 2.1"
    recorder.answered(begun, REQUEST, Envelope(result=Raw(b"{}")))
    assert log.sent == [("claude-code 2.1", b'"a"', 2)]
