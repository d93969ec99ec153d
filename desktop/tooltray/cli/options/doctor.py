"""What can be typed behind `tooltray doctor`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, Usage, command


def declare(commands: Commands) -> None:
    doctor = command(commands, "doctor", "say what is wrong, and what to do about it", "doctor:doctor")
    doctor.add_argument("server", nargs="?", metavar="SERVER", help="look at this server only")
    doctor.add_argument(
        "--forget-environment", action="store_true", help="forget certificates, proxies and package indexes remembered of your terminal"
    )
    doctor.add_argument("--fix", metavar="NUMBER", type=values.number, help="with SERVER: carry out what was offered under this number")


def check(usage: Usage, args: argparse.Namespace) -> None:
    if args.fix is not None and args.server is None:
        usage.error("--fix goes with SERVER")
    if args.forget_environment and args.server is not None:
        usage.error("--forget-environment goes without SERVER")
