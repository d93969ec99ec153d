"""`tooltray clients ...`: lists the AI clients on this computer, and changes their files; each change is shown before it is made.

How tools are shown to them, and their tokens for HTTP, are in modules of their own.
"""

import argparse
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator

from tooltray.cli import values
from tooltray.cli.arguments import Commands, Usage, command
from tooltray.cli.derived_commands import VerbCommands, done, table
from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.person import check_terminal, confirmed
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean, clean_line, count, day, print_json, print_table, problem_line
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientChange, ClientEdit, ClientScan, ClientServer
from tooltray.foundation.snapshots.clients import ClientModeSnapshot

EVERY, DEFAULT = "*", "default"
_UNDO = {"exact": "whole", "entries": Phrase("only this change"), "none": "-"}
TIMEOUT_S = 120.0  # a keyring may prompt the user first, and a client's own command takes up to ten seconds
SCAN_TIMEOUT_S = 30.0  # a fraction of a second, and before the first scan of a hub up to five for the login shell
CHANGING = Phrase("Changing an AI client's file")
_CONNECTIONS = {"none": "no", "connected": "yes", "outdated": Phrase("in an outdated way"), "broken": "broken"}
_STATES = {"on": "", "off": "off", "waits": Phrase("not approved there")}
MODES = ("everything", "lazy", "search", "automatic", "default")


def declare(parser: Usage) -> None:
    clients = parser.subcommands()
    _declare_scan(clients)
    _declare_changes(clients)
    text = tr("create a token for an AI client, or replace its old one")
    token = command(clients, "token", text, "commands.http_command:client_token")
    token.takes("name", "NAME", tr("a name by which you recognize the client"))
    verbs, columns = VerbCommands(clients, any_hub), (tr("CLIENT"), tr("TOKEN MADE"))
    empty = tr("No AI client has a token yet. Create one: tooltray clients token NAME")
    listed = table(columns, lambda each: (each.name, day(each.created_at)), empty)
    verbs.add("list", tr("list clients that have a token, without the tokens"), "list_client_tokens", listed)
    verbs.add(
        "remove", tr("revoke a client's token"), "remove_client_token", done(_removed, client=lambda args, _: args.name, removed=True)
    )
    titles = (tr("CLIENT"), tr("NAME"), tr("MODE"), tr("SHOWN"), tr("PROFILE"), tr("WHY"))
    text = tr("list how tools are shown to each kind of AI client, and why")
    VerbCommands(clients).add("modes", text, "get_client_modes", table(titles, _mode_row, tr("No AI client has connected yet.")))
    mode = command(clients, "mode", tr("choose how tools are shown to a kind of AI client, and its profile"), "commands.views_command:mode")
    text = tr("as listed by `clients modes`; '*': all that have no mode of their own")
    mode.takes("client", "CLIENT", text, type=values.some_text)
    mode.takes("mode", "MODE", tr("one of: {modes} (default: the servers' settings)", modes=", ".join(MODES)), nargs="?", choices=MODES)
    text = tr("choose which calls of a kind of AI client run without asking, instead of the servers' own rules")
    rules = command(clients, "approve", text, "commands.permissions_command:client_rules", check=_check_rules, has_json=False)
    rules.takes("client", "CLIENT", tr("as listed by `clients modes`"), type=values.some_text)
    rules.takes("rules", "RULE", tr("as in autoApprove: read, write, all, a tool's name, ..."), nargs="*")
    rules.flag("--nothing", tr("ask about every call"))
    rules.flag("--default", tr("the default: each server's autoApprove"))
    profile = mode.add_mutually_exclusive_group()
    profile.add_argument("--profile", metavar="NAME", help=tr("the profile of its sessions, unless they request another"))
    profile.add_argument("--no-profile", action="store_true", help=tr("no profile: they get all servers and tools again"))


def _declare_scan(clients: Commands) -> None:
    text = tr("list the AI clients on this computer, whether they use Tooltray, and the servers in their files")
    scanning = command(clients, "scan", text, scan)
    text = tr("also read this project's files (.mcp.json, .vscode/mcp.json, ...)")
    scanning.repeats("--project", "DIR", text)
    scanning.flag("--all", tr("include clients that are not installed"))


