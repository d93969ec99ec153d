"""Every feature of the protocol through the bridge, with the SDK's client in both eras.

One hub for all tests here, and six ways to a server: by the names of all servers and by a server's own, in its own era and across eras.
What is special about the eras stands in test_protocol_eras.
"""

import signal

import pytest
from tests.end2end.processes import new_world, wait_until
from tests.end2end.steered import Refused, SteeredClient, add_featured, send_signal, signal_server, start_and_wait, text_of

WAYS = {
    "legacy, all servers": ("legacy", "left", []),
    "modern, all servers": ("auto", "left", []),
    "legacy, one server": ("legacy", "left", ["--server", "left"]),
    "modern, one server": ("auto", "left", ["--server", "left"]),
    "legacy, a server that is only modern": ("legacy", "newer", ["--server", "newer"]),
    "modern, a server that is only legacy": ("auto", "older", ["--server", "older"]),
    "legacy, a copy of the server for itself": ("legacy", "own", ["--server", "own"]),
}
ERAS = {"left": "both", "right": "both", "newer": "modern", "older": "legacy", "own": "both"}
TEMPLATE, TEMPLATE_AMONG_ALL = "note://item/{id}", "tooltray://left/note%3A%2F%2Fitem%2F{id}"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LEVEL = "io.modelcontextprotocol/logLevel"


@pytest.fixture(scope="module")
def hub():
    """A hub with two servers that offer the same, one that is only modern, two that are only legacy, and copies for each session."""
    with new_world() as world:
        for name, era in ERAS.items():
            add_featured(world, name, era, **({"isolation": "session"} if name == "own" else {}))
        start_and_wait(world)
        yield world


@pytest.fixture(scope="module", params=WAYS)
def way(request, hub):
    """A client on one of the ways; `server` is the name of the server that it is about."""
    mode, server, arguments = WAYS[request.param]
    client = SteeredClient(hub, mode, *arguments, prefix="" if arguments else f"{server}_")
    client.server = server
    yield client
    client.end()


@pytest.fixture
def client(way):
    """The same, with nothing heard yet."""
    way.do("seen")
    return way


@pytest.fixture
def watching(client):
    """A client that hears of changes of the lists and of its server's own resource."""
    uris = [f"note://{client.server}"]
    client.do("watch", uris=uris)
    yield client
    client.do("unwatch", uris=uris)


def test_each_client_finds_its_era_and_all_that_can_be_done(client):
    assert client.era == ("legacy" if client.mode == "legacy" else "modern")
    assert {"tools", "prompts", "resources", "completions", "logging"} <= set(client.capabilities)
    assert client.capabilities["resources"] == {"subscribe": True, "listChanged": True}
    assert client.capabilities["tools"]["listChanged"] is True
    assert client.told("about")["name"] == client.server


def test_every_listed_resource_can_be_read(client):
    listed = client.names("resources")
    assert f"note://{client.server}" in listed
    for uri in listed:
        [content] = client.do("read_resource", uri=uri)["contents"]
        assert content["uri"] == uri
        assert content["text"]


def test_a_template_is_listed_completed_and_filled_in(client):
    [template] = [each for each in client.names("resource_templates") if each in (TEMPLATE, TEMPLATE_AMONG_ALL)]
    [content] = client.do("read_resource", uri=template.replace("{id}", "7"))["contents"]
    assert content["text"] == f"note://item/7 of {client.server}"
    completed = client.do("complete", ref={"type": "ref/resource", "uri": template}, argument={"name": "id", "value": "A"})
    assert completed["completion"]["values"] == ["Ada", "Alan"]


def test_a_resource_that_nobody_has_is_refused_in_the_words_of_the_clients_era(client):
    with pytest.raises(Refused) as refused:
        client.do("read_resource", uri="note://nowhere")
    assert refused.value.args == (-32002 if client.era == "legacy" else -32602, "Resource not found")


