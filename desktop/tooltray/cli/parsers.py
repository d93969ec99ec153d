"""Parsers of commands and of groups of commands, and their error messages."""

import argparse
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias

from tooltray.cli.speech import say, tr

if TYPE_CHECKING:
    from tooltray.foundation.home.home import Home

COMMAND_MARK = "--"  # a server's own command follows


class UsageError(Exception):
    """A command line that cannot be understood."""

    def __init__(self, program: str, usage: str, message: str) -> None:
        super().__init__(message)
        self.program, self.usage = program, usage


class Usage(argparse.ArgumentParser):
    """A parser that raises where argparse would print and exit: the caller knows whether JSON was requested.

    Attributes:
        place: the function that declares its arguments or commands, as "module:function" within `cli`. It is called when the
            parser is first used: a command line needs few of them, and their modules take longer to import than to parse it.
    """

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog=prog, description=description, add_help=False)
        self.place = ""
        self._positionals.title, self._optionals.title = tr("positional arguments"), tr("options")
        self.add_argument("-h", "--help", action="help", default=argparse.SUPPRESS, help=tr("show this help message and exit"))

    def complete(self) -> None:
        """Declares what `place` has, once."""
        place, self.place = self.place, ""
        if place:
            function_at(place)(self)

    def runs(self, run: "Run | str", *, check: "Check | None" = None, has_json: bool = True) -> None:
        """Makes this the parser of a command.

        Args:
            run: the function that runs it, or its place, if its module is worth an import only then.
            check: refuses options that do not go together, which argparse cannot express.
            has_json: whether `--json` can be used with it.
        """
        self.set_defaults(run=run, usage=self, check=check)
        self.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)  # also after the command
        if has_json:
            self.flag("--json", tr("print JSON, for programs"))

    def subcommands(self) -> "Commands":
        """Makes this the parser of a group, and returns the object to which the group's commands are added."""
        self.set_defaults(usage=self)
        return self.add_subparsers(metavar="COMMAND", title=tr("commands"), required=True)

    def flag(self, name: str, text: str, *, short: str = "") -> Self:
        """Adds an option without a value. `short`: such as `-f`."""
        self.add_argument(*filter(None, (short, name)), action="store_true", help=text)
        return self

    def takes(self, name: str, metavar: Any = None, text: str | None = None, *, short: str = "", **more: Any) -> Self:
        """Adds an argument or an option with a value.

        Args:
            metavar: the name of the value in the help; by default, the argument's name in capitals.
            more: keywords of `add_argument`.
        """
        self.add_argument(*filter(None, (short, name)), metavar=metavar or name.upper(), help=text, **more)
        return self

    def repeats(self, name: str, metavar: Any, text: str, **more: Any) -> None:
        """Adds an option that may be given several times; its values are a list."""
        self.takes(name, metavar, text, action="append", default=[], **more)

    def parse_known_args(self, *args: Any, **named: Any) -> Any:
        self.complete()
        return super().parse_known_args(*args, **named)

    def format_usage(self) -> str:
        self.complete()
        return self._in_the_language(super().format_usage())

    def format_help(self) -> str:
        self.complete()
        return self._in_the_language(super().format_help())

    def _in_the_language(self, text: str) -> str:
        """Translates the `usage: ` with which argparse begins."""
        return text.replace("usage: ", tr("usage: "), 1) if text.startswith("usage: ") else text

    def error(self, message: str) -> NoReturn:
        what, mark, reason = message.partition(": ")
        said = f"{say(what)}: {say(reason)}" if mark and what.startswith("argument ") else say(message)
        raise UsageError(self.prog, self.format_usage(), said)


Commands: TypeAlias = "argparse._SubParsersAction[Usage]"  # the type has no public name
Check: TypeAlias = Callable[[Usage, argparse.Namespace], None]
Run: TypeAlias = Callable[[argparse.Namespace, "Home"], int]


def command(commands: Commands, name: str, text: str, run: Run | str, *, check: Check | None = None, has_json: bool = True) -> Usage:
    """Adds a command, see `Usage.runs`.

    Args:
        text: what it does; its first letter small.
    """
    parser = later(commands, name, text)
    parser.runs(run, check=check, has_json=has_json)
    return parser


def later(commands: Commands, name: str, text: str, place: str = "") -> Usage:
    """Adds a command or a group of which only the name and the description are needed at first."""
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ("." if text[-1].isascii() else "。"))
    parser.place = place
    return parser


def function_at(place: str) -> Callable[..., Any]:
    """Imports a function by "module:function" within `cli`."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(f"tooltray.cli.{module}"), name)
    return function
