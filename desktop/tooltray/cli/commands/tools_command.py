"""`tooltray tools`, `skills` and `tasks`: what servers offer AI clients, what it costs them, and what servers do for them meanwhile."""

import argparse
import json
from argparse import Namespace

from msgspec.structs import replace

from tooltray.carriers.control.control_client import HubSilent
from tooltray.catalogue.views.signatures import described_arguments
from tooltray.cli import values
from tooltray.cli.arguments import Usage, command, later
from tooltray.cli.derived_commands import Fixed, VerbCommands, done, table
from tooltray.cli.hubs import Hub, folder_path, started_hub
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer_list, clean, clean_line, count, moment, print_json, print_notes, print_table
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.tools import ServerCost, ServerTaskSnapshot, SkillSnapshot, ToolCost, ToolCosts, ToolSnapshot
from tooltray.foundation.verbs import JsonObject

LIST_TIMEOUT_S = 60.0  # servers that were never listed are waited for
COUNT_TIMEOUT_S = 120.0  # as for listing; then 5,000 tools are counted
TOOL_CALL_TIMEOUT_S = 30.0  # the user waits for it; AI clients have ten minutes


def declare(parser: Usage) -> None:
    tools = parser.subcommands()
    command(tools, "list", tr("list the tools as AI clients see them"), list_tools).takes("--server", "NAME", tr("of this server only"))
    find = command(tools, "find", tr("find tools by what they do"), find_tools)
    find.takes(
        "queries", "QUERY", tr("what a tool should do, in a few words between quotes; several queries at once are possible"), nargs="+"
    )
    find.takes("--limit", "NUMBER", tr("at most so many tools for each query (default: 5)"), type=int, default=5)
    describe = command(tools, "describe", tr("show the whole definitions of tools"), describe_tools)
    describe.takes("names", "NAME", tr("the tool's name as `tools find` shows it"), nargs="+")
    use = command(tools, "call", tr("call a tool and print its result"), call)
    use.takes("name", "NAME", tr("the tool's name as `tools list` shows it"))
    use.takes("arguments", "ARGUMENT", tr("one JSON object, or KEY=VALUE ..."), nargs="*")
    use.takes("--project", "DIR", tr("for servers that wait for a project: which allowed folder's instance to call"))
    text = tr("how long to wait (default: {tool_call_timeout_s})", tool_call_timeout_s=f"{TOOL_CALL_TIMEOUT_S:g}")
    use.takes("--timeout", "SECONDS", text, type=values.seconds, default=TOOL_CALL_TIMEOUT_S)
    costing = command(tools, "cost", tr("show what tools cost in a model's context"), cost)
    whose = costing.add_mutually_exclusive_group()
    whose.add_argument("--client", metavar="CLIENT", help=tr("for this kind of AI client; see `clients modes`"))
    whose.add_argument("--session", metavar="ID", help=tr("as this session sees them now; see `sessions`"))
    costing.takes("--server", "NAME", tr("each tool of this server"))
    text = tr("show a tool to AI clients under another name or description")
    override = command(tools, "override", text, "commands.views_command:override")
    override.takes("server")
    override.takes("tool", "TOOL", tr("the tool's own name"))
    override.takes("--name", "NAME")
    override.takes("--description", "TEXT")
    override.takes("--title", "TEXT")
    text = tr("readOnlyHint, destructiveHint, idempotentHint or openWorldHint, with yes, no, or own for the server's own value")
    override.takes("--hint", "HINT=VALUE", text, action="append")
    override.takes("--icon", "URL", tr("an address that begins with https:// or data:image/"), action="append")
    override.flag("--clear", tr("remove earlier choices"))
    limit = command(tools, "limit", tr("limit how many tokens of a result AI clients get at once"), "commands.views_command:limit")
    limit.takes("tokens", "TOKENS", tr("a number from 500, or none"), type=values.tokens)
    tables = command(tools, "csv", tr("give AI clients tables in results as CSV, which is smaller"), "commands.views_command:csv")
    tables.add_argument("switch", choices=("on", "off", "default"))
    for choosing in (limit, tables):
        whose = choosing.add_mutually_exclusive_group(required=True)
        whose.add_argument("--server", metavar="SERVER", help=tr("the results of all its tools, or of one"))
        whose.add_argument("--client", metavar="CLIENT", help=tr("all results that this kind of AI client gets; see `clients modes`"))
        choosing.takes("--tool", "TOOL", tr("of that server: the server's own name for it"))
    names = later(tools, "names", tr("manage the names under which tools are published")).subcommands()
    reset = done(lambda *_: tr("Tool names were reset. AI clients that allow tools by name may ask again."), reset=True)
    VerbCommands(names).add("reset", tr("reset the published names of tools"), "reset_tool_names", reset)


