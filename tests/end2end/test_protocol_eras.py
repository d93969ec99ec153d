"""Clients and servers that share no era: what the hub adds, drops and asks between them.

The features themselves are shown across eras in test_protocol_features; here is what only happens there.
"""

import json
import sys

import pytest
from tests.end2end.processes import new_world, wait_until
from tests.end2end.steered import FEATURED, SteeredClient, add_featured, start_and_wait

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
LEVEL = "io.modelcontextprotocol/logLevel"
ANSWER = {"action": "accept", "content": {"name": "Ada"}}
EVERY_ERA = ("newer", "unwilling", "older")


@pytest.fixture(scope="module")
def hub():
    """A hub with servers that are only modern, and say so in two ways, and one that is only legacy."""
    with new_world() as world:
        add_featured(world, "newer", "modern")
        world.add_server("unwilling", sys.executable, str(FEATURED), "modern-32601", "unwilling")
        add_featured(world, "older", "legacy")
        start_and_wait(world)
        yield world


@pytest.fixture(params=["legacy", "auto"])
def client(request, hub):
    client = SteeredClient(hub, request.param)
    yield client
    client.end()


@pytest.fixture
def bridge_to(hub):
    """Raw JSON over a bridge to one server."""
    bridges = []

    def start(server):
        bridges.append(hub.start_bridge("--server", server))
        return bridges[-1]

    yield start
    for bridge in bridges:
        bridge.end()


@pytest.fixture
def bridge(bridge_to):
    """One to the server that is only legacy."""
    return bridge_to("older")


def modern(bridge, method, *, id, meta=None, **params):
    return bridge.request(method, {**params, "_meta": {**META, **(meta or {})}}, id=id)


def test_a_client_uses_servers_of_every_era_side_by_side(client):
    eras = {"newer": "modern", "unwilling": "modern", "older": "legacy"}
    assert {f"{server}_{tool}" for server in eras for tool in ("about", "ask")} <= client.names("tools")
    for server, era in eras.items():
        about = client.told(f"{server}_about")
        assert (about["name"], about["era"]) == (server, era)
        assert client.told(f"{server}_ask", n=2)["q2"]["action"] == "accept"


def test_one_running_copy_of_a_server_of_one_era_serves_clients_of_both(hub):
    clients = [SteeredClient(hub, mode) for mode in ("legacy", "auto")]
    for server in EVERY_ERA:
        first, second = (client.told(f"{server}_about")["pid"] for client in clients)
        assert first == second
    for client in clients:
        client.end()


def test_a_legacy_client_sees_nothing_of_the_modern_era(bridge_to):
    bridge = bridge_to("newer")
    assert bridge.initialize()["protocolVersion"] == "2025-11-25"
    for method, params in {
        "tools/list": {},
        "resources/list": {},
        "resources/read": {"uri": "note://newer"},
        "prompts/get": {"name": "greet", "arguments": {"who": "Ada"}},
        "tools/call": {"name": "about"},
    }.items():
        result = bridge.request(method, params)["result"]
        assert not {"resultType", "ttlMs", "cacheScope"} & result.keys()
    error = bridge.request("resources/read", {"uri": "note://nowhere"})["error"]
    assert (error["code"], error["data"]) == (-32002, {"uri": "note://nowhere"})


def test_a_legacy_server_sees_nothing_of_the_modern_era_and_its_results_get_what_it_requires(bridge):
    listed = modern(bridge, "resources/list", id=1)["result"]
    assert (listed["resultType"], listed["ttlMs"], listed["cacheScope"]) == ("complete", 0, "private")
    result = modern(bridge, "tools/call", id=2, name="meta", meta={"example.org/kept": 1, LEVEL: "debug"})["result"]
    assert result["resultType"] == "complete"
    assert json.loads(result["content"][0]["text"]) == {"example.org/kept": 1}
    error = modern(bridge, "resources/read", id=3, uri="note://nowhere")["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": "note://nowhere"})


