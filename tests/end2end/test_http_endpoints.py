"""AI clients over HTTP, with other people's clients and the real hub."""

import contextlib
import http.client
import json
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.processes import World, new_world, wait_until
from tests.fakes.ports import free_port

HERE = Path(__file__).parent
ASKING = HERE / "servers" / "asking.py"
SDK = HERE / "clients" / "sdk_http_client.py"
JSON_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
CALLS = json.dumps([["ask", {}], ["steps", {}], ["big", {"n": 20_000_000}]])
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def start_hub(world: World, *, port: int = 0) -> tuple[str, str]:
    """A hub with the endpoints on and a server that talks; returns their URL and a token."""
    world.add_server("asking", sys.executable, str(ASKING))
    world.start_hub()
    url = world.ask("set_http_enabled", enabled=True, port=port)["url"]
    return url.removesuffix("/mcp"), world.ask("create_client_token", name="client")


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[World, str, str]]:
    """One hub with its URL and a token, for clients that leave it as it was or add a server."""
    with new_world() as world:
        yield world, *start_hub(world)


def printed_by(world: World, *command: str) -> dict:
    program = world.start(*command)
    try:
        return program.read(timeout_s=90.0)
    finally:
        program.end()


def post(url: str, token: str, message: dict, **headers: str) -> tuple[int, dict, bytes]:
    """Status, headers and body of one POST."""
    all_headers = {**JSON_HEADERS, "Authorization": f"Bearer {token}", **headers}
    asked = urllib.request.Request(url, json.dumps({"jsonrpc": "2.0", **message}).encode(), all_headers)
    try:
        with urllib.request.urlopen(asked, timeout=30) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


@pytest.mark.parametrize(("mode", "era", "path"), [("legacy", "legacy", "/servers/asking/mcp"), ("auto", "modern", "/mcp")])
def test_a_client_of_either_era_lists_and_calls_answers_questions_and_sees_progress(shared, mode, era, path):
    world, url, token = shared
    seen = printed_by(world, sys.executable, str(SDK), mode, url + path, token, CALLS)
    assert seen["era"] == era
    assert {"ask", "steps", "big"} <= set(seen["tools"])
    assert json.loads(seen["results"][0])["content"] == {"who": mode}
    assert seen["results"][1:] == ["steps", 20_000_000]
    assert seen["progress"] == [[1, 3], [2, 3], [3, 3]]
    assert ("list_servers" in seen["tools"]) == (path == "/mcp")


def test_an_old_client_uses_http_with_sse(shared):
    world, url, token = shared
    calls = CALLS.replace("20000000", "500000")  # the SDK's client refuses events beyond 1 MiB on this transport
    seen = printed_by(world, sys.executable, str(SDK), "sse", f"{url}/servers/asking/sse", token, calls)
    assert json.loads(seen["results"][0])["content"] == {"who": "sse"}
    assert seen["results"][1:] == ["steps", 500_000]
    assert seen["progress"] == [[1, 3], [2, 3], [3, 3]]


def test_an_address_a_session_and_a_token_are_good_until_a_restart_a_removal_and_the_end(world):
    url, token = start_hub(world, port=free_port())
    hub_json = world.root / "run" / "hub.json"
    assert wait_until(lambda: json.loads(hub_json.read_text())["http"], "the address in hub.json") == url
    message = {"id": 1, "method": "initialize", "params": INITIALIZE}
    status, headers, _ = post(f"{url}/mcp", token, message)
    session = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
    assert (status, post(f"{url}/mcp", token, {"id": 2, "method": "ping"}, **session)[0]) == (200, 200)
    assert post(f"{url}/mcp", "", message)[0] == 401
    world.stop_hub()
    world.start_hub()
    assert post(f"{url}/mcp", token, {"id": 3, "method": "ping"}, **session)[0] == 404
    status, headers, _ = post(f"{url}/mcp", token, message)
    session = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
    assert status == 200
    assert world.tooltray("clients", "remove", "client").returncode == 0
    assert post(f"{url}/mcp", token, {"id": 2, "method": "ping"}, **session)[0] == 401
    assert token not in (world.root / "clients.json").read_text()
    assert world.tooltray("http", "off").returncode == 0
    wait_until(lambda: json.loads(hub_json.read_text())["http"] is None, "no address in hub.json")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{url}/healthz", timeout=5)
    world.stop_hub()
    assert not [record for record in world.records() if token in json.dumps(record)]


def test_a_modern_client_that_closes_the_response_has_cancelled_its_call_at_the_server(shared):
    _, url, token = shared
    place = url.removeprefix("http://")
    headers = {**JSON_HEADERS, "Authorization": f"Bearer {token}", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}

    def call(connection, name):
        params = {"name": name, "arguments": {}, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        connection.request("POST", "/servers/asking/mcp", body, {**headers, "Mcp-Name": name})

    def text_of(name):
        with contextlib.closing(http.client.HTTPConnection(place, timeout=30)) as connection:
            call(connection, name)
            return json.loads(connection.getresponse().read())["result"]["content"][0]["text"]

    assert text_of("cancelled") == "[]"
    with contextlib.closing(http.client.HTTPConnection(place, timeout=30)) as connection:
        call(connection, "wait")
        wait_until(lambda: json.loads(text_of("waiting")), "the call at the server")
    wait_until(lambda: json.loads(text_of("cancelled")), "the cancellation at the server")


def test_a_legacy_client_hears_of_new_tools_on_its_stream(shared):
    world, url, token = shared
    _, headers, _ = post(f"{url}/mcp", token, {"id": 1, "method": "initialize", "params": INITIALIZE})
    session = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
    assert post(f"{url}/mcp", token, {"method": "notifications/initialized"}, **session)[0] == 202
    assert post(f"{url}/mcp", token, {"id": 2, "method": "tools/list"}, **session)[0] == 200
    listening = urllib.request.Request(f"{url}/mcp", headers={"Authorization": f"Bearer {token}", "Accept": "text/event-stream", **session})
    with urllib.request.urlopen(listening, timeout=60) as stream:
        world.add_server("other", sys.executable, str(ASKING))
        assert any(b"notifications/tools/list_changed" in line for line in stream)


@pytest.mark.posix
def test_half_requests_without_a_token_keep_nobody_out(world):
    command = 'ulimit -n 256 && exec "$0" -m tooltray serve'
    hub = world.start("/bin/sh", "-c", command, sys.executable)
    hub.heeds_stdin = False
    world.wait_for(hub)
    url = world.ask("set_http_enabled", enabled=True, port=0)["url"].removesuffix("/mcp")
    host, port = url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as strangers:
        for _ in range(300):
            half = strangers.enter_context(socket.create_connection((host, int(port)), timeout=30))
            with contextlib.suppress(OSError):
                half.sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
        assert world.tooltray("status").returncode == 0
        bridge = world.start_bridge()
        assert "capabilities" in bridge.initialize()
        with urllib.request.urlopen(f"{url}/healthz", timeout=30) as healthz:
            assert healthz.status == 200
        bridge.end()
    assert not [record for record in world.records() if "new connections are refused" in record.get("message", "")]
