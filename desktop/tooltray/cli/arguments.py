"""What can be typed: the commands, their options, and which function runs each.

Above it: run. Knows the names of the functions, not the functions: a command's module is imported only when it runs.
"""

import argparse
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NoReturn

from tooltray import __version__

EXECUTION_ID_VARIABLE = "TOOLTRAY_EXECUTION_ID"
EXECUTION_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # it becomes part of each log record, and people grep for it
URL = re.compile(r"https?://[^/?#]", re.IGNORECASE)
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")  # RFC 9110, section 5.1
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BRIDGE_IDLE_EXIT_S = 900.0  # a hub that nobody asked for by hand leaves 15 minutes after its last AI client
TOOL_CALL_TIMEOUT_S = 30.0  # a person waits in front of it; AI clients have ten minutes
LOG_LINES = 200
TIME = re.compile(r"([1-9][0-9]{0,8})([smhd])")
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
MODES = ("everything", "lazy", "search", "automatic", "default")
FEEDBACK_LINES = 20
DESKTOP = "desktop"

_COMMAND_MARK = "--"


class UsageError(Exception):
    """What was typed cannot be understood."""

    def __init__(self, program: str, usage: str, message: str) -> None:
        super().__init__(message)
        self.program, self.usage = program, usage


class Usage(argparse.ArgumentParser):
    """A parser that raises where argparse would print and exit: the caller knows whether JSON was asked for."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(self.prog, self.format_usage(), message)


def parse(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> argparse.Namespace:
    """Reads a command line.

    Args:
        argv: without the program's name.
        environ: where TOOLTRAY_EXECUTION_ID is looked up.

    Returns:
        The options, with `run` as "module:function" within this package, or `DESKTOP` where no command was given.

    Raises:
        UsageError: it cannot be understood.
        SystemExit: 0, after `--help` and `--version`.
    """
    ours, command = _split(argv)
    args = _parser().parse_args(ours)
    args.command_line = command
    args.is_marked = _COMMAND_MARK in ours
    usage: Usage = args.usage
    if args.run == "servers:add":
        _check_add(usage, args)
    if args.run == "approve:approve":
        _check_approve(usage, args)
    if args.run == "trust:trust":
        _check_trust(usage, args)
    if args.run == "approve:rules" and (bool(args.rules), args.nothing, args.default).count(True) != 1:
        usage.error("give RULE ..., --nothing or --default")
    if args.run == "approve:server_rules" and bool(args.rules) == args.nothing:
        usage.error("give RULE ... or --nothing")
    if args.run == "doctor:doctor" and args.fix is not None and args.server is None:
        usage.error("--fix goes with SERVER")
    if args.run == "serve:serve":
        _check_serve(usage, args, environ)
    return args


def _check_add(usage: Usage, args: argparse.Namespace) -> None:
    if args.url and args.command_line:
        usage.error(f"a server has a --url or a command after {_COMMAND_MARK}, not both")
    if not args.url and not args.command_line:
        usage.error(
            f"put the server's command after {_COMMAND_MARK}, as in: tooltray servers add files -- npx -y some-server; or give its --url"
        )
    if args.template is not None and not args.deferred:
        usage.error("--template goes with --deferred")
    if args.idle_stop is not None and not (args.on_demand or args.deferred):
        usage.error("--idle-stop goes with --on-demand: what starts with the hub stays up")
    of_settings = {"--on-demand": args.on_demand, "--deferred": args.deferred, "--replace": args.replace}
    if args.project is not None and (wrong := next((option for option, value in of_settings.items() if value), None)):
        usage.error(f"{wrong} does not go with --project: such a server runs while somebody works there")
    of_commands = {"--secret": args.secret, "--env": args.env, "--cwd": args.cwd}
    of_urls = {"--sse": args.sse, "--header": args.header, "--header-secret": args.header_secret, "--bearer-secret": args.bearer_secret}
    of_urls |= {"--client-id": args.client_id, "--client-secret": args.client_secret, "--scope": args.scope}
    of_urls |= {"--redirect-port": args.redirect_port, "--client-credentials": args.client_credentials}
    if wrong := next((option for option, value in (of_commands if args.url else of_urls).items() if value), None):
        usage.error(f"{wrong} goes with {'a command' if args.url else '--url'}")
    if args.client_secret and not args.client_id:
        usage.error("--client-secret goes with --client-id")
    if args.client_credentials and not args.client_secret:
        usage.error("--client-credentials goes with --client-id and --client-secret")
    names = [name.lower() for name, _ in args.header] + [name.lower() for name in args.header_secret]
    names += ["authorization"] if args.bearer_secret else []
    if twice := next((name for name in names if names.count(name) > 1), None):
        usage.error(f"the header {twice} is given twice")


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own words, and the server's command after the first `--`, which argparse would look into."""
    words = list(argv)
    at = words.index(_COMMAND_MARK) if _COMMAND_MARK in words else len(words)
    if ("servers", "add") not in pairwise(words[:at]):
        return words, []
    return words[:at], words[at + 1 :]


