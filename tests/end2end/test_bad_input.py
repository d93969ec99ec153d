"""Servers, clients and machines at their worst: each case ends in a clear error, costs nobody else anything, and leaves nothing behind."""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.processes import Program, World, is_running, new_world, wait_until

HABITS = Path(__file__).parent / "servers" / "habits.py"
MIB = 2**20


def add(world: World, name: str, *habits: str) -> None:
    """Adds a server with these habits."""
    world.add_server(name, sys.executable, str(HABITS), *habits)


def client_of(world: World, *arguments: str) -> Program:
    bridge = world.start_bridge(*arguments)
    bridge.initialize()
    return bridge


def tools_of(client: Program) -> list[str]:
    return [tool["name"] for tool in client.request("tools/list", id="list", timeout_s=60.0)["result"]["tools"]]


def call(client: Program, name: str, id="call", **arguments) -> dict:
    return client.request("tools/call", {"name": name, "arguments": arguments}, id=id, timeout_s=60.0)


def text_of(reply: dict) -> str:
    return reply["result"]["content"][0]["text"]


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    """A hub with the server `habits`; a test may add a server of its own to it, and calls that by a bridge for it."""
    with new_world() as world:
        add(world, "habits")
        world.start_hub()
        yield world


@pytest.fixture
def hub(shared: World) -> Iterator[World]:
    with shared.visit() as world:
        yield world


# servers


def test_a_server_that_never_answers_delays_nobody(world):
    world.start_hub()
    world.ask("add_mcp_server", name="silent", config={"command": sys.executable, "args": [str(HABITS), "silent"]})
    add(world, "quick")
    client = client_of(world)
    assert "echo" in tools_of(client)
    assert text_of(call(client, "echo", text="quick")) == "quick"


def test_a_server_that_ignores_the_end_of_stdin_and_sigterm_is_ended_all_the_same(world):
    hub = world.start_hub()
    add(world, "stays", "stays")
    pid = json.loads(text_of(call(client_of(world), "pids")))[0]
    hub.signal(signal.SIGTERM)
    assert hub.wait() == 143
    assert not is_running(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_server_has_put_into_the_background_ends_with_the_hub(world, number):
    world.start_hub()
    add(world, "daemons", "daemon")
    pids = json.loads(text_of(call(client_of(world, "--no-start"), "pids")))
    assert len(pids) == 2
    world.kill_hub(number)
    wait_until(lambda: not any(map(is_running, pids)), "the server and its daemon to go")


def test_300_mb_without_a_newline_are_dropped_and_the_server_goes_on(hub):
    add(hub, "floods", f"flood:{300 * MIB}")
    client = client_of(hub, "--server", "floods")
    wait_until(lambda: "echo" in tools_of(client), "the list behind the flood", 60.0)
    assert text_of(call(client, "echo", text="dry")) == "dry"


def test_5000_tools_come_in_one_page(world):
    world.start_hub()
    add(world, "many", "tools:5000")
    found = client_of(world).request("tools/list", id="list", timeout_s=60.0)["result"]["tools"]
    assert "find_tools" in {tool["name"] for tool in found}  # so many are searched
    world.ask("set_client_mode", client="end2end", mode="everything")
    result = client_of(world).request("tools/list", id="list", timeout_s=60.0)["result"]
    assert len(result["tools"]) == 5003
    assert "nextCursor" not in result


# clients


def test_half_a_line_from_a_client_that_leaves_harms_nobody(hub):
    client = client_of(hub)
    client.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/ca')
    client.end()
    assert tools_of(client_of(hub))


def test_50_mb_from_a_client_arrive_and_more_than_64_mib_are_refused_under_their_id(hub):
    client = client_of(hub, "--server", "habits")
    tools_of(client)
    assert len(text_of(call(client, "echo", text="x" * 50_000_000))) == 50_000_000
    reply = call(client, "echo", id="too much", text="x" * (65 * MIB))
    assert (reply["id"], reply["error"]["code"]) == ("too much", -32600)
    assert text_of(call(client, "echo", text="small")) == "small"


def test_a_result_of_100_mb_arrives(hub):
    assert len(text_of(call(client_of(hub, "--server", "habits"), "big", n=100_000_000))) == 100_000_000


def test_binary_from_a_client_is_answered_with_a_parse_error_and_the_session_goes_on(hub):
    client = client_of(hub)
    client.write(bytes(range(256)).replace(b"\n", b"") + b"\n")
    assert client.reply_to(None)["error"]["code"] == -32700
    assert tools_of(client)


def test_a_client_that_reads_nothing_costs_only_itself(hub):
    greedy, other = client_of(hub, "--server", "habits"), client_of(hub, "--server", "habits")
    tools_of(greedy)
    os.kill(greedy.pid, signal.SIGSTOP)  # its bridge takes nothing any more
    try:
        for id in range(200):
            params = {"name": "big", "arguments": {"n": MIB}}
            line = json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode() + b"\n"
            greedy.write(line)
        tools_of(other)
        assert text_of(call(other, "echo", text="hello")) == "hello"
    finally:
        os.kill(greedy.pid, signal.SIGCONT)
    assert sorted(greedy.read(60.0)["id"] for _ in range(200)) == list(range(200))


# the machine


def test_a_stale_socket_is_no_obstacle(world):
    run = world.root / "run"
    run.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(run / "hub.sock"))
    (run / "hub.json").write_text(json.dumps({"pid": 1, "socket": str(run / "hub.sock")}))
    world.start_hub()
    wait_until(lambda: world.hub_pid() not in (None, 1), "the hub's own record")
    assert client_of(world, "--no-start").request("ping")["result"] == {}


def test_a_home_with_a_path_of_200_characters_works(world):
    home = world.home / ("long " * 40).strip()
    world.root = home
    hub = world.start(sys.executable, "-m", "tooltray", "--home", str(home), "serve")
    hub.heeds_stdin = False
    world.wait_for(hub)
    assert client_of(world, "--home", str(home), "--no-start").request("ping")["result"] == {}
    hub.signal(signal.SIGINT)
    assert hub.wait() == 130


def test_a_home_that_cannot_be_written_is_told_in_one_line(world):
    done = world.tooltray("--home", "/proc/tooltray", "serve")
    assert done.returncode == 1
    assert "/proc/tooltray" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_loses_no_setting_and_stops_no_call(world):
    add(world, "habits")
    before = (world.root / "settings.json").read_bytes()
    hub = world.start("/bin/sh", "-c", f"ulimit -f 0; exec {sys.executable} -m tooltray serve")
    hub.heeds_stdin = False
    wait_until(lambda: (world.root / "run" / "hub.sock").exists(), "the hub to listen")
    refused = world.tooltray("servers", "add", "new", "--", sys.executable)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    client = client_of(world, "--no-start")
    tools_of(client)
    assert text_of(call(client, "echo", text="goes on")) == "goes on"
    hub.signal(signal.SIGTERM)
    assert hub.wait() == 143
    assert (world.root / "settings.json").read_bytes() == before
