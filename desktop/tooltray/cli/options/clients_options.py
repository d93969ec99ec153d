"""The options of `tooltray clients`, `profiles` and `http`."""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command, group
from tooltray.cli.speech import tr

MODES = ("everything", "lazy", "search", "automatic", "default")


def declare_clients(commands: Commands) -> None:
    clients = group(
        commands, "clients", tr("AI clients: which are on this computer, how tools are shown to them, and their tokens for HTTP")
    )
    declare_scan(clients)
    declare_changes(clients)
    token = command(
        clients, "token", tr("make a token for an AI client, or a new one in the place of its old one"), "http_command:client_token"
    )
    token.add_argument("name", metavar="NAME", help=tr("by which you know the client again"))
    command(clients, "list", tr("list who has a token, never tokens"), "http_command:list_clients")
    command(clients, "remove", tr("end a client's token"), "http_command:remove_client").add_argument("name", metavar="NAME")
    command(clients, "modes", tr("list how tools are shown to each kind of AI client, and why"), "views_command:modes")
    mode = command(clients, "mode", tr("choose how tools are shown to a kind of AI client, and its profile"), "views_command:mode")
    text = tr("as `clients modes` says it names itself; '*': all that have no mode of their own")
    mode.add_argument("client", metavar="CLIENT", type=values.some_text, help=text)
    mode.add_argument(
        "mode", metavar="MODE", nargs="?", choices=MODES, help=tr("one of: {modes} (as the servers' settings say)", modes=", ".join(MODES))
    )
    text = tr("choose which calls of a kind of AI client go through unasked, in the place of the servers' own rules")
    rules = command(clients, "approve", text, "approve_command:rules", check=check_rules, has_json=False)
    rules.add_argument("client", metavar="CLIENT", type=values.some_text, help=tr("as `clients modes` says it names itself"))
    rules.add_argument("rules", metavar="RULE", nargs="*", help=tr("as in autoApprove: read, write, all, a tool's name, ..."))
    rules.add_argument("--nothing", action="store_true", help=tr("ask about each call"))
    rules.add_argument("--default", action="store_true", help=tr("as each server's autoApprove says"))
    profile = mode.add_mutually_exclusive_group()
    profile.add_argument("--profile", metavar="NAME", help=tr("that its sessions get unless they ask for another"))
    profile.add_argument("--no-profile", action="store_true", help=tr("they get all servers and tools again"))


def declare_scan(clients: Commands) -> None:
    text = tr("list the AI clients on this computer, whether they use Tooltray, and the servers in their files")
    scan = command(clients, "scan", text, "ai_clients_command:scan")
    text = tr("a folder whose own files (.mcp.json, .vscode/mcp.json, ...) are read, too, besides those of known projects")
    scan.add_argument("--project", metavar="DIR", action="append", default=[], help=text)
    scan.add_argument("--all", action="store_true", help=tr("also the clients that are not installed"))


def declare_changes(clients: Commands) -> None:
    for name, text in (
        (
            "connect",
            tr("write the entry of Tooltray into the files of AI clients, or mend one that is outdated; each change is shown first"),
        ),
        ("disconnect", tr("take the entry of Tooltray out of the files of AI clients, those of projects included")),
    ):
        change = command(clients, name, text, f"client_changes_command:{name}", check=check_change)
        change.add_argument(
            "client", metavar="CLIENT", nargs="*", help=tr("as `clients scan` lists it; a file under version control needs it")
        )
        change.add_argument("--all", action="store_true", help=tr("all that are installed"))
        change.add_argument("--dry-run", action="store_true", help=tr("show what would change, and change nothing"))
        change.add_argument("--yes", action="store_true", help=tr("do not ask"))
    text = tr("undo a change: the file becomes what it was; if somebody has written it since, the change alone is reversed")
    undo = command(clients, "undo", text, "client_changes_command:undo")
    undo.add_argument("change", metavar="CHANGE", nargs="?", default="", help=tr("as `clients changes` lists it (the newest)"))
    undo.add_argument("--yes", action="store_true", help=tr("do not ask"))
    command(clients, "changes", tr("list the changes of the last 30 days in AI clients' files"), "client_changes_command:changes")


