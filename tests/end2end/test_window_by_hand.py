"""What somebody finds out who has never seen the window: at a real X server, with real keys and a real mouse, without a terminal.

Names are those that a screen reader reads out. Each test is one errand.
"""

import json
import sys
from pathlib import Path

from tests.end2end.processes import World
from tests.end2end.x_display import XDisplay
from tests.end2end.x_eyes import Person

MOODY = Path(__file__).parent / "servers" / "moody.py"
SETTINGS = {"version": 1, "secrets": {"backend": "memory"}, "autoDetectNpmRegistry": False, "publish": {"feedback": False}}


def write_settings(world: World, word: str, **fields: object) -> None:
    """A home with one server."""
    world.root.mkdir(exist_ok=True)
    entry = {"command": sys.executable, "args": ["-I", str(MOODY), word], "autoApprove": ["all"], **fields}
    document = {**SETTINGS, "mcpServers": {"moody": entry}, "defaultServers": ["moody"]}
    (world.root / "settings.json").write_text(json.dumps(document))


def test_why_a_server_fails_is_found_in_its_log(world: World, display: XDisplay) -> None:
    write_settings(world, "now")
    with Person(world, display) as person:
        person.read("say 'please'")
        person.click("Why does moody not run?")
        person.click("Show log")
        person.read("ERROR moody: say 'please', not ['now']")
        person.picture("log")
