"""What can be typed behind `tooltray tools`, `projects` and `registry`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, command, group

TOOL_CALL_TIMEOUT_S = 30.0  # a person waits in front of it; AI clients have ten minutes


def declare_tools(commands: Commands) -> None:
    tools = group(commands, "tools", "list and call the tools of all servers")
    command(tools, "list", "list the tools as AI clients see them", "tools_command:list_tools").add_argument(
        "--server", metavar="NAME", help="of this server only"
    )
    call = command(tools, "call", "call a tool and print its result", "tools_command:call")
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
    cost = command(tools, "cost", "say what the tools cost in a model's context", "tools_command:cost")
    whose = cost.add_mutually_exclusive_group()
    whose.add_argument("--client", metavar="CLIENT", help="for this kind of AI client; see `clients modes`")
    whose.add_argument("--session", metavar="ID", help="as this session sees them now; see `sessions`")
    cost.add_argument("--server", metavar="NAME", help="each tool of this server")
    override = command(
        tools, "override", "show a tool to AI clients under another name or with another description", "views_command:override"
    )
    override.add_argument("server", metavar="SERVER")
    override.add_argument("tool", metavar="TOOL", help="the server's own name for it")
    override.add_argument("--name", metavar="NAME")
    override.add_argument("--description", metavar="TEXT")
    override.add_argument("--clear", action="store_true", help="forget what was chosen before")
    names = group(tools, "names", "the names under which tools are published")
    command(names, "reset", "forget the names given so far and give them anew", "tools_command:reset_names")


def declare_projects(commands: Commands) -> None:
    projects = group(commands, "projects", "choose which folders may be projects, and start servers for them")
    command(projects, "list", "list the folders that are allowed, and what runs for which project", "projects_command:list_projects")
    allow = command(projects, "allow", "let servers be started for a folder, and for what is in it", "projects_command:allow")
    allow.add_argument("dir", metavar="DIR")
    command(projects, "disallow", "take that back", "projects_command:disallow").add_argument("dir", metavar="DIR")
    start = command(projects, "start", "start a server that waits for a project", "projects_command:start")
    start.add_argument("name", metavar="SERVER")
    which = start.add_mutually_exclusive_group(required=True)
    which.add_argument("dir", metavar="DIR", nargs="?", help="for this folder, which is allowed thereby")
    which.add_argument("--anyway", action="store_true", help="without a project, as its settings say")
    command(projects, "reset", "stop what runs for projects; those servers wait again", "projects_command:reset")


def declare_registry(commands: Commands) -> None:
    registry = group(commands, "registry", "choose where npm packages of servers come from")
    command(registry, "status", "say which npm registry servers get, and how all of them answered", "registry_command:status")
    command(registry, "measure", "measure all npm registries now", "registry_command:measure")
    setting = command(registry, "set", "use one npm registry from now on; it is measured first", "registry_command:set_registry")
    setting.add_argument("url", metavar="URL")
    command(registry, "clear", "use none of your own any more", "registry_command:clear")
    auto = command(registry, "auto", "decide whether the fastest npm registry is looked for and used", "registry_command:auto")
    auto.add_argument("switch", choices=("on", "off"))
