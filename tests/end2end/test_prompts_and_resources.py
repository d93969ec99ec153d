"""Prompts, resources and completion of several real servers, through the bridge, in both eras.

Two copies of one npm server have everything in common, so that every name and URI of theirs clashes.
"""

import json

import pytest
from tests.end2end.processes import wait_until

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVERS = {"one": "everything", "two": "everything", "memory": "memory"}
TEMPLATE = "tooltray://two/demo%3A%2F%2Fresource%2Fdynamic%2Ftext%2F{resourceId}"
FILLED_IN = "tooltray://two/demo%3A%2F%2Fresource%2Fdynamic%2Ftext%2F7"
START_S = 90.0  # three servers of Node.js on two busy cores


@pytest.fixture
def hub(world, npm_server):
    """A hub with two servers that offer the same, and a third that has a resource of its own."""
    for name, program in SERVERS.items():
        environ = ["--env", f"MEMORY_FILE_PATH={world.home / 'memory.jsonl'}"]
        assert world.tooltray("servers", "add", name, *environ, "--", *npm_server(program)).returncode == 0
    world.start_hub()
    wait_until(lambda: set(states(world).values()) == {"running"}, "all servers to run", START_S)
    return world


@pytest.fixture
def eras(hub):
    """Asks through a bridge, in each era; returns the result."""
    return [asking(hub.start_bridge(), meta) for meta in ({}, {"_meta": META})]


def asking(bridge, meta):
    if not meta:
        assert {"tools", "prompts", "resources", "completions"} <= set(bridge.initialize()["capabilities"])

    def ask(method, **params):
        reply = bridge.request(method, {**params, **meta})
        assert "error" not in reply, reply
        assert ("resultType" in reply["result"]) == bool(meta)
        return reply["result"]

    return ask


def states(world):
    status = json.loads(world.tooltray("status", "--json").stdout)
    return {server["name"]: server["state"] for server in status["servers"] if server["name"] in SERVERS}


def test_prompts_of_servers_that_have_the_same_are_told_apart_and_got(eras):
    for ask in eras:
        names = [prompt["name"] for prompt in ask("prompts/list")["prompts"]]
        assert names == sorted(names)
        assert {"one_args-prompt", "two_args-prompt", "one_simple-prompt"} <= set(names)
        got = ask("prompts/get", name="two_args-prompt", arguments={"city": "Ankh-Morpork"})
        assert "Ankh-Morpork" in got["messages"][0]["content"]["text"]


def test_resources_of_servers_that_have_the_same_are_told_apart_and_read(eras):
    for ask in eras:
        uris = [resource["uri"] for resource in ask("resources/list")["resources"]]
        assert len(set(uris)) == len(uris)
        assert {uri.split("/")[2] for uri in uris if uri.startswith("tooltray://")} == {"one", "two"}
        assert "memory://knowledge-graph" in uris  # nobody else has it
        for uri in (uris[0], uris[-1], "memory://knowledge-graph"):
            [content] = ask("resources/read", uri=uri)["contents"]
            assert content["uri"] == uri
            assert content["text"]


def test_a_template_can_be_filled_in_completed_and_read(eras):
    for ask in eras:
        assert TEMPLATE in [template["uriTemplate"] for template in ask("resources/templates/list")["resourceTemplates"]]
        [content] = ask("resources/read", uri=FILLED_IN)["contents"]
        assert content["uri"] == FILLED_IN
        assert "7" in content["text"]
        ref = {"type": "ref/resource", "uri": TEMPLATE}
        completed = ask("completion/complete", ref=ref, argument={"name": "resourceId", "value": "7"})
        assert completed["completion"]["values"] == ["7"]


def test_an_argument_of_a_prompt_is_completed_by_its_server(eras):
    for ask in eras:
        ref = {"type": "ref/prompt", "name": "one_completable-prompt"}
        completed = ask("completion/complete", ref=ref, argument={"name": "department", "value": "E"})
        assert completed["completion"]["values"] == ["Engineering"]


def test_of_a_resource_that_nobody_has_a_server_says_so_itself(hub):
    bridge = hub.start_bridge()
    bridge.initialize()
    assert "nobody://has/this" in bridge.request("resources/read", {"uri": "nobody://has/this"})["error"]["message"]


def test_the_first_lists_of_a_fresh_hub_are_complete_while_no_server_runs(hub):
    def lists():
        bridge = hub.start_bridge()
        bridge.initialize()
        found = [bridge.request(method)["result"] for method in ("prompts/list", "resources/list", "resources/templates/list")]
        bridge.end()
        return found

    before = lists()
    assert TEMPLATE in [template["uriTemplate"] for template in before[-1]["resourceTemplates"]]
    hub.stop_hub()
    settings = hub.root / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "defaultServers": []}))
    hub.start_hub()
    assert lists() == before
    assert set(states(hub).values()) == {"on_demand"}
