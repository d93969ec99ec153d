"""Configs of TBXark's mcp-proxy, served unchanged by `tooltray serve --config` to real clients."""

import json
import re
import shlex
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.conftest import NPM_SERVERS
from tests.end2end.processes import Program, World, wait_until
from tests.end2end.steered import activated

HERE = Path(__file__).parent
COUNTING = HERE / "servers" / "counting.py"
FASTMCP, FASTMCP_OVER_HTTP = HERE / "clients" / "fastmcp_client.py", HERE / "clients" / "fastmcp_http_client.py"
ADD = ["add_numbers", {"a": 2, "b": 40}]
TOKEN, OTHER_TOKEN = "token-of-the-team-7f3a", "token-from-the-environment-91bc"
LIVE_S = 10.0  # for what a save of a file changes; it takes about one
START_S = 60.0  # for large servers on a busy machine
SEEN_BY_ALL = {"find_tools", "call_tool"}  # where something is hidden, beside what activates it
# as the documentation of lazyLoad has it, but for the port, which another program may have
LAZY_LOADING = """{
  "mcpProxy": {
    "baseURL": "http://localhost:9090",
    "addr": ":0",
    "name": "MCP Proxy",
    "version": "1.0.0",
    "type": "streamable-http",
    "options": {
      "lazyLoad": true
    }
  },
  "mcpServers": {
    "serena": {
      "command": "uv",
      "args": ["--directory", "/path/to/serena", "run", "serena", "start-mcp-server"],
      "env": {}
    },
    "playwright": {
      "command": "npx",
      "args": ["@playwright/mcp@latest"],
      "env": {}
    }
  }
}
"""


def initialize(url: str, headers: dict[str, str]) -> int:
    """The status of the answer to a first message."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}
    message["params"]["clientInfo"] = {"name": "t", "version": "1"}
    all_headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(message).encode(), all_headers), timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def base_url(hub: Program) -> str:
    """Where the hub says that it serves its config."""
    while not (found := re.search(r"(http://\S+?)/(serena|fetch)/", hub.read_line().decode())):
        pass
    return found[1]


def save(path: Path, config: dict) -> None:
    path.write_text(json.dumps(config, indent=2))


def install(world: World, name: str, *command: str) -> None:
    """A program on the PATH of this person's login shell that looks for nothing in the network."""
    folder = world.home / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
    program.chmod(0o755)
    (world.home / ".profile").write_text(f"PATH={shlex.quote(str(folder))}:$PATH\n")


