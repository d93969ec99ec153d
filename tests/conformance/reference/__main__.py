"""The reference: a server with all that the conformance suite asks for, on the `mcp` SDK.

Usage: python tests/conformance/reference http|stdio [legacy|modern]

`http` takes any free port of 127.0.0.1, prints its URL as one line, and runs until its stdin ends or it is told to end. `stdio` speaks on
stdin and stdout. Both speak both eras, or only the one that is named.
"""

import argparse
import asyncio
import socket
import sys
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import asking_tools  # noqa: F401  (fills the table)
import mcp.types as types
import offers
import peer_tools
import plain_tools
import uvicorn
from event_store import KeptEvents
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from questions import NoAnswer, is_modern
from tool_table import TOOLS, Context

NAME = "conformance-reference"
RETRY_MS = 100  # how soon a client comes back for a closed stream
CLOSING_S = 1  # for streams that clients left open
CACHEABLE = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")


class Reference(Server[Any]):
    """A server that says in both eras that its lists may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *arguments: Any, **named: Any
    ) -> InitializationOptions:
        changes = notification_options or NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(changes, *arguments, **named)


async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> dict[str, Any]:
    """What the suite asks for on the first page, what is only for peers on the second."""
    is_second = offers.is_second_page(params)
    names = [name for name in TOOLS if name.startswith("peer_") is is_second]
    return {"tools": [listed(name) for name in names]} | ({} if is_second else offers.MORE)


def listed(name: str) -> dict[str, Any]:
    tool = TOOLS[name]
    return {"name": name, "description": tool.description, "inputSchema": tool.schema, **peer_tools.LISTED.get(name, {})}


async def call_tool(context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"no tool is called {params.name}")
    return await tool.run(context, params.arguments or {})


async def set_level(context: Context, params: types.SetLevelRequestParams) -> dict[str, Any]:
    """For `peer_levels`; the other tools here write what they write."""
    peer_tools.level = params.level
    return {}


async def subscribe(context: Context, params: types.SubscribeRequestParams) -> dict[str, Any]:
    peer_tools.subscribed.add(str(params.uri))
    return {}


async def unsubscribe(context: Context, params: types.UnsubscribeRequestParams) -> dict[str, Any]:
    peer_tools.subscribed.discard(str(params.uri))
    return {}


def in_its_era(handle: Callable[[Context, Any], Awaitable[dict[str, Any]]]) -> Callable[[Context, Any], Awaitable[Any]]:
    """The handler, which may end with a question, and with the member that every result of the modern era has."""

    async def answer(context: Context, params: Any) -> dict[str, Any]:
        try:
            result = await handle(context, params)
        except NoAnswer as asked:
            result = asked.result
        return {"resultType": "complete", **result} if is_modern(context) else result

    return answer


def only(era: str) -> Callable[[Context, CallNext], Awaitable[Any]]:
    """A middleware that knows nothing of the other era."""

    async def pass_on(context: Context, call_next: CallNext) -> Any:
        if is_modern(context) is (era == "modern"):
            return await call_next(context)
        if era == "modern":
            data = {"supported": list(MODERN_PROTOCOL_VERSIONS)}
            raise MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")

    return pass_on


def make_reference(era: str | None) -> Reference:
    reference = Reference(
        NAME,
        version="1",
        title="The reference",
        instructions="Ask it whatever the protocol knows.",
        cache_hints={method: CacheHint() for method in CACHEABLE},
        get_tool_input_schema=lambda name: TOOLS[name].schema if name in TOOLS else None,
        on_list_tools=in_its_era(list_tools),
        on_call_tool=in_its_era(call_tool),
        on_list_resources=in_its_era(offers.list_resources),
        on_list_resource_templates=in_its_era(offers.list_templates),
        on_read_resource=in_its_era(offers.read_resource),
        on_subscribe_resource=in_its_era(subscribe),
        on_unsubscribe_resource=in_its_era(unsubscribe),
        on_subscriptions_listen=ListenHandler(plain_tools.BUS),
        on_list_prompts=in_its_era(offers.list_prompts),
        on_get_prompt=in_its_era(offers.get_prompt),
        on_completion=in_its_era(offers.complete),
        on_set_logging_level=set_level,
    )
    if era:
        reference.middleware.append(only(era))
    reference.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME))
    return reference


async def serve_stdio(reference: Reference, era: str | None) -> None:
    options = reference.create_initialization_options()
    async with stdio_server() as (reading, writing):
        if era == "legacy":  # a server from before the modern era does not tell eras apart by the first request
            await serve_loop(reference, reading, writing, lifespan_state={}, init_options=options)
        else:
            await reference.run(reading, writing, options)


async def serve_http(reference: Reference, era: str | None) -> None:
    app = reference.streamable_http_app(event_store=KeptEvents(), retry_interval=RETRY_MS)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=CLOSING_S))
        until_stdin_ends = asyncio.create_task(end_with_stdin(server))
        await server.serve([listening])
        until_stdin_ends.cancel()


async def end_with_stdin(server: uvicorn.Server) -> None:
    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    await stdin.read()
    server.should_exit = True


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=("http", "stdio"))
    parser.add_argument("era", nargs="?", choices=("legacy", "modern"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the legacy era's features are what is tested here
    serve = serve_http if options.transport == "http" else serve_stdio
    asyncio.run(serve(make_reference(options.era), options.era))


main()
