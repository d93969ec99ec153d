"""`tooltray servers`: its commands with their options. Their functions are in other modules, each imported when it is used."""

import argparse

from tooltray.cli import values
from tooltray.cli.arguments import COMMAND_MARK, Commands, Usage, command
from tooltray.cli.derived_commands import VerbCommands, done, table
from tooltray.cli.hubs import any_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line, problem_line
from tooltray.foundation.snapshots.servers import InMemoryServer

LOG_LINES = 200
SIGN_OUT_TIMEOUT_S = 60.0  # longer than the grace that a server gets
WATCHED_S = 300.0
_OF_COMMANDS = ("secret", "env", "cwd")
_OF_URLS = ("sse", "header", "header_secret", "bearer_secret", "client_id", "client_secret", "scope", "redirect_port", "client_credentials")


def declare(parser: Usage) -> None:
    servers = parser.subcommands()
    command(servers, "list", tr("list the servers and their states"), "server_commands.servers_command:list_servers")
    _declare_add(servers)
    _declare_set(servers)
    titles = (tr("ENTRY"), tr("PACKAGE"), tr("VERSION"), tr("SUMMARY"), tr("PROBLEM"))
    listed = table(titles, _inmemory_row, tr("No installed package has a server that can run inside Tooltray."))
    text = tr("list the servers of installed packages that can run inside Tooltray")
    VerbCommands(servers, any_hub).add("inmemory", text, "get_inmemory_servers", listed)
    text = tr("remove a server from its file, and its secrets")
    removing = command(servers, "remove", text, "server_commands.servers_command:remove")
    removing.takes("name")
    removing.flag("--keep-secrets", tr("keep its stored secrets, to add it again later"))
    removing.flag("--yes", tr("do not ask for confirmation"))
    for name, text in (
        ("start", tr("start a server and wait until it runs")),
        ("stop", tr("stop a server")),
        ("restart", tr("stop a server and start it again")),
    ):
        command(servers, name, text, f"server_commands.servers_command:{name}").takes("name")
    text = tr("connect to a server once, list its tools, and disconnect")
    command(servers, "test", text, "server_commands.servers_command:try_out").takes("name")
    text = tr("run a server without a sandbox for a while, and propose settings for its sandbox")
    watching = command(servers, "watch", text, "server_commands.confine_command:watch")
    watching.takes("name")
    watching.takes("--for", "TIME", tr("how long, as 90s or 5m (default: 5m)"), dest="duration_s", type=values.time, default=WATCHED_S)
    watching.flag("--yes", tr("apply the proposal without asking"))
    text = tr("add a copy of a server, for another account")
    VerbCommands(servers).add("duplicate", text, "duplicate_mcp_server", done(_copied, server=lambda _, name: name))
    text = tr("give a server another name, with all that it has")
    VerbCommands(servers).add("rename", text, "rename_mcp_server", done(_renamed, server=lambda args, _: args.new_name))
    _declare_showing(servers)
    _declare_confining(servers)
    links = command(servers, "links", tr("print the links that add a server to AI clients"), "server_commands.servers_command:links")
    links.takes("name", "NAME", tr("the server; without it: Tooltray itself, with all its servers"), nargs="?", default="")
    reset = command(servers, "reset", tr("restore the servers that come with Tooltray; your own are kept"), "commands.import_command:reset")
    reset.flag("--yes", tr("do not ask for confirmation"))
    text = tr("sign in to a remote server, with a browser")
    signing_in = command(servers, "sign-in", text, "server_commands.servers_command:sign_in").takes("name")
    signing_in.flag("--no-browser", tr("print the page's address, and open nothing"))
    signing_in.flag("--paste", tr("finish a sign-in with the address shown by the browser (standard input)"))
    signed_out = done(_signed_out, server=lambda args, _: args.name, signed_in=False)
    text = tr("sign out, revoke the tokens, and stop the server")
    VerbCommands(servers, timeout_s=SIGN_OUT_TIMEOUT_S).add("sign-out", text, "sign_out", signed_out)
    logs = command(servers, "logs", tr("show what a server wrote to its standard error"), "server_commands.servers_command:logs").takes(
        "name"
    )
    text = tr("number of last lines (default: {log_lines})", log_lines=LOG_LINES)
    logs.takes("--lines", "LINES", text, short="-n", type=values.line_count, default=LOG_LINES)
    logs.flag("--follow", tr("keep printing new lines until Ctrl-C"), short="-f")


def _inmemory_row(server: InMemoryServer) -> tuple[str, ...]:
    return server.name, server.package, server.version, server.summary, problem_line(server.problem)


def _signed_out(args: argparse.Namespace, _: object) -> str:
    return tr("Signed out of {name}; it has stopped.", name=args.name)


def _copied(args: argparse.Namespace, name: str) -> str:
    return tr(
        "Added {name}, a copy of {other}. It starts when used; set up its own account in the window.",
        name=clean_line(name),
        other=args.name,
    )


def _renamed(args: argparse.Namespace, _: None) -> str:
    return tr("{name} is {other} now", name=args.name, other=args.new_name)


