"""Exports traces: each tool call becomes a span, sent in the background to the collector that the settings name.

A call only adds itself to a queue: calls that do not fit are counted and dropped, and a slow or missing collector delays nothing. A span
has names, times and outcome, but no argument and no result. Names follow OpenTelemetry's semantic conventions for MCP; other names begin
with `tooltray.`.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.loopback import is_loopback
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.call_params import read_trace
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.records.log.masking import Mask

METHOD = "tools/call"
OK = "ok"
KEPT_PARAMS_BYTES = 65_536  # larger ones are not kept in memory just for a trace's id
NANOSECONDS = 1_000_000_000
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8

logger = logging.getLogger(__name__)
MOST_WAITING = 2_048  # calls; OpenTelemetry's own limit
BATCH = 512  # spans of one request
EVERY_S = 2.0
TRACES_PATH = "/v1/traces"


class FinishedCall(msgspec.Struct, frozen=True, eq=False):
    """A call that waits for its export, reduced to what the export needs."""

    event: JournalEvent
    params: Raw
    timings: CallTimings | None


class CallSpan(msgspec.Struct, frozen=True):
    """A span of a trace.

    Attributes:
        trace_id, span_id: hexadecimal.
        parent_id: of the client's span; empty: the client gave none.
        started_ns, ended_ns: since 1970.
        error: the kind of failure; empty: the call succeeded.
    """

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    started_ns: int
    ended_ns: int
    attributes: dict[str, str | float]
    error: str = ""


def finished(event: JournalEvent) -> FinishedCall:
    """Copies the parts of a call that the export needs, without the result, which may be large."""
    params = event.params if len(memoryview(event.params)) <= KEPT_PARAMS_BYTES else NOTHING
    kept = {name: getattr(event, name) for name in ("kind", "at", "outcome", "duration_s", "client", "session", "server", "tool")}
    return FinishedCall(JournalEvent(**kept), params, event.timings)


def span_of(call: FinishedCall, mask: Callable[[str], str]) -> CallSpan | None:
    """Makes a call's span; None: its client does not want this trace to be recorded.

    Args:
        mask: removes known secrets from a text.
    """
    event, trace = call.event, read_trace(call.params)
    if trace and not trace.is_sampled:
        return None
    tool = mask(event.tool)
    started_ns = int(event.at * NANOSECONDS)
    passed_s = call.timings.passed_s if call.timings else event.duration_s
    error = "" if event.outcome == OK else "tool_error" if event.outcome == "error" else event.outcome
    return CallSpan(
        name=f"{METHOD} {tool}",
        trace_id=trace.trace_id if trace else secrets.token_hex(TRACE_ID_BYTES),
        span_id=secrets.token_hex(SPAN_ID_BYTES),
        parent_id=trace.parent_id if trace else "",
        started_ns=started_ns,
        ended_ns=started_ns + int(passed_s * NANOSECONDS),
        attributes={
            "mcp.method.name": METHOD,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "mcp.session.id": event.session,
            "tooltray.server": mask(event.server),
            "tooltray.client": mask(event.client),
            **_times(call.timings),
            **({"error.type": error} if error else {}),
        },
        error=error,
    )


def _times(timings: CallTimings | None) -> dict[str, float]:
    """Returns how many seconds the call spent with the user, the start of its server, and the server."""
    parts = {"person": timings.person_s, "start": timings.start_s, "server": timings.server_s} if timings else {}
    return {f"tooltray.{name}_s": seconds for name, seconds in parts.items() if seconds is not None}


class Sender(Protocol):
    """A sender of spans, such as OtlpSender."""

    def send(self, spans: Sequence[CallSpan]) -> bool: ...

    def close(self) -> None: ...


def open_sender(endpoint: str) -> Sender:
    """Opens a sender.

    Raises:
        ImportError: the extra is not installed.
    """
    from tooltray.records.telemetry.otlp_sender import OtlpSender  # an extra, and slow to import

    return OtlpSender(endpoint)


class TraceExport:
    """The export of a hub's calls. Belongs to the engine's loop.

    Attributes:
        dropped: calls that are in no trace because too many waited, or the collector did not accept them.
    """

    def __init__(
        self,
        *,
        bus: EventBus,
        config: McpConfHelper,
        known_values: Callable[[], Iterable[str]],
        spawn: Spawn,
        open_sender: Callable[[str], Sender] = open_sender,
        every_s: float = EVERY_S,
    ) -> None:
        """
        Args:
            known_values: the secrets that are masked; called in a thread.
            open_sender: makes the sender for a collector's URL; raises ImportError if the extra is not installed.
            every_s: how long calls are gathered.
        """
        self._bus, self._config, self._mask, self._spawn = bus, config, Mask(known_values), spawn
        self._open_sender, self._every_s = open_sender, every_s
        self._waiting: deque[FinishedCall] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._sender: Sender | None = None
        self._url = ""  # of the collector for which a sender was opened, or could not be opened
        self._problem: Problem | None = None
        self._is_taken = True
        self.dropped = 0

    def start(self) -> None:
        self._bus.subscribe(JournalEvent, self._on_happened)

    @property
    def problems(self) -> Iterator[Problem]:
        """The reason why nothing is exported although the settings name a collector."""
        if self._problem and self._config.settings.telemetry.otlp:
            yield self._problem

    async def close(self) -> None:
        """Sends the waiting calls, once; not to a collector that did not accept the last ones."""
        if self._sending:
            self._sending.cancel()
            await asyncio.wait({self._sending})
        if self._waiting and self._is_taken:
            await self._send()
        if self._sender:
            await finish_in_thread(self._sender.close)
            self._sender = None

    def _on_happened(self, event: JournalEvent) -> None:
        if event.kind != CALL or not self._config.settings.telemetry.otlp:
            return
        if len(self._waiting) >= MOST_WAITING:
            self.dropped += 1
            return
        self._waiting.append(finished(event))
        if self._sending is None or self._sending.done():
            self._sending = self._spawn(self._send_all(), name="export traces")

    async def _send_all(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._every_s)
            await self._send()

    async def _send(self) -> None:
        calls = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        url, before = self._config.settings.telemetry.otlp, self._problem
        self._is_taken = await finish_in_thread(self._sent, url, calls)
        if not self._is_taken:
            self.dropped += len(calls)
        if self._problem and self._problem != before:
            self._bus.publish(ProblemReported(self._problem))

    # in a thread

    def _sent(self, url: str, calls: Sequence[FinishedCall]) -> bool:
        if url != self._url:
            self._open(url)
        if self._sender is None:
            return False
        self._mask.refresh()
        try:
            spans = [span for call in calls if (span := span_of(call, self._mask.text))]
            return not spans or self._sender.send(spans)
        except Exception:  # whatever a collector answers costs only its spans
            logger.exception("traces could not be exported")
            return False

    def _open(self, url: str) -> None:
        if self._sender:
            self._sender.close()
        self._url, self._sender, self._problem = url, None, _fault(url)
        if self._problem is None:
            try:
                self._sender = self._open_sender(endpoint_of(url))
            except ImportError:
                self._problem = Problem(
                    Phrase("Traces are not exported"),
                    Phrase("the extra for it is not installed"),
                    Phrase("Install it with: pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"),
                )


def endpoint_of(url: str) -> str:
    """Returns the URL for traces at a collector: a URL without a path gets OTLP's own."""
    return url.rstrip("/") + TRACES_PATH if urlsplit(url).path in ("", "/") else url


def _fault(url: str) -> Problem | None:
    """Returns the problem of a collector's URL: traces must leave this machine only encrypted."""

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if host and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))):
        return None
    return Problem(
        Phrase("Traces are not exported"),
        Phrase("the address in `telemetry.otlp` is neither one of this computer nor https"),
        Phrase("Name a collector such as http://127.0.0.1:4318."),
    )
