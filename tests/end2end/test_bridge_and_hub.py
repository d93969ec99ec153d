"""The bridge and the hub together, as AI clients and people meet them."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.end2end.at_terminal import at_terminal
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
def shared(npm_server: Callable[..., list[str]]) -> Iterator[World]:
    """A hub with two servers, for tests that leave them as they were; both have an `echo`, so their clients have a bridge for one."""
    with new_world() as world:
        add_habits(world)
        world.add_server("everything", *npm_server("everything"))
        world.start_hub()
        yield world


@pytest.fixture
def hub(shared: World) -> Iterator[World]:
    with shared.visit() as world:
        yield world


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_legacy_version_is_spoken_as_asked(hub, version):
    assert hub.start_bridge().initialize(version)["protocolVersion"] == version


def test_an_unknown_version_gets_the_newest_that_has_a_handshake(hub):
    assert hub.start_bridge().initialize("2099-01-01")["protocolVersion"] == "2025-11-25"


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


def test_a_bridge_for_one_server_gives_its_own_names_and_all_that_it_can_do(hub):
    client = hub.start_bridge("--server", "everything")
    assert "prompts" in client.initialize()["capabilities"]
    names = {tool["name"] for tool in client.request("tools/list", id=1)["result"]["tools"]}
    assert {"echo", "get-sum"} <= names
    assert not {"list_servers", "hang"} & names
    assert client.request("prompts/list", id=2)["result"]["prompts"]
    assert client.request("resources/list", id=3)["result"]["resources"]


def test_a_bridge_for_a_server_that_does_not_exist_says_so(hub):
    reply = hub.start_bridge("--server", "nowhere").request("initialize", {}, id=1)
    assert "no server 'nowhere'" in reply["error"]["message"]


def test_profiles_overrides_and_modes_are_what_clients_see(world):
    add_habits(world)
    world.start_hub()
    for words in (
        ["profiles", "set", "talk", "--server", "habits", "--tool", "habits", "echo"],
        ["clients", "mode", "mcp-*", "search"],
    ):
        done = world.tooltray(*words)
        assert done.returncode == 0, done.stderr
    override = ("tools", "override", "habits", "echo", "--name", "say", "--description", "Says it again")
    assert "needs a person at a terminal" in world.tooltray(*override).stderr
    code, seen = at_terminal(world, *override)
    assert code == 0, seen
    client = world.start_bridge("--profile", "talk")
    client.request(
        "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "acme", "version": "1"}}, id=1
    )
    listed = {tool["name"]: tool.get("description") for tool in client.request("tools/list", id=2)["result"]["tools"]}
    assert listed.keys() == {"say", "list_servers", "server_status", "collect_feedback"}  # the hub's own are in every profile
    assert listed["say"] == "Says it again"
    call = {"name": "say", "arguments": {"text": "hello"}}
    assert client.request("tools/call", call, id=3)["result"]["content"][0]["text"] == "hello"
    assert "error" in client.request("tools/call", {"name": "pids", "arguments": {}}, id=4)
    assert "no profile 'gone'" in world.start_bridge("--profile", "gone").request("initialize", {}, id=1)["error"]["message"]
    searching = world.start_bridge()
    searching.request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/clientInfo": {"name": "mcp-x", "version": "2"}}}, id=1)
    sessions = {each["client"]: each for each in json.loads(world.tooltray("sessions", "--json").stdout)}
    assert (sessions["acme"]["profile"], sessions["acme"]["mode"], sessions["mcp-x"]["mode"]) == ("talk", "everything", "search")
    costs = json.loads(world.tooltray("tools", "cost", "--server", "habits", "--json").stdout)
    assert costs["tokenizer"] == "o200k_base"
    assert "say" in [each["name"] for each in costs["servers"][0]["tools"]]


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
    hub.tooltray("servers", "add", loop, "--", *([str(script)] if hidden else bridge))
    wait_until(lambda: problem_of(hub, loop) is not None, "the start to fail")
    problem = problem_of(hub, loop)
    assert "leads back" in problem["title"] + problem["message"]


def test_a_cancelled_call_is_never_answered_and_the_server_hears_of_it(hub):
    client = hub.start_bridge("--server", "everything")
    client.initialize()
    client.request("tools/list", id=1)
    arguments = {"duration": 30, "steps": 300}
    params = {"name": "trigger-long-running-operation", "arguments": arguments, "_meta": {"progressToken": "p"}}
    client.send_request("tools/call", params, id="long")
    client.next_of("notifications/progress")
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
    client.send_request("ping", id="end")
    _, seen = client.reply_and_before("end")
    assert all(message.get("id") != "long" for message in seen)


def test_the_desktop_takes_over_from_serve_and_a_second_start_raises_its_window(world):
    add_habits(world)
    hub = world.start_hub()
    client = world.start_bridge()
    client.initialize()
    client.request("tools/list", id=1)
    screen = {"DISPLAY": ":0"}  # Qt draws offscreen; the variable says that there is a desktop
    desktop = world.start(sys.executable, "-m", "tooltray", environ=screen)
    desktop.heeds_stdin = False
    assert hub.wait() == 0
    kind = lambda: json.loads((world.root / "run" / "hub.json").read_bytes())["kind"]  # noqa: E731
    wait_until(lambda: world.hub_pid() is not None and kind() == "desktop", "the desktop to be the hub")
    result = client.request("tools/call", {"name": "echo", "arguments": {"text": "over"}}, id=2)["result"]
    assert result["content"][0]["text"] == "over"
    second = world.start(sys.executable, "-m", "tooltray", environ=screen)
    assert second.wait() == 0
    assert desktop.process.poll() is None
    desktop.signal(signal.SIGINT)
    assert desktop.wait() == 130


def test_a_hub_under_nohup_outlives_its_terminal(world):
    hub = world.start("/bin/sh", "-c", f"trap '' HUP; exec {sys.executable} -m tooltray serve")
    hub.heeds_stdin = False
    world.wait_for(hub)
    hub.signal(signal.SIGHUP)
    assert world.start_bridge("--no-start").request("ping")["result"] == {}
    hub.signal(signal.SIGTERM)
    assert hub.wait() == 143


def test_a_dry_run_of_an_import_leaves_nothing_running(world: World) -> None:
    assert world.tooltray("import", "--dry-run").returncode == 0
    assert world.hub_pid() is None
    world.wait_until_empty()


def test_a_dry_run_of_an_import_leaves_a_hub_that_ran_before(world: World) -> None:
    world.start_hub()
    before = world.hub_pid()
    assert world.tooltray("import", "--dry-run").returncode == 0
    assert world.hub_pid() == before
