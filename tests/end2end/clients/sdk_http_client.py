"""The `mcp` SDK's own client over HTTP: lists the tools of an endpoint, calls some, answers questions. Prints one JSON object.

Usage: sdk_http_client.py MODE URL TOKEN CALLS   MODE: legacy, auto or sse; CALLS: a JSON list of [tool, arguments]
"""

import asyncio
import json
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult


async def main(mode, url, token, calls):
    headers = {"Authorization": f"Bearer {token}"}
    progress = []

    async def answer(context, params):
        return ElicitResult(action="accept", content={"who": mode})

    async def note(done, total, message):
        progress.append([done, total])

    async with httpx2.AsyncClient(headers=headers, timeout=60.0) as http:
        transport = sse_client(url, headers) if mode == "sse" else streamable_http_client(url, http_client=http, max_sse_event_size=None)
        async with Client(transport, mode="legacy" if mode == "sse" else mode, elicitation_callback=answer) as client:
            listed = await client.list_tools()
            results = []
            for name, arguments in json.loads(calls):
                result = await client.call_tool(name, arguments, progress_callback=note)
                text = "".join(getattr(part, "text", "") for part in result.content)
                results.append(text if len(text) < 1000 else len(text))
            era = "modern" if client.session.discover_result else "legacy"
            tools = [tool.name for tool in listed.tools]
    print(json.dumps({"era": era, "tools": tools, "results": results, "progress": progress}))


asyncio.run(main(*sys.argv[1:]))
