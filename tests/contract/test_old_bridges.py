"""Bridges of earlier versions with this hub, and this bridge with what hubs of earlier versions answer: either may be updated first.

`tests/contract/bridges/` has the bridges as they were; `tests/contract/homes/` what hubs answered them.
"""

import json
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.end2end.processes import Program, World, new_world

CONTRACT = Path(__file__).parent
VERSIONS = ("a5d4206", "06e061f")
NOTES = CONTRACT.parent / "end2end" / "servers" / "notes.py"
CALL = {"name": "save_note", "arguments": {"text": "a"}}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        yield world


def old_bridge(world: World, version: str) -> Program:
    with zipfile.ZipFile(CONTRACT / "bridges" / f"{version}.zip") as packed:
        packed.extractall(world.home / version)
    return world.start(sys.executable, "-I", "-S", str(world.home / version / "tooltray_bridge" / "__main__.py"), "--no-start")


def start_hub(world: World) -> Program:
    description = world.home / "description"
    description.write_text("Saves a note.")
    notes = {"command": sys.executable, "args": ["-I", str(NOTES), str(description)], "autoApprove": ["all"]}
    world.root.mkdir(exist_ok=True)
    settings = {"version": 1, "mcpServers": {"notes": notes}, "defaultServers": ["notes"], "secrets": {"backend": "memory"}}
    (world.root / "settings.json").write_text(json.dumps(settings))
    return world.start_hub()


def saved(client: Program, id: str) -> str:
    return str(client.request("tools/call", CALL, id=id)["result"]["content"][0]["text"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_bridge_of_an_earlier_version_serves_its_client_also_over_the_end_of_a_hub(world: World, version: str) -> None:
    hub = start_hub(world)
    client = old_bridge(world, version)
    assert client.initialize()["serverInfo"]["name"] == "tooltray"
    assert "save_note" in {tool["name"] for tool in client.request("tools/list", id="list")["result"]["tools"]}
    assert saved(client, "one") == "saved a"
    psutil.Process(world.hub_pid()).kill()
    hub.wait()
    assert not list((world.root / "run").glob("*.sock"))
    world.start_hub()
    assert saved(client, "two") == "saved a"
    client.end()


class RecordedHub:
    """Answers each request of one connection as a hub of an earlier version did; listens in a thread until its client leaves.

    Attributes:
        answers: the recorded lines, by the method, or the tool's name.
        hello: the first line of the connection.
    """

    def __init__(self, world: World, version: str) -> None:
        recorded = (CONTRACT / "homes" / version / "answers.jsonl").read_bytes().splitlines()
        self.answers = dict(zip(("initialize", "tools/list", "list_servers", "no_such_tool"), recorded, strict=True))
        self.hello: dict[str, Any] = {}
        self._path = world.root / "run" / "hub.sock"
        self._path.parent.mkdir(mode=0o700, parents=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rb") as lines:
            self.hello = json.loads(lines.readline())
            for request in map(json.loads, lines):
                if "id" in request:
                    recorded = self.answers[request["params"].get("name", request["method"])]
                    head, _, rest = recorded.removeprefix(b'{"jsonrpc":"2.0","id":').partition(b",")
                    assert head.isdigit()
                    connection.sendall(b'{"jsonrpc":"2.0","id":%b,%b\n' % (json.dumps(request["id"]).encode(), rest))

    def close(self) -> None:
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._listener.close()
        self._path.unlink()


@pytest.mark.parametrize("version", VERSIONS)
def test_this_bridge_passes_on_what_a_hub_of_an_earlier_version_answers(world: World, version: str) -> None:
    hub = RecordedHub(world, version)
    client = world.start_bridge("--no-start")
    asked = [("initialize", {}), ("tools/list", {}), ("tools/call", {"name": "list_servers"}), ("tools/call", {"name": "no_such_tool"})]
    for id, ((method, params), recorded) in enumerate(zip(asked, hub.answers.values(), strict=True)):
        assert client.request(method, params, id=id) == json.loads(recorded)
    client.end()
    hub.close()
    assert (hub.hello["tooltray"], hub.hello["role"]) == (1, "client")
    assert {"session", "server", "profile", "cwd"} <= hub.hello.keys()
