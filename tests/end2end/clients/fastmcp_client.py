"""FastMCP's client: lists the tools of a program and calls some. Runs in FastMCP's own environment. Prints one JSON object.

Usage: fastmcp_client.py CALLS COMMAND [ARG ...]   CALLS: a JSON list of [tool, arguments]
"""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main(calls, command):
    transport = StdioTransport(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(transport) as client:
        tools = await client.list_tools()
        results = []
        for name, arguments in json.loads(calls):
            result = await client.call_tool(name, arguments, raise_on_error=False)
            results.append({"isError": bool(result.is_error), "text": "".join(getattr(part, "text", "") for part in result.content)})
        print(json.dumps({"tools": [tool.name for tool in tools], "results": results}))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
