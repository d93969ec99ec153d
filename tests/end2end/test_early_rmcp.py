"""Servers built with rmcp before 3.0, as they are installed from a registry: they end at a first message other than `initialize`."""

import json

import pytest
from tests.end2end.conftest import ROOT
from tests.end2end.processes import World

PROGRAMS = ROOT / ".cache" / "rmcp" / "bin"
KEYS = {"cnb-rs-mcp": "CNB_TOKEN", "grok-search-rs": "GROK_SEARCH_API_KEY"}


def installed(name: str) -> str:
    found = PROGRAMS / name
    assert found.exists(), f"{found} is missing; `make test` installs what tests need"
    return str(found)


def shown(world: World) -> dict:
    return world.servers()["s"]


@pytest.mark.parametrize("name", list(KEYS))
def test_a_server_that_ends_at_the_probe_starts_at_once_and_is_known_the_next_time(world: World, name: str) -> None:
    entry = {"command": installed(name), "env": {KEYS[name]: "dummy"}}
    world.root.mkdir(mode=0o700)
    (world.root / "settings.json").write_text(json.dumps({"version": 1, "mcpServers": {"s": entry}, "defaultServers": ["s"]}))
    for _ in range(2):
        hub = world.start_hub()
        client = world.start_bridge("--server", "s")
        client.initialize()
        assert len(client.request("tools/list", id="list")["result"]["tools"]) > 3
        server = shown(world)
        assert (server["state"], server["problem"]) == ("running", None), server
        client.end()
        hub.end()
    assert [known["eras"] for known in json.loads((world.root / "eras.json").read_bytes()).values()] == [["legacy"]]
    told = [record for record in world.records() if "ended before it answered server/discover" in json.dumps(record)]
    assert len(told) == 1
