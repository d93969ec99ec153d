"""A server with an extension of its own, in the legacy era: `extended.py NAME EXTENSION`.

Its one method is named after the extension's last part. It answers with its name, what it was told, and what the hub declared to it; before
that it says so in a notification, and asks the client by a method of the extension.
"""

import json
import sys

NAME, EXTENSION = sys.argv[1:3]
PREFIX = EXTENSION.rpartition("/")[2]
TOOLS = [{"name": "look_at", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]
declared = {}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def greeting(params):
    declared.update(params["capabilities"])
    capabilities = {"tools": {}, "extensions": {EXTENSION: {"of": [NAME]}}, "experimental": {"shared": {NAME: True}}}
    return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": NAME, "version": "1"}}


def work(params):
    send(method=f"notifications/{PREFIX}/working", params={"by": NAME})
    send(id="question", method=f"{PREFIX}/ask", params={"by": NAME})
    while (answer := json.loads(sys.stdin.readline())).get("id") != "question":
        take(answer)  # the hub may list meanwhile
    return {"by": NAME, "told": params, "answer": answer.get("result") or answer["error"]["code"], "declared": declared.get("extensions")}


KNOWN = {"initialize": greeting, "tools/list": lambda params: {"tools": TOOLS}, "ping": lambda params: {}, f"{PREFIX}/work": work}


def take(message):
    if "id" in message and "method" in message:
        handler = KNOWN.get(message["method"])
        outcome = {"result": handler(message.get("params", {}))} if handler else {"error": {"code": -32601, "message": "no"}}
        send(id=message["id"], **outcome)


for line in iter(sys.stdin.readline, ""):
    take(json.loads(line))
