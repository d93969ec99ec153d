"""What happened, as the journal keeps it: calls, questions, approvals, starts, stops and failures, and figures about them.

Ids count up for the life of one `activity.db`. Times are unix seconds. Texts of servers and models are made harmless, and no secret is in
any of them.
"""

import msgspec

KINDS = ("call", "question", "approval", "start", "stop", "failure")
"""What an entry is about."""

OUTCOMES = ("ok", "error", "refused", "cancelled")
"""How a call, a start or a stop ended. An approval's is its answer (CHOICES in approvals.py, "refused", "late"), a question's
"accept", "decline", "cancel", "late", or "error" where the client could not ask; both are "cancelled" where whoever asked is gone."""


CUT = "cut "
"""How the reason of a call begins whose result was cut."""


class ActivityTimes(msgspec.Struct, frozen=True):
    """Where the time of a call went, in seconds; None: not measured, or not on the way of this call.

    Attributes:
        bridge_s: from the AI client's bridge to the hub; it is not measured by now.
        queue_s: in the hub, before its server could have it; waiting for a person or for a start not included.
        person_s: until a person had answered.
        start_s: until its server ran.
        server_s: until the server had answered.
        back_s: until the reply was on its way to the client.
    """

    bridge_s: float | None = None
    queue_s: float | None = None
    person_s: float | None = None
    start_s: float | None = None
    server_s: float | None = None
    back_s: float | None = None


class ActivityEntry(msgspec.Struct, frozen=True):
    """One thing that happened.

    Attributes:
        kind: one of KINDS.
        at: when it began.
        outcome: as OUTCOMES says.
        duration_s: without the time of a person; of a question and an approval until the answer.
        client: as it names itself; "tooltray": the person; empty: no client had to do with it.
        session: as the hub that runs knows it; of earlier hubs with the mark of its run behind a dot, as "s3.1f0c2ab9".
        project: path of the folder on which its session worked; empty: not known.
        tool: the server's own name for it.
        published: the name under which the client called it.
        tokens: of the result, estimated: a quarter of its bytes.
        touched: one line: the path, the host, or the first words of a command; masked.
        reason: why it failed or was refused. Of a start or a stop why it was: "person", "client" (a call needed it, or its client left),
            "idle", "settings" or "hub"; of an approval who answered: "person" at Tooltray, "client" at the AI client, or the name of a
            program; without an answer "expired", "unasked", "withdrawn" or "changed". Of a call whose result was cut "cut " and how many
            bytes it had before.
        has_contents: whether arguments or result are kept.
    """

    id: int
    kind: str
    at: float
    outcome: str
    duration_s: float = 0.0
    client: str = ""
    session: str = ""
    project: str = ""
    server: str = ""
    tool: str = ""
    published: str = ""
    argument_bytes: int = 0
    result_bytes: int = 0
    tokens: int = 0
    touched: str = ""
    reason: str = ""
    has_contents: bool = False


def cut_from(entry: ActivityEntry) -> int:
    """How many bytes a call's result had before it was cut to what its client is to have; 0: it was not."""
    size = entry.reason.removeprefix(CUT)
    return int(size) if entry.kind == "call" and size != entry.reason and size.isdecimal() else 0


class ActivityRow(msgspec.Struct, frozen=True):
    """An entry, or several in a row that differ in nothing that a list shows but their time.

    Attributes:
        entry: the newest of them.
        count: how many.
        first_id, first_at: of the oldest.
    """

    entry: ActivityEntry
    count: int
    first_id: int
    first_at: float


class ActivityDetails(msgspec.Struct, frozen=True):
    """One entry in full.

    Attributes:
        arguments: JSON, masked; empty: not kept.
        result: the result object or the error as JSON, masked; empty: not kept.
        is_cut: the limit cut one of them, so that it is no whole JSON any more.
        allowed_by: what let a call through: "rules", "grant", "person"; empty: not known.
        trace_id: of the trace that its client said a call belongs to: 32 hexadecimal digits; empty: it said nothing.
        trace_context: JSON: `traceparent`, and `tracestate` and `baggage` where it said them, masked.
    """

    entry: ActivityEntry
    times: ActivityTimes = ActivityTimes()
    arguments: str = ""
    result: str = ""
    is_cut: bool = False
    allowed_by: str = ""
    trace_id: str = ""
    trace_context: str = ""


class ActivityFilter(msgspec.Struct, frozen=True):
    """Which entries are meant; an empty field means all.

    Attributes:
        text: found in tool, server, client, project, touched or reason, in whatever case; or the whole id of a trace.
        tools: the server's own names.
        since, until: unix seconds; `since` is in, `until` is not; 0: no bound.
    """

    text: str = ""
    kinds: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    since: float = 0.0
    until: float = 0.0


class ActivityCounts(msgspec.Struct, frozen=True):
    """How many entries there are of whatever kind; `failed` are those with the outcome "error"."""

    entries: int = 0
    failed: int = 0
    refused: int = 0


class ActivityChoices(msgspec.Struct, frozen=True):
    """What entries could be filtered by."""

    clients: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()


class ActivityPoint(msgspec.Struct, frozen=True):
    """The calls of one stretch of time. p50_ms, p95_ms: right within 2.2 of 100; None without calls."""

    at: float
    calls: int = 0
    failures: int = 0  # of them: errors, refusals
    tokens: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None


class ActivityFigures(msgspec.Struct, frozen=True):
    """The calls of one server, client or tool. `name`: whose; of a tool `SERVER/TOOL`."""

    name: str
    calls: int
    failures: int
    tokens: int
    p50_ms: float | None
    p95_ms: float | None
    last_at: float


class ToolUse(msgspec.Struct, frozen=True):
    """How one tool was used. `tool`: the server's own name."""

    server: str
    tool: str
    calls: int
    failures: int
    last_at: float
    clients: tuple[str, ...]


class CallNow(msgspec.Struct, frozen=True):
    """A call that is under way. `waits_for`: "server", "person", "start" or "turn"."""

    client: str
    session: str
    project: str
    server: str
    tool: str
    since: float
    waits_for: str = "server"


class JournalStatus(msgspec.Struct, frozen=True):
    """
    Attributes:
        path: of `activity.db`; empty: nothing is kept on disk.
        bytes: on disk.
        lost: entries that could not be kept since the hub started.
        problem: why entries are lost, or what happened to a damaged journal; empty: nothing is wrong.
    """

    path: str = ""
    bytes: int = 0
    entries: int = 0
    oldest_at: float = 0.0
    lost: int = 0
    problem: str = ""
