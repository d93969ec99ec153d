"""`tooltray permissions ...`: shows and changes which tools run without asking.

Allowing more needs a terminal at both ends, as `tooltray approve` does.
"""

import argparse
from collections.abc import Iterator

from tooltray.cli.hubs import Hub, started_hub
from tooltray.cli.parsers import Usage, command
from tooltray.cli.person import check_terminal, is_allowed
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, answer_list, clean_line
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.clients import ClientModeSnapshot

LIST_TIMEOUT_S = 60.0  # of thousands of tools
ASK = "ask"


def declare(parser: Usage) -> None:
    permissions = parser.subcommands()
    listed = command(permissions, "list", tr("list which tools run without asking, and why"), list_permissions)
    listed.takes("server", "SERVER", tr("of this one alone"), nargs="?")
    chosen = command(permissions, "set", tr("choose for one tool"), set_permission, has_json=False).takes("server")
    chosen.takes("tool", "TOOL", tr("the server's own name for it"))
    choices = ("always", "ask", "default")
    chosen.add_argument(
        "choice", choices=choices, help=tr("it runs without asking; it asks first, whatever else is allowed; as its server")
    )


def list_permissions(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = [each for each in _permissions(hub) if args.server in (None, each.server)]
        clients = [] if args.server or args.json else hub.ask(hub.api.views.get_client_modes(), timeout_s=LIST_TIMEOUT_S)
    if args.server and not found:
        hint = Phrase("See which there are: tooltray servers list")
        raise NotFound(Phrase("There is no server '{name}'", name=clean_line(args.server)), "", hint)
    if args.json:
        return answer(args, found)
    titles = (tr("SERVER"), tr("TOOL"), tr("WITHOUT ASKING"), tr("WHY"))
    rows = [_row(server, tool) for server in found for tool in server.tools]
    code = answer_list(args, rows, titles, list, empty=tr("No tools are known yet."))
    if lines := list(_on_arguments(found, clients)):
        print("", tr("Rules on arguments let through, too:"), *lines, sep="\n")
    return code


def _on_arguments(servers: list[ServerPermissions], clients: list[ClientModeSnapshot]) -> Iterator[str]:
    """Yields the rules on arguments, a line each: the servers' rules, and the rules that replace them for AI clients."""
    for server in servers:
        for rule in server.call_rules:
            yield tr("{server}: {calls}", server=clean_line(server.server), calls=clean_line(say(rule)))
    for client in clients:
        name = clean_line(client.title or client.client)
        for rule in client.call_rules or ():
            yield tr("{client}, in the place of the servers' rules: {calls}", client=name, calls=clean_line(say(rule)))
        if client.call_rules == ():
            yield tr("{client}: none, and those of servers do not count", client=name)


def set_permission(args: argparse.Namespace, home: Home) -> int:
    """Changes the permission of one tool; a change that may allow more calls is shown first, and needs a confirmation."""
    with started_hub(home) as hub:
        if args.choice != ASK and not _runs_freely(hub, args.server, args.tool):
            check_terminal()
            tool, server = clean_line(args.tool), clean_line(args.server)
            print(tr("{tool} of {server} asks now, and may run without asking then.", tool=tool, server=server))
            if not is_allowed():
                return 1
        chosen = hub.api.approvals.set_tool_approval(server=args.server, tool=args.tool, approval=args.choice)
        hub.ask(chosen, timeout_s=LIST_TIMEOUT_S)
    print(_done(args))
    return 0


def _done(args: argparse.Namespace) -> str:
    tool, server = clean_line(args.tool), clean_line(args.server)
    match args.choice:
        case "always":
            return tr("{tool} of {server} runs without asking.", tool=tool, server=server)
        case "ask":
            return tr("{tool} of {server} asks first.", tool=tool, server=server)
        case _:
            return tr("{tool} of {server} is as its server.", tool=tool, server=server)


def _permissions(hub: Hub) -> list[ServerPermissions]:
    return hub.ask(hub.api.approvals.get_permissions(), timeout_s=LIST_TIMEOUT_S)


def _runs_freely(hub: Hub, server: str, tool: str) -> bool:
    """
    Raises:
        TooltrayError: the tool is unknown; consent would cover something that the person has not seen.
    """
    found = [each for of in _permissions(hub) if of.server == server for each in of.tools if each.tool == tool]
    if not found:
        hint = Phrase("See them: tooltray permissions list {server}", server=clean_line(server))
        raise TooltrayError(Phrase("No tool '{tool}' of '{server}' is known", tool=clean_line(tool), server=clean_line(server)), "", hint)
    return found[0].is_free


def _row(server: ServerPermissions, tool: ToolPermission) -> list[str]:
    runs = tr("yes") if tool.is_free else tr("allowed") if tool.grants else tr("held") if tool.is_held else tr("no")
    covered = tool.grants and not tool.is_free
    return [server.server, tool.tool, runs, tr("See it: tooltray grants list") if covered else say(tool.why)]
