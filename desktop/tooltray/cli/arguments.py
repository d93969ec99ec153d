"""The command line's syntax: parsers of commands and groups with their error messages, the names of all commands and groups, and
the options that every command line has.

Everything else is declared by the group's own module in `commands` or `server_commands`, which is imported when a command line names the
group.
"""

import argparse
import functools
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias

from tooltray import __version__
from tooltray.cli.speech import say, spoken, tr

if TYPE_CHECKING:
    from tooltray.foundation.home.home import Home


COMMAND_MARK = "--"  # a server's own command follows


class UsageError(Exception):
    """A command line that cannot be understood."""

    def __init__(self, program: str, usage: str, message: str) -> None:
        super().__init__(message)
        self.program, self.usage = program, usage


class Usage(argparse.ArgumentParser):
    """A parser that raises where argparse would print and exit: the caller knows whether JSON was requested.

    Attributes:
        place: the function that declares its arguments or commands, as "module:function" within `cli`. It is called when the
            parser is first used: a command line needs few of them, and their modules take longer to import than to parse it.
    """

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog=prog, description=description, add_help=False)
        self.place = ""
        self._positionals.title, self._optionals.title = tr("positional arguments"), tr("options")
        self.add_argument("-h", "--help", action="help", default=argparse.SUPPRESS, help=tr("show this help message and exit"))

    def complete(self) -> None:
        """Declares what `place` has, once."""
        place, self.place = self.place, ""
        if place:
            function_at(place)(self)

    def runs(self, run: "Run | str", *, check: "Check | None" = None, has_json: bool = True) -> None:
        """Makes this the parser of a command.

        Args:
            run: the function that runs it, or its place, if its module is worth an import only then.
            check: refuses options that do not go together, which argparse cannot express.
            has_json: whether `--json` can be used with it.
        """
        self.set_defaults(run=run, usage=self, check=check)
        self.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)  # also after the command
        if has_json:
            self.flag("--json", tr("print JSON, for programs"))

    def subcommands(self) -> "Commands":
        """Makes this the parser of a group, and returns the object to which the group's commands are added."""
        self.set_defaults(usage=self)
        return self.add_subparsers(metavar="COMMAND", title=tr("commands"), required=True)

    def flag(self, name: str, text: str, *, short: str = "") -> Self:
        """Adds an option without a value. `short`: such as `-f`."""
        self.add_argument(*filter(None, (short, name)), action="store_true", help=text)
        return self

    def takes(self, name: str, metavar: Any = None, text: str | None = None, *, short: str = "", **more: Any) -> Self:
        """Adds an argument or an option with a value.

        Args:
            metavar: the name of the value in the help; by default, the argument's name in capitals.
            more: keywords of `add_argument`.
        """
        self.add_argument(*filter(None, (short, name)), metavar=metavar or name.upper(), help=text, **more)
        return self

    def repeats(self, name: str, metavar: Any, text: str, **more: Any) -> None:
        """Adds an option that may be given several times; its values are a list."""
        self.takes(name, metavar, text, action="append", default=[], **more)

    def parse_known_args(self, *args: Any, **named: Any) -> Any:
        self.complete()
        return super().parse_known_args(*args, **named)

    def format_usage(self) -> str:
        self.complete()
        return self._in_the_language(super().format_usage())

    def format_help(self) -> str:
        self.complete()
        return self._in_the_language(super().format_help())

    def _in_the_language(self, text: str) -> str:
        """Translates the `usage: ` with which argparse begins."""
        return text.replace("usage: ", tr("usage: "), 1) if text.startswith("usage: ") else text

    def error(self, message: str) -> NoReturn:
        what, mark, reason = message.partition(": ")
        said = f"{say(what)}: {say(reason)}" if mark and what.startswith("argument ") else say(message)
        raise UsageError(self.prog, self.format_usage(), said)


Commands: TypeAlias = "argparse._SubParsersAction[Usage]"  # the type has no public name
Check: TypeAlias = Callable[[Usage, argparse.Namespace], None]
Run: TypeAlias = Callable[[argparse.Namespace, "Home"], int]


