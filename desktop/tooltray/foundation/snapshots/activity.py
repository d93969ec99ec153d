"""What happened: entries of the journal and statistics about them; and logs, a page at a time.

Ids of entries count up for the life of one `activity.db`. Times are unix seconds. Texts of servers and models are cleaned for display,
and no secret is in any of them.
"""

import msgspec

from tooltray.foundation.errors import Problem

KINDS = ("call", "question", "approval", "start", "stop", "failure")
"""What an entry is about."""
OF_SERVERS = ("start", "stop", "failure")
"""Kinds that are about a server, and not about a call of its tools."""

OUTCOMES = ("ok", "error", "refused", "cancelled")
"""How a call, a start or a stop ended. An approval's is its answer (CHOICES in approvals.py, "refused", "late"), a question's
"accept", "decline", "cancel", "late", or "error" where the client could not ask; both are "cancelled" where the asker is gone."""
DECLINED = "the user declined this call"
"""How the reason of a call begins that the user declined; its client gets the same."""
CUT = "cut "
"""How the reason of a call begins whose result was cut."""

LEVELS = ("error", "warning", "info", "debug")
"""What a line can be; one that says nothing of itself has none."""

HUB, SERVER, MESSAGES = "hub", "server:", "messages:"
"""Sources: the hub's own log, and the beginnings of those of a server, which its name follows."""
START = ":0"
"""The place before the oldest line, for `after`."""


class ActivityTimes(msgspec.Struct, frozen=True):
    """How long each part of a call took, in seconds; None: not measured, or the call had no such part.

    Attributes:
        bridge_s: from the AI client's bridge to the hub; not measured yet.
        queue_s: in the hub, before the server received the call; without the waits for an approval or a start.
        person_s: until the user had answered.
        start_s: until the server was running.
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
    """One event in the journal.

    Attributes:
        kind: one of KINDS.
        at: when it began.
        ended_at: when it ended, which is the order of the ids.
        outcome: as OUTCOMES describes.
        duration_s: without the time of the user; of a question and an approval until the answer.
        client: as it names itself; "tooltray": the user; empty: no client was involved.
        session: the running hub's id for it; of earlier hubs with the id of that hub's run behind a dot, as "s3.1f0c2ab9".
        project: path of the folder on which its session worked; empty: not known.
        tool: the server's own name for it.
        published: the name under which the client called it.
        tokens: of the result, estimated: a quarter of its bytes.
        touched: the target in one line: the path, the host, or the first words of a command; masked.
        reason: why it failed or was refused. Of a start or a stop its cause: "person", "client" (a call needed it, or its client left),
            "idle", "settings" or "hub". Of an approval who answered: "person" at Tooltray, "client" at the AI client, or the name of a
            program; without an answer "expired", "unasked", "withdrawn" or "changed". Of a call whose result was cut "cut " and how many
            bytes it had before.
        has_contents: whether arguments or result are stored.
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
    ended_at: float = 0.0


def is_declined(entry: ActivityEntry) -> bool:
    """Returns whether the user declined a call; other calls of the outcome "refused" got no answer, or no one could be asked."""
    return entry.kind == "call" and entry.outcome == "refused" and entry.reason.startswith(DECLINED)


def cut_from(entry: ActivityEntry) -> int:
    """Returns how many bytes a call's result had before it was cut to its client's limit; 0: it was not cut."""
    size = entry.reason.removeprefix(CUT)
    return int(size) if entry.kind == "call" and size != entry.reason and size.isdecimal() else 0


class ActivityRow(msgspec.Struct, frozen=True):
    """An entry, or several in a row that a list shows alike except for their time, or several events of servers in a row.

    Attributes:
        entry: the newest of them.
        count: how many.
        first_id, first_at: of the oldest.
        servers: of events of servers: their names, the newest first; else empty.
        starts, failures: how many of these events are starts that worked, and how many are failures.
        has_other_targets: the other entries of the row have targets besides that of the newest.
    """

    entry: ActivityEntry
    count: int
    first_id: int
    first_at: float
    servers: tuple[str, ...] = ()
    starts: int = 0
    failures: int = 0
    has_other_targets: bool = False


class ActivityDetails(msgspec.Struct, frozen=True):
    """One entry in full.

    Attributes:
        arguments: JSON, masked; empty: not stored.
        result: the result object or the error as JSON, masked; empty: not stored.
        is_cut: the limit cut one of them, so that it is only a part of the JSON.
        diff: what the call would change, as the user saw it when the call asked: lines that begin with "+", "-" or " ", masked; empty: not
            stored, or not shown to the caller: only the window gets it.
        allowed_by: what allowed a call: "rules", "grant", "person", "edited": the user, who has changed the arguments, or "try": the user
            made the call in the window; empty: not known.
        trace_id: of the trace that the client gave for a call: 32 hexadecimal digits; empty: the client gave none.
        trace_context: JSON: the client's `traceparent`, `tracestate` and `baggage`, as far as it gave them, masked.
    """

    entry: ActivityEntry
    times: ActivityTimes = ActivityTimes()
    arguments: str = ""
    result: str = ""
    is_cut: bool = False
    allowed_by: str = ""
    trace_id: str = ""
    trace_context: str = ""
    diff: tuple[str, ...] = ()


