"""The generated pages of the reference hold every command, setting, route and event."""

import argparse
import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

from tooltray.carriers.rest.operations import document
from tooltray.cli.arguments import command_parser
from tooltray.config.settings import call_rule, server_config, settings
from tooltray.config.settings.json_model import JsonModel
from tooltray.foundation.events import EVENTS

PAGES = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "docs_reference.py"))["PAGES"]


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action.choices.values():
                yield from commands(choice)


def test_every_command_and_option_is_on_the_page() -> None:
    sections = dict(re.findall(r"^#+ `(.+)`\n((?:(?!^#).*\n)*)", PAGES["commands.md"](), re.MULTILINE))

    for parser in commands(command_parser()):
        shown = (action for action in parser._actions if action.help != argparse.SUPPRESS)
        for option in (option for action in shown for option in action.option_strings if option not in ("-h", "--help")):
            assert f"`{option}" in sections[parser.prog], (parser.prog, option)


def test_every_setting_is_on_the_page() -> None:
    page = PAGES["settings.md"]()
    models = [
        kind
        for module in (settings, server_config, call_rule)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, JsonModel)
    ]

    for model in models:
        for name, field in model.model_fields.items():
            assert f"`{field.alias}`" in page, (model, name)


def test_the_schema_of_rules_on_arguments_is_on_its_page() -> None:
    schema = json.loads(re.findall(r"^```json\n(.*?)^```", PAGES["call-rule.md"](), re.MULTILINE | re.DOTALL)[0])

    assert schema["properties"].keys() == {"tool", "arguments", "others", "server"}
    assert schema["additionalProperties"] is False
    assert set(schema["$defs"]["Condition"]["properties"]) == {*call_rule.KINDS, "more", "args", "optional"} - {"one_of"} | {"oneOf"}


def test_every_route_is_on_the_page() -> None:
    page = PAGES["rest.md"]()

    for path, operations in document()["paths"].items():
        assert [method for method in operations if f"`{method.upper()} {path}`" not in page] == []


def test_every_event_is_on_the_page() -> None:
    headings = re.findall(r"^## `(\w+)`$", PAGES["events.md"](), re.MULTILINE)

    assert headings == [kind.__name__ for kind in EVENTS]