def _check_approve(usage: Usage, args: argparse.Namespace) -> None:
    args.is_refusal = len(args.words) == 2 and args.words[0] == "refuse" and not args.is_marked
    if args.is_refusal and (args.client or args.duration is not None):
        usage.error("--client and --for do not go with refuse ID; a server called refuse is named so: -- refuse TOOL")
    if len(args.words) != (1 if args.all_reads else 2) and (args.all_reads or args.client or args.duration is not None):
        usage.error("--all-reads goes with SERVER alone, --client and --for with SERVER TOOL or SERVER --all-reads")
    if args.answer and (len(args.words) != 1 or args.all_reads):
        usage.error("--once, --session, --always and --reads go with an ID")
    if len(args.words) > 2:
        usage.error("an ID, or SERVER TOOL; quote a name that has spaces")
    if args.json and args.words not in ([], ["list"]):
        usage.error("--json goes with the list: a yes is given by a person who reads what it is for")


def _check_trust(usage: Usage, args: argparse.Namespace) -> None:
    if args.words == ["remove"] or (args.words[0] == "remove" and len(args.words) > 3):
        usage.error("remove goes with DIR, or with DIR and ENTRY; a folder called remove is named so: ./remove")
    if args.words[0] == "list" and len(args.words) > 1:
        usage.error("list stands alone; a folder called list is named so: ./list")


def _check_serve(usage: Usage, args: argparse.Namespace, environ: Mapping[str, str]) -> None:
    if args.server and not args.stdio:
        usage.error("--server goes with --stdio")
    if args.started_by_bridge and args.stdio:
        usage.error("--started-by-bridge does not go with --stdio")
    if args.started_by_bridge and (args.config or args.project is not None):
        usage.error("--config and --project do not go with --started-by-bridge")
    if args.started_by_bridge and args.idle_exit is None:
        args.idle_exit = BRIDGE_IDLE_EXIT_S
    if not args.execution_id and not environ.get(EXECUTION_ID_VARIABLE):
        import uuid

        args.execution_id = uuid.uuid4().hex
    source = "--execution-id" if args.execution_id else EXECUTION_ID_VARIABLE
    args.execution_id = args.execution_id or environ[EXECUTION_ID_VARIABLE]
    if not EXECUTION_ID.fullmatch(args.execution_id):
        usage.error(f"{source}: 1 to 64 letters, digits, dots, dashes and underscores, not {args.execution_id!r}")


