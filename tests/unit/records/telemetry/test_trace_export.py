"""trace_export.py"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.fakes.journals import NOW, SECRET, call

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.records.telemetry import trace_export
from tooltray.records.telemetry.trace_export import KEPT_PARAMS_BYTES, CallSpan, TraceExport, endpoint_of, finished, open_sender, span_of

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"

HERE = "http://127.0.0.1:4318"


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


class Collector:
    """In the place of OtlpSender."""

    def __init__(self, *, takes: bool = True, fails: bool = False) -> None:
        self.takes, self.fails = takes, fails
        self.opened: list[str] = []
        self.spans: list[CallSpan] = []
        self.closed = 0

    def __call__(self, endpoint: str) -> "Collector":
        self.opened.append(endpoint)
        return self

    def send(self, spans: Sequence[CallSpan]) -> bool:
        if self.fails:
            raise OSError("gone")
        self.spans += spans
        return self.takes

    def close(self) -> None:
        self.closed += 1


class Export:
    """An export whose settings can be changed, on a bus."""

    def __init__(self, url: str, open_sender: Any, **options: Any) -> None:
        self.telemetry = SimpleNamespace(otlp=url)
        config: Any = SimpleNamespace(settings=SimpleNamespace(telemetry=self.telemetry))
        self.bus, self.keeper = EventBus(), TaskKeeper()
        self.reported: list[Problem] = []
        self.bus.subscribe(ProblemReported, lambda event: self.reported.append(event.problem))
        self.traces = TraceExport(
            bus=self.bus, config=config, known_values=lambda: (), spawn=self.keeper.spawn, open_sender=open_sender, every_s=0.0, **options
        )
        self.traces.start()

    async def calls(self, *events: JournalEvent) -> None:
        """Lets these happen, and waits until they are dealt with."""
        for event in events or (call(),):
            self.bus.publish(event)
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)


@pytest.fixture
async def exports() -> AsyncIterator[list[Export]]:
    made: list[Export] = []
    yield made
    for each in made:
        await each.traces.close()
        await each.keeper.close()


async def test_each_call_becomes_a_span_and_nothing_else_does(exports: list[Export]) -> None:
    collector = Collector()
    exports.append(export := Export(HERE, collector))
    await export.calls(call(tool="a"), call(kind="start"), call(tool="b"))
    assert [each.name for each in collector.spans] == ["tools/call a", "tools/call b"]
    export.telemetry.otlp = "https://example.org/own/path"
    await export.calls(call(tool="c"))
    assert (collector.opened, collector.closed) == ([HERE + "/v1/traces", "https://example.org/own/path"], 1)
    assert (export.traces.dropped, list(export.traces.problems)) == (0, [])


async def test_without_the_setting_nothing_is_opened_and_nothing_waits(exports: list[Export]) -> None:
    collector = Collector()
    exports.append(export := Export("", collector))
    await export.calls()
    assert (collector.opened, export.traces.dropped) == ([], 0)


@pytest.mark.parametrize("url", ["http://example.org", "ftp://127.0.0.1", "nonsense", "http://[::1", "https://"])
async def test_an_address_elsewhere_must_be_https_and_the_person_hears_of_it_once(exports: list[Export], url: str) -> None:
    collector = Collector()
    exports.append(export := Export(url, collector))
    await export.calls()
    await export.calls()
    assert (collector.opened, export.traces.dropped, len(export.reported)) == ([], 2, 1)
    assert list(export.traces.problems) == export.reported
    export.telemetry.otlp = ""
    assert list(export.traces.problems) == []


async def test_without_the_extra_the_person_hears_how_to_get_it_once(exports: list[Export]) -> None:
    def missing(endpoint: str) -> Any:
        raise ImportError("opentelemetry")

    exports.append(export := Export(HERE, missing))
    await export.calls()
    await export.calls()
    [problem] = export.reported
    assert "pip install opentelemetry-sdk" in str(problem)


@pytest.mark.parametrize("collector", [Collector(takes=False), Collector(fails=True)])
@pytest.mark.expected_warnings("traces could not be exported")
async def test_what_a_collector_does_not_take_is_counted(exports: list[Export], collector: Collector) -> None:
    exports.append(export := Export(HERE, collector))
    await export.calls(call(), call())
    assert export.traces.dropped == 2


async def test_more_than_may_wait_is_dropped_and_the_rest_is_sent_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_export, "MOST_WAITING", 2)
    collector = Collector()
    export = Export(HERE, collector)
    for _ in range(3):
        export.bus.publish(call())
    await export.traces.close()
    await export.keeper.close()
    assert (export.traces.dropped, len(collector.spans), collector.closed) == (1, 2, 1)


async def test_a_trace_that_is_not_to_be_recorded_needs_no_request(exports: list[Export]) -> None:
    collector = Collector(takes=False)
    exports.append(export := Export(HERE, collector))
    parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00"
    await export.calls(call(params=dump({"_meta": {"traceparent": parent}})))
    assert (export.traces.dropped, collector.spans) == (0, [])


def test_a_url_without_a_path_gets_that_of_otlp() -> None:
    assert [endpoint_of(each) for each in (HERE, HERE + "/", HERE + "/x")] == [HERE + "/v1/traces", HERE + "/v1/traces", HERE + "/x"]


# the real exporter, and a collector on this machine


class Taking(BaseHTTPRequestHandler):
    taken: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        self.taken.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


async def test_a_collector_gets_spans_by_otlp(exports: list[Export]) -> None:
    taken: list[tuple[str, bytes]] = []
    with HTTPServer(("127.0.0.1", 0), type("Handler", (Taking,), {"taken": taken})) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            exports.append(export := Export(f"http://127.0.0.1:{server.server_port}", open_sender))
            parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
            await export.calls(call(params=dump({"_meta": {"traceparent": parent}})), call(outcome="error"))
        finally:
            server.shutdown()
            thread.join()
    [(path, body)] = taken
    assert path == "/v1/traces"
    [resource] = ExportTraceServiceRequest.FromString(body).resource_spans
    first, second = resource.scope_spans[0].spans
    assert (first.name, first.trace_id.hex(), first.parent_span_id.hex()) == ("tools/call t", parent[3:35], parent[36:52])
    assert (second.status.code, second.parent_span_id) == (2, b"")
    assert {each.key: each.value.string_value for each in resource.resource.attributes}["service.name"] == "tooltray"
