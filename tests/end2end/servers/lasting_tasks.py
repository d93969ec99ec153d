"""A server whose tasks outlive it: they are kept in a file, and each works until a file beside it is there. Both forms of tasks.

Usage: lasting_tasks.py FILE legacy|modern NAME
Tools, behind the name: work begins a task; ask begins one that asks its client a question before it is done (legacy).
"""

import json
import sys
import threading
import uuid
from pathlib import Path

FILE, ERA, NAME = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
EXTENSION, RELATED = "io.modelcontextprotocol/tasks", "io.modelcontextprotocol/related-task"
TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}} for name in (f"{NAME}_work", f"{NAME}_ask")
]
WHEN = {"createdAt": "2026-11-01T00:00:00Z", "lastUpdatedAt": "2026-11-01T00:00:00Z"}
UNKNOWN = {"code": -32602, "message": "no such task here"}
lock, answers = threading.Lock(), {}


def tasks():
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def note(id, status):
    FILE.write_text(json.dumps({**tasks(), id: status}))


def write(message):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def state(id):
    done = FILE.with_name("done").exists() and tasks()[id] == "working"
    status = "completed" if done else tasks()[id]
    times = {"ttlMs": 600000, "pollIntervalMs": 10} if ERA == "modern" else {"ttl": 600000, "pollInterval": 10}
    return {"taskId": id, "status": status, **WHEN, **times}


def greeting(method):
    if (method == "initialize") != (ERA == "legacy"):
        return None
    tasks_of_legacy = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    if ERA == "legacy":
        info = {"name": "lasting", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "tasks": tasks_of_legacy}, "serverInfo": info}
    return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}}}


def begin(params):
    id = uuid.uuid4().hex
    note(id, "input_required" if params["name"].endswith("_ask") else "working")
    return {"resultType": "task", **state(id)} if ERA == "modern" else {"task": state(id)}


def result(id):
    said = ""
    if tasks()[id] == "input_required":
        asked = {"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}, "_meta": {RELATED: {"taskId": id}}}
        answers[id] = threading.Event()
        write({"id": id, "method": "elicitation/create", "params": asked})
        answers[id].wait(30)
        said = answers[id].action
    note(id, "completed")
    return {"content": [{"type": "text", "text": f"done {said}"}], "_meta": {RELATED: {"taskId": id}}}


def answer(method, params):
    if method in ("initialize", "server/discover"):
        return greeting(method)
    if method == "tools/list":
        return {"tools": TOOLS, **({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if ERA == "modern" else {})}
    if method == "tools/call":
        return begin(params)
    if method == "tasks/list":
        return {"tasks": [state(id) for id in tasks()]}
    if params.get("taskId") not in tasks():
        return UNKNOWN if method.startswith("tasks/") else None
    id = params["taskId"]
    if method == "tasks/cancel":
        note(id, "cancelled")
    return result(id) if method == "tasks/result" else state(id) | ({"resultType": "complete"} if ERA == "modern" else {})


def handle(message):
    found = answer(message["method"], message.get("params", {})) or {"code": -32601, "message": "Method not found"}
    write({"id": message["id"], ("error" if "code" in found else "result"): found})


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        answers[message["id"]].action = message["result"]["action"]
        answers[message["id"]].set()
    elif "id" in message:
        threading.Thread(target=handle, args=(message,), daemon=True).start()