def list_tools(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        tools = hub.ask(hub.api.tools.get_tools(server=args.server), timeout_s=LIST_TIMEOUT_S)
        servers = [] if args.json else hub.ask(hub.api.hub.get_snapshot()).servers
    empty = tr("No tools found.") if args.server is None else tr("{server} has no tools.", server=args.server)
    shown = answer_list(args, tools, (tr("NAME"), tr("SERVER"), tr("KIND"), tr("CALLS"), tr("DESCRIPTION")), _row, empty=empty)
    print_notes(f"{server.name}: {flaw}" for server in servers if args.server in (None, server.name) for flaw in server.flaws)
    return shown


def _row(tool: ToolSnapshot) -> list[str]:
    calls = tr("off") if not tool.is_enabled else tr("approved") if tool.is_approved else tr("asks first")
    kind = tr("{kind}, for views", kind=tool.category) if tool.is_for_views else tool.category
    return [tool.name, tool.server, kind, calls, tool.description]


def find_tools(args: argparse.Namespace, home: Home) -> int:
    """Prints the tools that fit each query best, as models read them."""
    with started_hub(home) as hub:
        found = hub.ask(hub.api.lookup.find_tools(queries=args.queries, limit=args.limit), timeout_s=LIST_TIMEOUT_S)
    if args.json:
        print_json(found)
        return 0
    for place, each in enumerate(found):
        if len(found) > 1:
            print(("\n" if place else "") + f"# {clean_line(each.query)}")
        if each.tools:
            rows = [[tool.server, tool.why or "-", tool.signature] for tool in each.tools]
            print_table((tr("SERVER"), tr("FOUND BY"), tr("TOOL")), rows)
        else:
            print(tr("No tools found."))
    if starting := ", ".join(map(clean_line, found[0].starting)):
        print("\n" + tr("Not searched, since they are still starting: {names}", names=starting))
    return 0


def describe_tools(args: argparse.Namespace, home: Home) -> int:
    """Prints the definitions of tools: what each does, and its arguments."""
    with started_hub(home) as hub:
        definitions = hub.ask(hub.api.lookup.describe_tools(names=args.names), timeout_s=LIST_TIMEOUT_S)
    if args.json:
        print_json(definitions)
        return 0
    for place, definition in enumerate(definitions):
        print(("\n" if place else "") + clean_line(str(definition.get("name", ""))))
        print(clean(str(definition.get("description", ""))))
        if rows := [list(argument) for argument in described_arguments(definition.get("inputSchema"))]:
            print_table((tr("ARGUMENT"), tr("TYPE"), tr("DESCRIPTION")), rows)
    return 0


def call(args: argparse.Namespace, home: Home) -> int:
    """Calls a tool and prints its result.

    Returns:
        1 if the tool reports a failure.
    """
    with started_hub(home) as hub:
        arguments = _arguments(hub, args)
        project = {} if args.project is None else {"project": folder_path(args.project)}
        try:
            result = hub.ask(hub.api.tools.call_tool(name=args.name, arguments=arguments, **project), timeout_s=args.timeout)
        except HubSilent:
            hint = tr("Give it more time with --timeout SECONDS")
            raise TooltrayError(
                tr("{name} gave no result within {timeout} s", name=args.name, timeout=f"{args.timeout:g}"),
                tr("The call was given up"),
                hint,
            ) from None
    if args.json:
        print_json(result)
    else:
        _print_result(result)
    return 1 if result.get("isError") else 0


def _arguments(hub: Hub, args: argparse.Namespace) -> dict[str, object]:
    """Parses one JSON object, or KEY=VALUE words.

    Raises:
        TooltrayError: the words are neither.
    """
    words: list[str] = args.arguments
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        try:
            value = json.loads(words[0])
        except (ValueError, RecursionError) as error:
            raise TooltrayError(tr("The arguments are not a JSON object"), str(error), tr("Put the object in single quotes")) from None
        return dict(value)
    pairs = [word.partition("=") for word in words]
    if not all(name and mark for name, mark, _ in pairs):
        raise TooltrayError(tr("Invalid arguments"), " ".join(words), tr("Give one JSON object, or KEY=VALUE words"))
    if not pairs:
        return {}
    kinds = _declared_kinds(hub, args.name)
    return {name: _value(text, kinds.get(name)) for name, _, text in pairs}


def _declared_kinds(hub: Hub, tool: str) -> dict[str, object]:
    """Returns the JSON types of the arguments as the tool declares them: `zip=12345` may be meant as text."""
    definitions = hub.ask(hub.api.tools.get_all_tool_definitions(server=None), timeout_s=LIST_TIMEOUT_S)
    schema = next((each.get("inputSchema") for each in definitions if each.get("name") == tool), None)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: each.get("type") for name, each in properties.items() if isinstance(each, dict)}