def _parser() -> Usage:
    parser = Usage(
        prog="tooltray",
        description="One home for your MCP servers. Without a command: the desktop app, or `serve` where there is no screen.",
    )
    parser.add_argument("--home", metavar="DIR", help="use this folder instead of ~/.tooltray (also: TOOLTRAY_HOME)")
    parser.add_argument("--version", action="version", version=f"tooltray {__version__}")
    parser.set_defaults(run=DESKTOP, usage=parser, json=False)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    _add_serve(_command(commands, "serve", "run the hub here, in this terminal", "serve:serve", has_json=False))
    _command(commands, "status", "say whether a hub runs, and what it does", "status:status")
    _add_servers(_group(commands, "servers", "list, add, remove, start and stop servers"))
    _add_tools(_group(commands, "tools", "list and call the tools of all servers"))
    _add_secrets(_group(commands, "secrets", "keep API keys and passwords out of the settings"))
    _add_http(_group(commands, "http", "let AI clients connect over HTTP"))
    _add_clients(_group(commands, "clients", "how tools are shown to AI clients, and the tokens with which they connect over HTTP"))
    _add_profiles(_group(commands, "profiles", "named sets of servers and tools"))
    _command(commands, "sessions", "list the sessions of AI clients and what they see", "shown:sessions")
    _add_registry(_group(commands, "registry", "choose where npm packages of servers come from"))
    _add_projects(_group(commands, "projects", "choose which folders may be projects, and start servers for them"))
    _add_feedback(_group(commands, "feedback", "answer the reports of models, where no window shows them"))
    _add_approve(_command(commands, "approve", "say yes or no to a tool call that waits, or allow tools for longer", "approve:approve"))
    _add_trust(_command(commands, "trust", "let servers of a project's own file (.mcp.json) run, and take that back", "trust:trust"))
    _add_grants(_group(commands, "grants", "list what is allowed for longer than one call, and take it back"))
    doctor = _command(commands, "doctor", "say what is wrong, and what to do about it", "doctor:doctor")
    doctor.add_argument("server", nargs="?", metavar="SERVER", help="look at this server only")
    doctor.add_argument("--fix", metavar="NUMBER", type=_number, help="with SERVER: carry out what was offered under this number")
    reload = _command(commands, "reload", "read the settings and all other files with servers in them again", "reload:reload")
    reload.add_argument("--dry-run", action="store_true", help="say what it would do, and do nothing")
    _command(commands, "stop", "end the running hub", "stop:stop")
    _add_setup(commands)
    return parser


_Commands = argparse._SubParsersAction  # the type has no public name


def _command(commands: "_Commands[Usage]", name: str, text: str, run: str, *, has_json: bool = True) -> Usage:
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(run=run, usage=parser)
    parser.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)  # also after the command
    if has_json:
        parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    return parser


def _group(commands: "_Commands[Usage]", name: str, text: str) -> "_Commands[Usage]":
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(usage=parser)
    return parser.add_subparsers(metavar="COMMAND", title="commands", required=True)


def _add_trust(trust: Usage) -> None:
    trust.usage = "tooltray trust DIR [ENTRY ...] | list | remove DIR [ENTRY]"
    what = "the project's folder and, if not all, the names in its file; a folder called list or remove is named so: ./list"
    trust.add_argument("words", metavar="DIR", nargs="+", type=_some_text, help=what)


def _add_serve(serve: Usage) -> None:
    serve.add_argument("--stdio", action="store_true", help="serve one AI client on standard input and output")
    serve.add_argument("--server", metavar="NAME", help="with --stdio: this server alone, with its own tool names")
    serve.add_argument("--replace", action="store_true", help="take over from a hub that runs already")
    serve.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="also serve what this config of TBXark's mcp-proxy or of mcp-hub says, as it is; may be given again",
    )
    serve.add_argument("--project", metavar="DIR", help="give every session the servers of this folder's .mcp.json, which you trust once")
    serve.add_argument("--execution-id", metavar="ID", help=f"written into each log record (also: {EXECUTION_ID_VARIABLE})")
    serve.add_argument("--idle-exit", metavar="SECONDS", type=_seconds, help="end this long after the last AI client left")
    serve.add_argument(
        "--started-by-bridge", action="store_true", help=argparse.SUPPRESS
    )  # by the bridge and by commands like `tools call`


