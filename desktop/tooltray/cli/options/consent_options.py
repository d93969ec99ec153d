"""The options of `tooltray approve`, `grants`, `permissions` and `trust`."""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command, group
from tooltray.cli.speech import tr

ROWS = 50


def declare_approve(commands: Commands) -> None:
    approve = command(
        commands,
        "approve",
        tr("say yes or no to a tool call that waits, or allow tools for longer"),
        "approve_command:approve",
        check=check_approve,
    )
    approve.usage = (
        "tooltray approve [list] | refuse ID\n"
        "       tooltray approve ID [--once | --like | --session | --hour | --day | --until-lock | --always | --reads | --rule]\n"
        "       tooltray approve SERVER TOOL [--client NAME] [--for TIME | --until-lock]\n"
        "       tooltray approve SERVER --all-reads [--client NAME] [--for TIME | --until-lock]\n"
        "       tooltray approve [--client NAME] [--for TIME] -- SERVER TOOL   (also where a server is called refuse)"
    )
    approve.add_argument("words", metavar="WORDS", nargs="*", help=tr("which call, as `tooltray approve list` names it, or which tool"))
    for answer, text in (
        ("once", tr("this call alone (the default)")),
        ("like", tr("the like of it for some seconds, as `approvals.sameForSeconds` says")),
        ("session", tr("this tool, until the AI client ends")),
        ("hour", tr("this tool, for an hour")),
        ("day", tr("this tool, for a day")),
        ("always", tr("this tool, for this AI client, until it is taken back")),
        ("reads", tr("every tool of the server that reads, for this AI client, until it is taken back")),
    ):
        approve.add_argument(f"--{answer}", dest="answer", action="store_const", const=answer, help=f"with ID: {text}")
    approve.add_argument(
        "--rule", dest="answer", action="store_const", const="rule", help=tr("with ID: every call like this one, by the rule that is shown")
    )
    approve.add_argument("--all-reads", action="store_true", help=tr("with SERVER: every tool of it that reads now"))
    approve.add_argument("--client", metavar="NAME", help=tr("for this AI client alone, as it names itself"))
    approve.add_argument("--for", dest="duration", metavar="TIME", type=values.time, help=tr("for so long: 90s, 30m, 8h or 7d"))
    approve.add_argument("--until-lock", action="store_true", help=tr("until the screen locks; where Tooltray's window runs"))


def declare_grants(commands: Commands) -> None:
    grants = group(commands, "grants", tr("list what is allowed for longer than one call, and take it back"))
    command(grants, "list", tr("list what is allowed for longer than one call"), "approve_command:list_grants")
    rule = command(grants, "rule", tr("let calls through that a rule on arguments covers"), "rule_command:add_rule")
    rule.epilog = tr(
        "A rule names a tool and says of arguments what they must be, each by one of {conditions}: {example}",
        conditions="inside, hosts, command, number, equals, oneOf",
        example='{"tool": "read_file", "arguments": {"path": {"inside": ["~/notes"]}}, "others": ["limit"]}',
    )
    rule.add_argument("server", metavar="SERVER")
    rule.add_argument("rule", metavar="JSON", help=tr("the rule, as callRules has it"))
    rule.add_argument("--preview", action="store_true", help=tr("say what it means and what it would have covered, and allow nothing"))
    rule.add_argument("--client", metavar="NAME", help=tr("for this AI client alone, as it names itself"))
    rule.add_argument("--for", dest="duration", metavar="TIME", type=values.time, help=tr("for so long: 90s, 30m, 8h or 7d"))
    rule.add_argument("--until-lock", action="store_true", help=tr("until the screen locks; where Tooltray's window runs"))
    command(grants, "remove", tr("take back what was allowed"), "approve_command:remove").add_argument("id", metavar="ID")
    preview = command(grants, "preview", tr("list the tools that a grant would allow"), "approve_command:preview")
    preview.add_argument("server", metavar="SERVER")
    preview.add_argument("tool", metavar="TOOL", nargs="?", help=tr("this one; without it: every tool that reads"))
    command(grants, "changes", tr("show how tools differ from what was allowed"), "approve_command:changes")
    accept = command(grants, "accept", tr("let what was allowed count for a tool as it is now"), "approve_command:accept", has_json=False)
    accept.add_argument("server", metavar="SERVER")
    accept.add_argument("tool", metavar="TOOL")