def command(commands: Commands, name: str, text: str, run: Run | str, *, check: Check | None = None, has_json: bool = True) -> Usage:
    """Adds a command, see `Usage.runs`.

    Args:
        text: what it does; its first letter small.
    """
    parser = later(commands, name, text)
    parser.runs(run, check=check, has_json=has_json)
    return parser


def later(commands: Commands, name: str, text: str, place: str = "") -> Usage:
    """Adds a command or a group of which only the name and the description are needed at first."""
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ("." if text[-1].isascii() else "。"))
    parser.place = place
    return parser


def function_at(place: str) -> Callable[..., Any]:
    """Imports a function by "module:function" within `cli`."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(f"tooltray.cli.{module}"), name)
    return function


DESKTOP = "desktop"
BACKGROUND = "--background"
SCHEME = "tooltray:"


def parse(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> argparse.Namespace:
    """Reads a command line.

    Args:
        argv: without the program's name.
        environ: where TOOLTRAY_EXECUTION_ID is looked up.

    Returns:
        The options, with `run` as the function that runs the command or its place within `cli`, or `DESKTOP` where no command was
            given; `link` is the address that was given in a command's place.

    Raises:
        UsageError: the line cannot be understood.
        SystemExit: 0, after `--help` and `--version`.
    """
    ours, command_line = _split(argv)
    ours, link = _without_link(ours)
    args = command_parser().parse_args(ours)
    args.link = link
    args.command_line = command_line
    args.is_marked, args.environ = COMMAND_MARK in ours, environ
    usage: Usage = args.usage
    if args.background and args.run != DESKTOP:
        usage.error(tr("{background} goes without a command", background=BACKGROUND))
    if args.check:
        args.check(usage, args)
    return args


def _without_link(words: list[str]) -> tuple[list[str], str]:
    """Splits off the address that a browser or a desktop has opened, which replaces the command.

    Raises:
        UsageError: other words follow the address. Windows puts addresses between quotation marks without checking their content, so a web
            page could add options such as `--home`.
    """
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--home" else 1
    if at >= len(words) or not words[at].startswith(SCHEME):
        return words, ""
    if words[at + 1 :]:
        command_parser().error(tr("no arguments may follow an address"))
    return words[:at], words[at]


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits Tooltray's own words from the server's command after the first `--`, which argparse would otherwise parse."""
    words = list(argv)
    at = words.index(COMMAND_MARK) if COMMAND_MARK in words else len(words)
    if ("servers", "add") not in pairwise(words[:at]):
        return words, []
    return words[:at], words[at + 1 :]


def command_parser() -> Usage:
    """Returns the parser for every command line, with commands, options and help in the current language."""
    return _parser(spoken())