class ActivityFilter(msgspec.Struct, frozen=True):
    """A selection of entries; an empty field selects all.

    Attributes:
        text: contained in tool, server, client, project, touched or reason, in any case; or the whole id of a trace.
        tools: the server's own names.
        since, until: unix seconds; from `since` on, and before `until`; 0: no bound.
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
    """The number of entries of any kind; `failed` counts the outcome "error"."""

    entries: int = 0
    failed: int = 0
    refused: int = 0


class ActivityChoices(msgspec.Struct, frozen=True):
    """The values by which entries can be filtered."""

    clients: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()


class ActivityPoint(msgspec.Struct, frozen=True):
    """The calls of one period. p50_ms, p95_ms: correct within 2.2 %; None without calls."""

    at: float
    calls: int = 0
    failures: int = 0  # of them; a call that was refused is none
    tokens: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None


class ActivityFigures(msgspec.Struct, frozen=True):
    """The calls of one server, client or tool. `name`: its name; of a tool `SERVER/TOOL`."""

    name: str
    calls: int
    failures: int
    tokens: int
    p50_ms: float | None
    p95_ms: float | None
    last_at: float


class ToolUse(msgspec.Struct, frozen=True):
    """The use of one tool. `tool`: the server's own name."""

    server: str
    tool: str
    calls: int
    failures: int
    last_at: float
    clients: tuple[str, ...]


class CallNow(msgspec.Struct, frozen=True):
    """A call in progress. `waits_for`: "server", "person", "start" or "turn"."""

    client: str
    session: str
    project: str
    server: str
    tool: str
    since: float
    waits_for: str = "server"


class JournalStatus(msgspec.Struct, frozen=True):
    """The state of the journal.

    Attributes:
        path: of `activity.db`; empty: the journal is not stored on disk.
        bytes: on disk.
        lost: entries that could not be stored since the hub started.
        problem: why entries are lost, or what happened to a damaged journal; empty: all is well.
    """

    path: str = ""
    bytes: int = 0
    entries: int = 0
    oldest_at: float = 0.0
    lost: int = 0
    problem: str = ""


class LogLine(msgspec.Struct, frozen=True):
    """One line. Its text is plain, on one line, without secrets.

    Attributes:
        position: of this line, for `before` and `after`.
        at: when it arrived, in unix seconds; 0: not known.
        level: one of LEVELS, or empty.
        kind: "output": written by a server; "mark": a state that a server has entered; "record": of the hub; "message": of the protocol.
        detail: of a record or a message, as JSON; of a mark, the reason.
        direction: of a message: "out" to the server, "in" from it.
        ms: of a message that answers another one: the time between them.
        is_cut: it was longer.
    """

    position: str
    at: float
    text: str
    level: str = ""
    kind: str = "output"
    detail: str = ""
    direction: str = ""
    ms: float | None = None
    is_cut: bool = False


class LogFilter(msgspec.Struct, frozen=True):
    """A selection of lines; an empty field selects all.

    Attributes:
        text: contained in the line, in any case; in records and messages also in their fields.
        levels: of LEVELS; indented lines belong to the line before them.
        since, until: unix seconds; from `since` on, and before `until`; 0: no bound.
    """

    text: str = ""
    levels: tuple[str, ...] = ()
    since: float = 0.0
    until: float = 0.0


ALL_LINES = LogFilter()


class LogPage(msgspec.Struct, frozen=True):
    """Some lines in a row, oldest first.

    One page searches a bounded number of bytes, so that a search can be cancelled and shows its progress.

    Attributes:
        before: the position for the next page of older lines; empty: it would be empty.
        after: the position for newer lines, including future ones.
        is_partial: fewer lines were found than requested, and the search is not finished: continue it at `before` (or `after`).
        reached_at: the time of the last line that was searched; 0: not known.
        searched_bytes: how much was searched for this page.
        total_bytes: of the whole log.
        recorded_until: of messages: until when they are recorded; 0: they are not.
        problem: why lines are missing; None: the page is complete.
    """

    lines: tuple[LogLine, ...] = ()
    before: str = ""
    after: str = ""
    is_partial: bool = False
    reached_at: float = 0.0
    searched_bytes: int = 0
    total_bytes: int = 0
    recorded_until: float = 0.0
    problem: Problem | None = None