def _add_servers(servers: "_Commands[Usage]") -> None:
    _command(servers, "list", "list the servers and how they are", "servers:list_servers")
    add = _command(servers, "add", "add a server by its command line", "servers:add")
    add.usage = "tooltray servers add NAME [options] -- COMMAND [ARGS ...]"
    add.add_argument("name", metavar="NAME")
    add.add_argument(
        "--secret",
        metavar="KEY",
        action="append",
        default=[],
        type=_variable,
        help="an environment variable whose value is asked for and kept secret",
    )
    add.add_argument("--url", metavar="URL", type=_url, help="the address of a server that runs elsewhere, in place of a command")
    add.add_argument("--sse", action="store_true", help="with --url: it speaks the older HTTP+SSE transport")
    add.add_argument("--header", metavar="'NAME: VALUE'", action="append", default=[], type=_header, help="with --url: a header to send")
    add.add_argument(
        "--header-secret",
        metavar="NAME",
        action="append",
        default=[],
        type=_header_name,
        help="with --url: a header whose value is asked for and kept secret",
    )
    add.add_argument("--bearer-secret", action="store_true", help="with --url: a bearer token, which is asked for and kept secret")
    add.add_argument("--client-id", metavar="ID", help="with --url: sign in as this client, which was registered there by hand")
    add.add_argument("--client-secret", action="store_true", help="the secret of such a client, which is asked for and kept secret")
    add.add_argument("--client-credentials", action="store_true", help="such a client signs in by itself, without a person")
    add.add_argument("--scope", metavar="SCOPE", action="append", default=[], help="with --url: what to ask for when signing in")
    add.add_argument("--redirect-port", metavar="PORT", type=_port, help="with --url: the port that the browser comes back to")
    add.add_argument("--isolation", choices=("shared", "session"), help="one copy for all AI clients (the default), or one for each")
    add.add_argument("--secret-stdin", action="store_true", help="read the secrets from standard input, one a line")
    add.add_argument("--env", metavar="KEY=VALUE", action="append", default=[], type=_assignment, help="an environment variable")
    add.add_argument("--cwd", metavar="DIR", help="the folder in which the server runs")
    add.add_argument("--project", metavar="DIR", help="write it into this folder's .mcp.json, for AI clients that work there alone")
    add.add_argument("--on-demand", action="store_true", help="start it when it is first used, not with the hub")
    add.add_argument("--deferred", action="store_true", help="start it when a project is known, one copy for each")
    add.add_argument(
        "--template",
        metavar="ARGS",
        type=_words,
        help="with --deferred: its arguments, quoted as for a shell, with {project_path} and {project_name} in them; "
        "without it they may stand behind the command",
    )
    add.add_argument(
        "--idle-stop", metavar="SECONDS", type=_some_seconds, help="with --on-demand: stop it again after so long without a call"
    )
    add.add_argument("--icon", metavar="ICON", help="an emoji or picture to show with it")
    add.add_argument("--description", metavar="TEXT", help="what it is for")
    asking = add.add_mutually_exclusive_group()
    asking.add_argument("--ask", action="store_true", help="only tools that read go through unasked; without it all do")
    asking.add_argument(
        "--approve",
        metavar="RULE",
        action="append",
        default=[],
        type=_some_text,
        help="what goes through unasked, in the place of all: read, write, all, a tool's name, names:PATTERN, ...; may be given again",
    )
    add.add_argument("--replace", action="store_true", help="replace a server of this name; what goes through unasked stays")
    for name, text in (
        ("remove", "remove a server from the settings"),
        ("start", "start a server and wait until it runs"),
        ("stop", "stop a server"),
        ("restart", "stop a server and start it again"),
    ):
        _command(servers, name, text, f"servers:{name}").add_argument("name", metavar="NAME")
    unasked = _command(servers, "approve", "choose which calls of a server go through unasked", "approve:server_rules", has_json=False)
    unasked.add_argument("name", metavar="NAME")
    unasked.add_argument("rules", metavar="RULE", nargs="*", type=_some_text, help="read, write, all, a tool's name, names:PATTERN, ...")
    unasked.add_argument("--nothing", action="store_true", help="ask about each call")
    lazy = _command(servers, "lazy", "show a server's tools only to sessions that activate it", "shown:lazy")
    lazy.add_argument("name", metavar="NAME", help="'*': every server that does not say otherwise")
    lazy.add_argument("switch", choices=("on", "off", "default"))
    reset = _command(servers, "reset", "put the servers that come with Tooltray back; your own stay", "setup:reset")
    reset.add_argument("--yes", action="store_true", help="do not ask")
    signing_in = _command(servers, "sign-in", "sign in to a server elsewhere, with a browser", "sign_in:sign_in")
    signing_in.add_argument("name", metavar="NAME")
    signing_in.add_argument("--no-browser", action="store_true", help="print the page's address, and open nothing")
    signing_in.add_argument(
        "--paste", action="store_true", help="end a sign-in that has begun with the address at which the browser ended (standard input)"
    )
    _command(servers, "sign-out", "forget a sign-in, here and there, and stop the server", "sign_in:sign_out").add_argument(
        "name", metavar="NAME"
    )
    logs = _command(servers, "logs", "show what a server wrote to its standard error", "servers:logs")
    logs.add_argument("name", metavar="NAME")
    logs.add_argument(
        "-n", "--lines", metavar="LINES", type=_line_count, default=LOG_LINES, help=f"how many of the last lines (default: {LOG_LINES})"
    )
    logs.add_argument("-f", "--follow", action="store_true", help="go on with new lines until Ctrl-C")


