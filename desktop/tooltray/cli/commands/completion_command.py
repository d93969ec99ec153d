"""The commands as data, read from the parser, for manual pages; and `tooltray completion`: shell completions that are made of them.

The packages install the same files. A completion contains all words, and does not start Tooltray.
"""

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping

import msgspec

from tooltray.cli.arguments import Usage, command_parser
from tooltray.foundation.home.home import Home


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
            options.append(Option(tuple(action.option_strings), _value_name(action), _help_text(action, parser)))
        else:
            arguments.append(
                Argument(str(action.metavar or action.dest), _help_text(action, parser), tuple(map(str, action.choices or ())))
            )
    return CommandNode(words, help, parser.description or "", tuple(options), tuple(arguments), tuple(commands))


def _value_name(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    return str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper())


def _help_text(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return ((action.help or "") % {**vars(action), "prog": parser.prog}).strip()


def declare(parser: Usage) -> None:
    parser.runs(completion, has_json=False)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def completion(args: argparse.Namespace, home: Home) -> int:
    """Prints the completion for a shell; returns the exit code."""
    print(SHELLS[args.shell](command_tree()), end="")
    return 0


def for_bash(tree: CommandNode) -> str:
    """Returns the completion for bash 4 and newer, with or without the package bash-completion."""
    groups = _groups(tree)
    words = "\n".join(f"    {shlex.quote(each.words)}) words={shlex.quote(_words(each))} ;;" for each in tree.walk())
    return f"""\
# bash completion of tooltray; made by: tooltray completion bash
_tooltray() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} place=tooltray words= word at
    for ((at = 1; at < COMP_CWORD; at++)); do
        word=${{COMP_WORDS[at]}}
        [ "$word" = -- ] && return  # a server's own command
        case "$place $word" in
        {groups}) place="$place $word" ;;
        esac
    done
    case $place in
{words}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _tooltray tooltray
"""


def for_zsh(tree: CommandNode) -> str:
    groups = _groups(tree)
    lines = "\n".join(f"    {shlex.quote(each.words)}) found=({_described(each)}) ;;" for each in tree.walk())
    return f"""\
#compdef tooltray
# zsh completion of tooltray; made by: tooltray completion zsh
_tooltray() {{
    local place=tooltray word
    local -a found
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        [[ $word == -- ]] && {{ _files; return }}  # a server's own command
        case "$place $word" in
        {groups}) place="$place $word" ;;
        esac
    done
    case $place in
{lines}
    esac
    _describe 'tooltray' found || _files
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tooltray "$@"
else
    compdef _tooltray tooltray
fi
"""


def for_fish(tree: CommandNode) -> str:
    groups = " ".join(_in_fish(each.words) for each in tree.walk() if each is not tree)
    lines = [line for each in tree.walk() for line in _fish_lines(each)]
    return f"""\
# fish completion of tooltray; made by: tooltray completion fish
function __tooltray_at
    set -l place tooltray
    set -l groups {groups}
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        test "$word" = --; and return 1 # a server's own command
        contains -- "$place $word" $groups; and set place "$place $word"
    end
    test "$place" = "$argv"
end
""" + "".join(lines)


def _fish_lines(node: CommandNode) -> list[str]:
    start = f"complete -c tooltray -n {_in_fish(f'__tooltray_at {node.words}')}"
    lines = [f"{start} -f -a {_in_fish(word)} -d {_in_fish(text)}\n" for word, text in node.candidates if not word.startswith("-")]
    for option in node.options:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        lines.append(f"{start} {names}{' -r' if option.value else ''} -d {_in_fish(option.help)}\n")
    return lines


def _groups(tree: CommandNode) -> str:
    return "|".join(shlex.quote(each.words) for each in tree.walk() if each is not tree)


def _in_fish(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _words(node: CommandNode) -> str:
    return " ".join(word for word, _ in node.candidates)


def _described(node: CommandNode) -> str:
    """Returns `word:description` for each, as one argument; a colon in a word would end the word."""
    pairs = ((word.replace(":", "\\:"), text) for word, text in node.candidates)
    return " ".join(shlex.quote(f"{word}:{text}") for word, text in pairs)


SHELLS: Mapping[str, Callable[[CommandNode], str]] = {"bash": for_bash, "zsh": for_zsh, "fish": for_fish}
