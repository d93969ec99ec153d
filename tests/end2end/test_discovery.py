"""A registry on the loopback, a hub, and a person at a terminal: a server is found, its form filled in, and its tool called.

What starts the package is a program of the test that is called npx, notes how it was started, and becomes one of our own servers.
"""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.processes import World
from tests.fakes.mcp_registry import FakeMcpRegistry, npm, registry_in_thread, server

SERVER = Path(__file__).parent / "servers" / "featured.py"
NAME = "io.github.owner/toolkit-mcp"
SECRET = "dummy-of-a-registry"
KEYS = [
    {"name": "TOOLKIT_KEY", "isSecret": True, "isRequired": True},
    {"name": "TOOLKIT_MODE", "choices": ["calm", "wild"], "default": "calm"},
]


def published(version: str) -> dict[str, Any]:
    argument = {"type": "positional", "valueHint": "folder", "isRequired": True, "format": "filepath"}
    package = npm("toolkit-mcp", version, environmentVariables=KEYS, packageArguments=[argument])
    return server(NAME, version, title="Toolkit", description="Does one thing and another", packages=[package])


@pytest.fixture
def registry(world: World) -> Iterator[FakeMcpRegistry]:
    registry = FakeMcpRegistry()
    for number in range(7):
        registry.put(server(f"io.github.someone/number-{number}"))
    registry.put(published("1.0.0"))
    with registry_in_thread(registry):
        world.root.mkdir(mode=0o700, exist_ok=True)
        settings = {"discovery": {"registry": registry.url}, "secrets": {"backend": "memory"}, "autoDetectNpmRegistry": False}
        (world.root / "settings.json").write_text(json.dumps({"version": 1, "mcpServers": {}, "defaultServers": [], **settings}))
        yield registry


def offer_npx(world: World) -> None:
    """Puts the stand-in in front of npx. It is all in one file, since it runs confined, and notes what it got in its own folder."""
    folder = world.home / "bin"
    program = f"""#!{sys.executable}
import json, os, sys
with open(os.path.join(os.environ["TMPDIR"], "started.json"), "w") as file:
    json.dump([sys.argv[1:], os.environ.get("TOOLKIT_KEY"), os.environ.get("TOOLKIT_MODE")], file)
sys.argv[1:] = ["legacy", "kit"]
{SERVER.read_text()}
"""
    folder.mkdir(exist_ok=True)
    (folder / "npx").write_text(program)
    (folder / "npx").chmod(0o755)
    world.environ["PATH"] = f"{folder}:{world.environ['PATH']}"
    (world.home / ".profile").write_text(f"export PATH={shlex.quote(world.environ['PATH'])}\n")


def noted(world: World) -> list[Path]:
    """Where the stand-in has noted its arguments and variables; empty: it was not started."""
    return list(world.home.rglob("started.json"))


def test_a_server_is_found_its_form_filled_in_its_tool_called_and_its_next_version_pinned(world: World, registry: FakeMcpRegistry) -> None:
    offer_npx(world)
    world.start_hub()
    found = world.tooltray("discover", "search", "tool")
    assert [line.split()[0] for line in found.stdout.splitlines()[1:]] == [NAME]
    assert "--option npm-1: npm toolkit-mcp@1.0.0, needs npx" in world.tooltray("discover", "show", NAME).stdout
    given = ("--set", "folder=/some; rm -rf ~", "--set", "TOOLKIT_MODE=wild", "--name", "kit")
    dry = world.tooltray("discover", "add", NAME, *given, "--dry-run", input=f"{SECRET}\n")
    assert "Runs: npx -y toolkit-mcp@1.0.0 '/some; rm -rf ~'" in dry.stdout
    assert not noted(world)
    added = world.tooltray("discover", "add", NAME, *given, "--yes", input=f"{SECRET}\n")
    assert added.stdout.splitlines()[-1].startswith("Added kit; it is running"), added.stderr
    assert json.loads(noted(world)[0].read_text()) == [["-y", "toolkit-mcp@1.0.0", "/some; rm -rf ~"], SECRET, "wild"]
    assert "needs a person's yes" in world.tooltray("tools", "call", "about").stderr
    world.trust("kit")
    assert "kit" in world.tooltray("tools", "call", "about").stdout
    registry.put(published("1.1.0"))
    world.tooltray("discover", "refresh")
    assert "1.1.0" in world.tooltray("discover", "updates").stdout
    world.tooltray("discover", "update", "kit", "--yes")
    world.tooltray("servers", "restart", "kit")
    assert json.loads(noted(world)[0].read_text()) == [["-y", "toolkit-mcp@1.1.0", "/some; rm -rf ~"], SECRET, "wild"]
    noted(world)[0].unlink()
    for path in (path for path in world.root.rglob("*") if path.is_file()):
        assert SECRET.encode() not in path.read_bytes(), path


def test_a_copy_that_was_cut_off_is_fetched_again_and_works_without_the_registry(world: World, registry: FakeMcpRegistry) -> None:
    world.start_hub()
    assert NAME in world.tooltray("discover", "search", "toolkit").stdout
    copy = world.root / "registry.db"
    copy.write_bytes(copy.read_bytes()[:6000])
    world.tooltray("discover", "search", "toolkit")
    world.tooltray("discover", "refresh")
    assert NAME in world.tooltray("discover", "search", "toolkit").stdout
    registry.servers.clear()
    assert NAME in world.tooltray("discover", "search", "toolkit").stdout
