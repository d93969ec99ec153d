"""A server that starts only with the word it wants: `moody.py WORD`. Else it complains to standard error and ends, as servers do.

Its tool `token` tells how long the token in its environment is.
"""

import json
import os
import sys

TOOLS = [
    {
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer", "title": "First"}, "b": {"type": "integer", "title": "Second"}},
            "required": ["a", "b"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "delete_file",
        "description": "Deletes a file.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        "annotations": {"destructiveHint": True},
    },
    {"name": "token", "description": "How long it is.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "never_used", "description": "Is never called.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
]


def answer(method, params):
    if method == "initialize":
        info = {"name": "moody", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": said(params["name"], params["arguments"])}]}
    return {}


def said(tool, given):
    match tool:
        case "add":
            return str(given["a"] + given["b"])
        case "token":
            return str(len(os.environ.get("TOKEN", "")))
        case _:
            return f"deleted {given.get('path')}"


def main():
    if sys.argv[1:] != ["please"]:
        print("moody: starting", file=sys.stderr)
        print("ERROR moody: say 'please', not " + repr(sys.argv[1:]), file=sys.stderr)
        return 3
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params"))}
            print(json.dumps(reply), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
