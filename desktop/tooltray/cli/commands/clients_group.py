"""`tooltray clients`: its commands with their options. What they do is in other modules, each imported when it runs."""

import argparse

from tooltray.cli import values
from tooltray.cli.derived_commands import VerbCommands, done, table
from tooltray.cli.hubs import any_hub
from tooltray.cli.parsers import Commands, Usage, command
from tooltray.cli.speech import tr
from tooltray.cli.terminal import day
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange
from tooltray.foundation.snapshots.clients import ClientModeSnapshot

EVERY, DEFAULT = "*", "default"
_UNDO = {"exact": "whole", "entries": Phrase("this change alone"), "none": "-"}
TIMEOUT_S = 120.0  # a keyring may prompt the user first
MODES = ("everything", "lazy", "search", "automatic", "default")


def declare(parser: Usage) -> None:
    clients = parser.subcommands()
    _declare_scan(clients)
    _declare_changes(clients)
    token = command(
        clients, "token", tr("make a token for an AI client, or a new one in the place of its old one"), "http_command:client_token"
    )
    token.takes("name", "NAME", tr("by which you know the client again"))
    verbs, columns = VerbCommands(clients, any_hub), (tr("CLIENT"), tr("TOKEN MADE"))
    empty = tr("No AI client has a token yet. Make one with: tooltray clients token NAME")
    listed = table(columns, lambda each: (each.name, day(each.created_at)), empty)
    verbs.add("list", tr("list who has a token, never tokens"), "list_client_tokens", listed)
    verbs.add("remove", tr("end a client's token"), "remove_client_token", done(_removed, client=lambda args, _: args.name, removed=True))
    titles = (tr("CLIENT"), tr("NAMES ITSELF"), tr("MODE"), tr("SHOWN"), tr("PROFILE"), tr("WHY"))
    text = tr("list how tools are shown to each kind of AI client, and why")
    VerbCommands(clients).add("modes", text, "get_client_modes", table(titles, _mode_row, ""))
    mode = command(clients, "mode", tr("choose how tools are shown to a kind of AI client, and its profile"), "views_command:mode")
    text = tr("as `clients modes` says it names itself; '*': all that have no mode of their own")
    mode.takes("client", "CLIENT", text, type=values.some_text)
    mode.takes("mode", "MODE", tr("one of: {modes} (as the servers' settings say)", modes=", ".join(MODES)), nargs="?", choices=MODES)
    text = tr("choose which calls of a kind of AI client go through unasked, in the place of the servers' own rules")
    rules = command(clients, "approve", text, "approve_command:rules", check=_check_rules, has_json=False)
    rules.takes("client", "CLIENT", tr("as `clients modes` says it names itself"), type=values.some_text)
    rules.takes("rules", "RULE", tr("as in autoApprove: read, write, all, a tool's name, ..."), nargs="*")
    rules.flag("--nothing", tr("ask about each call"))
    rules.flag("--default", tr("as each server's autoApprove says"))
    profile = mode.add_mutually_exclusive_group()
    profile.add_argument("--profile", metavar="NAME", help=tr("that its sessions get unless they ask for another"))
    profile.add_argument("--no-profile", action="store_true", help=tr("they get all servers and tools again"))


def _declare_scan(clients: Commands) -> None:
    text = tr("list the AI clients on this computer, whether they use Tooltray, and the servers in their files")
    scan = command(clients, "scan", text, "ai_clients_command:scan")
    text = tr("a folder whose own files (.mcp.json, .vscode/mcp.json, ...) are read, too, besides those of known projects")
    scan.repeats("--project", "DIR", text)
    scan.flag("--all", tr("also the clients that are not installed"))


def _declare_changes(clients: Commands) -> None:
    for name, text in (
        (
            "connect",
            tr("write the entry of Tooltray into the files of AI clients, or mend one that is outdated; each change is shown first"),
        ),
        ("disconnect", tr("take the entry of Tooltray out of the files of AI clients, those of projects included")),
    ):
        change = command(clients, name, text, f"client_changes_command:{name}", check=_check_change)
        change.takes("client", "CLIENT", tr("as `clients scan` lists it; a file under version control needs it"), nargs="*")
        change.flag("--all", tr("all that are installed"))
        change.flag("--dry-run", tr("show what would change, and change nothing"))
        change.flag("--yes", tr("do not ask"))
    text = tr("undo a change: the file becomes what it was; if somebody has written it since, the change alone is reversed")
    undo = command(clients, "undo", text, "client_changes_command:undo")
    undo.takes("change", "CHANGE", tr("as `clients changes` lists it (the newest)"), nargs="?", default="")
    undo.flag("--yes", tr("do not ask"))
    titles = (tr("CHANGE"), tr("WHEN"), tr("CLIENT"), tr("WHAT"), tr("SERVERS"), tr("CAN BE UNDONE"), tr("FILE"))
    listed = table(titles, _change_row, tr("Tooltray has changed no AI client's file in the last 30 days."))
    verbs = VerbCommands(clients, any_hub, timeout_s=TIMEOUT_S)
    verbs.add("changes", tr("list the changes of the last 30 days in AI clients' files"), "get_client_changes", listed)


def _check_change(usage: Usage, args: argparse.Namespace) -> None:
    """Checks the options of `clients connect` and `disconnect`."""
    if bool(args.client) == args.all:
        usage.error(tr("give CLIENT ... or --all"))


def _check_rules(usage: Usage, args: argparse.Namespace) -> None:
    """Checks the options of `clients approve`."""
    if (bool(args.rules), args.nothing, args.default).count(True) != 1:
        usage.error(tr("give RULE ..., --nothing or --default"))


def _removed(args: argparse.Namespace, _: object) -> str:
    return tr("{name} cannot connect over HTTP any more.", name=args.name)


def _mode_row(client: ClientModeSnapshot) -> list[str]:
    title = client.title + ("" if client.is_seen else tr(" (not seen)"))
    return [title, client.client or EVERY, client.mode or DEFAULT, client.shown_mode, client.profile or "-", client.reason]


def _change_row(change: ClientChange) -> list[str]:
    servers = ", ".join(change.servers)
    return [change.id, day(change.at), change.client, change.action, servers, _UNDO[change.undo], change.path]
