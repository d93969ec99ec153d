"""The command line's syntax: the commands, their options, and which function runs each.

`options` has each command's own. The module knows the names of the functions, not the functions: a command's module is imported only when
it runs.
"""

import argparse
import functools
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tooltray import __version__
from tooltray.cli.options import (
    activity_options,
    bundle_options,
    clients_options,
    consent_options,
    discover_options,
    log_options,
    serve_options,
    server_tasks_options,
    servers_options,
    tools_options,
    upkeep_options,
)
from tooltray.cli.options.parsers import COMMAND_MARK, Usage, command
from tooltray.cli.speech import spoken, tr

DESKTOP = "desktop"
BACKGROUND = "--background"
SCHEME = "tooltray:"


def parse(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> argparse.Namespace:
    """Reads a command line.

    Args:
        argv: without the program's name.
        environ: where TOOLTRAY_EXECUTION_ID is looked up.

    Returns:
        The options, with `run` as "module:function" within this package, or `DESKTOP` where no command was given; `link` is the address
            that was given in a command's place.

    Raises:
        UsageError: it cannot be understood.
        SystemExit: 0, after `--help` and `--version`.
    """
    ours, command_line = _split(argv)
    ours, link = _without_link(ours)
    args = command_parser().parse_args(ours)
    args.link = link
    args.command_line = command_line
    args.is_marked = COMMAND_MARK in ours
    usage: Usage = args.usage
    if args.background and args.run != DESKTOP:
        usage.error(tr("{background} goes without a command", background=BACKGROUND))
    if args.check:
        args.check(usage, args)
    if args.run == "serve_command:serve":
        serve_options.name_run(usage, args, environ)
    return args


def _without_link(words: list[str]) -> tuple[list[str], str]:
    """Splits off the address that a browser or a desktop has opened, which replaces the command.

    Raises:
        UsageError: something follows it. Windows puts addresses between quotation marks without checking what is in them, so that a page of
            the web could add options, `--home` among them.
    """
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--home" else 1
    if at >= len(words) or not words[at].startswith(SCHEME):
        return words, ""
    if words[at + 1 :]:
        command_parser().error(tr("nothing goes behind an address"))
    return words[:at], words[at]


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits our own words from the server's command after the first `--`, which argparse would otherwise parse."""
    words = list(argv)
    at = words.index(COMMAND_MARK) if COMMAND_MARK in words else len(words)
    if ("servers", "add") not in pairwise(words[:at]):
        return words, []
    return words[:at], words[at + 1 :]


def command_parser() -> Usage:
    """Returns the parser for every command line, with commands, options and help in the current language."""
    return _parser(spoken())


@functools.cache  # takes 20 ms
def _parser(_language: str) -> Usage:
    parser = Usage(
        prog="tooltray",
        description=tr("One home for your MCP servers. Without a command: the desktop app, or `serve` where there is no screen."),
    )
    parser.add_argument("--home", metavar="DIR", help=tr("use this folder instead of ~/.tooltray (also: TOOLTRAY_HOME)"))
    parser.add_argument(BACKGROUND, action="store_true", help=tr("without a command: show the tray icon alone, and no window"))
    parser.add_argument("--version", action="version", version=f"tooltray {__version__}")
    parser.set_defaults(run=DESKTOP, usage=parser, check=None, json=False)
    commands = parser.add_subparsers(metavar="COMMAND", title=tr("commands"))
    serve_options.declare(commands)
    command(commands, "status", tr("say whether a hub runs, and what it does"), "running:status")
    servers_options.declare(commands)
    log_options.declare(commands)
    bundle_options.declare(commands)
    discover_options.declare(commands)
    tools_options.declare_tools(commands)
    tools_options.declare_skills(commands)
    upkeep_options.declare_secrets(commands)
    clients_options.declare_http(commands)
    clients_options.declare_clients(commands)
    clients_options.declare_profiles(commands)
    command(commands, "sessions", tr("list the sessions of AI clients and what they see"), "views_command:sessions")
    activity_options.declare_activity(commands)
    server_tasks_options.declare_tasks(commands)
    tools_options.declare_registry(commands)
    tools_options.declare_projects(commands)
    tools_options.declare_api(commands)
    upkeep_options.declare_feedback(commands)
    consent_options.declare_approve(commands)
    consent_options.declare_trust(commands)
    consent_options.declare_grants(commands)
    consent_options.declare_permissions(commands)
    consent_options.declare_passphrase(commands)
    consent_options.declare_audit(commands)
    upkeep_options.declare_bridge(commands)
    upkeep_options.declare_autostart(commands)
    upkeep_options.declare_doctor(commands)
    upkeep_options.declare_program(commands)
    reload = command(commands, "reload", tr("read the settings and all other files with servers in them again"), "running:reload")
    reload.add_argument("--dry-run", action="store_true", help=tr("say what it would do, and do nothing"))
    command(commands, "stop", tr("end the running hub"), "running:stop")
    upkeep_options.declare_setup(commands)
    upkeep_options.declare_completion(commands)
    return parser
