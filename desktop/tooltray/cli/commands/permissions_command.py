"""`tooltray permissions ...`: what runs without asking, tool by tool, and what a person chooses for one of them.

Above it: run. Below it: the running hub. What lets more through needs a terminal at both ends, as `tooltray approve` does.
"""

import argparse

from tooltray.cli.hubs import Hub, started_hub
from tooltray.cli.person import YES, check_terminal, typed_answer
from tooltray.cli.terminal import answer, answer_list, clean_line
from tooltray.errors import NotFound, TooltrayError
from tooltray.home.home import Home
from tooltray.snapshots.approvals import ServerPermissions, ToolPermission

LIST_TIMEOUT_S = 60.0  # of thousands of tools
ASK = "ask"
DONE = {"always": "{tool} of {server} runs without asking.", ASK: "{tool} of {server} asks first.", "default": "{tool} is as its server."}


def list_permissions(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        found = [each for each in _permissions(hub) if args.server in (None, each.server)]
    if args.server and not found:
        raise NotFound(f"There is no server '{clean_line(args.server)}'", "", "See which there are: tooltray servers list")
    if args.json:
        return answer(args, found)
    rows = [_row(server, tool) for server in found for tool in server.tools]
    return answer_list(args, rows, ("SERVER", "TOOL", "WITHOUT ASKING", "WHY"), list, empty="No tools are known yet.")


def set_permission(args: argparse.Namespace, home: Home) -> int:
    """Chooses for one tool; what may let more calls through is shown first, and asked about."""
    with started_hub(home) as hub:
        if args.choice != ASK and not _runs_freely(hub, args.server, args.tool):
            check_terminal()
            print(f"{clean_line(args.tool)} of {clean_line(args.server)} asks now, and may run without asking then.")
            if typed_answer("Allow this?") not in YES:
                print("Nothing was allowed.")
                return 1
        chosen = hub.api.approvals.set_tool_approval(server=args.server, tool=args.tool, approval=args.choice)
        hub.ask(chosen, timeout_s=LIST_TIMEOUT_S)
    print(DONE[args.choice].format(tool=clean_line(args.tool), server=clean_line(args.server)))
    return 0


def _permissions(hub: Hub) -> list[ServerPermissions]:
    return hub.ask(hub.api.approvals.get_permissions(), timeout_s=LIST_TIMEOUT_S)


def _runs_freely(hub: Hub, server: str, tool: str) -> bool:
    """
    Raises:
        TooltrayError: it is not known that there is such a tool; a yes would be to something that nobody has seen.
    """
    found = [each for of in _permissions(hub) if of.server == server for each in of.tools if each.tool == tool]
    if not found:
        hint = f"See them: tooltray permissions list {clean_line(server)}"
        raise TooltrayError(f"No tool '{clean_line(tool)}' of '{clean_line(server)}' is known", "", hint)
    return found[0].is_free


def _row(server: ServerPermissions, tool: ToolPermission) -> list[str]:
    runs = "yes" if tool.is_free else "allowed" if tool.grants else "held" if tool.is_held else "no"
    return [server.server, tool.tool, runs, tool.why]
