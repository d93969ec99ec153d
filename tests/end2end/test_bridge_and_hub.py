"""The bridge and the hub together, as AI clients and people meet them."""

import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.end2end.processes import BRIDGE, World, new_world, wait_until

HABITS = Path(__file__).parent / "servers" / "habits.py"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def add_habits(world: World, name: str = "habits", *habits: str) -> None:
    world.add_server(name, sys.executable, str(HABITS), *habits)


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    """A hub with a server, for tests that leave it as it was."""
    with new_world() as world:
        add_habits(world)
        world.start_hub()
        yield world


@pytest.fixture
def hub(shared: World) -> Iterator[World]:
    with shared.visit() as world:
        yield world


def test_a_client_may_discover_then_initialize_and_use_both_eras_on_one_pipe(hub):
    client = hub.start_bridge("--server", "habits")
    found = client.request("server/discover", {"_meta": META}, id=1)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["capabilities"]["tools"]["listChanged"] is True
    client.initialize()
    legacy = client.request("tools/list", id=2)["result"]
    modern = client.request("tools/list", {"_meta": META}, id=3)["result"]
    assert legacy["tools"] == modern["tools"]
    assert "resultType" not in legacy
    assert modern["resultType"] == "complete"
    call = {"name": "echo", "arguments": {"text": "both"}}
    assert client.request("tools/call", call, id=4)["result"]["content"][0]["text"] == "both"
    result = client.request("tools/call", {**call, "_meta": META}, id=5)["result"]
    assert (result["resultType"], result["content"][0]["text"]) == ("complete", "both")


def test_a_bridge_for_a_server_that_does_not_exist_says_so(hub):
    reply = hub.start_bridge("--server", "nowhere").request("initialize", {}, id=1)
    assert "no server 'nowhere'" in reply["error"]["message"]


def test_many_bridges_at_once_start_one_hub(world):
    bridges = [world.start_bridge() for _ in range(8)]
    with ThreadPoolExecutor(len(bridges)) as pool:
        names = list(pool.map(lambda bridge: bridge.initialize()["serverInfo"]["name"], bridges))
    assert names == ["tooltray"] * 8
    for bridge in bridges:
        bridge.end()
    world.stop_hub()  # the log is whole when it has ended
    starts = [record for record in world.records() if record["event"] == "service_started"]
    assert len(starts) == 1


def test_a_bridge_may_be_forbidden_to_start_a_hub(world):
    reply = world.start_bridge("--no-start").request("initialize", {}, id=1)
    assert reply["error"]["code"] < 0
    assert world.hub_pid() is None


def test_a_hub_that_a_bridge_started_ends_after_its_last_client(world):
    hub = world.start(sys.executable, "-m", "tooltray", "serve", "--started-by-bridge", "--idle-exit", "0.2")
    hub.heeds_stdin = False
    world.wait_for(hub)
    assert hub.wait() == 0
    assert world.records()[-1]["reason"] == "idle"


def test_after_stop_the_next_request_of_a_client_brings_a_hub_back(world):
    add_habits(world)
    world.start_hub()
    client = world.start_bridge()
    client.initialize()
    client.request("tools/list", id=1)
    world.tooltray("stop")
    assert world.hub_pid() is None
    result = client.request("tools/call", {"name": "echo", "arguments": {"text": "again"}}, id=2)["result"]
    assert result["content"][0]["text"] == "again"


def problem_of(hub, name):
    return hub.servers()[name]["problem"]


@pytest.mark.parametrize("hidden", [False, True])
def test_an_entry_that_leads_back_to_the_hub_is_refused(hub, hidden):
    bridge = [sys.executable, "-I", "-S", str(BRIDGE)]
    loop = "wrapped" if hidden else "loop"
    script = hub.home / "wrapper"
    script.write_text(f"#!/bin/sh\necho wrapped >&2\n{' '.join(bridge)}\n")
    script.chmod(0o700)
    command, *args = [str(script)] if hidden else bridge
    hub.ask("add_mcp_server", name=loop, config={"command": command, "args": args})
    wait_until(lambda: problem_of(hub, loop) is not None, "the start to fail")
    problem = problem_of(hub, loop)
    assert "connects Tooltray to itself" in problem["title"] + problem["message"]


def test_a_hub_under_nohup_outlives_its_terminal(world):
    hub = world.start("/bin/sh", "-c", f"trap '' HUP; exec {sys.executable} -m tooltray serve")
    hub.heeds_stdin = False
    world.wait_for(hub)
    hub.signal(signal.SIGHUP)
    assert world.start_bridge("--no-start").request("ping")["result"] == {}
    hub.signal(signal.SIGTERM)
    assert hub.wait() == 143


def test_a_dry_run_of_an_import_leaves_running_what_ran_before(world: World) -> None:
    assert world.tooltray("import", "--dry-run").returncode == 0
    assert world.hub_pid() is None
    world.wait_until_empty()
    world.start_hub()
    before = world.hub_pid()
    assert world.tooltray("import", "--dry-run").returncode == 0
    assert world.hub_pid() == before
