"""One tool in the place of many with real servers, Playwright's 25 and Serena's 3, and all of them once a session asks: for a client that
lists again when it is told to, one that never does, and a modern one."""

import json
import re
import sys

import pytest
from tests.end2end.conftest import NPM_SERVERS
from tests.end2end.processes import BRIDGE, wait_until
from tests.end2end.steered import activated, signed

STDIO = [sys.executable, "-I", "-S", str(BRIDGE), "--no-start"]
SERENA_TOOLS = {"activate_project", "initial_instructions", "serena_repl"}
COUNTS = {"playwright": 25, "serena": len(SERENA_TOOLS)}
SERENA_START_S = 60.0  # it imports for seconds
PROFILES = {"browsing": {"servers": ["playwright"]}}
CALLS = {"playwright": ["browser_navigate", {"url": "about:blank"}], "serena": ["initial_instructions", {}]}
SAYS = {"playwright": "no-browser", "serena": "session id is"}  # there is no browser, says Playwright's server itself


@pytest.fixture
def hub(world, node, serena):
    """A hub that shows both servers lazily; Serena works in a project of one file."""
    project, scratch = world.home / "project", world.home / "scratch"
    project.mkdir()
    scratch.mkdir()
    (project / "who.txt").write_text("this is the project\n")
    browser = [str((NPM_SERVERS / "playwright-mcp").resolve()), "--headless", "--executable-path", str(world.home / "no-browser")]
    of_project = ["start-mcp-server", "--enable-web-dashboard", "false", "--project", str(project)]
    servers = {
        "playwright": {"command": node, "args": browser, "env": {"TMPDIR": str(scratch)}, "autoApprove": ["all"]},
        "serena": {"command": serena, "args": of_project, "autoApprove": ["all"]},
    }
    world.root.mkdir(mode=0o700)
    document = {"version": 1, "mcpServers": servers, "defaultServers": list(servers), "autoDetectNpmRegistry": False}
    (world.root / "settings.json").write_text(
        json.dumps({**document, "publish": {"lazyLoad": True, "feedback": False}, "profiles": PROFILES})
    )
    world.start_hub()
    wait_until(lambda: counts(world) == COUNTS, "both servers to run and to be listed", SERENA_START_S)
    return world


def counts(world):
    """How many tools the servers that run are known to have."""
    return {name: server["tool_count"] for name, server in world.servers().items() if server["state"] == "running"}


def of(server, names):
    """Which of the listed tools are one server's."""
    return (
        {name for name in names if name.startswith("browser_") or name == "activate_playwright"}
        if server == "playwright"
        else {name for name in names if name in SERENA_TOOLS or name == "activate_serena"}
    )


@pytest.mark.timeout(300)
def test_a_lazy_server_is_one_tool_and_all_of_them_after_its_activation_for_every_kind_of_client(hub):
    is_cheap_at_the_start(hub)
    sees_its_profile_alone(hub)
    never_lists_again(hub)
    for mode, era in (("legacy", "legacy"), ("auto", "modern")):
        for server in COUNTS:
            lists_again(hub, mode, era, server)


def is_cheap_at_the_start(hub):
    """Forty tools cost thousands of tokens before the first word; two cost a hundred or two."""
    costs = json.loads(hub.tooltray("tools", "cost", "--json").stdout)
    servers = {server["server"]: server for server in costs["servers"]}
    assert costs["tokenizer"] == "o200k_base"
    assert servers["playwright"]["tokens"] > 2000
    for name, count in COUNTS.items():
        assert len(servers[name]["tools"]) == count
        assert 0 < servers[name]["shown_tokens"] < min(150, servers[name]["tokens"])


def sees_its_profile_alone(hub):
    client = hub.start_bridge("--no-start", "--profile", "browsing")
    client.initialize()
    names = [tool["name"] for tool in client.request("tools/list", {}, id="list")["result"]["tools"]]
    assert {server: len(of(server, names)) for server in COUNTS} == {"playwright": 1, "serena": 0}
    for name in ("initial_instructions", "activate_serena"):
        reply = client.request("tools/call", {"name": name, "arguments": {}}, id=name)
        assert "error" in reply or reply["result"]["isError"], reply
    client.end()


def lists_again(hub, mode, era, server):
    """A client that obeys list_changed, of either era."""
    seen = activated(hub, mode, server, CALLS[server], "", *STDIO, timeout_s=SERENA_START_S)
    assert seen["era"] == era
    assert {other: of(other, seen["before"]) for other in COUNTS} == {other: {f"activate_{other}"} for other in COUNTS}
    assert seen["answer"].startswith(f"{server} is activated: {COUNTS[server]} tools")
    told = set(seen["activated"])
    assert len(told) == COUNTS[server]
    assert of(server, seen["after"]) == {f"activate_{server}", *told}
    assert all(of(other, seen["after"]) == {f"activate_{other}"} for other in COUNTS if other != server)
    assert SAYS[server] in seen["text"]


def never_lists_again(hub):
    """A client that lists once: it activates, calls what it was told by name, or finds and calls through the hub's tools."""
    client = hub.start_bridge("--no-start")
    client.initialize()
    listed = client.request("tools/list", {}, id="list")["result"]["tools"]
    names = [tool["name"] for tool in listed]
    assert {server: of(server, names) for server in COUNTS} == {server: {f"activate_{server}"} for server in COUNTS}
    said = {tool["name"]: tool["description"] for tool in listed}
    assert re.fullmatch("Activate Serena MCP server. .+ This will load 3 tools. Available: .+, .+, .+.", said["activate_serena"])
    assert re.fullmatch(
        "Activate Playwright MCP server. .+ This will load 25 tools. Available: .+ and 20 more.", said["activate_playwright"]
    )
    activated = called(client, "activate_serena", {})
    assert set(signed(text(activated))) == SERENA_TOOLS
    session = re.search(r"session id is `(\w+)`", text(called(client, "initial_instructions", {})))[1]
    code = {"session": session, "code": 's.fs.read_file("who.txt")'}
    assert "this is the project" in text(called(client, "call_tool", {"name": "serena_repl", "arguments": code}))
    found = text(called(client, "find_tools", {"query": "navigate to a URL"}))
    assert "browser_navigate(url: str) - " in found
    assert json.loads(text(called(client, "describe_tools", {"names": ["browser_navigate"]})))["inputSchema"]["required"] == ["url"]
    wrong = called(client, "call_tool", {"name": "browser_navigate", "arguments": {"address": "about:blank"}})
    assert "The inputSchema of browser_navigate: {" in wrong["content"][-1]["text"]
    assert SAYS["playwright"] in text(called(client, *CALLS["playwright"]))
    client.end()


def called(client, name, arguments):
    """The result of a call; what it was told in between is read over."""
    return client.request("tools/call", {"name": name, "arguments": arguments}, id=f"call {name}", timeout_s=SERENA_START_S)["result"]


def text(result):
    return "".join(block.get("text", "") for block in result["content"])
