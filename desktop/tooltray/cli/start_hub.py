"""Starts a hub in a home like the command line does, and exits: `python -m tooltray.cli.start_hub HOME`.

hub_calls runs it as a process. If it fails, the reason is written to stdout.
"""

import sys
from pathlib import Path

from tooltray.cli.hubs import started_hub
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


def main() -> int:
    """Starts a hub in the home whose absolute path is the only argument, if none runs; returns the exit code."""
    root = sys.argv[1]
    try:
        started_hub(Home(Path(root))).close()
    except TooltrayError as error:
        problem = error.problem
        sys.stdout.write(problem.message or problem.title)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
