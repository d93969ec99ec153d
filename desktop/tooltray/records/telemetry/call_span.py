"""A call as a span of a trace: names, times and outcome. No argument and no result.

Names follow OpenTelemetry's semantic conventions for MCP; other names begin with `tooltray.`.
"""

import secrets
from collections.abc import Callable

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.records.journal.trace_context import read_trace

METHOD = "tools/call"
OK = "ok"
KEPT_PARAMS_BYTES = 65_536  # larger ones are not kept in memory just for a trace's id
NANOSECONDS = 1_000_000_000
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8


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
