"""The options of `tooltray activity`."""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command
from tooltray.cli.speech import tr

KINDS = ("call", "question", "approval", "start", "stop", "failure")
ROWS = 50


def declare_activity(commands: Commands) -> None:
    text = tr("list what happened: calls of tools, questions, approvals, starts, stops and failures of servers, the newest last")
    activity = command(commands, "activity", text, "activity_command:activity", check=check_activity)
    activity.usage = "tooltray activity [FILTER ...] [--limit N] [--each] [--follow]\n       tooltray activity show ID"
    activity.usage += "\n       tooltray activity export FILE [FILTER ...]\n       tooltray activity clear | undo-clear"
    about = tr(
        "show ID: one entry in full, by its number or the id of its call; "
        "export FILE: write entries as JSON Lines; clear: empty the journal; undo-clear: bring it back"
    )
    activity.add_argument("words", metavar="WORDS", nargs="*", help=about)
    for name in ("server", "client", "tool", "project"):
        activity.add_argument(
            f"--{name}", metavar=name.upper(), action="append", default=[], help=tr("of this {name} alone; may be repeated", name=name)
        )
    activity.add_argument("--kind", action="append", default=[], choices=KINDS, help=tr("of this kind alone; may be repeated"))
    activity.add_argument(
        "--text", metavar="TEXT", default="", help=tr("that have this text in a name, in what was touched, or in the reason")
    )
    activity.add_argument("--failed", action="store_true", help=tr("that failed or were refused"))
    activity.add_argument("--since", metavar="TIME", type=values.time, help=tr("of so long: 90s, 30m, 8h or 7d"))
    activity.add_argument("--limit", metavar="N", type=values.number, default=ROWS, help=tr("so many rows ({rows})", rows=ROWS))
    activity.add_argument("--each", action="store_true", help=tr("a row for each, also where several in a row are the same"))
    activity.add_argument("--follow", action="store_true", help=tr("go on with what happens from now on, until Ctrl-C"))


def check_activity(usage: Usage, args: argparse.Namespace) -> None:
    match args.words:
        case [] | ["export", _] | ["clear" | "undo-clear"]:
            pass
        case ["show", _]:
            pass
        case _:
            usage.error(tr("behind `activity` stands nothing, show ID, export FILE, clear or undo-clear"))
    if args.follow and args.words:
        usage.error(tr("--follow does not go with {words}", words=args.words[0]))
