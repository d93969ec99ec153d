"""Other people's clients and servers over the bridge: MCP Inspector's command line, FastMCP's client and server."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.end2end.processes import BRIDGE, new_world
from tests.end2end.steered import START_S, SteeredClient, add_featured, start_and_wait

HERE = Path(__file__).parent
ON_BRIDGE = [sys.executable, "-I", "-S", str(BRIDGE)]
SERVERS = ("dual", "newer", "older")


@pytest.fixture(scope="module")
def hub(fastmcp_python):
    """A hub with a server of each kind, and one of FastMCP."""
    with new_world() as world:
        for name, era in zip(SERVERS, ("both", "modern", "legacy"), strict=True):
            add_featured(world, name, era)
        world.add_server("fast", fastmcp_python, str(HERE / "servers" / "fastmcp_server.py"))
        start_and_wait(world)
        yield world


@pytest.fixture
def inspect(hub, node, inspector):
    """Runs MCP Inspector's command line on a bridge, in the era that it finds; returns its result."""

    def run(method, *arguments):
        options = ["--cli", "--quiet", "--format", "json", "--protocol-era", "auto", "--method", method, *arguments]
        path = os.pathsep.join([str(Path(node).parent), hub.environ["PATH"]])  # it starts itself anew, by `node`
        program = hub.start(node, inspector, *options, "--", *ON_BRIDGE, environ={"PATH": path})
        line = program.read_line(START_S)
        assert line, program.error_text
        assert program.wait() == 0, program.error_text
        return json.loads(line)["result"]

    return run


def test_mcp_inspector_lists_and_calls(inspect):
    tools = {tool["name"] for tool in inspect("tools/list")["tools"]}
    assert {"dual_about", "newer_about", "older_about", "add", "list_servers"} <= tools
    result = inspect("tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=3")
    assert result["content"][0]["text"] == "5"


def test_fastmcps_client_has_every_feature(hub, fastmcp_python):
    server = "dual"
    client = hub.start(fastmcp_python, str(HERE / "clients" / "fastmcp_features.py"), server, *ON_BRIDGE, "--server", server)
    line = client.read_line(START_S)
    assert line, client.error_text
    assert client.wait() == 0, client.error_text
    found = json.loads(line)
    assert set(found["resources"]) == {"note://shared", f"note://{server}"}
    assert found["templates"] == ["note://item/{id}"]
    assert set(found["prompts"]) == {"greet", f"{server}-only"}
    assert found["read"] == f"note://{server} of {server}"
    assert found["got"] == f"greet of {server}: Ada"
    assert found["completed"] == ["Ada", "Alan"]
    assert found["progress"] == [[1, 2], [2, 2]]
    assert found["asked"] == ["Question 1?"]
    assert found["answers"]["q1"] == {"action": "accept", "content": {"name": "Ada"}}
    assert found["answers"]["q2"]["content"]["text"] == "QUESTION 2?"
    assert [root["uri"].rstrip("/") for root in found["answers"]["q3"]["roots"]] == ["file:///projects/one"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_fastmcp_server_is_used_whole_in_both_eras(hub, mode):
    client = SteeredClient(hub, mode, "--server", "fast")
    assert client.names("tools") == {"add", "ask"}
    assert client.call("add", a=2, b=3) == "5"
    assert client.hear(event="progress")["done"] == 1
    if client.era == "legacy":  # FastMCP 4.1 asks nobody on modern connections
        assert client.call("ask") == f"accept Who is there? {mode}"
    assert client.names("resources") == {"fast://fixed"}
    assert client.names("resource_templates") == {"fast://items/{id}"}
    for uri, text in {"fast://fixed": "a fixed text", "fast://items/7": "item 7"}.items():
        assert client.do("read_resource", uri=uri)["contents"][0]["text"] == text
    assert client.names("prompts") == {"greet"}
    assert client.do("get_prompt", name="greet", arguments={"who": "Ada"})["messages"][0]["content"]["text"] == "Greet Ada."
    client.end()
