"""The `mcp` SDK's own client over HTTP, which works in a folder and says so when it is asked: calls tools that it finds in time.

Usage: sdk_roots_client.py MODE URL TOKEN FOLDER CALLS   MODE: legacy or auto; TOKEN: may be empty; CALLS: a JSON list of [tool, arguments].
The first tool is one that all clients have; the others are waited for until the list has them. Answers other questions too. Prints one JSON
object: the era, how often it was asked for its roots, the results.
"""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

NEWS_WITHIN_S = 60.0


async def main(mode, url, token, folder, calls):
    asked, news, results = [], asyncio.Event(), []

    async def roots(context):
        asked.append(folder)
        return ListRootsResult(roots=[Root(uri=Path(folder).as_uri())])

    async def elicit(context, params):
        return ElicitResult(action="accept", content={"name": mode})

    async def sample(context, params):
        return CreateMessageResult(role="assistant", model="none", content=TextContent(type="text", text=mode))

    async def hear(message):
        news.set()

    async def heed(subscription):
        async for _ in subscription:
            news.set()

    async def call(client, name, arguments):
        result = await client.call_tool(name, arguments)
        results.append("".join(getattr(part, "text", "") for part in result.content))

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60.0) as http, contextlib.AsyncExitStack() as stack:
        transport = streamable_http_client(url, http_client=http)
        answers = {"list_roots_callback": roots, "elicitation_callback": elicit, "sampling_callback": sample}
        client = await stack.enter_async_context(Client(transport, mode=mode, message_handler=hear, **answers))
        is_modern = client.session.discover_result is not None
        if is_modern:
            group = await stack.enter_async_context(asyncio.TaskGroup())
            listening = group.create_task(heed(await stack.enter_async_context(client.listen(tools_list_changed=True))))
        await client.list_tools()
        first, *others = json.loads(calls)
        await call(client, *first)
        for name, arguments in others:
            async with asyncio.timeout(NEWS_WITHIN_S):
                news.clear()
                while name not in {tool.name for tool in (await client.list_tools()).tools}:
                    await news.wait()
                    news.clear()
            await call(client, name, arguments)
        if is_modern:
            listening.cancel()
    print(json.dumps({"era": "modern" if is_modern else "legacy", "asked": len(asked), "results": results}))


asyncio.run(main(*sys.argv[1:]))
