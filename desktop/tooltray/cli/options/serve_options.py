"""The options of `tooltray serve`."""

import argparse
import re
from collections.abc import Mapping

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command
from tooltray.cli.speech import tr

EXECUTION_ID_VARIABLE = "TOOLTRAY_EXECUTION_ID"
EXECUTION_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # it becomes part of each log record, and users grep for it
BRIDGE_IDLE_EXIT_S = 900.0  # a hub that was not started by hand leaves 15 minutes after its last AI client


def declare(commands: Commands) -> None:
    serve = command(commands, "serve", tr("run the hub here, in this terminal"), "serve_command:serve", check=check, has_json=False)
    serve.add_argument("--stdio", action="store_true", help=tr("serve one AI client on standard input and output"))
    serve.add_argument("--server", metavar="NAME", help=tr("with --stdio: this server alone, with its own tool names"))
    serve.add_argument("--replace", action="store_true", help=tr("take over from a hub that runs already"))
    serve.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help=tr("also serve what this config of TBXark's mcp-proxy says, as it is; may be given again"),
    )
    serve.add_argument(
        "--project", metavar="DIR", help=tr("give every session the servers of this folder's .mcp.json, which you trust once")
    )
    serve.add_argument(
        "--execution-id",
        metavar="ID",
        help=tr("written into each log record (also: {execution_id_variable})", execution_id_variable=EXECUTION_ID_VARIABLE),
    )
    serve.add_argument("--idle-exit", metavar="SECONDS", type=values.seconds, help=tr("end this long after the last AI client left"))
    serve.add_argument(
        "--started-by-bridge", action="store_true", help=argparse.SUPPRESS
    )  # by the bridge and by commands like `tools call`


def check(usage: Usage, args: argparse.Namespace) -> None:
    if args.server and not args.stdio:
        usage.error(tr("--server goes with --stdio"))
    if args.started_by_bridge and args.stdio:
        usage.error(tr("--started-by-bridge does not go with --stdio"))
    if args.started_by_bridge and (args.config or args.project is not None):
        usage.error(tr("--config and --project do not go with --started-by-bridge"))
    if args.started_by_bridge and args.idle_exit is None:
        args.idle_exit = BRIDGE_IDLE_EXIT_S


def name_run(usage: Usage, args: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Chooses the id under which the run is recorded: as typed, else from the environment, else generated."""
    if not args.execution_id and not environ.get(EXECUTION_ID_VARIABLE):
        import uuid

        args.execution_id = uuid.uuid4().hex
    source = "--execution-id" if args.execution_id else EXECUTION_ID_VARIABLE
    args.execution_id = args.execution_id or environ[EXECUTION_ID_VARIABLE]
    if not EXECUTION_ID.fullmatch(args.execution_id):
        usage.error(
            tr(
                "{source}: 1 to 64 letters, digits, dots, dashes and underscores, not {execution_id}",
                source=source,
                execution_id=repr(args.execution_id),
            )
        )
