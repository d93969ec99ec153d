"""What goes into a trace: names and times, masked, and nothing that was sent or came back."""

from typing import Any

import msgspec
import pytest
from tests.fakes.journals import NOW, SECRET, call

from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.telemetry.call_span import KEPT_PARAMS_BYTES, CallSpan, finished, span_of

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"


def span(flags: str = "01", **fields: Any) -> CallSpan | None:
    params = dump({"name": "t", "arguments": {"key": "ARGUMENT"}, "_meta": {"traceparent": f"00-{TRACE}-{PARENT}-{flags}"}})
    event = call(**{"params": params, "result": {"content": "RESULT"}, "duration_s": 0.5, **fields})
    return span_of(finished(event), lambda text: text.replace(SECRET, "***"))


def test_a_call_belongs_to_the_trace_of_its_client_and_says_nothing_of_its_contents() -> None:
    found = span(server=f"a {SECRET}", client="c", session="s1")
    assert found
    assert (found.name, found.trace_id, found.parent_id, found.error) == ("tools/call t", TRACE, PARENT, "")
    assert (found.started_ns, found.ended_ns) == (int(NOW) * 10**9, int(NOW) * 10**9 + 500_000_000)
    assert found.attributes == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "t",
        "mcp.session.id": "s1",
        "tooltray.server": "a ***",
        "tooltray.client": "c",
    }
    text = msgspec.json.encode(found)
    assert not any(word in text for word in (b"ARGUMENT", b"RESULT"))


@pytest.mark.parametrize(("outcome", "error"), [("error", "tool_error"), ("refused", "refused"), ("cancelled", "cancelled")])
def test_a_failure_is_one_there_too_and_parts_of_its_time_are_told(outcome: str, error: str) -> None:
    timings = CallTimings()
    timings.server_s, timings.answered_at = 0.25, timings.received_at + 1.0
    found = span(outcome=outcome, timings=timings)
    assert found
    assert (found.error, found.attributes["error.type"], found.attributes["tooltray.server_s"]) == (error, error, 0.25)
    assert found.ended_ns - found.started_ns == pytest.approx(10**9, abs=1000)


def test_a_trace_that_its_client_does_not_record_is_not_recorded_here() -> None:
    assert span(flags="00") is None


def test_without_a_trace_the_call_begins_one_and_large_arguments_are_not_kept_for_it() -> None:
    event = call(arguments={"x": "y" * KEPT_PARAMS_BYTES})
    assert finished(event).params == NOTHING
    found = span_of(finished(event), str)
    assert found
    assert (len(found.trace_id), len(found.span_id), found.parent_id) == (32, 16, "")
