"""A client that comes before the hub: it gets the lists with which its last session began, and never a tool that is not listed any more."""

import contextlib
import fcntl
import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.end2end.processes import BRIDGE, Program, World, wait_until

HABITS = Path(__file__).parent / "servers" / "habits.py"
KEPT_S = 60.0  # until a hub has written the file; it waits until what decides about the answers has not changed for 2 s
CLIENTS = ("claude-code", "codex", "cursor", "gemini", "goose")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CHANGED = "notifications/tools/list_changed"


def listed(client: Program, id: str = "list") -> list[str]:
    return sorted(tool["name"] for tool in client.request("tools/list", {}, id=id)["result"]["tools"])


def begun(world: World, *arguments: str, name: str = "end2end", folder: Path | None = None) -> tuple[Program, list[str]]:
    """A client that has begun its session, and its tools."""
    client = world.start(sys.executable, "-I", "-S", str(BRIDGE), *arguments, cwd=folder)
    client.initialize(name=name)
    return client, listed(client)


def wait_until_kept(world: World, *words: bytes) -> None:
    def is_kept() -> bool:
        with contextlib.suppress(FileNotFoundError):
            content = (world.root / "first-answers").read_bytes()
            return all(word in content for word in (b"answer initialize", b"answer tools/list", *words))
        return False

    wait_until(is_kept, "the first answers", KEPT_S)


@pytest.fixture
def kept(world: World) -> World:
    """A world with a server, whose last hub has left the first answers of one client."""
    world.add_server("habits", sys.executable, str(HABITS))
    client, tools = begun(world)
    assert "echo" in tools
    wait_until_kept(world)
    client.end()
    world.stop_hub()
    return world


@contextlib.contextmanager
def no_hub(world: World) -> Iterator[None]:
    """Keeps every bridge from starting a hub, as another bridge does that is just starting one."""
    with (world.root / "run" / "start.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        assert world.hub_pid() is None


def edit(world: World, **fields: object) -> None:
    """Changes the settings by hand."""
    settings = json.loads((world.root / "settings.json").read_bytes())
    settings["mcpServers"]["habits"] |= fields
    world.write_settings(settings)


def test_a_client_has_its_tools_before_there_is_a_hub_and_its_calls_wait_for_it(kept):
    with no_hub(kept):
        client, tools = begun(kept)
        assert "echo" in tools
        client.send_request("tools/call", {"name": "echo", "arguments": {"text": "hi"}}, id="call")
    reply, before = client.reply_and_before("call")

    assert reply["result"]["content"][0]["text"] == "hi"
    assert before == []  # nothing was answered twice, and no list has changed
    assert listed(client, "again") == tools


def test_a_tool_that_was_disabled_by_hand_is_not_listed_by_the_next_bridge(kept):
    edit(kept, disabledTools=["echo"])
    with no_hub(kept):
        client = kept.start_bridge()
        client.send_request("initialize", {"protocolVersion": "2025-11-25"}, id="hello")
    assert client.reply_to("hello")["result"]["serverInfo"]["name"] == "tooltray"
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert "echo" not in listed(client)
    assert begun(kept)[1] == listed(client, "again")


def test_a_client_hears_of_what_changed_before_its_hub_was_there(kept):
    with no_hub(kept):
        client, tools = begun(kept)
        edit(kept, disabledTools=["echo"])

    client.next_of(CHANGED)
    assert listed(client, "again") == [tool for tool in tools if tool != "echo"]


def test_a_modern_client_hears_of_it_on_the_stream_that_it_listens_to(world):
    world.add_server("habits", sys.executable, str(HABITS))
    client = world.start_bridge()
    client.request("server/discover", {"_meta": META}, id="d")
    assert client.request("tools/list", {"_meta": META}, id="l")["result"]["tools"]
    wait_until(lambda: (world.root / "first-answers").exists(), "the first answers", KEPT_S)
    client.end()
    world.stop_hub()

    with no_hub(world):
        client = world.start_bridge()
        assert client.request("server/discover", {"_meta": META}, id="d")["result"]["supportedVersions"]
        assert client.request("tools/list", {"_meta": META}, id="l")["result"]["tools"]
        client.send_request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}}, id="s")
        edit(world, disabledTools=["echo"])
    assert client.next_of(CHANGED)["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "s"}


def test_a_client_of_a_profile_that_was_deleted_is_refused_as_ever(world):
    world.add_server("habits", sys.executable, str(HABITS))
    settings = json.loads((world.root / "settings.json").read_bytes())
    world.write_settings(settings | {"profiles": {"work": {"servers": ["habits"]}}})
    client, tools = begun(world, "--profile", "work")
    assert "echo" in tools
    wait_until_kept(world)
    client.end()
    world.stop_hub()
    settings = json.loads((world.root / "settings.json").read_bytes())
    world.write_settings({name: value for name, value in settings.items() if name != "profiles"})

    refused = world.start_bridge("--profile", "work").request("initialize", {"protocolVersion": "2025-11-25"}, id=1)
    assert "no profile 'work'" in refused["error"]["message"]


def test_ten_bridges_of_five_clients_at_once_have_their_tools_and_start_one_hub(world):
    world.add_server("habits", sys.executable, str(HABITS))
    (folder := world.home / "shop").mkdir()
    for name in CLIENTS:
        begun(world, name=name, folder=folder)[0].end()
    project_file = os.fsencode(folder / ".mcp.json").hex().encode()  # decides about the answers, also while there is none
    wait_until_kept(world, project_file, *(name.encode() for name in CLIENTS))
    world.stop_hub()
    starts = len([record for record in world.records() if record["event"] == "service_started"])

    with ThreadPoolExecutor(10) as pool:
        with no_hub(world):
            sessions = list(pool.map(lambda name: begun(world, name=name, folder=folder), CLIENTS * 2))
        echoed = list(pool.map(lambda session: session[0].request("tools/call", {"name": "echo", "arguments": {"text": "x"}}), sessions))
    assert [reply["result"]["content"][0]["text"] for reply in echoed] == ["x"] * 10
    assert len({tuple(tools) for _, tools in sessions}) == 1
    for client, _ in sessions:
        client.end()
    world.stop_hub()
    assert len([record for record in world.records() if record["event"] == "service_started"]) == starts + 1


def test_a_hub_that_is_killed_leaves_nothing_that_the_next_one_would_not_list(kept):
    client, _ = begun(kept)
    wait_until(kept.hub_pid, "the hub")
    kept.ask("set_tool_enabled", server="habits", tool="echo", enabled=False)
    assert not (kept.root / "first-answers").exists()
    assert "echo" not in listed(client, "again")
    kept.kill_hub()
    client.end()
    kept.wait_until_empty()

    with no_hub(kept):
        client = kept.start_bridge()
        client.send_request("initialize", {"protocolVersion": "2025-11-25"}, id="hello")
    client.reply_to("hello")
    assert "echo" not in listed(client)


def test_a_hub_that_is_killed_after_it_kept_the_answers_is_followed_as_one_that_ended(kept):
    client, tools = begun(kept)
    client.request("tools/call", {"name": "echo", "arguments": {}}, id="call")
    kept.kill_hub(signal.SIGKILL)
    client.end()
    kept.wait_until_empty()

    with no_hub(kept):
        assert begun(kept)[1] == tools
