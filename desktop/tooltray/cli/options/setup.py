"""What can be typed behind `tooltray export`, `import` and `uninstall`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options.usage import Commands, command


def declare(commands: Commands) -> None:
    export = command(commands, "export", "write servers and settings to a file, without secrets", "setup:export")
    export.add_argument("file", nargs="?", metavar="FILE", help="where to (default, and '-': standard output)")
    export.add_argument("--force", action="store_true", help="replace a file that is there already")
    taking = command(commands, "import", "take over servers and settings that were exported", "setup:take_over")
    taking.add_argument("file", metavar="FILE", help="what `export` has written, or another program's mcp.json")
    taking.add_argument("--replace", action="store_true", help="replace servers of the same names, which are kept otherwise")
    taking.add_argument("--yes", action="store_true", help="do not ask")
    leaving = command(commands, "uninstall", "take away what Tooltray keeps on this machine, each thing after a yes", "uninstall:uninstall")
    leaving.add_argument("--yes", action="store_true", help="do not ask")
