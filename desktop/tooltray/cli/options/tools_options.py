"""The options of `tooltray tools`, `skills`, `projects` and `registry`."""

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, command, group
from tooltray.cli.speech import tr

TOOL_CALL_TIMEOUT_S = 30.0  # the user waits for it; AI clients have ten minutes


def declare_tools(commands: Commands) -> None:
    tools = group(commands, "tools", tr("list and call the tools of all servers"))
    command(tools, "list", tr("list the tools as AI clients see them"), "tools_command:list_tools").add_argument(
        "--server", metavar="NAME", help=tr("of this server only")
    )
    call = command(tools, "call", tr("call a tool and print its result"), "tools_command:call")
    call.add_argument("name", metavar="NAME", help=tr("the tool's name as `tools list` shows it"))
    call.add_argument("arguments", metavar="ARGUMENT", nargs="*", help=tr("one JSON object, or KEY=VALUE ..."))
    call.add_argument("--project", metavar="DIR", help=tr("of servers that wait for a project: the allowed folder for which one answers"))
    call.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=values.seconds,
        default=TOOL_CALL_TIMEOUT_S,
        help=tr("how long to wait (default: {tool_call_timeout_s})", tool_call_timeout_s=f"{TOOL_CALL_TIMEOUT_S:g}"),
    )
    cost = command(tools, "cost", tr("say what the tools cost in a model's context"), "tools_command:cost")
    whose = cost.add_mutually_exclusive_group()
    whose.add_argument("--client", metavar="CLIENT", help=tr("for this kind of AI client; see `clients modes`"))
    whose.add_argument("--session", metavar="ID", help=tr("as this session sees them now; see `sessions`"))
    cost.add_argument("--server", metavar="NAME", help=tr("each tool of this server"))
    override = command(tools, "override", tr("show a tool to AI clients under another name, or with other words"), "views_command:override")
    override.add_argument("server", metavar="SERVER")
    override.add_argument("tool", metavar="TOOL", help=tr("the server's own name for it"))
    override.add_argument("--name", metavar="NAME")
    override.add_argument("--description", metavar="TEXT")
    override.add_argument("--title", metavar="TEXT")
    override.add_argument(
        "--hint",
        metavar="HINT=VALUE",
        action="append",
        help=tr("readOnlyHint, destructiveHint, idempotentHint or openWorldHint, and yes, no, or own for what the server says"),
    )
    override.add_argument("--icon", metavar="URL", action="append", help=tr("an address that begins with https:// or data:image/"))
    override.add_argument("--clear", action="store_true", help=tr("forget what was chosen before"))
    limit = command(tools, "limit", tr("say how many tokens of a result AI clients get at once"), "views_command:limit")
    limit.add_argument("tokens", metavar="TOKENS", type=values.tokens, help=tr("a number from 500 on, or none"))
    whose = limit.add_mutually_exclusive_group(required=True)
    whose.add_argument("--server", metavar="SERVER", help=tr("the results of all its tools, or of one"))
    whose.add_argument("--client", metavar="CLIENT", help=tr("all results that this kind of AI client gets; see `clients modes`"))
    limit.add_argument("--tool", metavar="TOOL", help=tr("of that server: the server's own name for it"))
    names = group(tools, "names", tr("the names under which tools are published"))
    command(names, "reset", tr("forget the names given so far and give them anew"), "tools_command:reset_names")


def declare_api(commands: Commands) -> None:
    api = command(commands, "api", tr("call a verb of the API and print its result as JSON, or list all verbs"), "api_command:api")
    api.add_argument("verb", metavar="VERB", nargs="?", help=tr("its name; left out: list all verbs"))
    api.add_argument("arguments", metavar="NAME=VALUE", nargs="*", help=tr("an argument of the verb; the value is JSON, or a text"))
    api.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=values.seconds,
        default=TOOL_CALL_TIMEOUT_S,
        help=tr("how long to wait (default: {tool_call_timeout_s})", tool_call_timeout_s=f"{TOOL_CALL_TIMEOUT_S:g}"),
    )


def declare_skills(commands: Commands) -> None:
    skills = group(commands, "skills", tr("list and read the skills of all servers"))
    command(skills, "list", tr("list the skills, also those that are off or held"), "skills_command:list_skills").add_argument(
        "--server", metavar="NAME", help=tr("of this server only")
    )
    command(skills, "show", tr("print the text of a skill as its server has it now"), "skills_command:show").add_argument(
        "skill", metavar="SKILL", help=tr("its name, or its URI as `skills list` shows it")
    )
    for name, words in (("enable", tr("offer a skill to AI clients")), ("disable", tr("offer it no longer"))):
        switch = command(skills, name, words, f"skills_command:{name}")
        switch.add_argument("server", metavar="SERVER")
        switch.add_argument("skill", metavar="SKILL", help=tr("its name, or its URI as its server has it"))


def declare_projects(commands: Commands) -> None:
    projects = group(commands, "projects", tr("choose which folders may be projects, and start servers for them"))
    command(projects, "list", tr("list the folders that are allowed, and what runs for which project"), "projects_command:list_projects")
    allow = command(projects, "allow", tr("let servers be started for a folder, and for what is in it"), "projects_command:allow")
    allow.add_argument("dir", metavar="DIR")
    command(projects, "disallow", tr("take that back"), "projects_command:disallow").add_argument("dir", metavar="DIR")
    start = command(projects, "start", tr("start a server that waits for a project"), "projects_command:start")
    start.add_argument("name", metavar="SERVER")
    which = start.add_mutually_exclusive_group(required=True)
    which.add_argument("dir", metavar="DIR", nargs="?", help=tr("for this folder, which is allowed thereby"))
    which.add_argument("--anyway", action="store_true", help=tr("without a project, as its settings say"))
    command(projects, "reset", tr("stop what runs for projects; those servers wait again"), "projects_command:reset")


def declare_registry(commands: Commands) -> None:
    registry = group(commands, "registry", tr("choose where npm packages of servers come from"))
    command(registry, "status", tr("say which npm registry servers get, and how all of them answered"), "registry_command:status")
    command(registry, "measure", tr("measure all npm registries now"), "registry_command:measure")
    setting = command(registry, "set", tr("use one npm registry from now on; it is measured first"), "registry_command:set_registry")
    setting.add_argument("url", metavar="URL")
    command(registry, "clear", tr("use none of your own any more"), "registry_command:clear")
    auto = command(registry, "auto", tr("decide whether the fastest npm registry is looked for and used"), "registry_command:auto")
    auto.add_argument("switch", choices=("on", "off"))
