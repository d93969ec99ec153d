"""FastMCP's client over HTTP: lists the tools of an endpoint and calls some. Runs in FastMCP's own environment. Prints one JSON object.

Usage: fastmcp_http_client.py URL TOKEN CALLS   CALLS: a JSON list of [tool, arguments]
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main(url, token, calls):
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {token}"})
    async with Client(transport) as client:
        tools = await client.list_tools()
        results = []
        for name, arguments in json.loads(calls):
            result = await client.call_tool(name, arguments, raise_on_error=False)
            results.append("".join(getattr(part, "text", "") for part in result.content))
        print(json.dumps({"tools": [tool.name for tool in tools], "results": results}))


asyncio.run(main(*sys.argv[1:]))
