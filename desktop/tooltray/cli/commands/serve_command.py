"""`tooltray serve`: runs the hub here until it is stopped.

This process becomes the guardian, and its child the hub. Everything heavy is imported in the child: the guardian lives as long as the hub
and should stay small.
"""

import argparse
import re
import sys
from collections.abc import Mapping

from tooltray.cli import values
from tooltray.cli.arguments import Usage
from tooltray.cli.run import outcome
from tooltray.cli.speech import tr
from tooltray.foundation.home.home import Home
from tooltray.foundation.programs import importing, tooltray_command

EXECUTION_ID_VARIABLE = "TOOLTRAY_EXECUTION_ID"
EXECUTION_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # it becomes part of each log record, and users grep for it
BRIDGE_IDLE_EXIT_S = 900.0  # a hub that was not started by hand ends 15 minutes after its last AI client left


def declare(parser: Usage) -> None:
    parser.runs(serve, check=_check, has_json=False)
    parser.flag("--stdio", tr("serve one AI client on standard input and output"))
    parser.takes("--server", "NAME", tr("with --stdio: only this server, with its own tool names"))
    parser.flag("--replace", tr("take over from a Tooltray that is already running"))
    parser.repeats("--config", "FILE", tr("also serve the servers of this config of TBXark's mcp-proxy; may be repeated"))
    parser.takes("--project", "DIR", tr("give every session the servers of this folder's .mcp.json, once you have trusted them"))
    text = tr("written into each log record (also: {execution_id_variable})", execution_id_variable=EXECUTION_ID_VARIABLE)
    parser.takes("--execution-id", "ID", text)
    parser.takes("--idle-exit", "SECONDS", tr("stop this long after the last AI client has disconnected"), type=values.seconds)
    parser.add_argument(
        "--started-by-bridge", action="store_true", help=argparse.SUPPRESS
    )  # by the bridge and by commands like `tools call`


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if args.server and not args.stdio:
        usage.error(tr("--server goes with --stdio"))
    if args.started_by_bridge and args.stdio:
        usage.error(tr("--started-by-bridge does not go with --stdio"))
    if args.started_by_bridge and (args.config or args.project is not None):
        usage.error(tr("--config and --project do not go with --started-by-bridge"))
    if args.started_by_bridge and args.idle_exit is None:
        args.idle_exit = BRIDGE_IDLE_EXIT_S
    _name_run(usage, args, args.environ)


def _name_run(usage: Usage, args: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Chooses the id under which the run is recorded: as typed, else from the environment, else generated."""
    if not args.execution_id and not environ.get(EXECUTION_ID_VARIABLE):
        import uuid

        args.execution_id = uuid.uuid4().hex
    source = "--execution-id" if args.execution_id else EXECUTION_ID_VARIABLE
    args.execution_id = args.execution_id or environ[EXECUTION_ID_VARIABLE]
    if not EXECUTION_ID.fullmatch(args.execution_id):
        text = tr(
            "{source}: 1 to 64 letters, digits, dots, dashes and underscores, not {execution_id}",
            source=source,
            execution_id=repr(args.execution_id),
        )
        usage.error(text)


def serve(args: argparse.Namespace, home: Home) -> int:
    """Returns the hub's exit code in the guardian; in its child, the hub, it ends with SystemExit."""
    from tooltray.foundation.platform import guardian

    files = (home.socket, home.control_socket, home.hub_json)
    successor = tooltray_command(*sys.argv[1:])
    return guardian.run(lambda: outcome(lambda: _serve(args, home)), lock=home.lock, files=files, successor=successor)


def _serve(args: argparse.Namespace, home: Home) -> int:
    with importing():
        from tooltray.cli.serving import run_hub

    return run_hub(args, home)
