"""What the real servers of the tests answer to `tools/list`, kept in files so that tests need neither Node.js nor processes.

`python -m tests.contract.recorded_definitions` writes the files anew; tests/end2end/test_recorded_definitions.py holds them to the servers.
"""

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Raw

from tooltray.catalogue.definition import read_definitions
from tooltray.protocol.envelope import load

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("definitions")
SERVERS = ROOT / "tests" / "end2end" / "servers"
NPM = ROOT / "tests" / "npm" / "node_modules" / ".bin"
FASTMCP_PYTHON = ROOT / ".cache" / "fastmcp" / "bin" / "python"
OWN_NODE = ROOT / ".cache" / "node" / "bin" / "node"
ANSWER_TIMEOUT_S = 60.0  # Node.js on a busy machine
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}, "sampling": {}},
    "clientInfo": {"name": "recorder", "version": "1"},
}
JSON_OR_STREAM = "application/json, text/event-stream"


def commands(folder: Path) -> dict[str, list[str]]:
    """How each server is started; `folder` is one that the filesystem server may show."""
    node = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node") or "node"

    def npm(name: str) -> list[str]:
        return [node, str((NPM / f"mcp-server-{name}").resolve())]

    def own(name: str, *arguments: str) -> list[str]:
        return [sys.executable, str(SERVERS / f"{name}.py"), *arguments]

    return {
        "everything": npm("everything"),
        "filesystem": [*npm("filesystem"), str(folder)],
        "memory": npm("memory"),
        "fastmcp": [str(FASTMCP_PYTHON), str(SERVERS / "fastmcp_server.py")],
        "features": own("featured", "both"),
        "asking": own("asking"),
        "habits": own("habits"),
        "odd": own("habits", "odd"),
        "reference": [sys.executable, str(ROOT / "tests" / "conformance" / "reference"), "stdio"],
        "stub": [sys.executable, str(ROOT / "tests" / "bench" / "stub_server.py")],
        "remote": own("remote", "json"),
    }


def recorded() -> dict[str, list[dict[str, Any]]]:
    """What stands in the files, by server."""
    return {file.stem: json.loads(file.read_bytes()) for file in sorted(FOLDER.glob("*.json"))}


def usable(tools: Sequence[Any]) -> list[dict[str, Any]]:
    """What the hub makes of a server's list."""
    found = read_definitions([Raw(json.dumps(tool).encode()) for tool in tools])
    return [load(tool.renamed(tool.name)) for tool in found.tools]


def listed(name: str, command: Sequence[str], environ: Mapping[str, str]) -> list[Any]:
    """What a server lists now."""
    with _running(command, environ) as server:
        return _listed_over_http(server) if name == "remote" else _listed_over_stdio(server)


@contextlib.contextmanager
def _running(command: Sequence[str], environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The server, which is ended in any case, also when it does not answer."""
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=dict(environ))
    alarm = threading.Timer(ANSWER_TIMEOUT_S, server.kill)
    alarm.start()
    try:
        yield server
    finally:
        alarm.cancel()
        alarm.join()
        server.kill()
        server.communicate()


def _listed_over_stdio(server: subprocess.Popen[str]) -> list[Any]:
    assert server.stdin
    for message in (_request(1, "initialize", INITIALIZE), {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        if "id" in message:
            _answer(server, 1)
    tools: list[Any] = []
    params: dict[str, Any] = {}
    while True:
        server.stdin.write(json.dumps(_request(2, "tools/list", params)) + "\n")
        server.stdin.flush()
        result = _answer(server, 2)["result"]
        tools += result["tools"]
        if not result.get("nextCursor"):
            return tools
        params = {"cursor": result["nextCursor"]}


def _answer(server: subprocess.Popen[str], id: int) -> dict[str, Any]:
    """The answer to a request; what a server asks meanwhile is refused."""
    assert server.stdin
    assert server.stdout
    for line in server.stdout:
        message = json.loads(line)
        if "method" in message and "id" in message:
            refusal = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "not here"}}
            server.stdin.write(json.dumps(refusal) + "\n")
            server.stdin.flush()
        elif message.get("id") == id:
            return dict(message)
    raise RuntimeError("the server ended without an answer")


def _listed_over_http(server: subprocess.Popen[str]) -> list[Any]:
    assert server.stdout
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp"
    headers = {"Content-Type": "application/json", "Accept": JSON_OR_STREAM}
    _, session = _posted(url, _request(1, "initialize", INITIALIZE), headers)
    headers |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": INITIALIZE["protocolVersion"]} if session else {}
    _posted(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers)
    answer, _ = _posted(url, _request(2, "tools/list", {}), headers)
    return list(json.loads(answer)["result"]["tools"])


def _posted(url: str, message: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[bytes, str]:
    request = urllib.request.Request(url, json.dumps(message).encode(), dict(headers))
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=ANSWER_TIMEOUT_S) as response:
        return response.read(), response.headers.get("Mcp-Session-Id", "")


def _request(id: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environ = {"HOME": folder, "PATH": "/usr/bin:/bin"}
        for name, command in commands(Path(folder)).items():
            tools = listed(name, command, environ)
            lines = ",\n".join(json.dumps(tool) for tool in tools)
            FOLDER.joinpath(f"{name}.json").write_text(f"[\n{lines}\n]\n")
            print(f"{name}: {len(tools)} tools")


if __name__ == "__main__":
    main()
