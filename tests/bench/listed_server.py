"""A stdio MCP server that lists the tools of a real one, from `tests/data/search/tools.json`, and answers each call with `done`.

Usage: listed_server.py NAME
"""

import json
import sys
from pathlib import Path

KNOWN = Path(__file__).parents[1] / "data" / "search" / "tools.json"
TOOLS = [
    {key: value for key, value in each.items() if key != "server"}
    for each in json.loads(KNOWN.read_bytes())
    if each["server"] == sys.argv[1]
]
RESULTS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": sys.argv[1], "version": "1"}},
    "tools/list": {"tools": TOOLS},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": RESULTS.get(asked["method"], {})}), flush=True)
