"""Starts `tooltray` or `python -m tooltray`: the command line is in cli, the desktop in app. Nothing is imported before it is needed."""

import sys
from typing import TYPE_CHECKING

from tooltray.foundation import programs

if TYPE_CHECKING:
    from tooltray.foundation.home.home import Home


def main() -> int:
    """Runs the command line, or one of our modules in a frozen app; returns the exit code."""
    programs.restore_environment()
    if sys.argv[1:2] == [programs.RUN_MODULE]:
        return programs.run_module(sys.argv[2:])
    with programs.importing():
        from tooltray.cli.run import run

    return run(sys.argv[1:], open_desktop=_open_desktop)


def _open_desktop(home: "Home", *, hidden: bool, link: str) -> int:
    with programs.importing():
        from tooltray.app.desktop import Opening, run

    return run(home, Opening(hidden, link))


if __name__ == "__main__":
    sys.exit(main())
