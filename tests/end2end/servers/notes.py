"""A legacy server with one tool that writes; what its definition says stands in a file, and is read when the server starts. Test code."""

import json
import sys
from pathlib import Path

DESCRIPTION = Path(sys.argv[1]).read_text()
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


def answer(method, params):
    match method:
        case "initialize":
            info = {"name": "notes", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [{"name": "save_note", "description": DESCRIPTION, "inputSchema": SCHEMA}]}
        case "tools/call":
            return {"content": [{"type": "text", "text": f"saved {params['arguments']['text']}"}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params"))
        outcome = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