def asked(url: str, method: str, **params: Any) -> Any:
    """The result of one request, by a client that knows nothing of sessions and reads plain JSON alone."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(message).encode(), headers), timeout=START_S) as answer:
        return json.load(answer)["result"]


def listed(url: str) -> list[str]:
    return [tool["name"] for tool in asked(url, "tools/list")["tools"]]


@pytest.mark.timeout(300)
def test_the_example_of_lazy_loading_serves_serena_and_playwright(world: World, serena: str, node: str, fastmcp_python: str) -> None:
    install(world, "uv", serena, "start-mcp-server", "--enable-web-dashboard", "false")
    install(world, "npx", node, str((NPM_SERVERS / "playwright-mcp").resolve()), "--headless", "--isolated")
    (world.home / "config.json").write_text(LAZY_LOADING)
    base = base_url(world.start_hub("--config", "config.json"))

    # the SDK's client of each era, for a real server each
    for mode in ("legacy", "auto"):
        seen = activated(world, mode, "serena", ["initial_instructions", {}], "-", f"{base}/serena/")
        assert seen["era"] == {"legacy": "legacy", "auto": "modern"}[mode]
        assert set(seen["before"]) - SEEN_BY_ALL == {"activate_serena"}
        assert set(seen["after"]) >= {"activate_serena", "serena_repl"}
        assert seen["answer"]["toolCount"] == len(seen["answer"]["tools"]) == len(set(seen["after"]) - SEEN_BY_ALL) - 1

    # the example's own steps, as a script takes them: no handshake, no session
    url = f"{base}/playwright/"
    assert set(listed(url)) - SEEN_BY_ALL == {"activate_playwright"}
    answer = json.loads(asked(url, "tools/call", name="activate_playwright", arguments={})["content"][0]["text"])
    assert (answer["activated"], answer["server"]) == (True, "playwright")
    now = set(listed(url)) - SEEN_BY_ALL
    assert now >= {"activate_playwright", "browser_navigate"}
    assert answer["toolCount"] == len(now) - 1

    # which holds for a client of somebody else that has no session and no token either
    program = world.start(fastmcp_python, str(FASTMCP_OVER_HTTP), url, "-", json.dumps([["activate_playwright", {}]]))
    assert set(program.read(START_S)["tools"]) >= {"activate_playwright", "browser_navigate"}


def test_the_config_of_lazy_loading_is_served_as_it_is_and_followed_while_it_is_edited(
    world: World, npm_server, node: str, inspector: str
) -> None:
    folder = world.home / "files"
    folder.mkdir()
    (folder / "note.txt").write_text("found by a real server")
    command, *arguments = npm_server("filesystem", str(folder))
    counting = {"command": sys.executable, "args": [str(COUNTING)]}
    config = {
        "mcpProxy": {
            "baseURL": "http://localhost:9090",
            "addr": ":0",
            "name": "MCP Proxy",
            "version": "1.0.0",
            "type": "streamable-http",
            "options": {"lazyLoad": True, "logEnabled": True},
        },
        "mcpServers": {
            "serena": {"command": command, "args": arguments, "env": {}},
            "plain": {**counting, "options": {"lazyLoad": False, "toolFilter": {"mode": "block", "list": ["reverse_text"]}}},
            f"path/{TOKEN}": {**counting, "options": {"authTokens": [TOKEN, "$TEAM_TOKEN"]}},
        },
    }
    path = world.home / "config.json"
    save(path, config)
    hub = world.start_hub("--config", "config.json", environ={"TEAM_TOKEN": OTHER_TOKEN})
    base = base_url(hub)
    assert base.startswith("http://127.0.0.1:")  # not all of its servers ask for a token

    # the seed's example, over both transports
    read = ["read_text_file", {"path": str(folder / "note.txt")}]
    for url in (f"{base}/serena/", f"{base}/serena/sse"):
        seen = activated(world, "legacy", "serena", read, "-", url)
        assert seen["before"][0] == "activate_serena"
        assert "read_text_file" not in seen["before"]
        assert (seen["answer"]["activated"], seen["answer"]["server"]) == (True, "serena")
        assert seen["answer"]["toolCount"] == len(seen["answer"]["tools"]) > 6
        assert {"activate_serena", "read_text_file", "list_directory"} <= set(seen["after"])
        assert seen["text"] == "found by a real server"

    # its other servers, with a client of somebody else: names, filters, tokens, a name with a slash
    options = ["--cli", "--quiet", "--format", "json", "--method", "tools/list", "--transport", "http"]
    program = world.start(node, inspector, *options, f"{base}/plain/mcp", environ={"PATH": f"{Path(node).parent}:{world.environ['PATH']}"})
    line = program.read_line(60.0)
    assert line, program.error_text
    assert [tool["name"] for tool in json.loads(line)["result"]["tools"]] == ["add_numbers", "count_letters"]
    secret = f"{base}/path/{TOKEN}/mcp"
    seen = activated(world, "auto", f"path-{TOKEN}", ADD, TOKEN, secret)
    assert (seen["era"], seen["text"]) == ("modern", "42")
    assert [initialize(secret, headers) for headers in ({}, {"Authorization": "Bearer wrong"})] == [401, 401]
    assert [initialize(secret, {"Authorization": token}) for token in (TOKEN, f"Bearer {OTHER_TOKEN}")] == [200, 200]
    assert initialize(f"{base}/plain/", {"Host": "evil.example"}) == 403

    # an edit while it runs: one comes, one goes, a token is another one
    del config["mcpServers"]["plain"]
    config["mcpServers"]["fetch"] = {**counting, "options": {"lazyLoad": False}}
    config["mcpServers"][f"path/{TOKEN}"]["options"]["authTokens"] = ["new"]
    save(path, config)
    wait_until(lambda: initialize(f"{base}/fetch/", {}) == 200, "the new server", LIVE_S)
    assert initialize(f"{base}/plain/", {}) == 404
    assert (initialize(secret, {"Authorization": TOKEN}), initialize(secret, {"Authorization": "new"})) == (401, 200)

    assert world.tooltray("stop").returncode == 0
    summaries = [record["summary"] for record in world.records()]
    assert any("called read_text_file of 'serena': ok" in summary for summary in summaries)
    assert OTHER_TOKEN not in json.dumps(world.records()) + hub.error_text


def ended(world: World, config: str) -> tuple[int, str]:
    """How a hub ends that is given a config, and what it says."""
    (world.home / "config.json").write_text(config)
    hub = world.start(sys.executable, "-m", "tooltray", "serve", "--config", "config.json")
    return hub.wait(60.0), hub.error_text


def proxy(addr: str, servers: dict, **options: bool) -> str:
    return json.dumps({"mcpProxy": {"addr": addr, "options": options}, "mcpServers": servers}, indent=1)


def test_what_keeps_a_config_from_being_served_ends_the_hub_with_the_reason(world: World) -> None:
    absent = {"fetch": {"command": str(world.home / "no-such-program")}}
    code, said = ended(world, proxy("127.0.0.1:0", absent, panicIfInvalid=True))
    assert (code, "'fetch' does not start" in said, "no-such-program" in said) == (1, True, True)
    code, said = ended(world, proxy("127.0.0.1:0", {"fetch": {"args": ["x"]}}, panicIfInvalid=True))
    assert (code, "neither a command nor a URL" in said) == (1, True)
    code, said = ended(world, '{mcpServers: {fetch: {command: "uvx"}}}')
    assert (code, "its servers can be imported: tooltray import FILE" in said) == (1, True)
    code, said = ended(world, '{"mcpProxy": {')
    assert (code, "config.json is not served: line 1" in said) == (1, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = ended(world, proxy(f"127.0.0.1:{port}", {}))
    assert (code, f"another program has port {port}" in said) == (1, True)


def test_without_panic_if_invalid_the_rest_is_served_and_the_mistake_is_told(world: World, tmp_path: Path) -> None:
    servers = {"broken": {}, "absent": {"command": "no-such-program"}, "fetch": {"command": sys.executable, "args": [str(COUNTING)]}}
    (world.home / "config.json").write_text(proxy("127.0.0.1:0", servers))
    hub = world.start_hub("--config", "config.json")
    assert initialize(f"{base_url(hub)}/fetch/", {}) == 200
    status = world.tooltray("status")
    assert "neither a command nor a URL" in status.stdout