def _add_setup(commands: "_Commands[Usage]") -> None:
    export = _command(commands, "export", "write servers and settings to a file, without secrets", "setup:export")
    export.add_argument("file", nargs="?", metavar="FILE", help="where to (default, and '-': standard output)")
    export.add_argument("--force", action="store_true", help="replace a file that is there already")
    taking = _command(commands, "import", "take over servers and settings that were exported", "setup:take_over")
    taking.add_argument("file", metavar="FILE", help="what `export` has written, or another program's mcp.json")
    taking.add_argument("--replace", action="store_true", help="replace servers of the same names, which are kept otherwise")
    taking.add_argument("--yes", action="store_true", help="do not ask")
    leaving = _command(
        commands, "uninstall", "take away what Tooltray keeps on this machine, each thing after a yes", "uninstall:uninstall"
    )
    leaving.add_argument("--yes", action="store_true", help="do not ask")


def _add_tools(tools: "_Commands[Usage]") -> None:
    _command(tools, "list", "list the tools as AI clients see them", "tools:list_tools").add_argument(
        "--server", metavar="NAME", help="of this server only"
    )
    call = _command(tools, "call", "call a tool and print its result", "tools:call")
    call.add_argument("name", metavar="NAME", help="the tool's name as `tools list` shows it")
    call.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="one JSON object, or KEY=VALUE ...")
    call.add_argument("--project", metavar="DIR", help="of servers that wait for a project: the allowed folder for which one answers")
    call.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=TOOL_CALL_TIMEOUT_S,
        help=f"how long to wait (default: {TOOL_CALL_TIMEOUT_S:g})",
    )
    cost = _command(tools, "cost", "say what the tools cost in a model's context", "tool_costs:cost")
    whose = cost.add_mutually_exclusive_group()
    whose.add_argument("--client", metavar="CLIENT", help="for this kind of AI client; see `clients modes`")
    whose.add_argument("--session", metavar="ID", help="as this session sees them now; see `sessions`")
    cost.add_argument("--server", metavar="NAME", help="each tool of this server")
    override = _command(tools, "override", "show a tool to AI clients under another name or with another description", "shown:override")
    override.add_argument("server", metavar="SERVER")
    override.add_argument("tool", metavar="TOOL", help="the server's own name for it")
    override.add_argument("--name", metavar="NAME")
    override.add_argument("--description", metavar="TEXT")
    override.add_argument("--clear", action="store_true", help="forget what was chosen before")
    names = _group(tools, "names", "the names under which tools are published")
    _command(names, "reset", "forget the names given so far and give them anew", "tools:reset_names")


