"""What the product is for, done once with everything real: three npm servers, three clients, a window, and a kill -9 of each process.

The servers are added as a person adds them; FastMCP's client and the SDK's client in both eras list and call their tools through the bridge
while the window shows the cards. Then a server, the hub, the bridge and the client are killed in turn during a call: no call hangs, and
nothing is left behind.
"""

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.end2end.processes import BRIDGE, Program, World, is_running, wait_until
from tests.end2end.x_display import XDisplay

CLIENTS = Path(__file__).parent / "clients"
ROUNDS = 20
CALLS = [["get-sum", {"a": 2, "b": 3}], ["list_allowed_directories", {}], ["read_graph", {}]]


@pytest.fixture
def three_servers(world: World, npm_server) -> World:
    """A world whose settings have the three servers, as of a person who trusts them."""
    folder = world.home / "documents"
    folder.mkdir()
    memory = {"MEMORY_FILE_PATH": str(world.home / "memory.jsonl")}
    for name, command in {
        "everything": npm_server("everything"),
        "filesystem": npm_server("filesystem", str(folder)),
        "memory": npm_server("memory"),
    }.items():
        world.add_server(name, *command, **({"env": memory} if name == "memory" else {}))
    return world


def run_client(world: World, *command: str) -> dict:
    """A client program on the bridge, to its end; what it saw."""
    program = world.start(*command, sys.executable, "-I", "-S", str(BRIDGE))
    line = program.read_line(timeout_s=60.0)
    assert line, program.error_text
    assert program.wait() == 0
    return json.loads(line)


def test_three_clients_use_three_servers_while_the_window_shows_them(three_servers, fastmcp_python):
    world = three_servers
    with XDisplay() as display:
        desktop = world.start(sys.executable, "-m", "tooltray", environ={"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name})
        desktop.heeds_stdin = False
        world.wait_for(desktop)
        calls = json.dumps(CALLS)
        seen = [
            run_client(world, sys.executable, str(CLIENTS / "sdk_client.py"), "legacy", calls),
            run_client(world, sys.executable, str(CLIENTS / "sdk_client.py"), "2026-07-28", calls),
            run_client(world, fastmcp_python, str(CLIENTS / "fastmcp_client.py"), calls),
        ]
        assert [each["era"] for each in seen[:2]] == ["legacy", "modern"]
        assert all(each["tools"] == seen[0]["tools"] for each in seen)
        assert {"get-sum", "read_text_file", "create_entities", "list_servers"} <= set(seen[0]["tools"])
        for each in seen:
            assert [result["isError"] for result in each["results"]] == [False] * len(CALLS)
            assert "5" in each["results"][0]["text"]
            assert str(world.home / "documents") in each["results"][1]["text"]
        assert {name: server["state"] for name, server in world.servers().items()} == dict.fromkeys(
            ("everything", "filesystem", "memory"), "running"
        )
        picture = display.screenshot(world.home / "window.png")
        assert display.window_names() >= {"Tooltray"}
        assert picture.colours > 50, "the window shows next to nothing"
        picture.keep_as("main_job")
        desktop.signal(signal.SIGTERM)
        assert desktop.wait() == 143


@pytest.mark.timeout(600)
def test_a_kill_of_any_process_during_a_call_hangs_no_call_and_leaves_nothing(three_servers):
    world = three_servers
    for round in range(ROUNDS):
        KILLS[round % len(KILLS)](world)
    world.stop_hub()


def kill_server(world: World) -> None:
    with calling_bridge(world) as bridge:
        hub = psutil.Process(world.hub_pid())
        server = next(child for child in hub.children() if "everything" in " ".join(child.cmdline()))
        server.kill()
        assert "killed by signal 9" in reply_to_the_call(bridge)["error"]["message"]
        assert sum_of(bridge) == "The sum of 2 and 3 is 5."  # waits for the server to come back


def kill_hub(world: World) -> None:
    with calling_bridge(world) as bridge:
        servers = [child.pid for child in psutil.Process(world.hub_pid()).children()]
        assert len(servers) == 3
        world.kill_hub()
        assert "call again" in reply_to_the_call(bridge)["error"]["message"]
        wait_until(lambda: not any(map(is_running, servers)), "the servers of the killed hub to go")
        assert sum_of(bridge) == "The sum of 2 and 3 is 5."  # the bridge has started another hub


def kill_bridge(world: World) -> None:
    with calling_bridge(world) as bridge:
        bridge.signal(signal.SIGKILL)
        bridge.wait()
    wait_until(lambda: world.ask("get_snapshot")["session_count"] == 0, "the hub to notice")


def kill_client(world: World) -> None:
    client = world.start(sys.executable, str(CLIENTS / "calling_client.py"), sys.executable, "-I", "-S", str(BRIDGE))
    assert client.read_line() == b"calling"
    bridge = next(iter(psutil.Process(client.pid).children()))
    client.signal(signal.SIGKILL)
    client.wait()
    wait_until(lambda: not is_running(bridge.pid), "the bridge to follow its client")
    wait_until(lambda: world.ask("get_snapshot")["session_count"] == 0, "the hub to notice")


KILLS = (kill_server, kill_hub, kill_bridge, kill_client)


def names_of(bridge: Program) -> set[str]:
    return {tool["name"] for tool in bridge.request("tools/list", id="list")["result"]["tools"]}


@contextlib.contextmanager
def calling_bridge(world: World) -> Iterator[Program]:
    """A bridge with a call under way that would take a minute."""
    bridge = world.start_bridge()
    bridge.initialize()
    wait_until(lambda: "trigger-long-running-operation" in names_of(bridge), "the first lists, which wait a second for a slow server")
    arguments = {"duration": 60, "steps": 600}
    params = {"name": "trigger-long-running-operation", "arguments": arguments, "_meta": {"progressToken": "t"}}
    bridge.send_request("tools/call", params, id="long")
    bridge.next_of("notifications/progress")
    yield bridge
    bridge.end()


def reply_to_the_call(bridge: Program) -> dict:
    return bridge.reply_to("long")


def sum_of(bridge: Program) -> str:
    result = bridge.request("tools/call", {"name": "get-sum", "arguments": {"a": 2, "b": 3}}, id="sum")["result"]
    return result["content"][0]["text"]
