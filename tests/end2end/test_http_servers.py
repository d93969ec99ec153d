"""Servers over HTTP and SSE behind the real hub and bridge: made with the SDK and with FastMCP, in both eras, restarted meanwhile."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.processes import ROOT, Program, World, new_world, wait_until

REMOTE = Path(__file__).parent / "servers" / "remote.py"
FORWARD = Path(__file__).parent / "servers" / "forward.py"
SINGLE_SESSION = ROOT / "tests" / "npm" / "single_session.mjs"
KINDS = ("streamable", "json", "stateless", "sse", "fastmcp")
BIG = 2_000_000
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "end2end", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Remote:
    """A server in a process of its own; it can come back on the same port."""

    def __init__(self, world: World, kind: str, python: str = sys.executable, *tools: str) -> None:
        self._world, self._kind, self._python, self._tools = world, kind, python, tools
        self.port = 0
        self.start()

    def start(self) -> None:
        self._program = self._world.start(self._python, str(REMOTE), self._kind, str(self.port), *self._tools)
        self.port = int(self._program.read_line())

    def stop(self) -> None:
        self._program.heeds_stdin = False
        self._program.end()

    def restart(self) -> None:
        """Has another process take over the port, which then never is without one: a hub that finds none waits before it looks again."""
        before = self._program
        self.start()
        before.heeds_stdin = False
        before.end()

    def client(self, name: str = "") -> Program:
        """A bridge to it alone, by its kind or another name that it has."""
        return self._world.start_bridge("--server", name or self._kind)

    def legacy_client(self, name: str = "") -> Program:
        bridge = self.client(name)
        bridge.initialize()
        return bridge

    @property
    def entry(self) -> dict:
        path = "sse" if self._kind == "sse" else "mcp"
        return {"url": f"http://127.0.0.1:{self.port}/{path}", "type": "sse" if self._kind == "sse" else "http", "autoApprove": ["all"]}

    @property
    def untyped(self) -> dict:
        return {key: value for key, value in self.entry.items() if key != "type"}


def start_hub(world: World, **entries: dict) -> None:
    world.root.mkdir(mode=0o700, exist_ok=True)
    (world.root / "settings.json").write_text(json.dumps({"version": 1, "mcpServers": entries, "defaultServers": list(entries)}))
    world.start_hub()


@pytest.fixture(scope="module")
def shared(fastmcp_python: str) -> Iterator[tuple[World, dict[str, Remote]]]:
    """A server of each kind, all behind one hub, under the name of its kind; `untyped` is the one of SSE, by its URL alone."""
    with new_world() as world:
        found = {kind: Remote(world, kind, fastmcp_python if kind == "fastmcp" else sys.executable) for kind in KINDS}
        start_hub(world, untyped=found["sse"].untyped, **{kind: remote.entry for kind, remote in found.items()})
        yield world, found


@pytest.fixture
def remote(shared: tuple[World, dict[str, Remote]], kind: str) -> Iterator[Remote]:
    world, remotes = shared
    with world.visit():
        yield remotes[kind]


def call(client: Program, tool: str, *, id: str = "call", meta: dict | None = None, **arguments) -> dict:
    params = {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
    return client.request("tools/call", params, id=id, timeout_s=60.0)


def text_of(reply: dict) -> str:
    return reply["result"]["content"][0]["text"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_over_http_works_for_clients_of_both_eras(remote):
    legacy, modern = remote.legacy_client(), remote.client()
    assert {"echo", "big", "steps", "ask"} <= {tool["name"] for tool in legacy.request("tools/list")["result"]["tools"]}
    assert {"echo", "ask"} <= {tool["name"] for tool in modern.request("tools/list", {"_meta": META})["result"]["tools"]}
    for client, meta in ((legacy, None), (modern, META)):
        assert text_of(call(client, "echo", meta=meta, text="größe")) == "größe"
        assert len(text_of(call(client, "big", meta=meta, n=BIG))) == BIG


@pytest.mark.parametrize("kind", ["streamable", "sse", "fastmcp"])
def test_progress_and_questions_of_a_server_over_http_reach_the_client(remote):
    client = remote.client()
    client.initialize(capabilities={"elicitation": {}})
    client.request("tools/list", id="list")
    params = {"name": "steps", "arguments": {"n": 3}, "_meta": {"progressToken": "p"}}
    client.send_request("tools/call", params, id="steps")
    _, before = client.reply_and_before("steps")
    assert [message["params"]["progress"] for message in before if message.get("method") == "notifications/progress"] == [1, 2, 3]
    client.send_request("tools/call", {"name": "ask", "arguments": {}}, id="ask")
    question = client.next_of("elicitation/create")
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"colour": "red"}}})
    assert text_of(client.reply_to("ask")) == "accept red"


def test_a_server_that_restarts_is_opened_anew_and_the_next_calls_work(world):
    remote = Remote(world, "streamable")
    start_hub(world, streamable=remote.entry)
    legacy, modern = remote.legacy_client(), remote.client()
    assert text_of(call(legacy, "echo", text="before")) == "before"
    assert text_of(call(modern, "echo", meta=META, text="before")) == "before"
    remote.restart()
    assert texts_of_calls_at_once(legacy) == {"after 0", "after 1", "after 2", "after 3"}
    assert text_of(call(modern, "echo", meta=META, text="after")) == "after"


def test_a_restarted_server_of_the_typescript_sdk_behind_a_proxy_is_opened_anew_and_each_call_runs_once(world, node):
    def start(port: str) -> Program:
        return world.start(node, str(SINGLE_SESSION), port)

    server = start("0")
    port = server.read_line().decode().strip()
    proxy = world.start(sys.executable, str(FORWARD), port)
    start_hub(world, single={"url": f"http://127.0.0.1:{int(proxy.read_line())}/mcp", "autoApprove": ["all"]})
    client = world.start_bridge("--server", "single")
    client.initialize()
    assert text_of(call(client, "echo", text="before")) == "before, call 1"
    server.end()
    server = start(port)
    server.read_line()
    assert text_of(call(client, "echo", text="after")) == "after, call 1"
    assert "come again" in call(client, "echo", text="odd")["error"]["message"]
    assert text_of(call(client, "echo", text="after")) == "after, call 2"


def test_the_first_call_by_the_name_of_a_new_tool_finds_it_where_a_server_was_replaced(world):
    old, new = Remote(world, "streamable"), Remote(world, "streamable", sys.executable, "fresh")
    proxy = world.start(sys.executable, str(FORWARD), str(old.port))
    way = int(proxy.read_line())
    start_hub(world, streamable=old.entry | {"url": old.entry["url"].replace(str(old.port), str(way))})
    client = world.start_bridge()
    assert text_of(call(client, "echo", meta=META, text="before")) == "before"
    proxy.write(f"{new.port}\n".encode())
    assert int(proxy.read_line()) == new.port
    old.stop()
    assert text_of(call(client, "fresh", meta=META, text="after")) == "after"


def texts_of_calls_at_once(client: Program) -> set[str]:
    """The one that finds the session gone first must not take the others with it."""
    for n in range(4):
        client.send_request("tools/call", {"name": "echo", "arguments": {"text": f"after {n}"}}, id=f"after {n}")
    replies: dict = {}
    while len(replies) < 4:
        message = client.read()
        if str(message.get("id", "")).startswith("after"):
            replies[message["id"]] = message
    return {text_of(reply) for reply in replies.values()}


def test_a_server_over_sse_that_restarts_is_opened_anew(world):
    remote = Remote(world, "sse")
    start_hub(world, sse=remote.entry)
    client = remote.legacy_client()
    assert text_of(call(client, "echo", text="before")) == "before"
    remote.restart()
    assert texts_of_calls_at_once(client) == {"after 0", "after 1", "after 2", "after 3"}


def test_a_server_that_comes_late_is_found_in_the_background(world):
    remote = Remote(world, "streamable")
    remote.stop()
    start_hub(world, far=remote.entry)

    def state() -> dict:
        return world.servers()["far"]

    shown = wait_until(lambda: (found := state()) and found["state"] in ("restarting", "error") and found, "the server to be missed")
    assert "was refused" in json.dumps(shown)
    remote.start()
    wait_until(lambda: state()["state"] == "running", "the server to be found", timeout_s=60.0)


@pytest.mark.parametrize("kind", ["sse"])
def test_a_url_alone_is_enough_for_a_server_that_speaks_sse(remote):
    assert text_of(call(remote.legacy_client("untyped"), "echo", text="found")) == "found"
