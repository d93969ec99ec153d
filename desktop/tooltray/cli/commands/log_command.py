"""`tooltray log`: shows the log of a server or of the hub, and records the protocol messages with a server.

Logs in files can be shown without a hub.
"""

import argparse
import contextlib
import time
from collections.abc import Iterator, Sequence

from tooltray.cli import values
from tooltray.cli.arguments import Usage
from tooltray.cli.hubs import Hub, any_hub, started_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean, clean_line, moment, print_json, print_note, problem_line, to_json
from tooltray.foundation import phrases
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.activity import HUB, LEVELS, MESSAGES, SERVER, LogFilter, LogLine, LogPage

FOLLOW_EVERY_S = 0.5
RECORD_S = 600.0  # of messages; renewed in time while the command follows
RENEW_BEFORE_S = 300.0
SEARCH_TIMEOUT_S = 60.0  # of one turn of a search
LINES = 200


def declare(parser: Usage) -> None:
    parser.runs(show, check=_check)
    parser.takes("server", "SERVER", tr("without it: Tooltray's own log"), nargs="?", default="")
    lines = tr("number of last lines (default: {lines})", lines=LINES)
    parser.takes("--lines", "LINES", lines, short="-n", type=values.line_count, default=LINES)
    parser.flag("--follow", tr("keep printing new lines until Ctrl-C"), short="-f")
    parser.add_argument("--level", choices=LEVELS, default="", help=tr("only lines of this level or worse"))
    parser.takes("--search", "TEXT", tr("only lines with this text, ignoring case"), type=values.some_text)
    parser.takes("--since", "TIME", tr("only lines of this period, such as 30m, 2h or 1d"), type=values.time, default=0.0)
    parser.flag("--messages", tr("the protocol messages with SERVER, recorded until Ctrl-C"))


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if args.messages and not args.server:
        usage.error(tr("--messages goes with a SERVER"))


def show(args: argparse.Namespace, home: Home) -> int:
    """Prints the last lines; with `--follow` or `--messages` continues until Ctrl-C or the hub's end."""
    if args.messages:
        with started_hub(home) as running, _recording(running, args.server):
            return _show(running, f"{MESSAGES}{args.server}", args)
    with _hub(args, home) as hub:
        return _show(hub, f"{SERVER}{args.server}" if args.server else HUB, args)


def _hub(args: argparse.Namespace, home: Home) -> Hub:
    """Returns a running hub if lines are followed: without a hub the command would hold the hub's lock all that time."""
    return started_hub(home) if args.follow else any_hub(home)


def _show(hub: Hub, source: str, args: argparse.Namespace) -> int:
    levels = LEVELS[: LEVELS.index(args.level) + 1] if args.level else ()
    wanted = LogFilter(text=args.search or "", levels=levels, since=time.time() - args.since if args.since else 0.0)
    page = _last_lines(hub, source, wanted, args.lines)
    if page.problem:
        print_note(problem_line(page.problem))
    if args.json and not (args.follow or args.messages):
        print_json(page.lines)
        return 0
    _print(page.lines, as_json=args.json)
    while args.follow or args.messages:
        time.sleep(FOLLOW_EVERY_S)
        if args.messages and page.recorded_until - time.time() < RENEW_BEFORE_S:
            _record(hub, args.server, RECORD_S)
        page = _ask(hub, source, wanted, after=page.after)
        _print(page.lines, as_json=args.json)
    return 0


def _last_lines(hub: Hub, source: str, wanted: LogFilter, count: int) -> LogPage:
    """Returns the newest page with as many lines as wanted; a large log takes several requests."""
    first = page = _ask(hub, source, wanted, limit=count)
    lines = page.lines
    while page.before and len(lines) < count:
        page = _ask(hub, source, wanted, before=page.before, limit=count - len(lines))
        lines = (*page.lines, *lines)
    return LogPage(lines=lines, after=first.after, recorded_until=first.recorded_until, problem=first.problem)


def _ask(hub: Hub, source: str, wanted: LogFilter, *, before: str = "", after: str = "", limit: int = 1000) -> LogPage:
    asked = hub.api.logs.get_log(source=source, wanted=wanted, before=before, after=after, limit=limit)
    return hub.ask(asked, timeout_s=SEARCH_TIMEOUT_S)


@contextlib.contextmanager
def _recording(hub: Hub, server: str) -> Iterator[None]:
    """Records messages while inside; a recording that others began continues."""
    is_ours = not _ask(hub, f"{MESSAGES}{server}", LogFilter()).recorded_until
    if is_ours:
        _record(hub, server, RECORD_S)
        text = tr("Recording the messages with {server}, whole arguments and results among them, until Ctrl-C.", server=clean_line(server))
        print_note(text)
    try:
        yield
    finally:
        if is_ours:
            _record(hub, server, 0.0)


def _record(hub: Hub, server: str, for_s: float) -> None:
    hub.ask(hub.api.logs.set_protocol_log(server=server, for_s=for_s))


def _print(lines: Sequence[LogLine], *, as_json: bool) -> None:
    for line in lines:
        print(to_json(phrases.as_json(line), indent=None) if as_json else in_words(line), flush=True)


def in_words(line: LogLine) -> str:
    """Formats a line with its time and its level."""
    at = moment(line.at) if line.at else ""
    if line.kind == "mark":
        text = f"--- {line.text}{': ' if line.detail else ''}{line.detail} ---"
    elif line.kind == "message":
        took = f" ({line.ms:.1f} ms)" if line.ms is not None else ""
        text = f"{'->' if line.direction == 'out' else '<-'} {line.text}{took} {line.detail}"
    else:
        text = line.text
    return clean(" ".join(filter(None, (at, line.level.upper(), text))))
