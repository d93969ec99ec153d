"""The texts of the list of activity, its details and its charts. Pure functions of snapshots."""

from datetime import datetime, time

import msgspec
from PySide6.QtCore import QDate, QLocale

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import (
    OF_SERVERS,
    ActivityDetails,
    ActivityEntry,
    ActivityFilter,
    ActivityRow,
    CallNow,
    cut_from,
    is_declined,
)
from tooltray.ui.client_names import PERSON, shown_client
from tooltray.ui.figures import moment, number
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.origins import server_name
from tooltray.ui.server_text import one_line, seen
from tooltray.ui.state_language import Look

LONGEST = 400  # characters of a name; more is in no line
SHORT = 40  # characters of a name on a chip
PLAIN = "neutral"  # the tone of what needs no look
TYPICAL, SLOWEST = Phrase("typical"), Phrase("slowest 5 %")
"""The times within which half of some calls ended, and that one in twenty exceeded."""


def took(seconds: float) -> str:
    """Returns how long something took, in three digits at most."""
    milliseconds = seconds * 1000
    if milliseconds < 10:
        return tr("{ms} ms", ms=number(milliseconds, 1))
    if milliseconds < 1000:
        return tr("{ms} ms", ms=number(milliseconds))
    if seconds < 100:
        return tr("{seconds} s", seconds=number(seconds, 1))
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return tr("{minutes} min {seconds} s", minutes=minutes, seconds=rest)
    return tr("{hours} h {minutes} min", hours=number(minutes // 60), minutes=minutes % 60)


def milliseconds(value: float | None) -> str:
    """Returns a figure of latency; "–" where there were no calls."""
    return took(value / 1000) if value is not None else "–"


def at(seconds: float, now: datetime) -> str:
    """Returns when something happened: with seconds today, else as a date."""
    then = datetime.fromtimestamp(seconds)
    return f"{then:%H:%M:%S}" if then.date() == now.date() else moment(seconds, datetime.combine(now, time.min))


def whole_time(seconds: float) -> str:
    """Returns a time with its date."""
    then = datetime.fromtimestamp(seconds)
    return f"{QLocale().toString(QDate(then.year, then.month, then.day), QLocale.FormatType.ShortFormat)} {then:%H:%M:%S}"


def client_words(client: str) -> str:
    """Returns who acted: an AI client, or the user."""
    return tr("You") if client == PERSON else one_line(shown_client(client), LONGEST) or "–"


def ended(entry: ActivityEntry) -> float:
    """Returns when an entry ended: the order of a list, and what its column of times shows."""
    return entry.ended_at or entry.at


def subject(entry: ActivityEntry) -> str:
    """Returns the subject of an entry: the tool, or what happened to a server."""
    server = one_line(entry.server, LONGEST)
    match entry.kind:
        case "start":
            return tr("{server} started", server=server) if entry.outcome == "ok" else tr("{server} did not start", server=server)
        case "stop":
            return tr("{server} stopped", server=server)
        case "failure":
            return tr("{server} failed", server=server) if server else tr("Entries are missing")
        case "question":
            return tr("Question to you")
        case "approval" if not entry.tool:
            return tr("Approval")
        case _:
            return one_line(entry.tool or entry.published, LONGEST) or "–"


def touched(entry: ActivityEntry) -> str:
    """Returns the target of a call: a path, a host, or the first words of a command; for a server's event the reason."""
    return one_line(entry.touched or (reason(entry) if entry.kind in OF_SERVERS else ""), LONGEST)


def row_target(row: ActivityRow) -> str:
    """Returns the target of a row: of its newest entry, and whether there are others; of several servers none."""
    target = "" if len(row.servers) > 1 else touched(row.entry)
    return tr("{target}, …", target=target) if target and row.has_other_targets else target


def row_subject(row: ActivityRow) -> str:
    """Returns the subject of a row: of an entry, or of several events of servers in a row."""
    if not is_of_servers(row):
        return subject(row.entry)
    count, kind, has_stops = len(row.servers), row.entry.kind, row.count > row.starts + row.failures
    if count > 1:
        if not row.starts:
            return tr("{count} servers stopped", count=count) if has_stops else tr("{count} servers failed", count=count)
        return tr("{count} servers restarted", count=count) if has_stops else tr("{count} servers started", count=count)
    server = one_line(row.servers[0], LONGEST)
    if kind == "start" and has_stops and row.starts:
        return many(row.starts, "{server} restarted", "{server} restarted {count} times", server=server)
    if row.failures == row.count:
        return tr("{server} failed {count} times", server=server, count=row.failures)
    return subject(row.entry)


def row_servers(row: ActivityRow) -> str:
    """Returns the servers of a row."""
    return one_line(", ".join(map(server_name, row.servers or (row.entry.server,))), LONGEST)


def row_outcome(row: ActivityRow) -> Look:
    """Returns the look of a row's outcome; of several events of servers how many of them are failures."""
    if not is_of_servers(row) or row.failures == row.count:
        return outcome_look(row.entry)
    if row.failures:
        return Look("state-error", "error", many(row.failures, "1 failed", "{count} failed"))
    return _look(*OF_CALLS["ok"])


def is_of_servers(row: ActivityRow) -> bool:
    """Returns whether a row has several events of servers."""
    return bool(row.servers) and row.count > 1


def is_named(entry: ActivityEntry) -> bool:
    """Returns whether `subject` is a name from code."""
    return entry.kind in ("call", "approval") and bool(entry.tool or entry.published)


ICONS = {"call": "", "question": "message", "approval": "shield", "start": "play", "stop": "stop", "failure": "alert"}
"""Of the kinds; a call, which is the normal case, has none."""


KINDS = {
    "call": Phrase("Calls"),
    "question": Phrase("Questions"),
    "approval": Phrase("Approvals"),
    "start": Phrase("Starts"),
    "stop": Phrase("Stops"),
    "failure": Phrase("Failures"),
}


def kind_name(kind: str) -> str:
    """Returns the name of a kind of entries, for a filter."""
    return say(KINDS.get(kind, KINDS["failure"]))


QUIET, ODD, BAD = ("", PLAIN), ("state-waiting", "warning"), ("state-error", "error")
"""Shapes and tones: only failures and refusals have a shape and a colour."""
FOR_A_TIME, ALWAYS = (*QUIET, Phrase("Allowed for a time")), (*QUIET, Phrase("Always allowed"))
NO_ANSWER, CANCELLED = (*ODD, Phrase("No answer")), (*QUIET, Phrase("Cancelled"))
FAILED, DECLINED = (*BAD, Phrase("Failed")), (*ODD, Phrase("Declined"))
OF_CALLS = {"ok": (*QUIET, Phrase("Done")), "error": FAILED, "refused": (*ODD, Phrase("Not allowed"))}
OF_APPROVALS = {
    "once": (*QUIET, Phrase("Allowed once")),
    "session": (*QUIET, Phrase("Allowed for the session")),
    **dict.fromkeys(("hour", "day", "lock", "like"), FOR_A_TIME),
    **dict.fromkeys(("always", "reads"), ALWAYS),
    "rule": (*QUIET, Phrase("Allowed, and a rule made of it")),
    "refused": DECLINED,
    "late": NO_ANSWER,
}
OF_QUESTIONS = {
    "accept": (*QUIET, Phrase("Answered")),
    **dict.fromkeys(("decline", "cancel"), (*QUIET, DECLINED[2])),
    "error": FAILED,
    "late": NO_ANSWER,
}
"""Outcomes of calls and servers' events, of approvals and of questions; every other one is CANCELLED."""


def outcome_look(entry: ActivityEntry) -> Look:
    """Returns the look of an outcome."""
    if is_declined(entry):
        return _look(*DECLINED)
    looks = {"approval": OF_APPROVALS, "question": OF_QUESTIONS}.get(entry.kind, OF_CALLS)
    return _look(*(looks.get(entry.outcome, CANCELLED) if entry.kind != "failure" else FAILED))


def _look(icon: str, tone: str, word: Phrase) -> Look:
    return Look(icon, tone, say(word))


def row_time(row: ActivityRow) -> str:
    """Returns when an entry or a group of them happened, in full."""
    if row.count < 2:
        return whole_time(ended(row.entry))
    return tr("{first} to {last}", first=whole_time(row.first_at), last=whole_time(ended(row.entry)))


def spoken(row: ActivityRow) -> str:
    """Returns the text of a row's subject for screen readers."""
    name = row_subject(row)
    return tr("{name}, {count} times", name=name, count=number(row.count)) if row.count > 1 and not row.servers else name


ALLOWED_BY = {
    "rules": Phrase("Your settings: it runs without asking"),
    "grant": Phrase("A permission that you gave earlier"),
    "person": Phrase("You, when it asked"),
    "edited": Phrase("You, when it asked. You changed the arguments."),
    "try": Phrase("You, in Try"),
}


def allowed_by(details: ActivityDetails) -> str:
    """Returns what let a call through."""
    return say(ALLOWED_BY.get(details.allowed_by, details.allowed_by))


def stages(details: ActivityDetails) -> list[tuple[str, float | None]]:
    """Returns where the time of a call went, in order, in seconds; an approval or answer of the user, and a start, only where the call had
    one. A call that ran without asking waited for the user's answer to a question of its server.
    """
    times, is_answer = details.times, details.allowed_by in ("rules", "grant", "try")
    waited = [(tr("Your answer") if is_answer else tr("Your approval"), times.person_s), (tr("Server starts"), times.start_s)]
    return [
        (tr("Client"), times.bridge_s),
        ("Tooltray", times.queue_s),
        *((name, seconds) for name, seconds in waited if seconds is not None),
        (tr("Server"), times.server_s),
        (tr("Reply"), times.back_s),
    ]


def waits(call: CallNow) -> str:
    """Returns what a call that is under way waits for."""
    match call.waits_for:
        case "person":
            return tr("waiting for your approval")
        case "start":
            return tr("waits for {server} to start", server=call.server)
        case "turn":
            return tr("waits for its turn at {server}", server=call.server)
        case _:
            return tr("waits for {server}", server=call.server)


def reason(entry: ActivityEntry) -> str:
    """Returns why a call failed or was refused, or why something happened to a server; the engine's own sentences in the user's
    language.
    """
    if entry.outcome == "ok" and entry.kind in ("start", "stop"):
        return _cause(entry)
    if entry.kind == "approval":
        return _answered_by(entry)
    if is_declined(entry):
        return tr("You declined this call.")
    if size := cut_from(entry):
        return tr("The result was cut off: it had {size} bytes.", size=number(size))
    return seen(say(entry.reason))


def _answered_by(entry: ActivityEntry) -> str:
    """Returns who has answered whether a call may be made."""
    match entry.reason:
        case "":
            return ""
        case "person":
            return tr("You answered in Tooltray.")
        case "client":
            return tr("It was answered in {client}.", client=client_words(entry.client))
        case program:
            return tr("The program {name} answered.", name=one_line(program, LONGEST))


def _cause(entry: ActivityEntry) -> str:
    """Returns why a server was started or stopped."""
    is_start = entry.kind == "start"
    match entry.reason:
        case "person":
            return tr("You started it.") if is_start else tr("You stopped it.")
        case "client":
            client = client_words(entry.client)
            return tr("{client} needed it.", client=client) if is_start else tr("{client} needs it no more.", client=client)
        case "idle":
            return tr("It was idle.")
        case "settings":
            return tr("Its settings were changed.")
        case "hub":
            return tr("Started with Tooltray, or restarted after it exited.") if is_start else tr("Tooltray ended or was paused.")
        case _:
            return seen(entry.reason)


def stretch(since: float, until: float, now: datetime) -> str:
    """Returns a stretch of time as a chip names it; 0: no bound."""
    if since and until:
        end = f"{datetime.fromtimestamp(until):%H:%M}"
        is_same_day = datetime.fromtimestamp(since).date() == datetime.fromtimestamp(until - 1).date()
        return f"{moment(since, now)} – {end if is_same_day else moment(until, now)}"
    if since:
        return tr("From {time}", time=moment(since, now))
    return tr("Until {time}", time=moment(until, now))


class FilterChip(msgspec.Struct, frozen=True):
    """A filter: the field of ActivityFilter, the value, and the text of the chip."""

    field: str
    value: str
    label: str


def chips(filter: ActivityFilter, now: datetime) -> list[FilterChip]:
    """Returns the filters of a list without its text, which has a control of its own."""
    found = [FilterChip("kinds", kind, kind_name(kind)) for kind in filter.kinds]
    found += [FilterChip("clients", client, tr("Client: {name}", name=one_line(client_words(client), SHORT))) for client in filter.clients]
    found += [FilterChip("servers", server, tr("Server: {name}", name=one_line(server, SHORT))) for server in filter.servers]
    found += [FilterChip("tools", tool, tr("Tool: {name}", name=one_line(tool, SHORT))) for tool in filter.tools]
    found += [FilterChip("projects", project, tr("Project: {name}", name=one_line(project, SHORT))) for project in filter.projects]
    found += [FilterChip("sessions", session, tr("One session")) for session in filter.sessions]
    if filter.since or filter.until:
        found.append(FilterChip("since", "", stretch(filter.since, filter.until, now)))
    return found