def _declare_changes(clients: Commands) -> None:
    connected = tr("add Tooltray's entry to the files of AI clients, or repair an outdated one; shows each change first")
    disconnected = tr("remove Tooltray's entry from the files of AI clients, including those in projects")
    for name, text, run in (("connect", connected, connect), ("disconnect", disconnected, disconnect)):
        change = command(clients, name, text, run, check=_check_change)
        change.takes("client", "CLIENT", tr("as listed by `clients scan`; required for a file under version control"), nargs="*")
        change.flag("--all", tr("all installed clients"))
        change.flag("--dry-run", tr("show what would change, and change nothing"))
        change.flag("--yes", tr("do not ask for confirmation"))
    text = tr("undo a change and restore the file; if it was edited since, only this change is reversed")
    undoing = command(clients, "undo", text, undo)
    undoing.takes("change", "CHANGE", tr("as `clients changes` lists it (the newest)"), nargs="?", default="")
    undoing.flag("--yes", tr("do not ask for confirmation"))
    titles = (tr("CHANGE"), tr("WHEN"), tr("CLIENT"), tr("WHAT"), tr("SERVERS"), tr("CAN BE UNDONE"), tr("FILE"))
    listed = table(titles, _change_row, tr("Tooltray has changed no AI client's file in the last 30 days."))
    verbs = VerbCommands(clients, any_hub, timeout_s=TIMEOUT_S)
    verbs.add("changes", tr("list the changes of the last 30 days in AI clients' files"), "get_client_changes", listed)


def declare_skill(parser: Usage) -> None:
    skill = parser.subcommands()
    command(skill, "show", tr("print the skill"), show_skill)
    writing = command(skill, "write", tr("write the skill into the skills folders of AI clients; shows each change first"), write_skill)
    whose = writing.add_mutually_exclusive_group()
    text = tr("an AI client as listed by `clients scan` (default: all installed ones whose folder is known)")
    whose.add_argument("--client", metavar="NAME", action="append", default=[], help=text)
    whose.add_argument("--folder", metavar="DIR", default="", help=tr("an existing folder of skills"))
    writing.flag("--dry-run", tr("show what would change, and change nothing"))
    writing.flag("--yes", tr("do not ask for confirmation"))


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


# listing clients


def scan(args: argparse.Namespace, home: Home) -> int:
    """Lists the clients, and then their servers by file."""
    projects = tuple(os.path.abspath(os.path.expanduser(each)) for each in args.project)
    with any_hub(home) as hub:
        found = hub.ask(hub.api.ai_clients.scan_ai_clients(projects=projects), timeout_s=SCAN_TIMEOUT_S)
    if args.json:
        print_json(found)
        return 0
    clients = [client for client in found.clients if client.is_installed or args.all]
    if clients:
        print_table(
            (tr("CLIENT"), tr("NAME"), tr("RUNNING"), tr("USES TOOLTRAY"), tr("SERVERS")), [_scan_row(client) for client in clients]
        )
    for line in _words(found, clients):
        print(line)
    return 0


def _scan_row(client: AiClient) -> list[str]:
    runs = {None: "-", True: "yes", False: "no"}[client.is_running]
    servers = sum(server.kind == "server" for file in client.files for server in file.servers)
    return [client.id, client.name, runs, _CONNECTIONS[client.connection], str(servers)]


def _words(found: ClientScan, clients: list[AiClient]) -> Iterator[str]:
    here = [client.name for client in found.clients if client.is_installed]
    if not here:
        yield tr("No AI client found on this computer. List the supported ones: tooltray clients scan --all")
        return
    yield from _totals(found)
    for client in clients:
        for file in client.files:
            yield from _file(client, file)


def _totals(found: ClientScan) -> Iterator[str]:
    servers = count(found.servers, "server")
    is_mixed = found.different_servers != found.servers
    yield tr("{servers}, {number} different.", servers=servers, number=found.different_servers) if is_mixed else f"{servers}."
    if found.plain_secrets == 1:
        yield tr("1 value that looks like a secret is in plain text.")
    elif found.plain_secrets:
        yield tr("{count} values that look like secrets are in plain text.", count=found.plain_secrets)


def _file(client: AiClient, file: AiClientFile) -> Iterator[str]:
    if not file.servers and not file.problem:
        return
    where = tr(" for {project}", project=file.project) if file.project and not file.path.startswith(file.project) else ""
    yield clean_line(f"{client.name}: {file.path}{where}")
    if file.problem:
        yield f"  {clean_line(problem_line(file.problem))}"
    for server in file.servers:
        yield f"  {clean_line(_server(server))}"


def _server(server: ClientServer) -> str:
    notes = [_STATES[server.state]]
    if server.kind == "bridge":
        notes.append(tr("this is Tooltray"))
    if server.kind == "loop":
        notes.append(tr("connects to Tooltray"))
    if server.secrets:
        notes.append(tr("in plain text: {secrets}", secrets=", ".join(server.secrets)))
    said = "; ".join(note for note in notes if note)
    return f"{server.name}: {server.target}" + (f" ({said})" if said else "")


# changes of their files


def connect(args: argparse.Namespace, home: Home) -> int:
    if not args.dry_run:
        check_terminal(CHANGING)
    return _change(args, home, lambda hub: hub.api.ai_clients.preview_connect(clients=args.client), is_named=bool(args.client))