def test_questions_of_a_legacy_server_wait_together_and_may_be_answered_one_by_one(bridge):
    call = {"name": "ask", "arguments": {"n": 3}}
    required = modern(bridge, "tools/call", id=1, **call)["result"]
    assert required["resultType"] == "input_required"
    asked = required["inputRequests"]
    assert sorted(each["params"]["message"] for each in asked.values()) == ["Question 1?", "Question 2?", "Question 3?"]
    key, *others = asked
    again = modern(bridge, "tools/call", id=2, **call, inputResponses={key: ANSWER}, requestState=required["requestState"])["result"]
    assert (again["resultType"], set(again["inputRequests"])) == ("input_required", set(others))
    answers = dict.fromkeys(others, ANSWER)
    result = modern(bridge, "tools/call", id=3, **call, inputResponses=answers, requestState=again["requestState"])["result"]
    assert json.loads(result["content"][0]["text"]) == {f"q{number}": ANSWER for number in (1, 2, 3)}


def test_a_state_that_the_hub_does_not_know_is_an_error_and_no_second_call(bridge):
    call = {"name": "ask", "arguments": {"n": 1}}
    required = modern(bridge, "tools/call", id=1, **call)["result"]
    [key] = required["inputRequests"]
    answers = {"inputResponses": {key: ANSWER}, "requestState": required["requestState"]}
    for state in ("never heard of", required["requestState"][:-1]):
        error = modern(bridge, "tools/call", id=2, **call, **{**answers, "requestState": state})["error"]
        assert error["code"] == -32602
        assert "call again" in error["message"]
    assert modern(bridge, "tools/call", id=3, **call, **answers)["result"]["resultType"] == "complete"
    assert "error" in modern(bridge, "tools/call", id=4, **call, **answers)  # it is over


def test_a_question_that_the_modern_client_cannot_answer_is_refused_to_the_legacy_server(bridge):
    result = modern(bridge, "tools/call", id=1, name="ask", arguments={"kind": ["sampling", "url", "roots"]})["result"]
    answers = json.loads(result["content"][0]["text"])
    assert "refused" in answers["q1"]
    assert "refused" in answers["q2"]
    assert answers["q3"] == {"roots": []}  # the hub answers that itself


def test_a_question_that_the_legacy_client_cannot_answer_fails_the_call(bridge_to):
    bridge = bridge_to("newer")
    bridge.initialize()  # it declares nothing
    error = bridge.request("tools/call", {"name": "ask", "arguments": {"n": 1}})["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"elicitation": {}}})


@pytest.mark.parametrize("server", EVERY_ERA)
def test_a_call_that_is_given_up_while_its_client_is_asked_is_never_answered(bridge_to, server):
    bridge = bridge_to(server)
    bridge.initialize(capabilities={"elicitation": {}}, name="asked")
    bridge.send_request("tools/call", {"name": "ask", "arguments": {"n": 1}}, id="ask")
    asked = bridge.next_of("elicitation/create")
    bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "ask"}})
    if server != "older":  # the hub asked, and withdraws that; the SDK's server does not
        assert bridge.next_of("notifications/cancelled")["params"]["requestId"] == asked["id"]
    bridge.send_request("tools/call", {"name": "about"}, id="about")
    _, seen = bridge.reply_and_before("about")
    assert all(message.get("id") != "ask" for message in seen)


def test_the_lowest_level_that_any_client_wants_is_set_and_each_hears_what_it_asked_for(hub):
    loud, quiet = (SteeredClient(hub, "legacy", "--server", "older") for _ in range(2))
    quiet.do("set_logging_level", level="error")
    loud.do("set_logging_level", level="debug")
    assert loud.told("heard")["level"] == "debug"
    for client, levels in ((quiet, ["error"]), (loud, ["debug", "info", "error"])):
        client.call("log")
        assert [event["level"] for event in client.do("seen") if event["event"] == "log"] == levels
    loud.end()
    wait_until(lambda: quiet.told("heard")["level"] == "error", "the level of the client that is left")
    quiet.end()