def _add_secrets(secrets: "_Commands[Usage]") -> None:
    setting = _command(secrets, "set", "store a secret; its value is asked for, or read from standard input", "secrets:set_secret")
    setting.add_argument("name", metavar="NAME", help="as settings refer to it: ${secret:NAME}")
    _command(secrets, "list", "list the names of the secrets, never their values", "secrets:list_secrets")
    _command(secrets, "remove", "forget a secret", "secrets:remove").add_argument("name", metavar="NAME")
    _command(secrets, "unlock", "give the running hub the passphrase of the encrypted file", "secrets:unlock")
    backend = _command(secrets, "backend", "show or choose where secrets are kept", "secrets:backend")
    backend.add_argument(
        "kind", nargs="?", choices=("keyring", "file", "memory"), help="the system's keyring, an encrypted file, or only until the hub ends"
    )


def _add_http(http: "_Commands[Usage]") -> None:
    on = _command(http, "on", "open the endpoints, now and whenever a hub runs", "http:on")
    on.add_argument("--port", metavar="PORT", type=_port, help="where, from now on; 0: any that is free")
    _command(http, "off", "close them", "http:off")
    _command(http, "status", "say whether and where they are open", "http:status")
    api = _group(http, "api", "let other programs do over HTTP what you can do here (REST)")
    api_on = _command(api, "on", "switch it on, and HTTP too if it is off", "http_api:on")
    text = "whether they may also approve calls, trust projects and allow folders (without either: as before)"
    api_on.add_argument("--trusted", action=argparse.BooleanOptionalAction, help=text)
    _command(api, "off", "switch it off; HTTP stays as it is", "http_api:off")
    _command(api, "token", "print the token with which they come; it stays the same", "http_api:token")
    _command(api, "rotate", "make another token in its place, and print it", "http_api:rotate")


def _add_clients(clients: "_Commands[Usage]") -> None:
    token = _command(clients, "token", "make a token for an AI client, or a new one in the place of its old one", "clients:token")
    token.add_argument("name", metavar="NAME", help="by which you know the client again")
    _command(clients, "list", "list who has a token, never tokens", "clients:list_clients")
    _command(clients, "remove", "end a client's token", "clients:remove").add_argument("name", metavar="NAME")
    _command(clients, "modes", "list how tools are shown to each kind of AI client, and why", "shown:modes")
    mode = _command(clients, "mode", "choose how tools are shown to a kind of AI client, and its profile", "shown:mode")
    text = "as `clients modes` says it names itself; '*': all that have no mode of their own"
    mode.add_argument("client", metavar="CLIENT", type=_some_text, help=text)
    mode.add_argument("mode", metavar="MODE", nargs="?", choices=MODES, help=f"one of: {', '.join(MODES)} (as the servers' settings say)")
    text = "choose which calls of a kind of AI client go through unasked, in the place of the servers' own rules"
    rules = _command(clients, "approve", text, "approve:rules", has_json=False)
    rules.add_argument("client", metavar="CLIENT", type=_some_text, help="as `clients modes` says it names itself")
    rules.add_argument("rules", metavar="RULE", nargs="*", help="as in autoApprove: read, write, all, a tool's name, ...")
    rules.add_argument("--nothing", action="store_true", help="ask about each call")
    rules.add_argument("--default", action="store_true", help="as each server's autoApprove says")
    profile = mode.add_mutually_exclusive_group()
    profile.add_argument("--profile", metavar="NAME", help="that its sessions get unless they ask for another")
    profile.add_argument("--no-profile", action="store_true", help="they get all servers and tools again")