def declare_permissions(commands: Commands) -> None:
    permissions = group(commands, "permissions", tr("list what runs without asking, and choose for one tool"))
    listed = command(permissions, "list", tr("list which tools run without asking, and why"), "permissions_command:list_permissions")
    listed.add_argument("server", metavar="SERVER", nargs="?", help=tr("of this one alone"))
    chosen = command(permissions, "set", tr("choose for one tool"), "permissions_command:set_permission", has_json=False)
    chosen.add_argument("server", metavar="SERVER")
    chosen.add_argument("tool", metavar="TOOL", help=tr("the server's own name for it"))
    choices = ("always", "ask", "default")
    chosen.add_argument(
        "choice", choices=choices, help=tr("it runs without asking; it asks first, whatever else is allowed; as its server")
    )


def check_approve(usage: Usage, args: argparse.Namespace) -> None:
    args.is_refusal = len(args.words) == 2 and args.words[0] == "refuse" and not args.is_marked
    lasts = args.duration is not None or args.until_lock
    if args.is_refusal and (args.client or lasts):
        usage.error(tr("--client, --for and --until-lock do not go with refuse ID; a server called refuse is named so: -- refuse TOOL"))
    is_for_tools = args.client or args.duration is not None or (args.until_lock and len(args.words) != 1)
    if len(args.words) != (1 if args.all_reads else 2) and (args.all_reads or is_for_tools):
        usage.error(tr("--all-reads goes with SERVER alone, --client and --for with SERVER TOOL or SERVER --all-reads"))
    if args.answer and (len(args.words) != 1 or args.all_reads or args.until_lock):
        usage.error(tr("--once, --like, --session, --hour, --day, --always and --reads go with an ID, one of them"))
    if len(args.words) > 2:
        usage.error(tr("an ID, or SERVER TOOL; quote a name that has spaces"))
    if args.json and args.words not in ([], ["list"]):
        usage.error(tr("--json goes with the list: a yes is given by a person who reads what it is for"))


def declare_trust(commands: Commands) -> None:
    trust = command(
        commands,
        "trust",
        tr("let servers run that wait for your yes: of a project's own file (.mcp.json), or of a program; and take that back"),
        "trust_command:trust",
        check=check_trust,
    )
    trust.usage = "tooltray trust [DIR [ENTRY ...]] | list | remove DIR [ENTRY] | refuse NAME"
    what = tr(
        "the project's folder and, if not all, the names in its file; a folder called list is named so: ./list; without: all that waits"
    )
    trust.add_argument("words", metavar="DIR", nargs="*", type=values.some_text, help=what)


def declare_passphrase(commands: Commands) -> None:
    lost = tr("If it is lost: end the hub (tooltray stop), remove passphrase.json in ~/.tooltray, and set a new one")
    passphrase = group(
        commands, "passphrase", tr("what confirms commands that allow something, where no window of Tooltray runs"), epilog=lost
    )
    about = tr("set it, or another one; the one before is asked for")
    command(passphrase, "set", about, "passphrase_command:set_passphrase", has_json=False).epilog = lost
    command(passphrase, "remove", tr("remove it"), "passphrase_command:remove_passphrase", has_json=False).epilog = lost
    command(passphrase, "check", tr("say whether one is set, and whether you know it"), "passphrase_command:check_passphrase").epilog = lost


def declare_audit(commands: Commands) -> None:
    text = tr("list who allowed, refused or took back what, when and by which way, the newest last")
    audit = command(commands, "audit", text, "audit_command:audit")
    audit.add_argument("--verify", action="store_true", help=tr("say whether the record is as it was written; exit code 1 if not"))
    audit.add_argument("--limit", metavar="N", type=values.number, default=ROWS, help=tr("so many rows ({rows})", rows=ROWS))


def check_trust(usage: Usage, args: argparse.Namespace) -> None:
    if not args.words:
        return
    if args.words[0] == "refuse" and len(args.words) != 2:
        usage.error(tr("refuse goes with NAME, of what a program has proposed; a folder called refuse is named so: ./refuse"))
    if args.words == ["remove"] or (args.words[0] == "remove" and len(args.words) > 3):
        usage.error(tr("remove goes with DIR, or with DIR and ENTRY; a folder called remove is named so: ./remove"))
    if args.words[0] == "list" and len(args.words) > 1:
        usage.error(tr("list stands alone; a folder called list is named so: ./list"))