def test_prompts_are_listed_got_with_arguments_and_completed(client):
    greet = f"{client.prefix}greet"
    assert {greet, f"{client.server}-only"} <= client.names("prompts")
    [message] = client.do("get_prompt", name=greet, arguments={"who": "Ada"})["messages"]
    assert message["content"]["text"] == f"greet of {client.server}: Ada"
    completed = client.do("complete", ref={"type": "ref/prompt", "name": greet}, argument={"name": "who", "value": "G"})
    assert completed["completion"]["values"] == ["Grace"]


def test_log_messages_come_from_the_level_that_was_asked_for(client):
    for level, expected in {"error": ["error"], "info": ["info", "error"]}.items():
        if client.era == "legacy":
            client.do("set_logging_level", level=level)
            client.call("log")
        else:
            client.do("call", name=f"{client.prefix}log", meta={LEVEL: level})
        for each in expected:
            assert client.hear(event="log")["level"] == each
        assert not [event for event in client.do("seen") if event["event"] == "log"]


def test_an_update_of_a_subscribed_resource_is_heard_until_it_is_unsubscribed(client):
    uri = f"note://{client.server}"
    client.do("watch", uris=[uri])
    client.call("update", uri=uri)
    client.hear(event="updated", uri=uri)
    client.do("unwatch", uris=[uri])
    client.call("update", uri=uri)
    assert not [event for event in client.do("seen") if event["event"] == "updated"]


def test_changes_of_all_three_lists_are_heard(hub, watching):
    newcomer = f"{watching.server}-newcomer"
    expected = {"tools": newcomer, "prompts": newcomer, "resources": f"note://{newcomer}"}
    for kind, name in expected.items():
        assert name not in watching.names(kind)
    signal_server(hub, watching.server, signal.SIGUSR1)
    for kind, name in expected.items():
        watching.wait_until(kind, lambda listed, name=name: name in listed)
    signal_server(hub, watching.server, signal.SIGUSR2)
    for kind, name in expected.items():
        watching.wait_until(kind, lambda listed, name=name: name not in listed)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_that_a_server_adds_for_the_clients_of_one_era_are_listed_and_called(hub, mode):
    client = SteeredClient(hub, mode, "--server", "left")
    client.do("watch")
    pid = client.told("about")["pid"]  # a copy for each era runs
    send_signal(pid, signal.SIGUSR1)
    client.wait_until("tools", lambda listed: "left-newcomer" in listed)
    assert client.call("left-newcomer") == "left-newcomer done"
    send_signal(pid, signal.SIGUSR2)
    client.wait_until("tools", lambda listed: "left-newcomer" not in listed)
    client.end()


def test_progress_comes_in_order_and_before_the_result(client):
    client.call("steps", n=3)
    assert [(each["done"], each["total"], each["message"]) for each in client.do("seen") if each["event"] == "progress"] == [
        (1, 3, "step 1"),
        (2, 3, "step 2"),
        (3, 3, "step 3"),
    ]


def test_the_server_hears_of_a_call_that_was_given_up(client):
    before = client.told("heard")["cancelled"]
    client.start_call("long", "wait")
    client.hear(event="progress", message="waiting")
    client.do("cancel", key="long")
    wait_until(lambda: client.told("heard")["cancelled"] == before + 1, "the server to hear of it")


def test_meta_goes_through_both_ways(client):
    kept = {"example.org/asked": {"deep": [1, None]}}
    result = client.do("call", name=f"{client.prefix}meta", meta=kept)
    assert '"example.org/asked": {"deep": [1, null]}' in text_of(result)
    assert result["_meta"]["example.org/kept"] == [1, {"two": None}]