def _add_profiles(profiles: "_Commands[Usage]") -> None:
    _command(profiles, "list", "list the profiles", "profiles:list_profiles")
    setting = _command(profiles, "set", "make a profile, or another one in its place", "profiles:set_profile")
    setting.add_argument("name", metavar="NAME")
    text = "a server that is in it; '*', or no --server and no --tool: all are"
    setting.add_argument("--server", metavar="SERVER", action="append", default=[], help=text)
    setting.add_argument(
        "--tool",
        metavar=("SERVER", "TOOL"),
        nargs=2,
        action="append",
        default=[],
        help="a tool that is in it, by the server's own name for it, and its server with it; of a server of which none is given, all are",
    )
    setting.add_argument("--description", metavar="TEXT", default="")
    _command(profiles, "remove", "remove a profile", "profiles:remove").add_argument("name", metavar="NAME")


def _add_approve(approve: Usage) -> None:
    approve.usage = (
        "tooltray approve [list] | ID [--once | --session | --always | --reads] | refuse ID\n"
        "       tooltray approve SERVER TOOL [--client NAME] [--for TIME]\n"
        "       tooltray approve SERVER --all-reads [--client NAME] [--for TIME]\n"
        "       tooltray approve [--client NAME] [--for TIME] -- SERVER TOOL   (also where a server is called refuse)"
    )
    approve.add_argument("words", metavar="WORDS", nargs="*", help="which call, as `tooltray approve list` names it, or which tool")
    for answer, text in (
        ("once", "this call alone (the default)"),
        ("session", "this tool, until the AI client ends"),
        ("always", "this tool, for this AI client, until it is taken back"),
        ("reads", "every tool of the server that reads, for this AI client, until it is taken back"),
    ):
        approve.add_argument(f"--{answer}", dest="answer", action="store_const", const=answer, help=f"with ID: {text}")
    approve.add_argument("--all-reads", action="store_true", help="with SERVER: every tool of it that reads now")
    approve.add_argument("--client", metavar="NAME", help="for this AI client alone, as it names itself")
    approve.add_argument("--for", dest="duration", metavar="TIME", type=_time, help="for so long: 90s, 30m, 8h or 7d")


def _add_grants(grants: "_Commands[Usage]") -> None:
    _command(grants, "list", "list what is allowed for longer than one call", "approve:list_grants")
    _command(grants, "remove", "take back what was allowed", "approve:remove").add_argument("id", metavar="ID")
    preview = _command(grants, "preview", "list the tools that a grant would allow", "approve:preview")
    preview.add_argument("server", metavar="SERVER")
    preview.add_argument("tool", metavar="TOOL", nargs="?", help="this one; without it: every tool that reads")
    _command(grants, "changes", "show how tools differ from what was allowed", "approve:changes")
    accept = _command(grants, "accept", "let what was allowed count for a tool as it is now", "approve:accept", has_json=False)
    accept.add_argument("server", metavar="SERVER")
    accept.add_argument("tool", metavar="TOOL")


def _add_registry(registry: "_Commands[Usage]") -> None:
    _command(registry, "status", "say which npm registry servers get, and how all of them answered", "registry:status")
    _command(registry, "measure", "measure all npm registries now", "registry:measure")
    setting = _command(registry, "set", "use one npm registry from now on; it is measured first", "registry:set_registry")
    setting.add_argument("url", metavar="URL")
    _command(registry, "clear", "use none of your own any more", "registry:clear")
    auto = _command(registry, "auto", "decide whether the fastest npm registry is looked for and used", "registry:auto")
    auto.add_argument("switch", choices=("on", "off"))


