"""`tooltray serve`: runs the hub here until it is stopped.

This process becomes the guardian, and its child the hub. Everything heavy is imported in the child: the guardian lives as long as the hub
and should stay small.
"""

import argparse
import sys

from tooltray.cli.error_report import outcome
from tooltray.foundation.home.home import Home
from tooltray.foundation.programs import tooltray_command


def serve(args: argparse.Namespace, home: Home) -> int:
    """Returns the hub's exit code in the guardian; in its child, the hub, it ends with SystemExit."""
    from tooltray.foundation.platform import guardian

    files = (home.socket, home.control_socket, home.hub_json)
    successor = tooltray_command(*sys.argv[1:])
    return guardian.run(lambda: outcome(lambda: _serve(args, home)), lock=home.lock, files=files, successor=successor)


def _serve(args: argparse.Namespace, home: Home) -> int:
    from tooltray.cli.serving import run_hub

    return run_hub(args, home)
