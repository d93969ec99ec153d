"""A server that says for which project it was started. Standard library only.

`where`: its arguments, its folder, and the variable PROJECT, as JSON.
"""

import json
import os
import sys

TOOL = {"name": "where", "description": "Where it works.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def answer(method):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "in-project", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    here = {"args": sys.argv[1:], "cwd": os.getcwd(), "variable": os.environ.get("PROJECT", ""), "pid": os.getpid()}
    return {"content": [{"type": "text", "text": json.dumps(here)}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = message["method"] in ("initialize", "tools/list", "tools/call")
    reply = {"result": answer(message["method"])} if known else {"error": {"code": -32601, "message": "Method not found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
