"""entry_shapes.py: our entry as each client wants it, and what stays of one that is mended."""

import pytest

from tooltray.sources.clients.client_kinds import Shape
from tooltray.sources.clients.entry_shapes import CALL_TIMEOUT_S, START_TIMEOUT_S, Entry, bridge_entry_for, mended_entry

WORDS = ("/opt/bridge", "--quick")
PLAIN = {"command": "/opt/bridge", "args": ["--quick"]}


@pytest.mark.parametrize(
    ("shape", "entry"),
    [
        ("plain", PLAIN),
        ("vscode", {"type": "stdio", **PLAIN}),
        ("roo", {**PLAIN, "disabled": False, "timeout": CALL_TIMEOUT_S}),
        ("codex", {**PLAIN, "startup_timeout_sec": START_TIMEOUT_S, "tool_timeout_sec": CALL_TIMEOUT_S}),
        ("gemini", {**PLAIN, "timeout": CALL_TIMEOUT_S * 1000}),  # milliseconds there
        ("copilot-cli", {"type": "local", **PLAIN, "tools": ["*"], "timeout": CALL_TIMEOUT_S * 1000}),
        ("opencode", {"type": "local", "command": ["/opt/bridge", "--quick"], "enabled": True, "timeout": CALL_TIMEOUT_S * 1000}),
        ("continue", {"name": "tooltray", **PLAIN}),
    ],
)
def test_each_client_gets_the_entry_that_it_reads(shape: Shape, entry: Entry) -> None:
    assert bridge_entry_for(shape, WORDS) == entry


def test_goose_starts_ours_as_one_of_its_extensions() -> None:
    entry = bridge_entry_for("goose", WORDS)
    assert (entry["cmd"], entry["args"], entry["enabled"], entry["timeout"]) == ("/opt/bridge", ["--quick"], True, CALL_TIMEOUT_S)


def test_what_a_person_chose_or_added_stays_in_a_mended_entry() -> None:
    before = {"command": "/gone", "args": [], "timeout": 5, "env": {"A": "b"}, "disabled": True}
    assert mended_entry("cline", WORDS, before) == {**PLAIN, "timeout": 5, "env": {"A": "b"}, "disabled": False}


def test_a_mended_entry_that_led_to_us_by_another_way_has_nothing_left_of_that() -> None:
    before = {"url": "http://127.0.0.1:7717/mcp", "headers": {"X": "y"}, "transport": "http", "disable": True}
    assert mended_entry("plain", WORDS, before) == {**PLAIN, "disable": False}


def test_an_entry_that_was_switched_off_is_on_when_it_is_mended() -> None:
    assert mended_entry("opencode", WORDS, {"command": ["/gone"], "enabled": False})["enabled"] is True
