"""The commands as data, read from the parser: names, descriptions and arguments; for completions and manual pages."""

import argparse
from collections.abc import Iterator

import msgspec

from tooltray.cli.arguments import command_parser
from tooltray.cli.parsers import Usage


class Option(msgspec.Struct, frozen=True):
    """
    Attributes:
        names: such as `-n` and `--lines`.
        value: the name of its value; empty if it takes none.
    """

    names: tuple[str, ...]
    value: str
    help: str


class Argument(msgspec.Struct, frozen=True):
    """
    Attributes:
        choices: the only words that are valid; empty: any.
    """

    name: str
    help: str
    choices: tuple[str, ...]


class CommandNode(msgspec.Struct, frozen=True):
    """A command, or a group of them.

    Attributes:
        words: how it is typed, such as `tooltray servers add`.
        help: one line, for the list of its group.
        about: its description.
    """

    words: str
    help: str
    about: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    commands: tuple["CommandNode", ...]

    def walk(self) -> Iterator["CommandNode"]:
        """Yields this command and all below it."""
        yield self
        for each in self.commands:
            yield from each.walk()

    @property
    def candidates(self) -> tuple[tuple[str, str], ...]:
        """The words that can be typed next, each with a description."""
        commands = [(each.words.rpartition(" ")[2], each.help) for each in self.commands]
        choices = [(choice, argument.help) for argument in self.arguments for choice in argument.choices]
        return (*commands, *choices, *((name, option.help) for option in self.options for name in option.names))


def command_tree() -> CommandNode:
    """Returns all commands, with `tooltray` itself at the top."""
    return _node(command_parser(), "tooltray", "")


def _node(parser: Usage, words: str, help: str) -> CommandNode:
    parser.complete()
    options, arguments, commands = [], [], []
    for action in parser._actions:  # argparse has no public name for a parser's actions
        if isinstance(action, argparse._SubParsersAction):
            lines = {each.dest: each.help or "" for each in action._choices_actions}
            commands = [_node(each, f"{words} {name}", lines.get(name, "")) for name, each in action.choices.items() if name in lines]
        elif action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            options.append(Option(tuple(action.option_strings), _value(action), _text(action, parser)))
        else:
            arguments.append(Argument(str(action.metavar or action.dest), _text(action, parser), tuple(map(str, action.choices or ()))))
    return CommandNode(words, help, parser.description or "", tuple(options), tuple(arguments), tuple(commands))


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    return str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper())


def _text(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return ((action.help or "") % {**vars(action), "prog": parser.prog}).strip()
