"""client_connection.py: whether an entry of ours is the right one."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import KINDS, put

from tooltray.sources.clients.client_connection import OwnEntry, best, connection_of, is_program_there
from tooltray.sources.clients.found_entries import FoundEntry

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