def _declare_showing(servers: Commands) -> None:
    """Adds options for approvals and listing of a server's tools for AI clients."""
    text = tr("choose which calls of a server run without asking")
    unasked = command(servers, "approve", text, "commands.permissions_command:server_rules", check=_check_server_rules, has_json=False)
    unasked.takes("name")
    unasked.takes("rules", "RULE", tr("read, write, all, a tool's name, names:PATTERN, ..."), nargs="*", type=values.some_text)
    unasked.flag("--nothing", tr("ask about every call"))
    lazy = command(servers, "lazy", tr("show clients one small tool per server; using it loads the rest"), "commands.views_command:lazy")
    lazy.takes("name", "NAME", tr("'*': every server without its own setting"))
    lazy.add_argument("switch", choices=("on", "off", "default"))


def _declare_confining(servers: Commands) -> None:
    """Adds options for the files and hosts that a server's process may reach."""
    text = tr("choose which files and hosts a server may reach; without options: show it")
    confining = command(servers, "confine", text, "server_commands.confine_command:confine").takes("name")
    confining.add_argument(
        "files", nargs="?", choices=("open", "own", "read"), help=tr("all files, only its own, or only its own and read-only")
    )
    confining.add_argument("--network", choices=("open", "none", "hosts"), help=tr("full network, no network, or only the named hosts"))
    for option, name, metavar, words in (
        (
            "--host",
            "hosts",
            "HOST",
            tr("an allowed host, as api.example.org or *.example.org; replaces all current ones; none: remove all"),
        ),
        ("--read", "read", "PATH", tr("a folder or file that it may read; replaces all current ones; none: remove all")),
        ("--write", "write", "PATH", tr("a folder or file that it may change; replaces all current ones; none: remove all")),
    ):
        confining.repeats(option, metavar, words, dest=name, type=values.some_text)
    text = tr("allow a refused host or path, as listed here")
    confining.takes("--allow", "REFUSED", text, type=values.some_text)


def _declare_add(servers: Commands) -> None:
    add = command(servers, "add", tr("add a server by its command line"), "server_commands.server_adding:add", check=_check_add)
    add.usage = "tooltray servers add NAME [options] -- COMMAND [ARGS ...]"
    add.takes("name")
    _declare_source(add)
    _declare_running(add)


def _declare_set(servers: Commands) -> None:
    setting = command(
        servers, "set", tr("change some fields of a server; the others stay"), "server_commands.server_adding:change", check=_check_set
    )
    setting.takes("name")
    setting.repeats("--env", "KEY=VALUE", tr("an environment variable"), type=values.assignment)
    secret = tr("an environment variable; asks for its value and keeps it secret")
    setting.repeats("--secret", "KEY", secret, type=values.variable)
    setting.flag("--secret-stdin", tr("read the secrets from standard input, one a line"))
    setting.takes("--arg", "ARG", tr("an argument; replaces all current ones"), action="append")
    setting.takes("--url", "URL", tr("the URL of a remote server"), type=values.url)
    header = tr("a header to send to a remote server")
    setting.repeats("--header", "'NAME: VALUE'", header, type=values.header)
    header = tr("a header; asks for its value and keeps it secret")
    setting.repeats("--header-secret", "NAME", header, type=values.header_name)
    setting.takes("--cwd", "DIR", tr("the folder in which the server runs"))
    timeout = tr("how long a call may take without progress")
    setting.takes("--timeout", "SECONDS", timeout, type=values.some_seconds)
    timeout = tr("how long to wait for its first response")
    setting.takes("--start-timeout", "SECONDS", timeout, type=values.some_seconds)
    setting.repeats("--unset", "KEY", tr("a variable or header to remove"), type=values.some_text)


def _check_set(usage: Usage, args: argparse.Namespace) -> None:
    of_urls = args.url or args.header or args.header_secret
    if of_urls and (args.env or args.secret or args.arg or args.cwd):
        usage.error(tr("a server has a command or a URL: --env, --secret, --arg and --cwd cannot be used with --url and headers"))
    if not (of_urls or any((args.env, args.secret, args.arg, args.cwd, args.timeout, args.start_timeout, args.unset))):
        usage.error(tr("name a change, as in: tooltray servers set NAME --env KEY=VALUE"))


def _declare_source(add: Usage) -> None:
    """Adds options for a server's source: a command with its variables, or an address and the way to authenticate there."""
    add.repeats("--secret", "KEY", tr("an environment variable; asks for its value and keeps it secret"), type=values.variable)
    text = tr("a server of an installed package that runs inside Tooltray, instead of a command; its arguments follow --")
    add.takes("--inmemory", "ENTRY", text)
    add.takes("--url", "URL", tr("the URL of a remote server, instead of a command"), type=values.url)
    add.flag("--sse", tr("with --url: use the older HTTP+SSE transport"))
    add.repeats("--header", "'NAME: VALUE'", tr("with --url: a header to send"), type=values.header)
    add.repeats("--header-secret", "NAME", tr("with --url: a header; asks for its value and keeps it secret"), type=values.header_name)
    add.flag("--bearer-secret", tr("with --url: a bearer token; asks for it and keeps it secret"))
    add.takes("--client-id", "ID", tr("with --url: sign in as this client, which was registered there by hand"))
    add.flag("--client-secret", tr("the secret of that client; asks for it and keeps it secret"))
    add.flag("--client-credentials", tr("this client signs in automatically, without the user"))
    add.repeats("--scope", "SCOPE", tr("with --url: the scopes to request when signing in"))
    add.takes("--redirect-port", "PORT", tr("with --url: the port that the browser returns to"), type=values.port)


