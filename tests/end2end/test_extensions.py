"""Extensions of two servers through the bridge: what each side has declared reaches the other, and each method its server."""

import sys
from pathlib import Path

import pytest
from tests.end2end.processes import new_world
from tests.end2end.steered import start_and_wait

EXTENDED = Path(__file__).parent / "servers" / "extended.py"
OWN = {"com.example/left": {"v": 1}, "com.example/right": {}}


@pytest.fixture(scope="module")
def world():
    with new_world() as world:
        for name in ("left", "right"):
            world.add_server(name, sys.executable, str(EXTENDED), name, f"com.example/{name}")
        start_and_wait(world)
        yield world


def connected(world, *arguments, **capabilities):
    """A bridge whose client has introduced itself; and what it was told of the servers' capabilities."""
    bridge = world.start_bridge(*arguments)
    told = bridge.initialize(capabilities=capabilities)["capabilities"]
    bridge.request("ping", id="p")  # no client hears news before its first answer
    return bridge, told


def worked(bridge, method, params):
    """The result of an extension's method; the client answers what it is asked meanwhile, and what it has heard comes along."""
    bridge.send_request(method, params, id="w")
    heard = []
    while (message := bridge.read()).get("id") != "w":
        heard.append(message["method"])
        if "id" in message:
            bridge.send({"jsonrpc": "2.0", "id": message["id"], "result": {"asked": message["params"]["by"]}})
    return message, heard


def test_each_extensions_method_reaches_its_server_and_the_server_its_client(world):
    bridge, told = connected(world, extensions=OWN)
    assert told["extensions"] == {"com.example/left": {"of": ["left"]}, "com.example/right": {"of": ["right"]}}
    assert told["experimental"] == {"shared": {"left": True, "right": True}}
    for name in ("left", "right"):
        reply, heard = worked(bridge, f"{name}/work", {"x": name})
        assert reply["result"] | {"declared": None} == {"by": name, "told": {"x": name}, "answer": {"asked": name}, "declared": None}
        assert heard == [f"notifications/{name}/working", f"{name}/ask"]
    assert bridge.request("middle/work", {}, id="m")["error"]["code"] == -32601
    bridge.end()


def test_a_client_that_declares_nothing_is_neither_told_nor_asked_and_a_restarted_server_knows_what_others_declared(world):
    world.ask("restart_server", name="right")
    bridge, _ = connected(world)
    reply, heard = worked(bridge, "right/work", {})
    assert reply["result"] == {"by": "right", "told": {}, "answer": -32601, "declared": OWN}
    assert heard == []
    bridge.end()
    alone, told = connected(world, "--server", "left")
    assert told["extensions"] == {"com.example/left": {"of": ["left"]}}
    assert worked(alone, "left/work", {})[0]["result"]["by"] == "left"
    alone.end()