@functools.cache
def _parser(_language: str) -> Usage:
    line = tr("One home for your MCP servers. Without a command: the desktop app, or `serve` without a display.")
    parser = Usage(prog="tooltray", description=line)
    parser.takes("--home", "DIR", tr("use this folder instead of ~/.tooltray (also: TOOLTRAY_HOME)"))
    parser.add_argument(BACKGROUND, action="store_true", help=tr("without a command: show only the tray icon, no window"))
    parser.add_argument("--version", action="version", version=f"tooltray {__version__}")
    parser.set_defaults(run=DESKTOP, usage=parser, check=None, json=False)
    commands = parser.add_subparsers(metavar="COMMAND", title=tr("commands"))
    later(commands, "serve", tr("run Tooltray in this terminal"), "commands.serve_command:declare")
    command(commands, "status", tr("show whether Tooltray is running, and its state"), "commands.status_command:status")
    later(commands, "servers", tr("list, add, remove, start and stop servers"), "server_commands.servers_group:declare")
    later(commands, "log", tr("show the log of a server, or Tooltray's own"), "commands.log_command:declare")
    text = tr("show, install, update and remove servers packed as one file")
    later(commands, "bundle", text, "server_commands.discover_command:declare_bundle")
    text = tr("find servers in the official registry and among well-known ones")
    later(commands, "discover", text, "server_commands.discover_command:declare")
    later(commands, "tools", tr("list and call the tools of all servers"), "commands.tools_command:declare")
    later(commands, "skills", tr("list and read the skills of all servers"), "commands.tools_command:declare_skills")
    text = tr("show or write the skill by which agents with a shell use Tooltray's commands")
    later(commands, "skill", text, "commands.clients_command:declare_skill")
    later(commands, "secrets", tr("store API keys and passwords outside the settings"), "commands.secrets_command:declare")
    later(commands, "http", tr("let AI clients connect over HTTP"), "commands.http_command:declare")
    text = tr("AI clients: list and connect them, choose how they see tools, and manage their HTTP tokens")
    later(commands, "clients", text, "commands.clients_command:declare")
    later(commands, "profiles", tr("manage profiles: named sets of servers and tools"), "commands.views_command:declare_profiles")
    command(commands, "sessions", tr("list the sessions of AI clients and what they see"), "commands.views_command:sessions")
    text = tr("list what happened, newest last: tool calls, questions, approvals, and servers' starts, stops and failures")
    later(commands, "activity", text, "commands.activity_command:declare")
    later(commands, "tasks", tr("list the tasks that servers run for AI clients, and cancel them"), "commands.tools_command:declare_tasks")
    later(commands, "registry", tr("choose where servers' npm packages come from"), "commands.registry_command:declare")
    later(commands, "projects", tr("allow folders as projects, and start servers for them"), "commands.projects_command:declare")
    later(commands, "api", tr("call a verb of the API and print its result as JSON, or list all verbs"), "derived_commands:declare_api")
    later(commands, "feedback", tr("answer reports from models when no window shows them"), "commands.feedback_command:declare")
    later(commands, "approve", tr("approve or decline a waiting tool call, or allow tools for longer"), "commands.approve_command:declare")
    text = tr("allow servers that wait for your approval, from a project's .mcp.json or from a program; and revoke that")
    later(commands, "trust", text, "commands.trust_command:declare")
    text = tr("list permissions that outlast one call, and revoke them")
    later(commands, "grants", text, "commands.approve_command:declare_grants")
    later(
        commands, "permissions", tr("list which tools run without asking, and choose for one tool"), "commands.permissions_command:declare"
    )
    text = tr("set the passphrase that confirms commands when Tooltray runs without a window")
    later(commands, "passphrase", text, "commands.permissions_command:declare_passphrase")
    text = tr("list who allowed, declined or revoked what, when and how, newest last")
    later(commands, "audit", text, "commands.activity_command:declare_audit")
    later(commands, "bridge", tr("show or choose the program that AI clients start"), "commands.program_command:declare_bridge")
    later(commands, "autostart", tr("start Tooltray in the tray when you log in"), "commands.program_command:declare_autostart")
    later(commands, "doctor", tr("find out what is wrong and how to fix it"), "commands.doctor_command:declare")
    command(commands, "diagnostics", tr("print the details for a bug report, without secrets"), "commands.program_command:diagnostics")
    command(commands, "licences", tr("print the licences of Tooltray and its components"), "commands.program_command:licences")
    reload = command(commands, "reload", tr("reload the settings and all other files with servers"), "commands.status_command:reload")
    reload.flag("--dry-run", tr("show what it would do, and change nothing"))
    command(commands, "stop", tr("stop Tooltray"), "commands.status_command:stop")
    later(commands, "export", tr("write servers and settings to a file, without secrets"), "commands.import_command:declare_export")
    text = tr("import servers from AI clients, a file or a text, or restore a backup")
    later(commands, "import", text, "commands.import_command:declare")
    text = tr("remove what Tooltray stores on this computer, asking before each step")
    command(commands, "uninstall", text, "commands.uninstall_command:uninstall").flag("--yes", tr("do not ask for confirmation"))
    later(commands, "completion", tr("print a completion script for your shell"), "commands.completion_command:declare")
    return parser
