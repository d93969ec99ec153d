"""What somebody finds out who has never seen the window: at a real X server, with real keys and a real mouse, without a terminal.

Names are those that a screen reader reads out. Each test is one errand; those in a shop where everything runs share it.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.processes import Program, World, new_world
from tests.end2end.x_display import XDisplay
from tests.end2end.x_eyes import Person

MOODY = Path(__file__).parent / "servers" / "moody.py"
SETTINGS = {"version": 1, "secrets": {"backend": "memory"}, "autoDetectNpmRegistry": False, "publish": {"feedback": False}}
GONE = "/home/ann/notes.md"
pytestmark = pytest.mark.timeout(120)


def write_settings(world: World, word: str, **fields: object) -> None:
    """A home with one server."""
    world.root.mkdir(exist_ok=True)
    entry = {"command": sys.executable, "args": ["-I", str(MOODY), word], "autoApprove": ["all"], **fields}
    document = {**SETTINGS, "mcpServers": {"moody": entry}, "defaultServers": ["moody"]}
    (world.root / "settings.json").write_text(json.dumps(document))


def call(client: Program, tool: str, **arguments: Any) -> str:
    """Calls a tool as an AI client does; returns its text."""
    reply = client.request("tools/call", {"name": tool, "arguments": arguments}, id=tool)
    return str(reply["result"]["content"][0]["text"])


def test_why_a_server_fails_is_found_in_its_log_and_mended_where_it_is_said(world: World, display: XDisplay) -> None:
    write_settings(world, "now")
    with Person(world, display) as person:
        person.click("Why does moody not run?")
        person.click("Show log")
        person.read("ERROR moody: say 'please', not ['now']")
        person.picture("log")
        person.press("Escape")
        person.click("Why does moody not run?")
        person.click("Edit moody")
        person.click("Arguments", "EditableText")
        person.press("End", control=True)
        for _ in "now":
            person.press("BackSpace")
        person.type("please")
        person.picture("edit")
        person.click("Save")
        person.read("moody, Connected")
        person.picture("mended")


class Shop:
    """A desktop with a server that runs, and an AI client that has used it."""

    def __init__(self, person: Person, client: Program) -> None:
        self.person, self.client = person, client


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with new_world() as world, XDisplay() as display:
        write_settings(world, "please", env={"TOKEN": "${secret:moody/TOKEN}"})
        with Person(world, display) as person:
            client = world.start_bridge()
            client.initialize()
            yield Shop(person, client)


def test_a_token_that_is_missing_is_typed_in_where_it_is_missed_and_changed_later(shop: Shop) -> None:
    person = shop.person
    person.click("Settings", "RadioButton")
    person.click("Secrets")
    person.picture("secrets")
