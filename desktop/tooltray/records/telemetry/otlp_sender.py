"""Sends spans by OTLP over HTTP. The only module that imports OpenTelemetry, and only when it has something to send.

The opentelemetry-sdk and its exporter are an extra (`tooltray[otlp]`).
"""

from collections.abc import Sequence

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from tooltray import __version__
from tooltray.records.telemetry.trace_export import CallSpan

TIMEOUT_S = 5.0  # with all attempts; the hub's end waits for the last one
SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class OtlpSender:
    """A sender to one collector. Belongs to one thread at a time. Ignores the variables of proxies, and follows no redirect."""

    def __init__(self, endpoint: str) -> None:
        """
        Args:
            endpoint: the whole URL of the collector's traces.
        """
        session = requests.Session()
        session.trust_env, session.max_redirects = False, 0
        self._exporter = OTLPSpanExporter(endpoint, timeout=TIMEOUT_S, session=session)
        self._resource = Resource({"service.name": "tooltray", "service.version": __version__})

    def send(self, spans: Sequence[CallSpan]) -> bool:
        """Sends spans; returns whether the collector accepted them."""
        return self._exporter.export([self._span(each) for each in spans]) is SpanExportResult.SUCCESS

    def close(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # it has no annotations

    def _span(self, span: CallSpan) -> ReadableSpan:
        trace = int(span.trace_id, 16)
        return ReadableSpan(
            name=span.name,
            context=SpanContext(trace, int(span.span_id, 16), is_remote=False, trace_flags=SAMPLED),
            parent=SpanContext(trace, int(span.parent_id, 16), is_remote=True, trace_flags=SAMPLED) if span.parent_id else None,
            resource=self._resource,
            attributes=span.attributes,
            kind=SpanKind.SERVER,
            status=Status(StatusCode.ERROR) if span.error else Status(),
            start_time=span.started_ns,
            end_time=span.ended_ns,
        )