def show_skill(args: argparse.Namespace, home: Home) -> int:
    with any_hub(home) as hub:
        text = hub.ask(hub.api.ai_clients.get_own_skill(), timeout_s=SCAN_TIMEOUT_S)
    answer(args, {"text": text}, clean(text))
    return 0


def write_skill(args: argparse.Namespace, home: Home) -> int:
    if not args.dry_run:
        check_terminal(CHANGING)
    folder = os.path.abspath(os.path.expanduser(args.folder)) if args.folder else ""

    async def preview(hub: Hub) -> list[ClientEdit]:
        edits = await hub.api.ai_clients.preview_own_skill(clients=args.client, folder=folder)
        if not edits:
            hint = tr("Name its folder of skills: tooltray skill write --folder DIR")
            raise TooltrayError(tr("No AI client with a known folder of skills is installed"), "", hint)
        return edits

    return _change(args, home, preview, is_named=bool(args.client or folder))


def disconnect(args: argparse.Namespace, home: Home) -> int:
    return _change(args, home, lambda hub: hub.api.ai_clients.preview_disconnect(clients=args.client), is_named=bool(args.client))


def undo(args: argparse.Namespace, home: Home) -> int:
    """Undoes a change; without its id, the newest that can be undone."""
    with any_hub(home) as hub:
        changes = hub.ask(hub.api.ai_clients.get_client_changes(), timeout_s=TIMEOUT_S)
        change = next((each for each in changes if each.id == args.change or (not args.change and each.undo != "none")), None)
        if change is None:
            raise TooltrayError(tr("Nothing to undo"), "", tr("List the changes: tooltray clients changes"))
        servers = ", ".join(change.servers) or change.client
        if not confirmed(
            tr("Undo '{action}' of {servers} in {path}?", action=change.action, servers=servers, path=change.path), yes=args.yes
        ):
            return 0
        undone = hub.ask(hub.api.ai_clients.undo_client_change(id=change.id), timeout_s=TIMEOUT_S)
    _tell([undone], is_json=args.json)
    return 0


Preview = Callable[[Hub], Coroutine[object, None, list[ClientEdit]]]


def _change(args: argparse.Namespace, home: Home, preview: Preview, *, is_named: bool) -> int:
    """Shows changes, asks about each and makes it.

    Args:
        is_named: the user has named what changes: a file under version control may change, and a change that cannot be made is a failure.
    """
    with any_hub(home) as hub:
        edits = hub.ask(preview(hub), timeout_s=TIMEOUT_S)
        if args.dry_run and args.json:
            print_json(edits)
            return 0
        chosen = [edit for edit in edits if _is_chosen(edit, args, is_named=is_named)]
        made: list[ClientChange] = []
        for edit in chosen:  # each separately: a client may write its own file meanwhile
            made += hub.ask(hub.api.ai_clients.apply_client_edits(edits={edit.id: edit.revision}), timeout_s=TIMEOUT_S)
    if not args.dry_run:
        _tell(made, is_json=args.json)
    is_failed = any(change.problem for change in made) or (is_named and any(edit.problem for edit in edits))
    return 1 if is_failed else 0


def _is_chosen(edit: ClientEdit, args: argparse.Namespace, *, is_named: bool) -> bool:
    """Shows an edit, and asks whether to make it."""
    if not args.json:
        for line in _described(edit):
            print(line)
    if edit.problem or not edit.diff or args.dry_run:
        return False
    if edit.needs_own_yes and not is_named:
        if not args.json:
            print(clean_line(tr("Not changed: {path} is under version control. Name the client to change it.", path=edit.path)))
        return False
    if edit.is_foreign:  # whatever --yes covers
        return confirmed(tr("Replace {path}, which Tooltray has not written?", path=edit.path), yes=False)
    return confirmed(tr("Change {path}?", path=edit.path), yes=args.yes)


def _described(edit: ClientEdit) -> Iterable[str]:
    if edit.problem:
        return [clean_line(f"{edit.client}: {problem_line(edit.problem)}")]
    if not edit.diff:
        return [clean_line(tr("{client}: nothing has to be changed in {path}", client=edit.client, path=edit.path))]
    command = (
        [clean_line(tr("{client} makes this change itself: {command}", client=edit.client, command=edit.command[0]))]
        if edit.command
        else []
    )
    return [*command, clean(edit.diff)]


def _tell(made: list[ClientChange], *, is_json: bool) -> None:
    if is_json:
        print_json(made)
        return
    for change in made:
        if change.problem:
            print(clean_line(problem_line(change.problem)))
            continue
        note = f" {change.note}." if change.note else ""
        how = tr(" Undo it: tooltray clients undo {id}", id=change.id) if change.undo != "none" else ""
        print(clean_line(tr("{client}: {path} is changed.{note}{how}", client=change.client, path=change.path, note=note, how=how)))
