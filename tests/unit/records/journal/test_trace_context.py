"""What a client says of a trace is read where the standard calls it valid, and never in the way of a call."""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol.envelope import dump
from tooltray.records.journal.trace_context import LONGEST, READ_BELOW_BYTES, read_trace

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"


def params(**meta: Any) -> Raw:
    return dump({"name": "t", "arguments": {"x": 1}, "_meta": meta})


def test_its_parts_are_read() -> None:
    found = read_trace(params(traceparent=f"00-{TRACE}-{SPAN}-01", tracestate="a=1", baggage="b" * 1000))
    assert found
    assert (found.trace_id, found.parent_id, found.is_sampled) == (TRACE, SPAN, True)
    assert (found.tracestate, found.baggage) == ("a=1", "b" * LONGEST)


def test_what_is_odd_beside_it_is_left_out_and_a_later_version_may_have_more() -> None:
    found = read_trace(params(traceparent=f"01-{TRACE}-{SPAN}-02-more", tracestate=[1], baggage=None))
    assert found
    assert (found.is_sampled, found.tracestate, found.baggage) == (False, "", "")


@pytest.mark.parametrize(
    "given",
    [
        Raw(b""),
        Raw(b"[]"),
        params(),
        params(traceparent=7),
        params(traceparent=f"00-{TRACE}-{SPAN}"),
        params(traceparent=f"00-{TRACE.upper()}-{SPAN}-01"),
        params(traceparent=f"00-{'0' * 32}-{SPAN}-01"),
        params(traceparent=f"00-{TRACE}-{'0' * 16}-01"),
        params(traceparent=f"00-{TRACE}-{SPAN}-01-more"),
        params(traceparent=f"ff-{TRACE}-{SPAN}-01"),
        Raw(b" " * READ_BELOW_BYTES + bytes(params(traceparent=f"00-{TRACE}-{SPAN}-01"))),
    ],
)
def test_what_is_no_trace_is_none(given: Raw) -> None:
    assert read_trace(given) is None