def _declare_running(add: Usage) -> None:
    """Adds options for the place and time of a server's runs, and for its display."""
    add.add_argument(
        "--isolation", choices=("shared", "session"), help=tr("one instance for all AI clients (the default), or one for each")
    )
    add.flag("--secret-stdin", tr("read the secrets from standard input, one a line"))
    add.repeats("--env", "KEY=VALUE", tr("an environment variable"), type=values.assignment)
    add.flag("--plain", tr("save apparent secrets in plain text, not with your secrets"))
    add.takes("--cwd", "DIR", tr("the folder in which the server runs"))
    add.takes("--project", "DIR", tr("write it into this folder's .mcp.json, only for AI clients that work there"))
    add.flag("--on-demand", tr("start it when it is first used, not with Tooltray"))
    add.flag("--deferred", tr("start one instance for each project"))
    text = tr(
        "with --deferred: its arguments, quoted as in a shell, with {path} and {name} in them; otherwise they follow the command",
        path="{project_path}",
        name="{project_name}",
    )
    add.takes("--template", "ARGS", text, type=values.words)
    add.takes("--idle-stop", "SECONDS", tr("with --on-demand: stop it after this long without a call"), type=values.some_seconds)
    add.takes("--icon", "ICON", tr("an emoji or picture to show with it"))
    add.takes("--description", "TEXT", tr("its description"))
    asking = add.add_mutually_exclusive_group()
    asking.add_argument("--ask", action="store_true", help=tr("tools that change things ask first; the default of a new server"))
    text = tr("what runs without asking: read (the default), write, all, a tool's name, names:PATTERN, ...; may be given again")
    asking.add_argument("--approve", metavar="RULE", action="append", default=[], type=values.some_text, help=text)
    add.flag("--replace", tr("replace a server of this name; approval rules are kept"))


def _check_add(usage: Usage, args: argparse.Namespace) -> None:
    if args.inmemory:
        _check_inside(usage, args)
        return
    if args.url and args.command_line:
        usage.error(tr("a server has a --url or a command after {command_mark}, not both", command_mark=COMMAND_MARK))
    if not args.url and not args.command_line:
        text = tr(
            "put the server's command after {command_mark}, as in: tooltray servers add files -- npx -y some-server; or use --url",
            command_mark=COMMAND_MARK,
        )
        usage.error(text)
    if args.template is not None and not args.deferred:
        usage.error(tr("--template goes with --deferred"))
    if args.idle_stop is not None and not (args.on_demand or args.deferred):
        usage.error(tr("--idle-stop needs --on-demand: a server that starts with Tooltray keeps running"))
    if args.project is not None and (wrong := _first_given(args, "on_demand", "deferred", "replace")):
        usage.error(tr("{wrong} cannot be used with --project: such a server runs only while a client works there", wrong=wrong))
    if wrong := _first_given(args, *(_OF_COMMANDS if args.url else _OF_URLS)):
        usage.error(f"{wrong} goes with {'a command' if args.url else '--url'}")
    if args.client_secret and not args.client_id:
        usage.error(tr("--client-secret goes with --client-id"))
    if args.client_credentials and not args.client_secret:
        usage.error(tr("--client-credentials goes with --client-id and --client-secret"))
    names = [name.lower() for name, _ in args.header] + [name.lower() for name in args.header_secret]
    names += ["authorization"] if args.bearer_secret else []
    if twice := next((name for name in names if names.count(name) > 1), None):
        usage.error(tr("the header {twice} is given twice", twice=twice))


def _first_given(args: argparse.Namespace, *options: str) -> str:
    """Returns the first of these options that was typed, as it is typed; empty if none was."""
    return next((f"--{option.replace('_', '-')}" for option in options if getattr(args, option)), "")


def _check_inside(usage: Usage, args: argparse.Namespace) -> None:
    """Checks the options of a server inside Tooltray, which has no environment or folder of its own, and cannot be in a project's file."""
    if wrong := _first_given(args, "url", "project", "deferred", *_OF_COMMANDS, *_OF_URLS):
        usage.error(tr("{wrong} cannot be used with --inmemory: the server runs inside Tooltray and takes only arguments", wrong=wrong))
    if args.idle_stop is not None and not args.on_demand:
        usage.error(tr("--idle-stop needs --on-demand: a server that starts with Tooltray keeps running"))


def _check_server_rules(usage: Usage, args: argparse.Namespace) -> None:
    """Checks the options of `servers approve`."""
    if bool(args.rules) == args.nothing:
        usage.error(tr("give RULE ... or --nothing"))