@pytest.mark.parametrize("tool", ["ask", "again"])
def test_several_questions_of_one_call_are_all_answered(client, tool):
    answers = client.told(tool, n=3)
    assert answers == {f"q{number}": {"action": "accept", "content": {"name": f"Question {number}? {client.mode}"}} for number in (1, 2, 3)}
    asked = [event for event in client.do("seen") if event["event"] == "asked"]
    assert sorted(each["message"] for each in asked) == ["Question 1?", "Question 2?", "Question 3?"]  # each of them once


def test_a_form_an_address_and_the_roots_may_be_asked_for_at_once(client):
    answers = client.told("ask", kind=["form", "url", "roots"])
    assert answers["q1"]["content"] == {"name": f"Question 1? {client.mode}"}
    assert answers["q2"] == {"action": "accept"}
    assert answers["q3"] == {"roots": [{"uri": "file:///projects/one", "name": "project"}]}
    assert client.hear(event="asked", kind="url")["url"] == "https://example.org/2"


def test_the_clients_model_may_be_asked(client):
    answers = client.told("ask", n=1, kind="sampling")
    assert answers["q1"]["content"] == {"type": "text", "text": "QUESTION 1?"}
    assert answers["q1"]["model"] == client.mode


def test_ping_is_answered(client):
    if client.era == "legacy":
        assert client.do("send_ping") == {}
    else:
        with pytest.raises(Refused):  # the SDK knows that the modern era has none
            client.do("send_ping")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_two_servers_have_in_common_is_told_apart(hub, mode):
    client = SteeredClient(hub, mode)
    uris = client.names("resources")
    assert "note://shared" not in uris
    for server in ("left", "right"):
        common, template = f"tooltray://{server}/note%3A%2F%2Fshared", f"tooltray://{server}/note%3A%2F%2Fitem%2F{{id}}"
        assert {common, f"note://{server}"} <= uris
        assert template in client.names("resource_templates")
        assert {f"{server}_greet", f"{server}-only"} <= client.names("prompts")
        for uri, own in {common: "note://shared", template.replace("{id}", "7"): "note://item/7"}.items():
            [content] = client.do("read_resource", uri=uri)["contents"]
            assert (content["uri"], content["text"]) == (uri, f"{own} of {server}")
        [message] = client.do("get_prompt", name=f"{server}_greet", arguments={"who": "you"})["messages"]
        assert message["content"]["text"] == f"greet of {server}: you"
        client.do("watch", uris=[common])
        assert client.call(f"{server}_update", uri="note://shared")
        client.hear(event="updated", uri=common)
        client.do("unwatch", uris=[common])
    client.end()


def test_a_method_that_nobody_has_heard_of_reaches_the_only_server_of_a_client(hub):
    given = {"x": [1.5, None, {"deep": "ü"}]}
    bridge = hub.start_bridge("--server", "left")
    bridge.initialize()
    assert bridge.request("example.org/echo", given, id=1)["result"] == {"echo": given}
    modern = bridge.request("example.org/echo", {**given, "_meta": META}, id=2)["result"]
    assert (modern["echo"], modern["resultType"]) == (given, "complete")
    assert bridge.request("example.org/none", id=3)["error"]["code"] == -32601
    bridge.end()


def test_a_batch_of_2025_03_26_is_answered_whole(hub):
    bridge = hub.start_bridge("--server", "left")
    bridge.initialize("2025-03-26")
    call = {"jsonrpc": "2.0", "method": "tools/call"}
    bridge.send(
        [
            {"jsonrpc": "2.0", "id": "ping", "method": "ping"},
            {**call, "id": "call", "params": {"name": "about"}},
            {**call, "id": "wrong", "params": {"name": "no such tool"}},
        ]
    )
    replies = {}
    while len(replies) < 3:
        message = bridge.read()
        replies |= {each["id"]: each for each in (message if isinstance(message, list) else [message]) if "method" not in each}
    assert replies["ping"]["result"] == {}
    assert '"left"' in replies["call"]["result"]["content"][0]["text"]
    assert "error" in replies["wrong"]
    bridge.end()
