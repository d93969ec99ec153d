"""Configs of TBXark's mcp-proxy, served unchanged by `tooltray serve --config` to real clients."""

import json
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

from tests.end2end.processes import Program, World, wait_until
from tests.end2end.steered import activated

HERE = Path(__file__).parent
COUNTING = HERE / "servers" / "counting.py"
ADD = ["add_numbers", {"a": 2, "b": 40}]
TOKEN, OTHER_TOKEN = "token-of-the-team-7f3a", "token-from-the-environment-91bc"
LIVE_S = 10.0  # for what a save of a file changes; it takes about one


# as the documentation of lazyLoad has it, except the port, which another program may have
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
        assert seen["answer"].startswith(f"serena is activated: {len(seen['activated'])} tools")
        assert len(seen["activated"]) > 6
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
