"""A small server of three tools that work without anything else. Speaks the legacy era on stdin and stdout."""

import json
import sys

TOOLS = [
    {"name": "add_numbers", "description": "Adds two whole numbers.", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}},
    {
        "name": "count_letters",
        "description": "Says how many letters a text has.",
        "inputSchema": {"type": "object", "properties": {"text": {}}},
    },
    {"name": "reverse_text", "description": "Turns a text round.", "inputSchema": {"type": "object", "properties": {"text": {}}}},
]
WORK = {
    "add_numbers": lambda a, b: a + b,
    "count_letters": lambda text: sum(each.isalpha() for each in text),
    "reverse_text": lambda text: text[::-1],
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "counting", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": str(WORK[params["name"]](**params["arguments"]))}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = message["method"] in ("initialize", "tools/list", "tools/call", "ping")
    outcome = {"result": answer(message["method"], message.get("params"))} if known else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
