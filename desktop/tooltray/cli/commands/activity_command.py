"""`tooltray activity` and `tooltray audit`: the journal of what happened, and the record of who allowed what, when and how.

Where no hub runs, both are read from their files.
"""

import argparse
import contextlib
import os
import time
from collections.abc import Iterator

import msgspec

from tooltray.carriers.control.control_client import ControlClient, HubLost
from tooltray.cli import values
from tooltray.cli.arguments import Usage
from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.person import check_terminal
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, answer_list, clean_line, count, moment, print_json, print_table, to_json
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase, as_json
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityEntry, ActivityFilter, ActivityRow, ActivityTimes, cut_from
from tooltray.foundation.snapshots.approvals import AuditEntry

READ_TIMEOUT_S = 60.0  # of 200 MB on a slow disk
EXPORT_TIMEOUT_S = 600.0
PAGE = 200  # entries that are requested at once while following
WRITTEN = "ActivityWritten"
_TITLES = (Phrase("ID"), Phrase("TIME"), Phrase("CLIENT"), Phrase("WHAT"), Phrase("OUTCOME"), "MS", Phrase("ABOUT"))
_PARTS = {
    "bridge_s": Phrase("from the AI client to Tooltray"),
    "queue_s": Phrase("in Tooltray"),
    "person_s": Phrase("your approval or answer"),
    "start_s": Phrase("starting the server"),
    "server_s": Phrase("the server"),
    "back_s": Phrase("back to the AI client"),
}
_ALLOWED = {
    "rules": Phrase("the settings"),
    "grant": Phrase("an earlier approval"),
    "person": Phrase("your approval"),
    "edited": Phrase("your approval, with arguments that you changed"),
    "try": Phrase("you, in Try"),
}
KINDS = ("call", "question", "approval", "start", "stop", "failure")
ROWS = 50


def declare(parser: Usage) -> None:
    parser.runs(activity, check=_check)
    parser.usage = "tooltray activity [FILTER ...] [--limit N] [--each] [--follow]\n       tooltray activity show ID"
    parser.usage += "\n       tooltray activity export FILE [FILTER ...]\n       tooltray activity clear | undo-clear"
    about = tr(
        "show ID: one entry in full, by its number or its call's id; export FILE: write entries as JSON "
        "Lines; clear: empty the journal; undo-clear: restore it"
    )
    parser.takes("words", "WORDS", about, nargs="*")
    for name in ("server", "client", "tool", "project"):
        parser.repeats(f"--{name}", name.upper(), tr("only of this {name}; may be repeated", name=name))
    parser.add_argument("--kind", action="append", default=[], choices=KINDS, help=tr("only of this kind; may be repeated"))
    parser.takes("--text", "TEXT", tr("only entries with this text in a name, the target or the reason"), default="")
    parser.flag("--failed", tr("only entries that failed or were not allowed"))
    parser.takes("--since", "TIME", tr("only of this period: 90s, 30m, 8h or 7d"), type=values.time)
    parser.takes("--limit", "N", tr("number of rows ({rows})", rows=ROWS), type=values.number, default=ROWS)
    parser.flag("--each", tr("do not merge repeated entries"))
    parser.flag("--follow", tr("keep printing new entries until Ctrl-C"))


def _check(usage: Usage, args: argparse.Namespace) -> None:
    match args.words:
        case [] | ["export", _] | ["clear" | "undo-clear"]:
            pass
        case ["show", _]:
            pass
        case _:
            usage.error(tr("after `activity`: nothing, show ID, export FILE, clear or undo-clear"))
    if args.follow and args.words:
        usage.error(tr("--follow does not go with {words}", words=args.words[0]))


def activity(args: argparse.Namespace, home: Home) -> int:
    """Runs the subcommand that the first word names."""
    if args.follow:
        return _follow(args, home)
    match args.words:
        case ["show", id]:
            return _show(args, home, int(id) if id.isdecimal() and len(id) < 19 else id)
        case ["export", file]:
            return _export(args, home, file)
        case ["clear"]:
            return _clear(args, home)
        case ["undo-clear"]:
            with any_hub(home) as hub:
                hub.ask(hub.api.activity.undo_clear_activity())
            return answer(args, {"is_cleared": False}, tr("The journal is restored."))
    with any_hub(home) as hub:
        rows = _rows(hub, args)
    if args.json:
        print_json(rows)
    elif rows:
        print_table([say(title) for title in _TITLES], [_cells(row) for row in rows])
    else:
        print(tr("The journal has no matching entries."))
    return 0


