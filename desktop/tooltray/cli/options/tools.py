"""What can be typed behind `tooltray tools`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, command, group

TOOL_CALL_TIMEOUT_S = 30.0  # a person waits in front of it; AI clients have ten minutes


def declare(commands: Commands) -> None:
    tools = group(commands, "tools", "list and call the tools of all servers")
    command(tools, "list", "list the tools as AI clients see them", "tools:list_tools").add_argument(
        "--server", metavar="NAME", help="of this server only"
    )
    call = command(tools, "call", "call a tool and print its result", "tools:call")
    call.add_argument("name", metavar="NAME", help="the tool's name as `tools list` shows it")
    call.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="one JSON object, or KEY=VALUE ...")
    call.add_argument("--project", metavar="DIR", help="of servers that wait for a project: the allowed folder for which one answers")
    call.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=values.seconds,
        default=TOOL_CALL_TIMEOUT_S,
        help=f"how long to wait (default: {TOOL_CALL_TIMEOUT_S:g})",
    )
    cost = command(tools, "cost", "say what the tools cost in a model's context", "tools:cost")
    whose = cost.add_mutually_exclusive_group()
    whose.add_argument("--client", metavar="CLIENT", help="for this kind of AI client; see `clients modes`")
    whose.add_argument("--session", metavar="ID", help="as this session sees them now; see `sessions`")
    cost.add_argument("--server", metavar="NAME", help="each tool of this server")
    override = command(tools, "override", "show a tool to AI clients under another name or with another description", "views:override")
    override.add_argument("server", metavar="SERVER")
    override.add_argument("tool", metavar="TOOL", help="the server's own name for it")
    override.add_argument("--name", metavar="NAME")
    override.add_argument("--description", metavar="TEXT")
    override.add_argument("--clear", action="store_true", help="forget what was chosen before")
    names = group(tools, "names", "the names under which tools are published")
    command(names, "reset", "forget the names given so far and give them anew", "tools:reset_names")
