"""bridge_entries.py: the entry of our bridge as clients want it, and whether one in a file is the right one."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import KINDS, put

from tooltray.sources.clients.bridge_entries import (
    CALL_TIMEOUT_S,
    START_TIMEOUT_S,
    Entry,
    OwnEntry,
    best,
    bridge_entry_for,
    connection_of,
    is_program_there,
    mended_entry,
)
from tooltray.sources.clients.client_kinds import Shape
from tooltray.sources.clients.found_entries import FoundEntry

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


def test_what_the_user_chose_or_added_stays_in_a_mended_entry() -> None:
    before = {"command": "/gone", "args": [], "timeout": 5, "env": {"A": "b"}, "disabled": True}
    assert mended_entry("cline", WORDS, before) == {**PLAIN, "timeout": 5, "env": {"A": "b"}, "disabled": False}


def test_a_mended_entry_that_led_to_us_by_another_way_has_nothing_left_of_that() -> None:
    before = {"url": "http://127.0.0.1:7717/mcp", "headers": {"X": "y"}, "transport": "http", "disable": True}
    assert mended_entry("plain", WORDS, before) == {**PLAIN, "disable": False}


def test_an_entry_that_was_switched_off_is_on_when_it_is_mended() -> None:
    assert mended_entry("opencode", WORDS, {"command": ["/gone"], "enabled": False})["enabled"] is True


OWN = OwnEntry((sys.executable, "-I"), "http://127.0.0.1:7717", has_http=True)


def entry(content: dict[str, Any], **about: Any) -> FoundEntry:
    about = {"kind": "bridge", **about}
    return FoundEntry(KINDS["cursor"], Path("/f"), "", ("mcpServers", "t"), "t", content, **about)


@pytest.mark.parametrize(
    ("content", "connection"),
    [
        ({"command": sys.executable, "args": ["-I"]}, "connected"),
        ({"command": [sys.executable, "-I"]}, "connected"),
        ({"command": sys.executable, "args": ["-I", "--profile", "x"]}, "connected"),
        ({"command": sys.executable, "args": ["-I", "--home", "/x"]}, "outdated"),
        ({"command": sys.executable, "args": ["-I", "--home=/x"]}, "outdated"),
        ({"command": sys.executable}, "outdated"),
        ({"command": "/nowhere/tooltray-bridge"}, "broken"),
        ({"url": "http://localhost:7717/mcp/"}, "connected"),
        ({"url": "http://localhost:7717/sse"}, "outdated"),
    ],
)
def test_an_entry_is_compared_with_the_one_of_today(content: dict[str, Any], connection: str) -> None:
    assert connection_of([entry(content)], OWN, {}) == connection


def test_the_best_entry_counts_and_others_do_not() -> None:
    right, broken = entry({"command": sys.executable, "args": ["-I"]}), entry({"command": "/nowhere"})
    assert connection_of([broken, right], OWN, {}) == "connected"
    assert connection_of([entry({"command": sys.executable}, kind="loop"), entry({}, kind="server")], OWN, {}) == "none"
    assert best([]) == "none"
    assert best(["none", "broken", "outdated"]) == "outdated"


def test_an_entry_that_is_switched_off_is_broken() -> None:
    assert connection_of([entry({"command": sys.executable, "args": ["-I"]}, state="off")], OWN, {}) == "broken"


def test_over_http_nothing_works_while_http_is_off() -> None:
    off = OwnEntry(OWN.words, OWN.url)
    assert connection_of([entry({"url": "http://localhost:7717/mcp"})], off, {}) == "broken"


@pytest.mark.posix
def test_a_program_is_looked_up_as_its_client_does(tmp_path: Path) -> None:
    program, script = put(tmp_path / "bin/bridge", ""), put(tmp_path / "x.py", "")
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    assert not is_program_there(["bridge"], environ)
    program.chmod(0o755)
    assert is_program_there(["bridge"], environ)
    assert is_program_there(["~/bin/bridge", str(script), "~/x.py", "/nowhere"], environ)
    assert not is_program_there(["bridge", "/nowhere/__main__.py"], environ)
    assert not is_program_there(["bridge"], {})
    assert not is_program_there(["~/bin/bridge"], {})