def _rows(hub: Hub, args: argparse.Namespace) -> list[ActivityRow]:
    """Returns rows, the newest last."""
    is_joined = not (args.each or args.json)
    asked = hub.api.activity.get_activity(filter=_filter(args), limit=args.limit, collapsed=is_joined)
    return hub.ask(asked, timeout_s=READ_TIMEOUT_S)[::-1]


def _filter(args: argparse.Namespace) -> ActivityFilter:
    return ActivityFilter(
        text=args.text,
        kinds=tuple(args.kind),
        outcomes=("error", "refused") if args.failed else (),
        clients=tuple(args.client),
        projects=tuple(os.path.abspath(each) for each in args.project),
        servers=tuple(args.server),
        tools=tuple(args.tool),
        since=time.time() - args.since if args.since else 0.0,
    )


def _cells(row: ActivityRow) -> tuple[str, ...]:
    entry = row.entry
    what = _what(entry) if row.count < 2 or not row.servers else f"start/stop {', '.join(row.servers)}"
    what += f" x {row.count}" if row.count > 1 else ""
    touched = tr("{target} and others", target=entry.touched) if entry.touched and row.has_other_targets else entry.touched
    about = " - ".join(filter(None, (touched, _reason(entry))))
    return str(entry.id), moment(entry.at), entry.client or "-", what, entry.outcome, f"{entry.duration_s * 1000:.0f}", about


def _reason(entry: ActivityEntry) -> str:
    size = cut_from(entry)
    return tr("The result was cut off: it had {size} bytes.", size=f"{size:,}") if size else entry.reason


def _what(entry: ActivityEntry) -> str:
    where = "/".join(filter(None, (entry.server, entry.tool)))
    return where if entry.kind == "call" else f"{entry.kind} {where}".strip()


# following


def _follow(args: argparse.Namespace, home: Home) -> int:
    """Shows the last rows, and then each new one; ends with the hub."""
    events = ControlClient.connect(home, with_events=True)
    if events is None:
        raise TooltrayError(tr("Tooltray is not running"), tr("so nothing new can be shown"), tr("Start one with: tooltray serve"))
    with events, any_hub(home) as hub, contextlib.suppress(HubLost):
        args.each = True
        rows = _rows(hub, args)
        last = rows[-1].entry.id if rows else 0
        _print_lines(args, rows)
        for kind, _ in events.events():
            if kind == WRITTEN:
                rows = list(_newer(hub, args, last))[::-1]
                last = rows[-1].entry.id if rows else last
                _print_lines(args, rows)
    return 0


def _newer(hub: Hub, args: argparse.Namespace, last: int) -> Iterator[ActivityRow]:
    """Yields rows, the newest first."""
    before = 0
    while True:
        asked = hub.api.activity.get_activity(filter=_filter(args), before=before, limit=PAGE)
        rows = [row for row in hub.ask(asked, timeout_s=READ_TIMEOUT_S) if row.entry.id > last]
        yield from rows
        if len(rows) < PAGE:
            return
        before = rows[-1].entry.id


def _print_lines(args: argparse.Namespace, rows: list[ActivityRow]) -> None:
    for row in rows:
        line = to_json(as_json(row.entry), indent=None) if args.json else clean_line("  ".join(_cells(row)[1:]))
        print(line, flush=True)


# one entry


def _show(args: argparse.Namespace, home: Home, id: int | str) -> int:
    with any_hub(home) as hub:
        found = hub.ask(hub.api.activity.get_activity_entry(id=id), timeout_s=READ_TIMEOUT_S)
    return answer(args, found, *(clean_line(line) for line in _lines(found)))


def _lines(found: ActivityDetails) -> Iterator[str]:
    entry = found.entry
    yield f"{_what(entry)}: {entry.outcome}"
    yield f"{moment(entry.at)}, {entry.duration_s * 1000:.1f} ms"
    yield from _named(tr("AI client"), entry.client, f"session {entry.session}" if entry.session else "")
    yield from _named(tr("Project"), entry.project)
    yield from _named(tr("Target"), entry.touched)
    yield from _named(tr("Reason"), _reason(entry))
    yield from _named(tr("Allowed by"), say(_ALLOWED.get(found.allowed_by, found.allowed_by)))
    if entry.kind == "call":
        yield tr(
            "Sizes: {argument_bytes} bytes of arguments, {result_bytes} of result (about {tokens} tokens)",
            argument_bytes=f"{entry.argument_bytes:,}",
            result_bytes=f"{entry.result_bytes:,}",
            tokens=f"{entry.tokens:,}",
        )
    yield from _named(tr("Time"), *_times(found.times))
    yield from _named(tr("Trace"), found.trace_context or found.trace_id)
    yield from _named(tr("Arguments"), found.arguments)
    yield from _named(tr("Result"), found.result)


