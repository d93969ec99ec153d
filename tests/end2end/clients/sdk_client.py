"""The `mcp` SDK's own client, in the era it is told: lists the tools of a program and calls some. Prints one JSON object.

Usage: sdk_client.py MODE CALLS COMMAND [ARG ...]   MODE: legacy, auto or a modern version; CALLS: a JSON list of [tool, arguments]
"""

import asyncio
import json
import os
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters


async def main(mode, calls, command):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        listed = await client.list_tools()
        results = []
        for name, arguments in json.loads(calls):
            result = await client.call_tool(name, arguments)
            results.append({"isError": bool(result.is_error), "text": "".join(getattr(part, "text", "") for part in result.content)})
        era = "modern" if client.session.discover_result else "legacy"
        print(json.dumps({"era": era, "tools": [tool.name for tool in listed.tools], "next": listed.next_cursor, "results": results}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
