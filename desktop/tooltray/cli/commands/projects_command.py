"""`tooltray projects ...`: the folders that may be projects, and the servers that start for them.

Listing, allowing and disallowing folders needs no hub.
"""

import argparse

from tooltray.cli.arguments import Usage, command
from tooltray.cli.derived_commands import VerbCommands, done
from tooltray.cli.hubs import any_hub, folder_path, started_hub
from tooltray.cli.person import check_terminal
from tooltray.cli.server_commands.servers_command import START_TIMEOUT_S, STOP_TIMEOUT_S, note_start, server_snapshot
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, clean_line, print_json, print_note, print_table, state_in_words
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase, as_json
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState

OF_CLIENTS = Phrase("An AI client's start folder and the folders it declares (roots) are allowed for that client")


def declare(parser: Usage) -> None:
    projects = parser.subcommands()
    command(projects, "list", tr("list the allowed folders, and what runs for each project"), list_projects)
    command(projects, "allow", tr("allow a folder, and everything in it, as a project"), allow).takes("dir")
    disallowed = done(_disallowed, folder=lambda args, _: args.dir, allowed=False)
    verbs, folder = VerbCommands(projects, any_hub, timeout_s=STOP_TIMEOUT_S), {"name": "dir", "metavar": "DIR", "type": folder_path}
    verbs.add("disallow", tr("revoke that"), "disallow_folder", disallowed, path=folder)
    starting = command(projects, "start", tr("start a server that waits for a project"), start)
    starting.takes("name", "SERVER")
    which = starting.add_mutually_exclusive_group(required=True)
    which.add_argument("dir", metavar="DIR", nargs="?", help=tr("for this folder, which also allows it"))
    which.add_argument("--anyway", action="store_true", help=tr("without a project, as in its settings"))
    command(projects, "reset", tr("stop all servers that run for projects; they wait again"), reset)


def list_projects(args: argparse.Namespace, home: Home) -> int:
    """Lists the allowed folders, and what runs for which project."""
    with any_hub(home) as hub:
        allowed = hub.ask(hub.api.projects.get_allowed_folders())
        servers = [server for server in hub.ask(hub.api.hub.get_snapshot()).servers if server.is_deferred]
    if args.json:
        copies = [{"server": server.name} | as_json(copy) for server in servers for copy in server.copies]
        print_json({"allowed": allowed, "servers": [server.name for server in servers], "copies": copies})
        return 0
    if allowed:
        print(tr("Allowed as projects, with everything in them:"))
        print(*(f"  {clean_line(folder)}" for folder in allowed), sep="\n")
    print(tr("{of_clients}{value} Allow more with: tooltray projects allow DIR", of_clients=OF_CLIENTS, value=" too." if allowed else "."))
    if servers:
        print_table(
            (tr("SERVER"), tr("STATE"), tr("PROJECT"), tr("CLIENTS"), tr("FOLDER")), [row for server in servers for row in _rows(server)]
        )
    return 0


def _rows(server: ServerSnapshot) -> list[list[str]]:
    rows = [
        [server.name, state_in_words(copy.state.value), copy.name or "-", str(copy.session_count), copy.path or "-"]
        for copy in server.copies
    ]
    return rows or [[server.name, state_in_words(server.state.value), "-", "-", server.detail]]


def allow(args: argparse.Namespace, home: Home) -> int:
    check_terminal(tr("Allowing a folder"))
    with any_hub(home) as hub:
        folder = hub.ask(hub.api.projects.allow_folder(path=folder_path(args.dir)), timeout_s=STOP_TIMEOUT_S)
    return answer(
        args,
        {"folder": folder, "allowed": True},
        tr("{folder} and everything in it is allowed as a project now.", folder=clean_line(folder)),
    )


def _disallowed(args: argparse.Namespace, _: object) -> str:
    return tr("{folder} is no longer allowed as a project.", folder=args.dir)


def start(args: argparse.Namespace, home: Home) -> int:
    """Starts a deferred server for a folder, which this allows, or without a project."""
    with started_hub(home) as hub:
        note_start(args.name)
        projects = hub.api.projects
        if args.anyway:
            hub.ask(projects.start_without_project(server=args.name), timeout_s=START_TIMEOUT_S)
        else:
            hub.ask(projects.start_for_project(server=args.name, path=folder_path(args.dir)), timeout_s=START_TIMEOUT_S)
        server = server_snapshot(hub, args.name)
    project = tr("without a project") if args.anyway else tr("for {dir}", dir=clean_line(folder_path(args.dir)))
    line = tr(
        "{name} is running {project}. AI clients without a project of their own use it from now on.",
        name=clean_line(args.name),
        project=project,
    )
    return answer(args, server or {}, line)


def reset(args: argparse.Namespace, home: Home) -> int:
    names: list[str] = []
    with any_hub(home) as hub:
        if hub.is_running:
            hub.ask(hub.api.projects.reset_deferred_state(), timeout_s=STOP_TIMEOUT_S)
            servers = hub.ask(hub.api.hub.get_snapshot()).servers
            names = [server.name for server in servers if server.state is ServerState.WAITING]
    if args.json or hub.is_running:
        many = tr("{count} servers wait for a project again.", count=len(names))
        waiting = tr("1 server waits for a project again.") if len(names) == 1 else many
        return answer(args, {"waiting": names}, waiting)
    print_note(tr("Tooltray is not running, so every server waits for a project already."))
    return 0
