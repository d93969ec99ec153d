"""What can be typed behind `tooltray trust`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, Usage, command


def declare(commands: Commands) -> None:
    trust = command(
        commands,
        "trust",
        "let servers run that wait for your yes: of a project's own file (.mcp.json), or of a program; and take that back",
        "trust:trust",
    )
    trust.usage = "tooltray trust [DIR [ENTRY ...]] | list | remove DIR [ENTRY] | refuse NAME"
    what = "the project's folder and, if not all, the names in its file; a folder called list is named so: ./list; without: all that waits"
    trust.add_argument("words", metavar="DIR", nargs="*", type=values.some_text, help=what)


def check(usage: Usage, args: argparse.Namespace) -> None:
    if not args.words:
        return
    if args.words[0] == "refuse" and len(args.words) != 2:
        usage.error("refuse goes with NAME, of what a program has proposed; a folder called refuse is named so: ./refuse")
    if args.words == ["remove"] or (args.words[0] == "remove" and len(args.words) > 3):
        usage.error("remove goes with DIR, or with DIR and ENTRY; a folder called remove is named so: ./remove")
    if args.words[0] == "list" and len(args.words) > 1:
        usage.error("list stands alone; a folder called list is named so: ./list")
