"""Refused requests, as two sessions with one server report them."""

from msgspec import Raw

from tooltray.protocol.channels import Outgoing
from tooltray.protocol.envelope import request_parts
from tooltray.servers.transports.transport import MOST, REMEMBERED_S, RefusedRequests


def call(name: str) -> Outgoing:
    return Outgoing(request_parts(b"7", "tools/call", Raw(name.encode())), Raw(b"7"), "tools/call")


def test_a_request_is_refused_first_by_one_session_however_often_it_was_sent() -> None:
    refused = RefusedRequests()
    assert [refused.is_first(call("a"), session) for session in ("A", "A", "B", "A")] == [True, True, False, True]
    assert refused.is_first(call("b"), "B")


def test_a_request_that_was_accepted_since_is_refused_first_again() -> None:
    refused = RefusedRequests()
    refused.note_accepted(call("a"))
    assert refused.is_first(call("a"), "A")
    refused.note_accepted(call("a"))
    assert refused.is_first(call("a"), "B")


def test_a_refusal_is_remembered_for_a_moment_and_of_a_bounded_number_of_requests() -> None:
    now_s = 0.0
    refused = RefusedRequests(clock=lambda: now_s)
    assert refused.is_first(call("a"), "A")
    now_s = REMEMBERED_S
    assert refused.is_first(call("a"), "B")
    for n in range(MOST):
        assert refused.is_first(call(str(n)), "B")
    assert refused.is_first(call("a"), "C")
