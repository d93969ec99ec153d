"""An MCP server for the tests on Windows: says what it was given, who it is, what it has; starts a child; hears Ctrl+Break."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

TOOLS = ("echo", "pid", "environment", "child", "folder", "stay")
READS = {"readOnlyHint": True}  # so that no call needs a person's yes


def call(name: str, arguments: dict[str, Any]) -> str:
    if name == "echo":
        return str(arguments.get("text", ""))
    if name == "environment":
        return os.environ.get(str(arguments["name"]), "")
    if name == "folder":
        return os.getcwd()
    if name == "child":
        return str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "stdio_server's child"]).pid)
    if name == "stay":
        note = str(arguments["note"])
        signal.signal(signal.SIGBREAK, lambda *_: leave(note))  # type: ignore[attr-defined]
        stays.append(note)
    return str(os.getpid())


stays: list[str] = []


def leave(note: str) -> None:
    with open(note, "w") as file:
        file.write("Ctrl+Break")
    os._exit(0)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        server = {"name": "stdio_server", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}, "annotations": READS} for name in TOOLS]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments", {}))}]}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}) + "\n")
        sys.stdout.flush()
while stays:  # a server that does not leave when its input ends
    import time

    time.sleep(0.05)
