"""A stdio MCP server with one tool. Standard library only.

Usage: small_server.py TOOL [--token]
  TOOL      its name; it says "TOOL was called"
  --token   ends at once unless the variable NOTES_TOKEN has the value that the tests give
"""

import json
import os
import sys

TOKEN = "sk-dummy-7Qx4mZpVr2TnKb9sLw3eHf6u"


def result_of(method: str, tool: str) -> dict[str, object] | None:
    match method:
        case "initialize":
            about = {"name": tool, "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            about = {"description": f"The tool {tool}.", "inputSchema": {"type": "object", "properties": {}}}
            return {"tools": [{"name": tool, **about, "annotations": {"readOnlyHint": True}}]}  # a new server's others ask first
        case "tools/call":
            return {"content": [{"type": "text", "text": f"{tool} was called"}]}
        case "ping":
            return {}
        case _:
            return None


def serve(tool: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = result_of(message["method"], tool)
        reply = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


if __name__ == "__main__":
    if "--token" in sys.argv and os.environ.get("NOTES_TOKEN") != TOKEN:
        sys.exit("NOTES_TOKEN is not what it should be")
    serve(sys.argv[1])
