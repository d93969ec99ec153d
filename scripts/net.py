"""Writes what the outside sees of the program into a folder, as text that can be compared: `python scripts/net.py FOLDER`.

Run it at two commits and compare the folders with `diff -r`: what differs is a change of behaviour, and belongs in the CHANGELOG. Recorded
are the verbs with their signatures, every command with its options and its English help, the REST interface, the settings, the events and
the words that AI clients get from the hub's own tools.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

from tooltray.api.parts import part_classes, verbs_of
from tooltray.carriers.rest.operations import document
from tooltray.cli.arguments import command_parser
from tooltray.config.settings.json_schema import schema_of
from tooltray.config.settings.settings import Settings
from tooltray.foundation.events import EVENTS


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in {"verbs.txt": verbs(), "commands.txt": commands(), "events.txt": events()}.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, value in {"rest.json": document(), "settings.json": schema_of(Settings)}.items():
        (folder / name).write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def verbs() -> Iterator[str]:
    for part, kind in sorted(part_classes().items()):
        for verb in verbs_of(kind):
            yield f"{part}.{verb}{inspect.signature(getattr(kind, verb))}"


def commands() -> Iterator[str]:
    yield from _command(command_parser())


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"==== {parser.prog}\n{parser.format_help()}"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action.choices.values():
                yield from _command(choice)


def events() -> Iterator[str]:
    for kind in sorted(EVENTS, key=lambda each: each.__name__):
        yield f"{kind.__name__} {get_type_hints(kind)}"


if __name__ == "__main__":
    main()
