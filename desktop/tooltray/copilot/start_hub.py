"""Starts a hub in a home, as a command would, and ends: `python -m tooltray.copilot.start_hub HOME`.

Above it: hub_calls, which runs it as a process. Below it: the command line's way of getting a hub. Says on its stdout why there is none.
"""

import sys
from pathlib import Path

from tooltray.cli.hub import started_hub
from tooltray.errors import TooltrayError
from tooltray.home.home import Home


def main(root: str) -> int:
    """
    Args:
        root: of the home, absolute.
    """
    try:
        started_hub(Home(Path(root))).close()
    except TooltrayError as error:
        problem = error.problem
        sys.stdout.write(problem.message or problem.title)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
