"""The hub, the bridge and a stdio server under the Windows Python: calls, and every way in which one of them ends."""

import ctypes
import http.server
import json
import threading
import urllib.error
import urllib.request

import psutil
import pytest
from tests.windows.world import World

IS_WINE = hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")


def test_a_bridge_starts_a_hub_and_carries_calls(world: World) -> None:
    world.add_echo()
    client = world.client().start()

    assert {"echo", "pid"} <= client.tools()
    assert client.call("echo", text="hé 你好") == "hé 你好"
    assert len(client.call("echo", text="x" * 3_000_000)) == 3_000_000
    assert client.leave() == 0
    assert "running" in world.run("status")
    assert "stopped" in world.run("stop")


def test_a_request_is_answered_though_the_client_closes_its_side_at_once(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    id = client.send("tools/call", name="echo", arguments={"text": "late"})
    assert client.process.stdin
    client.process.stdin.close()

    answer = client.answer(id)
    assert "late" in str(answer), answer
    assert client.process.wait(20) == 0


def test_when_the_hub_is_killed_its_servers_end_and_the_next_call_starts_another(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    server, child, hub = int(client.call("pid")), int(client.call("child")), world.hub_pid()

    psutil.Process(hub).kill()

    world.until("the server ends with its hub", lambda: not psutil.pid_exists(server))
    world.until("so does what the server started", lambda: not psutil.pid_exists(child))
    assert client.call("echo", text="again") == "again"
    assert world.hub_pid() != hub


def test_when_the_bridge_is_killed_the_hub_stays(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    client.tools()
    client.process.kill()

    assert world.client().start().call("echo", text="other") == "other"


def test_when_the_server_is_killed_it_is_started_again(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    first = int(client.call("pid"))
    psutil.Process(first).kill()

    world.until("it runs again", lambda: client.call("pid").isdecimal() and int(client.call("pid")) != first)


def test_stopping_a_server_ends_all_that_it_started(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    server, child = int(client.call("pid")), int(client.call("child"))

    world.run("servers", "stop", "echo")

    world.until("both are gone", lambda: not psutil.pid_exists(server) and not psutil.pid_exists(child))


def test_a_server_that_ignores_the_end_of_its_input_is_ended_all_the_same(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    note = world.user / "note"
    server = int(client.call("stay", note=str(note)))

    world.run("servers", "stop", "echo")

    assert not psutil.pid_exists(server)
    assert IS_WINE or note.read_text() == "Ctrl+Break"  # Wine 8 sends it to no console but the sender's first


def test_two_bridges_that_start_at_once_share_one_hub(world: World) -> None:
    world.add_echo()
    clients = [world.client() for _ in range(4)]
    ids = [
        client.send("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"})
        for client in clients
    ]

    assert all("result" in client.answer(id) for client, id in zip(clients, ids, strict=True))
    assert len({world.hub_pid()}) == 1


def test_a_server_gets_the_persons_environment_and_no_clients_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENT_API_KEY", "dummy-client-key")
    world.add_echo()
    client = world.client().start()

    assert client.call("environment", name="CLIENT_API_KEY") == ""
    assert client.call("environment", name="SystemRoot") != ""
    assert client.call("environment", name="USERPROFILE") == str(world.user)


def test_another_home_has_a_hub_of_its_own(world: World) -> None:
    world.add_echo()
    other = world.user / "other home"
    world.run("servers", "add", "echo", "--home", str(other), "--", *["cmd", "/c", "exit 1"], code=0)
    client = world.client("--home", str(other), "--no-start")

    reply = client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"})

    assert "error" in reply


def test_uninstalling_leaves_only_a_mark_in_the_home(world: World) -> None:
    world.add_echo()
    world.client().start().call("echo", text="x")

    said = world.run("uninstall", "--yes")

    assert [path.name for path in world.home.rglob("*")] == ["removed"], said


def test_clients_over_http_are_served_and_asked_for_a_token(world: World) -> None:
    world.add_echo()
    client = world.client().start()
    world.run("http", "on")

    world.until("the hub's record has the address", lambda: world.hub().get("http"))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{world.hub()['http']}/mcp", data=b"{}", timeout=20)
    assert client.call("echo", text="beside it") == "beside it"


class EchoOverHttp(http.server.BaseHTTPRequestHandler):
    """An MCP server with one tool, which answers each message on its own."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "far", "version": "1"}},
            "tools/list": {"tools": [{"name": "far_echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]},
            "tools/call": {"content": [{"type": "text", "text": str(asked.get("params", {}).get("arguments"))}]},
        }
        if asked.get("method") not in results and "id" in asked:
            reply = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "Method not found"}}
        else:
            reply = {"jsonrpc": "2.0", "id": asked.get("id"), "result": results.get(asked["method"])}
        body = json.dumps(reply).encode() if "id" in asked else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_over_http_carries_calls(world: World) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), EchoOverHttp) as far:
        threading.Thread(target=far.serve_forever, daemon=True).start()
        world.run("servers", "add", "far", "--url", f"http://127.0.0.1:{far.server_port}/mcp")
        client = world.client().start()
        world.until("the tool of the server over HTTP", lambda: "far_echo" in client.tools())
        assert client.call("far_echo", text="grüße") == "{'text': 'grüße'}"
        world.run("stop")
        far.shutdown()
