"""A legacy stdio server with the habits a hub must survive; runs as a child process.

Tools: echo, hang, seen (which calls hang, which were cancelled), ask, report, garbage, die.
"""

import json
import sys
from typing import Any

cancelled: list[Any] = []
hanging: list[Any] = []
asking: dict[str, Any] = {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(id: Any, name: str, params: dict[str, Any]) -> None:
    text = params.get("arguments", {}).get("text", "")
    match name:
        case "hang":
            hanging.append(id)
            return
        case "ask":
            asking[f"ask-{id}"] = id
            schema = {"type": "object", "properties": {}}
            send({"id": f"ask-{id}", "method": "elicitation/create", "params": {"message": text, "requestedSchema": schema}})
            return
        case "die":
            sys.exit("out of cheese")
        case "garbage":
            print(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[', flush=True)
            return
        case "report":
            token = params["_meta"]["progressToken"]
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "x": 2}})
        case "seen":
            text = json.dumps({"cancelled": cancelled, "hanging": hanging})
    send({"id": id, "result": {"content": [{"type": "text", "text": text}], "unknown": {"kept": 1}}})


def take(message: dict[str, Any]) -> None:
    method, params = message.get("method"), message.get("params", {})
    match method:
        case "initialize":
            info = {"name": "fake", "version": "1"}
            version = params["protocolVersion"]
            send({"id": message["id"], "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}})
        case "tools/list":
            names = ("echo", "hang", "seen", "ask", "report", "garbage", "die")
            send(
                {
                    "id": message["id"],
                    "result": {"tools": [{"name": name, "inputSchema": {"type": "object"}, "vendor": 1} for name in names]},
                }
            )
        case "tools/call":
            call(message["id"], params["name"], params)
        case "notifications/cancelled":
            cancelled.append(params["requestId"])
        case None:
            answer = message.get("result") or message.get("error")
            send({"id": asking.pop(message["id"]), "result": {"content": [{"type": "text", "text": json.dumps(answer)}]}})
        case _ if "id" in message:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    print("fake server ready", flush=True)  # noise on stdout, as real servers make
    for line in sys.stdin:
        take(json.loads(line))
