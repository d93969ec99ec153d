"""Lazy servers with real servers and clients, over every endpoint there is; test_right_tools has the three kinds of clients over stdio."""

import json
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.end2end.conftest import NPM_SERVERS
from tests.end2end.processes import BRIDGE, World
from tests.end2end.steered import activated, start_and_wait

HERE = Path(__file__).parent
COUNTING = HERE / "servers" / "counting.py"
STDIO = [sys.executable, "-I", "-S", str(BRIDGE)]
BROWSER_TOOLS = 25
ADD = ["add_numbers", {"a": 2, "b": 40}]


@pytest.fixture
def hub(world: World, node: str) -> World:
    """A hub with two lazy servers: @playwright/mcp, whose browser is not there, and a small one."""
    program = NPM_SERVERS / "playwright-mcp"
    assert program.exists(), f"{program} is missing; `make test` installs what tests need"
    scratch = world.home / "scratch"  # the browser's server leaves files there
    scratch.mkdir()
    browser = ["--headless", "--executable-path", str(world.home / "no-browser")]
    for name, command in {"playwright": [node, str(program.resolve()), *browser], "counting": [sys.executable, str(COUNTING)]}.items():
        world.add_server(name, *command, env={"TMPDIR": str(scratch)})
    world.write_settings({**json.loads((world.root / "settings.json").read_bytes()), "publish": {"lazyLoad": True}})
    start_and_wait(world)
    return world


def check(seen: dict, era: str) -> None:
    """A client that lists again has seen one tool, was answered with all, and then listed them."""
    assert seen["era"] == era
    assert [name for name in seen["before"] if name.startswith("browser_")] == []
    assert {"activate_playwright", "activate_counting"} <= set(seen["before"])
    assert (seen["answer"]["activated"], seen["answer"]["toolCount"]) == (True, BROWSER_TOOLS)
    names = [tool["name"] for tool in seen["answer"]["tools"] if tool["inputSchema"]]
    assert len(names) == BROWSER_TOOLS
    assert set(names) <= set(seen["after"])
    assert {"activate_playwright", "activate_counting"} <= set(seen["after"])
    assert seen["isError"]
    assert "no-browser" in seen["text"]  # the server's own word on a browser that is not there


def test_over_stdio_also_for_one_server_alone_after_a_restart_and_without_a_hub(hub: World) -> None:
    alone = activated(hub, "auto", "counting", ADD, "", *STDIO, "--server", "counting")
    assert alone["before"][0] == "activate_counting"
    assert not {"add_numbers", "activate_playwright"} & set(alone["before"])
    assert alone["after"] == ["activate_counting", "add_numbers", "count_letters", "reverse_text"]
    assert alone["text"] == "42"
    never_lists_again(hub)
    assert hub.tooltray("stop").returncode == 0
    serving = activated(hub, "legacy", "counting", ADD, "", sys.executable, "-m", "tooltray", "serve", "--stdio")
    assert (ADD[0] in serving["before"], ADD[0] in serving["after"], serving["text"]) == (False, True, "42")


def never_lists_again(world: World) -> None:
    bridge = world.start_bridge()
    bridge.initialize()
    listed = [tool["name"] for tool in bridge.request("tools/list", {})["result"]["tools"]]
    assert len([name for name in listed if name.startswith(("browser_", "activate_playwright"))]) == 1

    def call(name: str, arguments: dict) -> dict:
        reply = bridge.request("tools/call", {"name": name, "arguments": arguments}, timeout_s=30.0)
        return dict(reply["result"])

    found = call("find_tools", {"query": "take a screenshot of the page"})["structuredContent"]["tools"]
    assert (found[0]["name"], found[0]["server"]) == ("browser_take_screenshot", "playwright")
    result = call("call_tool", {"name": "browser_navigate", "arguments": {"url": "about:blank"}})
    assert result["isError"]
    assert "no-browser" in result["content"][0]["text"]
    assert call(*ADD)["content"][0]["text"] == "42"
    assert call("call_tool", {"name": "reverse_text", "arguments": {"text": "lazy"}})["content"][0]["text"] == "yzal"
    assert world.tooltray("stop").returncode == 0
    assert call(*ADD)["content"][0]["text"] == "42"  # the new hub knows nothing of what was activated
    bridge.end()


def test_over_http_too(hub: World) -> None:
    switched = hub.tooltray("http", "on", "--port", "0", "--json")
    url = json.loads(switched.stdout)["url"]
    for mode, era in (("legacy", "legacy"), ("auto", "modern")):
        token = hub.tooltray("clients", "token", mode).stdout.strip()
        check(activated(hub, mode, "playwright", ["browser_navigate", {"url": "about:blank"}], token, url), era)
    for endpoint in ("/servers/counting/mcp", "/servers/counting/sse"):
        seen = activated(hub, "legacy", "counting", ADD, token, url.removesuffix("/mcp") + endpoint)
        assert (ADD[0] in seen["before"], ADD[0] in seen["after"], seen["text"]) == (False, True, "42")
    token = hub.tooltray("clients", "token", "plain").stdout.strip()
    add = {"name": "call_tool", "arguments": {"name": ADD[0], "arguments": ADD[1]}}
    assert posted(url, token, "tools/call", add)["content"][0]["text"] == "42"
    names = [tool["name"] for tool in posted(url, token, "tools/list", {})["tools"]]
    assert {"activate_playwright", "add_numbers"} <= set(names)  # a call is an activation, for the client that has called
    assert len(names) < BROWSER_TOOLS


def posted(url: str, token: str, method: str, params: dict) -> dict:
    """The result of one modern request."""
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **({"Mcp-Name": params["name"]} if "name" in params else {}),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict = json.loads(response.read())
    assert "result" in answer, answer
    return answer["result"]
