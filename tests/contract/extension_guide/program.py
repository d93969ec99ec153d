"""Uses what the guide has added, through a hub: a server of the new type, its tools in the new format, a call that the new rule approves.

Runs in the copy of the product in which the guide was followed. Says on its stdout what it saw, as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.fakes.hub_parts import hub_parts

from tooltray.foundation.errors import TooltrayError

TOOLS = [{"name": "say_it_loudly", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}, {"name": "drop_it"}]


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An MCP server on a socket."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "thing", "version": "1"}}
    while line := await reader.readline():
        message = json.loads(line)
        results = {
            "initialize": lambda message: about,
            "tools/list": lambda message: {"tools": TOOLS},
            "tools/call": lambda message: {"content": [{"type": "text", "text": message["params"]["arguments"]["text"].upper()}]},
        }
        if "id" in message:
            answer = results.get(message["method"])
            reply = {"result": answer(message)} if answer else {"error": {"code": -32601, "message": "Method not found"}}
            writer.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}).encode() + b"\n")
    writer.close()


async def main(folder: Path) -> None:
    socket = str(folder / "thing.sock")
    listening = await asyncio.start_unix_server(serve, socket)
    servers = {
        "thing": {"type": "unix", "socket": socket, "autoApprove": ["ends:loudly"]},
        "gone": {"type": "unix", "socket": socket + "2"},
        "empty": {"type": "unix"},
    }
    async with listening, hub_parts(folder, servers=servers) as hub:
        presenter, seen = hub.presenter, {}
        await presenter.start_server("thing")
        for name in ("gone", "empty"):
            try:
                await presenter.start_server(name)
            except TooltrayError as error:
                seen[name] = error.problem.message
        seen["tools"] = tools = await presenter.mcp_tools_to_plain_tools("thing")
        call = await presenter.plain_call_to_mcp_tool({"tool": tools[1]["tool"], "with": '{"text": "hello"}'})
        seen["call"] = [call.name, call.arguments]
        seen["response"] = await presenter.mcp_response_to_plain(await presenter.run_tool_call(call))
        seen["approved"] = {each.name: each.is_approved for each in await presenter.get_tools("thing")}
        seen["notices"] = [notice.title for notice in (await presenter.get_snapshot()).notices]
        seen["targets"] = {each.name: [each.transport, each.target] for each in (await presenter.get_snapshot()).servers}
    print(json.dumps(seen))


asyncio.run(main(Path(sys.argv[1])))
