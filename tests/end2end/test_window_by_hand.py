"""What somebody finds out who has never seen the window: at a real X server, with real keys and a real mouse, without a terminal.

Names are those that a screen reader reads out. Each test is one errand; those in a shop where everything runs share it.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.processes import Program, World, new_world, wait_until
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
        person.click("Back")
        person.click("Close details")
        person.read("moody, Connected")
        person.picture("mended")


class Shop:
    """A desktop with a server that runs, and an AI client that has used it."""

    def __init__(self, person: Person, client: Program) -> None:
        self.person, self._client = person, client

    def tools(self) -> dict[str, str]:
        """The names under which an AI client sees the server's tools, by its own names."""
        listed = [tool["name"] for tool in self._client.request("tools/list", id="list")["result"]["tools"]]
        return {own: name for own in ("token", "add", "delete_file") for name in listed if name.endswith(own)}

    def call(self, tool: str, **arguments: Any) -> str:
        """Calls a tool as an AI client does; returns its text, or why there is none, as for a call that a restart cuts off."""
        params = {"name": self.tools()[tool], "arguments": arguments}
        reply = self._client.request("tools/call", params, id="call")
        return str(reply["error"]["message"] if "error" in reply else reply["result"]["content"][0]["text"])


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with new_world() as world, XDisplay() as display:
        write_settings(world, "please", env={"TOKEN": "${secret:moody/TOKEN}"})
        with Person(world, display) as person:
            client = world.start_bridge()
            client.initialize()
            yield Shop(person, client)


def test_a_token_that_is_missing_is_typed_in_and_changed_later(shop: Shop) -> None:
    person = shop.person
    person.click("Settings", "RadioButton")
    person.click("Secrets")
    person.type_into("Value of moody/TOKEN", "first")
    person.click("Store, moody/TOKEN")
    wait_until(lambda: shop.tools(), "the server to run")
    assert shop.call("token") == "5"
    person.picture("secrets")
    person.click("Change…", "Cell")
    person.type_into("Value of moody/TOKEN", "the second one")
    person.click("Replace, moody/TOKEN")
    person.read("moody still runs with the old value")
    person.click("Restart")
    wait_until(lambda: shop.call("token") == "14", "the server to have the new one")


def test_which_client_deleted_a_file_and_when_is_read_in_the_activity(shop: Shop) -> None:
    person = shop.person
    assert shop.call("delete_file", path=GONE) == f"deleted {GONE}"
    person.click("Activity", "RadioButton")
    person.click("delete_file")
    person.read("end2end")
    person.read(GONE)
    person.picture("activity")


def test_which_tools_are_never_used_is_one_click_away(shop: Shop) -> None:
    person = shop.person
    person.click("Servers", "RadioButton")
    person.click("All tools", "PageTab")
    person.read("delete_file")
    person.click_text("Never used")
    person.read("never_used")
    wait_until(lambda: not person.sees("delete_file"), "tools that were used to be left out")
    person.picture("never-used")
    person.click_text("All, ")


def test_a_tool_is_tried_by_hand(shop: Shop) -> None:
    person = shop.person
    person.click("Servers", "RadioButton")
    person.click("All tools", "PageTab")
    person.click("add\nAdds two numbers.", "Cell")
    person.click("Try it")
    person.type_into("a", "19")
    person.type_into("b", "23")
    person.click("Call")
    person.read("42")
    person.picture("tried")
    person.press("Escape")
