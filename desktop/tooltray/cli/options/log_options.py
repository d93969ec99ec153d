"""The options of `tooltray log`."""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command
from tooltray.cli.speech import tr

LINES = 200
LEVELS = ("error", "warning", "info", "debug")


def declare(commands: Commands) -> None:
    log = command(commands, "log", tr("show the log of a server, or Tooltray's own"), "log_command:show", check=check)
    log.add_argument("server", metavar="SERVER", nargs="?", default="", help=tr("without it: Tooltray's own log"))
    lines = tr("how many of the last lines (default: {lines})", lines=LINES)
    log.add_argument("-n", "--lines", metavar="LINES", type=values.line_count, default=LINES, help=lines)
    log.add_argument("-f", "--follow", action="store_true", help=tr("go on with new lines until Ctrl-C"))
    log.add_argument("--level", choices=LEVELS, default="", help=tr("lines of this level and worse ones"))
    log.add_argument("--search", metavar="TEXT", type=values.some_text, help=tr("lines with this text, in whatever case"))
    log.add_argument("--since", metavar="TIME", type=values.time, default=0.0, help=tr("not older than this, such as 30m, 2h or 1d"))
    log.add_argument("--messages", action="store_true", help=tr("the protocol messages with SERVER, recorded until Ctrl-C"))


def check(usage: Usage, args: argparse.Namespace) -> None:
    if args.messages and not args.server:
        usage.error(tr("--messages goes with a SERVER"))
