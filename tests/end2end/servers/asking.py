"""A stdio MCP server that talks while it works. Standard library only; speaks the legacy era.

Tools: `ask` asks its client who it is (an elicitation) and says what was answered; `steps` reports progress three times; `big(n)`: n bytes
of text; `wait` never ends, `waiting` and `cancelled` tell the ids of such calls, and of those that were given up.
"""

import json
import sys

TOOLS = ("ask", "steps", "big", "wait", "waiting", "cancelled")
SCHEMA = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
waiting = []
given_up = []


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(id, text):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "ask":
        send({"id": f"question {id}", "method": "elicitation/create", "params": {"message": "Who are you?", "requestedSchema": SCHEMA}})
        return
    if name == "wait":
        waiting.append(id)
        return
    if name == "steps":
        token = params["_meta"]["progressToken"]
        for step in (1, 2, 3):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 3}})
    answer(id, {"big": "x" * arguments.get("n", 0), "waiting": json.dumps(waiting), "cancelled": json.dumps(given_up)}.get(name, name))


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}
            send({"id": message["id"], "result": {"protocolVersion": params["protocolVersion"], **about}})
        elif method == "tools/list":
            send({"id": message["id"], "result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}})
        elif method == "tools/call":
            call(message["id"], params)
        elif method == "notifications/cancelled":
            given_up.append(params["requestId"])
        elif "id" in message and method:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        elif "id" in message:
            asked = str(message["id"]).removeprefix("question ")
            answer(int(asked) if asked.isdecimal() else asked, json.dumps(message.get("result", message.get("error"))))


main()
