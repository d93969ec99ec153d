"""What can be typed: the commands, their options, and which function runs each.

Above it: run. Below it: `options`, where each command's own stand. Knows the names of the functions, not the functions: a command's module
is imported only when it runs.
"""

import argparse
import functools
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tooltray import __version__
from tooltray.cli.options import clients, consent, serve, servers, tools, upkeep
from tooltray.cli.options.usage import COMMAND_MARK, Usage, command

DESKTOP = "desktop"


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
    ours, command_line = _split(argv)
    args = _parser().parse_args(ours)
    args.command_line = command_line
    args.is_marked = COMMAND_MARK in ours
    usage: Usage = args.usage
    if args.check:
        args.check(usage, args)
    if args.run == "serve:serve":
        serve.name_run(usage, args, environ)
    return args


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own words, and the server's command after the first `--`, which argparse would look into."""
    words = list(argv)
    at = words.index(COMMAND_MARK) if COMMAND_MARK in words else len(words)
    if ("servers", "add") not in pairwise(words[:at]):
        return words, []
    return words[:at], words[at + 1 :]


@functools.cache  # takes 20 ms
def _parser() -> Usage:
    parser = Usage(
        prog="tooltray",
        description="One home for your MCP servers. Without a command: the desktop app, or `serve` where there is no screen.",
    )
    parser.add_argument("--home", metavar="DIR", help="use this folder instead of ~/.tooltray (also: TOOLTRAY_HOME)")
    parser.add_argument("--version", action="version", version=f"tooltray {__version__}")
    parser.set_defaults(run=DESKTOP, usage=parser, check=None, json=False)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    serve.declare(commands)
    command(commands, "status", "say whether a hub runs, and what it does", "running:status")
    servers.declare(commands)
    tools.declare_tools(commands)
    upkeep.declare_secrets(commands)
    clients.declare_http(commands)
    clients.declare_clients(commands)
    clients.declare_profiles(commands)
    command(commands, "sessions", "list the sessions of AI clients and what they see", "views:sessions")
    tools.declare_registry(commands)
    tools.declare_projects(commands)
    upkeep.declare_feedback(commands)
    consent.declare_approve(commands)
    consent.declare_trust(commands)
    consent.declare_grants(commands)
    upkeep.declare_doctor(commands)
    reload = command(commands, "reload", "read the settings and all other files with servers in them again", "running:reload")
    reload.add_argument("--dry-run", action="store_true", help="say what it would do, and do nothing")
    command(commands, "stop", "end the running hub", "running:stop")
    upkeep.declare_setup(commands)
    return parser
