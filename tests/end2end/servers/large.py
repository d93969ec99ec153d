"""A server whose one tool gives 50 MB of JSON, a row a line, as text and as structured content in one.

Usage: large.py ROWS
"""

import json
import sys

TOOL = {"name": "rows", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["rows"]}}


def text(count):
    rows = ",\n".join(f'{{"n": {number}, "name": "row {number} of ü"}}' for number in range(count))
    return f'{{"rows": [\n{rows}\n]}}'


def answer(method, count):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "large", "version": "1"}}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": text(count)}], "structuredContent": json.loads(text(count))}
    return {"tools": [TOOL]} if method == "tools/list" else {}


def main(count):
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], count)}
            sys.stdout.buffer.write(json.dumps(reply, ensure_ascii=False).encode() + b"\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
