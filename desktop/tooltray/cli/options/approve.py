"""What can be typed behind `tooltray approve` and `tooltray grants`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, Usage, command, group


def declare(commands: Commands) -> None:
    approve = command(commands, "approve", "say yes or no to a tool call that waits, or allow tools for longer", "approve:approve")
    approve.usage = (
        "tooltray approve [list] | ID [--once | --session | --always | --reads] | refuse ID\n"
        "       tooltray approve SERVER TOOL [--client NAME] [--for TIME]\n"
        "       tooltray approve SERVER --all-reads [--client NAME] [--for TIME]\n"
        "       tooltray approve [--client NAME] [--for TIME] -- SERVER TOOL   (also where a server is called refuse)"
    )
    approve.add_argument("words", metavar="WORDS", nargs="*", help="which call, as `tooltray approve list` names it, or which tool")
    for answer, text in (
        ("once", "this call alone (the default)"),
        ("session", "this tool, until the AI client ends"),
        ("always", "this tool, for this AI client, until it is taken back"),
        ("reads", "every tool of the server that reads, for this AI client, until it is taken back"),
    ):
        approve.add_argument(f"--{answer}", dest="answer", action="store_const", const=answer, help=f"with ID: {text}")
    approve.add_argument("--all-reads", action="store_true", help="with SERVER: every tool of it that reads now")
    approve.add_argument("--client", metavar="NAME", help="for this AI client alone, as it names itself")
    approve.add_argument("--for", dest="duration", metavar="TIME", type=values.time, help="for so long: 90s, 30m, 8h or 7d")


def declare_grants(commands: Commands) -> None:
    grants = group(commands, "grants", "list what is allowed for longer than one call, and take it back")
    command(grants, "list", "list what is allowed for longer than one call", "approve:list_grants")
    command(grants, "remove", "take back what was allowed", "approve:remove").add_argument("id", metavar="ID")
    preview = command(grants, "preview", "list the tools that a grant would allow", "approve:preview")
    preview.add_argument("server", metavar="SERVER")
    preview.add_argument("tool", metavar="TOOL", nargs="?", help="this one; without it: every tool that reads")
    command(grants, "changes", "show how tools differ from what was allowed", "approve:changes")
    accept = command(grants, "accept", "let what was allowed count for a tool as it is now", "approve:accept", has_json=False)
    accept.add_argument("server", metavar="SERVER")
    accept.add_argument("tool", metavar="TOOL")


def check(usage: Usage, args: argparse.Namespace) -> None:
    args.is_refusal = len(args.words) == 2 and args.words[0] == "refuse" and not args.is_marked
    if args.is_refusal and (args.client or args.duration is not None):
        usage.error("--client and --for do not go with refuse ID; a server called refuse is named so: -- refuse TOOL")
    if len(args.words) != (1 if args.all_reads else 2) and (args.all_reads or args.client or args.duration is not None):
        usage.error("--all-reads goes with SERVER alone, --client and --for with SERVER TOOL or SERVER --all-reads")
    if args.answer and (len(args.words) != 1 or args.all_reads):
        usage.error("--once, --session, --always and --reads go with an ID")
    if len(args.words) > 2:
        usage.error("an ID, or SERVER TOOL; quote a name that has spaces")
    if args.json and args.words not in ([], ["list"]):
        usage.error("--json goes with the list: a yes is given by a person who reads what it is for")


def check_rules(usage: Usage, args: argparse.Namespace) -> None:
    """Of `clients approve`."""
    if (bool(args.rules), args.nothing, args.default).count(True) != 1:
        usage.error("give RULE ..., --nothing or --default")


def check_server_rules(usage: Usage, args: argparse.Namespace) -> None:
    """Of `servers approve`."""
    if bool(args.rules) == args.nothing:
        usage.error("give RULE ... or --nothing")
