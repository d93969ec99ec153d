"""A server that is kept to some hosts, in a real hub: what it may reach, what it hears of the rest, and one click that allows it."""

import http.server
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.hub_at_work import Hub
from tests.end2end.processes import World

from tooltray.servers.confinement.confinements import can_have_hosts, probe

pytestmark = pytest.mark.skipif(not can_have_hosts(probe()), reason="this system cannot keep a server to some hosts")

WANTS = """
import json, sys, urllib.request

def wanted(url):
    with urllib.request.urlopen(url) if url.startswith("http") else open(url, "rb") as answer:
        return answer.read().decode()

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "wants", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "get", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    elif message.get("method") == "tools/call":
        try:
            result = {"content": [{"type": "text", "text": wanted(message["params"]["arguments"]["url"])}]}
        except OSError as error:
            result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *arguments: object) -> None: ...


@pytest.fixture
def private() -> Iterator[Path]:
    """A file outside /tmp, of which a server may have one of its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        file = Path(folder) / "plans.txt"
        file.write_text("plans")
        yield file


@pytest.fixture
def web() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


async def test_a_refused_host_and_a_refused_file_are_named_and_one_yes_lets_them_in(
    world: World, tmp_path: Path, private: Path, web: str
) -> None:
    script = tmp_path / "wants.py"
    script.write_text(WANTS)
    world.start_hub()
    hub = Hub(world)
    kept = {"command": sys.executable, "args": [str(script)], "autoApprove": ["all"], "confinement": {"files": "own", "hosts": []}}
    await hub("add_mcp_server", name="wants", config=kept)

    await hub.until(lambda kind, data: kind == "ToolListChanged" and data["server"] == "wants")
    [tool] = [tool["name"] for tool in await hub("get_tools", server="wants")]

    async def get(url: str) -> str:
        return str((await hub("call_tool", name=tool, arguments={"url": url}))["content"][0]["text"])

    assert f"{web} is not among them" in await get(f"http://{web}/")
    assert "Permission denied" in await get(str(private))
    pids = (await hub.server("wants"))["pids"]
    refused = (await hub("get_confinement", server="wants"))["refused"]
    assert [(thing["kind"], thing["name"]) for thing in refused] == [("path", str(private)), ("host", web)]
    await hub("allow_refused", server="wants", kind="host", name=web)
    assert await get(f"http://{web}/") == "hello"
    assert (await hub.server("wants"))["pids"] == pids
    await hub("allow_refused", server="wants", kind="path", name=str(private))
    assert await get(str(private)) == "plans"
    hub.channel.close()