def _value(text: str, kind: object) -> object:
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _print_result(result: JsonObject) -> None:
    content = result.get("content") or []
    for block in content:
        print(clean(_text_of(block)))
    if not content and "structuredContent" in result:
        print_json(result["structuredContent"])


def _text_of(block: JsonObject) -> str:
    """Returns a block of content as text; other kinds as their name and size."""
    kind = block.get("type", "content")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource_link":
        return tr("[link: {value}]", value=block.get("uri", ""))
    if kind == "resource":
        resource = block.get("resource", {})
        return (
            str(resource["text"])
            if "text" in resource
            else tr("[resource: {value}, {value2}]", value=resource.get("uri", ""), value2=_size(resource.get("blob", "")))
        )
    return f"[{kind}: {block.get('mimeType', tr('unknown type'))}, {_size(block.get('data', ''))}]"


def _size(base64_text: str) -> str:
    return count(len(base64_text) * 3 // 4 - base64_text.count("=", -2), "byte")


# costs


def cost(args: argparse.Namespace, home: Home) -> int:
    """Shows what the definitions of tools cost in a model's context, all of them and those shown."""
    with started_hub(home) as hub:
        of_session = {"session": args.session} if args.session else {}  # unknown to older hubs
        costs = hub.ask(hub.api.views.get_tool_costs(client=args.client, **of_session), timeout_s=COUNT_TIMEOUT_S)
    if args.server is not None:
        costs = _of_server(costs, args.server)
    if args.json:
        print_json(costs)
        return 0
    shown = tr("shown now") if args.session else tr("shown at first")
    if args.server is None:
        print_table((tr("SERVER"), tr("TOOLS"), tr("TOKENS"), shown.upper()), [_server_cost_row(each) for each in costs.servers])
    else:
        tools = sorted(costs.servers[0].tools, key=lambda each: -each.tokens)
        print_table((tr("TOKENS"), shown.upper(), tr("TOOL")), [_tool_cost_row(each) for each in tools])
    print(_cost_summary(costs, shown))
    if costs.skill_tokens:
        print(tr("Skills cost AI clients that support them {tokens} tokens more.", tokens=costs.skill_tokens))
    return 0


def _of_server(costs: ToolCosts, name: str) -> ToolCosts:
    """Returns the costs of only one server."""
    server = next((each for each in costs.servers if each.server == name), None)
    if server is None:
        raise TooltrayError(tr("'{name}' offers no tools", name=name), hint=tr("See which servers do: tooltray tools cost"))
    return replace(costs, tokens=server.tokens, shown_tokens=server.shown_tokens, servers=(server,), skill_tokens=server.skill_tokens)


def _cost_summary(costs: ToolCosts, shown: str) -> str:
    whose = clean_line(costs.client) or tr("an AI client without settings of its own")
    how = (
        tr("estimated by size")
        if costs.is_estimated
        else tr("counted with {tokenizer}; each model's own count differs a little", tokenizer=costs.tokenizer)
    )
    return tr(
        "The tools cost {tokens} tokens; what {whose} is {shown} costs {shown_tokens} ({how}).",
        tokens=costs.tokens,
        whose=whose,
        shown=shown,
        shown_tokens=costs.shown_tokens,
        how=how,
    )


def _server_cost_row(server: ServerCost) -> list[str]:
    return [server.server, str(len(server.tools)), str(server.tokens), str(server.shown_tokens)]


def _tool_cost_row(tool: ToolCost) -> list[str]:
    return [str(tool.tokens), "yes" if tool.is_shown else "-", tool.name]


def declare_skills(parser: Usage) -> None:
    skills = VerbCommands(parser.subcommands(), timeout_s=LIST_TIMEOUT_S)
    titles = (tr("NAME"), tr("SERVER"), tr("STATE"), tr("URI"), tr("DESCRIPTION"))
    text, listed = (
        tr("list all skills, including those that are off or blocked until reviewed"),
        table(titles, _skill_row, tr("No skills found.")),
    )
    skills.add("list", text, "get_skills", listed, server={"metavar": "NAME", "help": tr("of this server only")})
    text, shown = tr("print a skill's current text"), done(lambda _, skill: clean(str(skill.get("text", ""))))
    skills.add("show", text, "get_skill", shown, skill=tr("its name, or its URI as `skills list` shows it"))
    named = tr("its name, or its URI as its server has it")
    enabled = done(_offered, "server", "skill", enabled=True)
    skills.add("enable", tr("offer a skill to AI clients"), "set_skill_enabled", enabled, skill=named, enabled=Fixed(True))
    disabled = done(_off, "server", "skill", enabled=False)
    skills.add("disable", tr("stop offering a skill to AI clients"), "set_skill_enabled", disabled, skill=named, enabled=Fixed(False))


def _skill_row(skill: SkillSnapshot) -> list[str]:
    state = tr("off") if not skill.is_enabled else tr("blocked until reviewed") if skill.is_held else tr("offered")
    return [skill.name, skill.server, state, skill.uri, skill.description]


def _offered(args: Namespace, _: object) -> str:
    return tr("{skill} of {server} is offered.", skill=args.skill, server=args.server)


def _off(args: Namespace, _: object) -> str:
    return tr("{skill} of {server} is off.", skill=args.skill, server=args.server)


STATES = {
    "working": Phrase("working"),
    "input_required": Phrase("waits for an answer"),
    "completed": Phrase("completed"),
    "failed": Phrase("failed"),
    "cancelled": Phrase("cancelled"),
}


def declare_tasks(parser: Usage) -> None:
    tasks = VerbCommands(parser.subcommands())
    titles = (tr("ID"), tr("SERVER"), tr("TOOL"), tr("CLIENT"), tr("STATE"), tr("SINCE"))
    listed = table(titles, _task_row, tr("No server has a task of an AI client."))
    tasks.add("list", tr("list the tasks that servers have begun for AI clients"), "get_server_tasks", listed)
    cancelled = done(lambda args, _: tr("The server was notified that task {id} is cancelled.", id=args.id), "id", cancelled=True)
    text = tr("cancel a task")
    tasks.add("cancel", text, "cancel_server_task", cancelled, id=tr("as `tooltray tasks list` names it"))


def _task_row(task: ServerTaskSnapshot) -> list[str]:
    state = say(STATES.get(task.status, task.status))
    return [task.id, task.server, task.tool, task.client or "-", state, moment(task.created_at)]
