"""The `mcp` SDK's own client, which lists again when it is told to: activates a server and calls a tool of it. Prints one JSON object.

Usage: activating_client.py MODE ACTIVATE CALL TOKEN URL | MODE ACTIVATE CALL "" COMMAND [ARG ...]
MODE: legacy or auto; ACTIVATE: the tool that activates; CALL: JSON, [tool, arguments]
"""

import asyncio
import contextlib
import json
import os
import re
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ToolListChangedNotification


@contextlib.asynccontextmanager
async def transport_to(token, target):
    if not token:
        yield StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
        return
    headers = {"Authorization": f"Bearer {token}"}
    if target[0].endswith("/sse"):
        yield sse_client(target[0], headers)
        return
    async with httpx2.AsyncClient(headers=headers, timeout=60.0) as http:
        yield streamable_http_client(target[0], http_client=http, max_sse_event_size=None)


async def main(mode, activate, call, token, target):
    told = asyncio.Event()

    async def note(message):
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async with transport_to(token, target) as transport, Client(transport, mode=mode, message_handler=note) as client:
        is_modern = bool(client.session.discover_result)
        async with client.listen(tools_list_changed=True) if is_modern else contextlib.nullcontext():
            before = [tool.name for tool in (await client.list_tools()).tools]
            answer = (await client.call_tool(activate, {})).content[0].text
            activated = re.findall(r"^([\w.-]+)\(", answer, re.MULTILINE)
            async with asyncio.timeout(20):
                while True:  # what it is told first may be news of something else
                    await told.wait()
                    told.clear()
                    after = [tool.name for tool in (await client.list_tools()).tools]
                    if set(activated) <= set(after):
                        break
            name, arguments = json.loads(call)
            result = await client.call_tool(name, arguments)
            text = "".join(getattr(part, "text", "") for part in result.content)
    era = "modern" if is_modern else "legacy"
    seen = {"era": era, "before": before, "answer": answer, "activated": activated, "after": after}
    print(json.dumps({**seen, "isError": result.is_error, "text": text}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5], sys.argv[5:]))
