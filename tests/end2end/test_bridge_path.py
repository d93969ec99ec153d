"""The one path that AI clients' configs hold, started as AI clients do: `~/.tooltray/bin/tooltray-bridge`."""

import json
import os
import sys
from pathlib import Path

from tests.end2end.processes import World

HABITS = Path(__file__).parent / "servers" / "habits.py"


def started_by_path(world: World) -> list[str]:
    """The command of the entry that a person pastes."""
    shown = json.loads(world.tooltray("bridge", "show", "--json").stdout)
    entry = shown["entry"]["mcpServers"]["tooltray"]
    return [entry["command"], *entry["args"]]


def test_an_ai_client_that_passes_no_environment_reaches_its_tools_by_the_path(world: World) -> None:
    assert world.tooltray("servers", "add", "habits", "--", sys.executable, str(HABITS)).returncode == 0
    assert world.tooltray("bridge", "use").returncode == 0
    command = started_by_path(world)
    assert command == [str(world.root / "bin" / "tooltray-bridge")]
    environ = dict.fromkeys(set(world.environ) - {"HOME", "TOOLTRAY_TEST_ID"}, "")
    client = world.start(*command, "--server", "habits", environ=environ)
    client.initialize()
    assert "echo" in [tool["name"] for tool in client.request("tools/list", id=2)["result"]["tools"]]
    client.close_stdin()
    assert client.wait() == 0
    world.stop_hub()


def test_uninstalling_ends_the_hub_and_leaves_only_a_mark_in_the_person_s_folder(world: World) -> None:
    before = files_of(world)
    hub = world.start_hub()
    assert world.tooltray("bridge", "use").returncode == 0
    assert world.tooltray("autostart", "on").returncode == 0
    assert (world.root / "bin" / "tooltray-bridge").exists()
    assert (world.home / ".config" / "autostart" / "tooltray.desktop").exists()
    assert world.tooltray("uninstall", "--yes").returncode == 0
    assert hub.wait() == 0
    assert files_of(world) == {*before, world.root / "removed"}


def test_an_ai_client_that_runs_on_brings_nothing_back_that_was_removed(world: World) -> None:
    world.start_hub()
    bridge = world.start_bridge()
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "acme", "version": "1"}}
    assert "result" in bridge.request("initialize", hello, id=1)
    before = files_of(world)
    removed = world.tooltray("uninstall", "--yes")
    assert removed.returncode == 0, removed.stderr
    assert "Quit these AI clients, which still use Tooltray: acme" in removed.stdout
    assert "Tooltray was removed" in bridge.request("tools/list", {}, id=2)["error"]["message"]
    another = world.start_bridge()  # of a client that still has the entry in its memory
    assert "Tooltray was removed" in another.request("initialize", hello, id=1)["error"]["message"]
    assert os.listdir(world.root) == ["removed"]
    assert files_of(world) < {*before, world.root / "removed"}

    assert world.tooltray("tools", "call", "memory", "x").returncode == 1  # no such server, but a start by hand
    assert not (world.root / "removed").exists()
    assert "result" in another.request("initialize", hello, id=2)
    for client in (bridge, another):
        client.end()
    world.stop_hub()


def files_of(world: World) -> set[Path]:
    return {path for path in world.home.rglob("*") if not path.is_dir()}
