"""Parsers of commands and of groups of commands, and their error messages."""

import argparse
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from tooltray.cli.speech import say, tr

COMMAND_MARK = "--"  # a server's own command follows


class UsageError(Exception):
    """A command line that cannot be understood."""

    def __init__(self, program: str, usage: str, message: str) -> None:
        super().__init__(message)
        self.program, self.usage = program, usage


class Usage(argparse.ArgumentParser):
    """A parser that raises where argparse would print and exit: the caller knows whether JSON was requested."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog=prog, description=description, add_help=False)
        self._positionals.title, self._optionals.title = tr("positional arguments"), tr("options")
        self.add_argument("-h", "--help", action="help", default=argparse.SUPPRESS, help=tr("show this help message and exit"))

    def format_usage(self) -> str:
        return self._in_the_language(super().format_usage())

    def format_help(self) -> str:
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


def command(commands: Commands, name: str, text: str, run: str, *, check: Check | None = None, has_json: bool = True) -> Usage:
    """Adds a command.

    Args:
        text: what it does; its first letter small.
        run: the function that runs it, as "module:function" within `cli.commands`.
        check: refuses options that do not go together, which argparse cannot express.
        has_json: whether `--json` can be used with it.
    """
    parser = commands.add_parser(name, help=text, description=_sentence(text))
    parser.set_defaults(run=run, usage=parser, check=check)
    parser.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)  # also after the command
    if has_json:
        parser.add_argument("--json", action="store_true", help=tr("print JSON, for programs"))
    return parser


def group(commands: Commands, name: str, text: str, *, epilog: str | None = None) -> Commands:
    """Adds a command that is a group, to which commands are added."""
    parser = commands.add_parser(name, help=text, description=_sentence(text))
    parser.epilog = epilog
    parser.set_defaults(usage=parser)
    return parser.add_subparsers(metavar="COMMAND", title=tr("commands"), required=True)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("." if text[-1].isascii() else "。")
