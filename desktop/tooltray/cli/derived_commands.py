"""Commands that call one verb of the API: each is a declaration, from which arguments, call and output are derived; and `tooltray api`,
which calls any verb.

The arguments come from the table of verbs (resources/verbs.json): one without a default is positional, any other is an option.
"""

import argparse
import json
from argparse import Namespace
from ast import literal_eval
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias

from tooltray.carriers.control.control_client import CALL_TIMEOUT_S, VerbEntry, verb_entries
from tooltray.cli import values
from tooltray.cli.arguments import Commands, Usage, command
from tooltray.cli.hubs import Hub, started_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, answer_list, clean_line, print_json
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.verbs import JsonMapping, Verb

Show: TypeAlias = Callable[[Namespace, Any], int]


class Fixed(NamedTuple):
    """The value of an argument that is always the same, and is not typed."""

    value: object


class VerbCommands:
    """Adds commands to a group, each of which calls one verb.

    Args:
        hub: opens the hub; `any_hub` for verbs that need no running one.
        timeout_s: how long each verb may take.
    """

    def __init__(
        self, commands: Commands, hub: Callable[[Home], AbstractContextManager[Hub]] = started_hub, *, timeout_s: float = CALL_TIMEOUT_S
    ) -> None:
        self._commands, self._hub, self._timeout_s = commands, hub, timeout_s

    def add(self, name: str, text: str, verb: str, show: Show, /, **given: str | Fixed | JsonMapping) -> None:
        """Adds a command.

        Args:
            text: its description, beginning with a small letter.
            show: prints the verb's result and returns the exit code; see `done` and `table`.
            given: for arguments of the verb: a help text, a fixed value that is not typed, or keywords of `add_argument`, such as `name`,
                that replace the table's.
        """
        entry = verb_entries()[verb]
        fixed = {each: value.value for each, value in given.items() if isinstance(value, Fixed)}

        def run(args: Namespace, home: Home) -> int:
            arguments = {each: getattr(args, name) for each, name in names.items()}
            with self._hub(home) as hub:
                asked = getattr(getattr(hub.api, entry.part), verb)(**fixed, **arguments)
                return show(args, hub.ask(asked, timeout_s=self._timeout_s))

        parser = command(self._commands, name, text, run)
        names = {each: _declare(parser, each, kind, given.get(each, {})) for each, kind in entry.takes.items() if each not in fixed}


def _declare(parser: Usage, name: str, kind: str, given: Any) -> str:
    """Adds an argument, and returns its name in the namespace."""
    default = kind.partition(" = ")[2]
    usual = {"name": name, "metavar": name.upper(), **({"default": literal_eval(default)} if default else {})}
    keywords = usual | ({"help": given} if isinstance(given, str) else given)
    name = keywords.pop("name")
    return parser.add_argument(f"--{name}" if default else name, **keywords).dest


def done(words: Callable[[Namespace, Any], str], *names: str, **more: Any) -> Show:
    """Shows the outcome as text.

    Args:
        words: makes the printed text from the typed arguments, cleaned for printing, and the verb's result.
        names: the arguments that are printed with `--json`, as they were typed.
        more: further values to print with `--json`, or functions that make them from the arguments and the result. Without `names` and
            `more` the verb's result is printed.
    """

    def show(args: Namespace, result: Any) -> int:
        cleaned = Namespace(**{name: clean_line(each) if isinstance(each, str) else each for name, each in vars(args).items()})
        value = {name: getattr(args, name) for name in names}
        value |= {name: each(args, result) if callable(each) else each for name, each in more.items()}
        return answer(args, value or result, words(cleaned, result))

    return show


def table(titles: Sequence[str], row: Callable[[Any], Sequence[str]], empty: str) -> Show:
    """Shows a list; `empty` is printed for an empty one."""
    return lambda args, items: answer_list(args, items, titles, row, empty=empty)


TOOL_CALL_TIMEOUT_S = 30.0  # the user waits for it; AI clients have ten minutes


def declare_api(parser: Usage) -> None:
    parser.runs(api)
    parser.takes("verb", "VERB", tr("the verb's name; without it: list all verbs"), nargs="?")
    parser.takes("arguments", "NAME=VALUE", tr("an argument of the verb; the value is JSON or text"), nargs="*")
    text = tr("how long to wait (default: {tool_call_timeout_s})", tool_call_timeout_s=f"{TOOL_CALL_TIMEOUT_S:g}")
    parser.takes("--timeout", "SECONDS", text, type=values.seconds, default=TOOL_CALL_TIMEOUT_S)


def api(args: argparse.Namespace, home: Home) -> int:
    if args.verb is None:
        rows = sorted(verb_entries().items(), key=lambda each: (each[1].part, each[0]))
        return answer_list(args, rows, (tr("VERB"), tr("ARGUMENTS"), tr("DESCRIPTION")), _verb_row, empty="")
    entry = verb_entries().get(args.verb)
    if entry is None:
        raise NotFound(tr("Verb '{verb}' not found", verb=args.verb), hint=tr("List them: tooltray api"))
    arguments = _arguments(args.arguments, entry)
    with started_hub(home) as hub:
        verb: Verb = getattr(getattr(hub.api, entry.part), args.verb)
        print_json(hub.ask(verb(**arguments), timeout_s=args.timeout))
    return 0


def _verb_row(row: tuple[str, VerbEntry]) -> list[str]:
    name, entry = row
    takes = " ".join(f"[{each}]" if " = " in kind else each for each, kind in entry.takes.items())
    return [name, takes, entry.about]


def _arguments(words: list[str], entry: VerbEntry) -> dict[str, object]:
    """Parses NAME=VALUE words; a value is JSON, or text if it is not JSON or the verb takes a text.

    Raises:
        TooltrayError: a word has a name that the verb does not have, or a required argument is missing.
    """
    given: dict[str, object] = {}
    for word in words:
        name, mark, text = word.partition("=")
        if not mark or name not in entry.takes:
            hint = tr("It takes: {names}", names=", ".join(entry.takes) or tr("nothing"))
            raise TooltrayError(tr("Invalid arguments"), word, hint)
        given[name] = text if entry.takes[name].startswith("str") else _value(text)
    missing = [name for name, kind in entry.takes.items() if name not in given and " = " not in kind]
    if missing:
        raise TooltrayError(tr("Invalid arguments"), tr("missing: {names}", names=", ".join(missing)))
    return given


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