def _add_feedback(feedback: "_Commands[Usage]") -> None:
    _command(feedback, "list", "list the reports that wait for an answer", "feedback:list_reports")
    _command(feedback, "show", "show one report whole", "feedback:show").add_argument("id", metavar="ID")
    answer = _command(feedback, "answer", "answer a report", "feedback:answer")
    answer.add_argument("id", metavar="ID", help="as `feedback list` shows it")
    answer.add_argument("text", metavar="TEXT", nargs="?", help="what the model is to know")
    answer.add_argument("--image", metavar="FILE", action="append", default=[], help="a picture to go with it: PNG, JPEG, GIF or WebP")
    answer.add_argument("--file", metavar="FILE", action="append", default=[], help="a file to go with it; of a large one the path")
    _command(feedback, "dismiss", "put a report away without an answer", "feedback:dismiss").add_argument("id", metavar="ID")
    history = _command(feedback, "history", "list earlier reports and how they ended", "feedback:history")
    history.add_argument("--project", metavar="DIR", help="of this project alone")
    history.add_argument("-n", "--lines", metavar="LINES", type=_line_count, default=FEEDBACK_LINES, help=f"default: {FEEDBACK_LINES}")


def _add_projects(projects: "_Commands[Usage]") -> None:
    _command(projects, "list", "list the folders that are allowed, and what runs for which project", "projects:list_projects")
    allow = _command(projects, "allow", "let servers be started for a folder, and for what is in it", "projects:allow")
    allow.add_argument("dir", metavar="DIR")
    _command(projects, "disallow", "take that back", "projects:disallow").add_argument("dir", metavar="DIR")
    start = _command(projects, "start", "start a server that waits for a project", "projects:start")
    start.add_argument("name", metavar="SERVER")
    which = start.add_mutually_exclusive_group(required=True)
    which.add_argument("dir", metavar="DIR", nargs="?", help="for this folder, which is allowed thereby")
    which.add_argument("--anyway", action="store_true", help="without a project, as its settings say")
    _command(projects, "reset", "stop what runs for projects; those servers wait again", "projects:reset")


def _words(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"cannot be read: {error}") from None
    return text


def _some_text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 10**7:  # also refuses nan
        raise ValueError
    return seconds


def _some_seconds(text: str) -> float:
    if not (seconds := _seconds(text)):
        raise ValueError
    return seconds


def _time(text: str) -> float:
    found = TIME.fullmatch(text)
    if not found:
        raise ValueError
    return float(int(found[1]) * UNITS_S[found[2]])


def _line_count(text: str) -> int:
    lines = int(text)
    if not 0 < lines <= 10**6:
        raise ValueError
    return lines


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _assignment(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not VARIABLE.fullmatch(name) or not mark:
        raise argparse.ArgumentTypeError("KEY=VALUE expected")
    return name, value


def _variable(text: str) -> str:
    if not VARIABLE.fullmatch(text):
        raise argparse.ArgumentTypeError("the name of an environment variable expected; its value is asked for")  # and is not repeated here
    return text


def _url(text: str) -> str:
    if not URL.match(text) or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("an address that begins with https:// or http:// expected")
    return text


def _header(text: str) -> tuple[str, str]:
    name, mark, value = text.partition(":")
    if not mark or not HEADER_NAME.fullmatch(name.strip()) or not value.strip().isprintable() or not value.strip():
        raise argparse.ArgumentTypeError("'NAME: VALUE' expected")
    return name.strip(), value.strip()


def _header_name(text: str) -> str:
    if not HEADER_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("the name of a header expected; its value is asked for")  # and is not repeated here
    return text


_seconds.__name__, _line_count.__name__ = "number of seconds", "number of lines"  # argparse says "invalid <name> value"
_time.__name__ = "time (90s, 30m, 8h, 7d)"
_port.__name__, _number.__name__, _some_seconds.__name__ = "port", "number", "number of seconds above 0"
