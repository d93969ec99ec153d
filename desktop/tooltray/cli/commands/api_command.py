"""`tooltray api`: lists the verbs of the API, or calls one and prints its result as JSON."""

import argparse
import json

from tooltray.carriers.control.control_client import VerbEntry, verb_entries
from tooltray.cli import values
from tooltray.cli.hubs import started_hub
from tooltray.cli.parsers import Usage
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer_list, print_json
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.verbs import Verb

TOOL_CALL_TIMEOUT_S = 30.0  # the user waits for it; AI clients have ten minutes


def declare(parser: Usage) -> None:
    parser.runs(api)
    parser.takes("verb", "VERB", tr("its name; left out: list all verbs"), nargs="?")
    parser.takes("arguments", "NAME=VALUE", tr("an argument of the verb; the value is JSON, or a text"), nargs="*")
    text = tr("how long to wait (default: {tool_call_timeout_s})", tool_call_timeout_s=f"{TOOL_CALL_TIMEOUT_S:g}")
    parser.takes("--timeout", "SECONDS", text, type=values.seconds, default=TOOL_CALL_TIMEOUT_S)


def api(args: argparse.Namespace, home: Home) -> int:
    if args.verb is None:
        rows = sorted(verb_entries().items(), key=lambda each: (each[1].part, each[0]))
        return answer_list(args, rows, (tr("VERB"), tr("ARGUMENTS"), tr("DESCRIPTION")), _row, empty="")
    entry = verb_entries().get(args.verb)
    if entry is None:
        raise NotFound(tr("There is no verb '{verb}'", verb=args.verb), hint=tr("See which there are: tooltray api"))
    arguments = _arguments(args.arguments, entry)
    with started_hub(home) as hub:
        verb: Verb = getattr(getattr(hub.api, entry.part), args.verb)
        print_json(hub.ask(verb(**arguments), timeout_s=args.timeout))
    return 0


def _row(row: tuple[str, VerbEntry]) -> list[str]:
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
            raise TooltrayError(tr("The arguments cannot be read"), word, hint)
        given[name] = text if entry.takes[name].startswith("str") else _value(text)
    missing = [name for name, kind in entry.takes.items() if name not in given and " = " not in kind]
    if missing:
        raise TooltrayError(tr("The arguments cannot be read"), tr("there is no {names}", names=", ".join(missing)))
    return given


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
