"""An MCP server over HTTP, made with the SDK (or FastMCP, which the interpreter then has).

Usage: remote.py KIND [PORT [TOOL...]]
  streamable   both eras, with sessions in the legacy one
  json         the same, answering in JSON
  stateless    without sessions
  sse          the transport of 2024-11-05
  fastmcp      FastMCP's own server
Prints its port when it listens. Tools: echo(text), big(n), steps(n) with progress, ask with a question, and each TOOL, an echo.
"""

import asyncio
import contextlib
import signal
import socket
import sys

import uvicorn
from pydantic import BaseModel

KIND, PORT = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
if KIND == "fastmcp":
    from fastmcp import Context
    from fastmcp import FastMCP as Server
else:
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as Server

server = Server("remote")


class Colour(BaseModel):
    colour: str


@server.tool()
def echo(text: str) -> str:
    return text


for name in sys.argv[3:]:
    server.tool(name=name)(echo)


@server.tool()
def big(n: int) -> str:
    return "x" * n


@server.tool()
async def steps(n: int, ctx: Context) -> str:
    for step in range(n):
        await ctx.report_progress(step + 1, n)
    return "done"


@server.tool()
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Which colour?", Colour)
    return f"{answer.action} {getattr(getattr(answer, 'data', None), 'colour', '')}"


def app():
    match KIND:
        case "fastmcp":
            return server.http_app()
        case "sse":
            return server.sse_app()
        case _:
            return server.streamable_http_app(json_response=KIND == "json", stateless_http=KIND == "stateless")


class Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


async def main() -> None:
    listening = socket.socket(proto=socket.IPPROTO_TCP)  # so that asyncio sends small answers at once
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):  # another one may take over
        listening.setsockopt(socket.SOL_SOCKET, option, 1)
    listening.bind(("127.0.0.1", PORT))
    listening.listen(128)
    serving = Uvicorn(uvicorn.Config(app(), log_level="warning", timeout_graceful_shutdown=0))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, setattr, serving, "should_exit", True)
    print(listening.getsockname()[1], flush=True)
    await serving.serve(sockets=[listening])


asyncio.run(main())