def _named(name: str, *values: str) -> Iterator[str]:
    if given := [value for value in values if value]:
        yield f"{name}: {', '.join(given)}"


def _times(times: ActivityTimes) -> Iterator[str]:
    for name, value in msgspec.structs.asdict(times).items():
        if value is not None:
            yield tr("{value} ms {part}", value=f"{value * 1000:.2f}", part=say(_PARTS[name]))


# all of them


def _export(args: argparse.Namespace, home: Home, file: str) -> int:
    path = os.path.abspath(file)
    with any_hub(home) as hub:
        asked = hub.api.activity.export_activity(path=path, filter=_filter(args))
        written = hub.ask(asked, timeout_s=EXPORT_TIMEOUT_S)
    return answer(
        args, {"path": path, "entries": written}, tr("{count} written to {path}.", count=count(written, "line"), path=clean_line(path))
    )


def _clear(args: argparse.Namespace, home: Home) -> int:
    check_terminal(tr("Emptying the journal"))
    with any_hub(home) as hub:
        hub.ask(hub.api.activity.clear_activity())
    return answer(args, {"is_cleared": True}, tr("The journal is empty. To undo, before Tooltray ends: tooltray activity undo-clear"))


AUDIT_PAGE = 1000  # decisions; a hub returns no more at once
ANSWERS = {
    "yes": Phrase("yes"),
    "no": Phrase("no"),
    "late": Phrase("no answer"),
    "gone": Phrase("the caller gave up"),
    "narrowed": Phrase("revoked"),
}
WAYS = {
    "window": Phrase("the window"),
    "terminal": Phrase("a terminal"),
    "passphrase": Phrase("the passphrase"),
    "program": Phrase("a program"),
    "client": Phrase("a form of the AI client"),
    "script": Phrase("a script"),
}
ROWS_AUDIT = 50


def declare_audit(parser: Usage) -> None:
    parser.runs(audit)
    parser.flag("--verify", tr("check that the record was not altered; exit code 1 if it was"))
    parser.takes("--limit", "N", tr("number of rows ({rows})", rows=ROWS_AUDIT), type=values.number, default=ROWS_AUDIT)


def audit(args: argparse.Namespace, home: Home) -> int:
    """Lists decisions, the newest last, or checks that none was changed, removed or inserted."""
    with any_hub(home) as hub:
        if args.verify:
            return _verify_audit(args, hub)
        entries = _newest(hub, args.limit)[::-1]
    titles = (tr("NO"), tr("TIME"), tr("ANSWER"), tr("WHAT"), tr("ABOUT"), tr("BY"), tr("FROM"))
    return answer_list(args, entries, titles, _decision_row, empty=tr("No decisions yet."))


def _newest(hub: Hub, count: int) -> list[AuditEntry]:
    found: list[AuditEntry] = []
    while len(found) < count:
        asked, before = min(AUDIT_PAGE, count - len(found)), found[-1].number if found else 0
        page = hub.ask(hub.api.audit.get_audit(before=before, limit=asked), timeout_s=READ_TIMEOUT_S)
        found += page
        if len(page) < asked:
            break
    return found


def _verify_audit(args: argparse.Namespace, hub: Hub) -> int:
    found = hub.ask(hub.api.audit.verify_audit(), timeout_s=READ_TIMEOUT_S)
    if args.json:
        answer(args, found)
        return 0 if found.is_whole else 1
    if not found.is_whole:
        hint = tr("Someone may have added permissions. Check: tooltray grants list, tooltray trust list")
        raise TooltrayError(tr("The audit trail was altered"), "; ".join(found.problems), hint)
    print(tr("The audit trail is intact: entries {first} to {last}.", first=found.first, last=found.last))
    return 0


def _decision_row(entry: AuditEntry) -> tuple[str, ...]:
    about = ", ".join(f"{name}: {value}" for name, value in entry.about.items())
    way = say(WAYS.get(entry.way, entry.way)) + (f" ({entry.who})" if entry.who else "")
    answered = say(ANSWERS.get(entry.answer, entry.answer))
    return str(entry.number), moment(entry.at), answered, *(clean_line(each) for each in (say(entry.what), about, way, entry.origin))