def declare_profiles(commands: Commands) -> None:
    profiles = group(commands, "profiles", tr("named sets of servers and tools"))
    command(profiles, "list", tr("list the profiles"), "profiles_command:list_profiles")
    setting = command(profiles, "set", tr("make a profile, or another one in its place"), "profiles_command:set_profile")
    setting.add_argument("name", metavar="NAME")
    text = tr("a server that is in it; '*', or no --server and no --tool: all are")
    setting.add_argument("--server", metavar="SERVER", action="append", default=[], help=text)
    setting.add_argument(
        "--tool",
        metavar=("SERVER", "TOOL"),
        nargs=2,
        action="append",
        default=[],
        help=tr(
            "a tool that is in it, by the server's own name for it, and its server with it; of a server of which none is given, all are"
        ),
    )
    setting.add_argument(
        "--skill",
        metavar=("SERVER", "SKILL"),
        nargs=2,
        action="append",
        default=[],
        help=tr("the same of a skill, by its name, or by its URI as its server has it"),
    )
    setting.add_argument("--description", metavar="TEXT", default="")
    command(profiles, "remove", tr("remove a profile"), "profiles_command:remove").add_argument("name", metavar="NAME")


def declare_http(commands: Commands) -> None:
    http = group(commands, "http", tr("let AI clients connect over HTTP"))
    on = command(http, "on", tr("open the endpoints, now and whenever a hub runs"), "http_command:on")
    on.add_argument("--port", metavar="PORT", type=values.port, help=tr("where, from now on; 0: any that is free"))
    command(http, "off", tr("close them"), "http_command:off")
    command(http, "status", tr("say whether and where they are open"), "http_command:status")
    api = group(http, "api", tr("let other programs do over HTTP what you can do here (REST)"))
    api_on = command(api, "on", tr("switch it on, and HTTP too if it is off"), "http_command:api_on")
    text = tr("make a token whose holder may also approve calls, trust servers and allow folders; --no-trusted: no token may any more")
    api_on.add_argument("--trusted", action=argparse.BooleanOptionalAction, help=text)
    command(api, "off", tr("switch it off; HTTP stays as it is"), "http_command:api_off")
    token = command(
        api,
        "token",
        tr("print the default token, which stays the same, or make one with a name, shown once"),
        "http_command:api_token",
        check=check_token,
    )
    token.add_argument("name", metavar="NAME", nargs="?", type=values.some_text, help=tr("of the program that gets it"))
    scopes = tr("what it may: read (look), call (and call tools) or manage (and change things; this is the default)")
    token.add_argument("--scope", choices=("read", "call", "manage"), help=scopes)
    token.add_argument("--for", dest="duration", metavar="TIME", type=values.time, help=tr("for so long: 90s, 30m, 8h or 30d"))
    token.add_argument("--trusted", action="store_true", help=tr("it may also approve calls, trust servers and allow folders"))
    command(api, "tokens", tr("list the tokens"), "http_command:api_tokens")
    revoke = command(api, "revoke", tr("end one of them"), "http_command:api_revoke")
    revoke.add_argument("name", metavar="NAME", type=values.some_text)
    command(api, "rotate", tr("make another default token, and print it"), "http_command:api_rotate")


def check_token(usage: Usage, args: argparse.Namespace) -> None:
    if not args.name and not args.trusted and (args.scope or args.duration):
        usage.error(tr("--scope and --for go with NAME: the default token may manage, and lasts"))
    if args.trusted and args.scope not in (None, "manage"):
        usage.error(tr("--trusted goes with the scope manage"))


def check_change(usage: Usage, args: argparse.Namespace) -> None:
    """Checks the options of `clients connect` and `disconnect`."""
    if bool(args.client) == args.all:
        usage.error(tr("give CLIENT ... or --all"))


def check_rules(usage: Usage, args: argparse.Namespace) -> None:
    """Checks the options of `clients approve`."""
    if (bool(args.rules), args.nothing, args.default).count(True) != 1:
        usage.error(tr("give RULE ..., --nothing or --default"))
