"""The `mcp` SDK at the other end: its server, asked the same as a session of ours, and a way for its client to such a session."""

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import mcp_types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.runner import serve_dual_era_loop
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter
from tests.fakes.conversation import CHANGED, PREFIX, Conversation
from tests.fakes.fake_channel import FakeChannel
from tests.fakes.fake_core_presenter import INSTRUCTIONS
from tests.fakes.heard import Record

from tooltray import __version__
from tooltray.foundation.tasks import TaskKeeper

TOOL = {"name": "echo", "description": "Says it again", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
LISTING = json.dumps({"tools": [TOOL]}).encode()
ROOM = 1000  # messages on their way


async def asked_of_sdk(lines: Sequence[bytes], *, then_change: bool) -> list[dict[str, Any]]:
    """What a server of the SDK says, one request after the other, and behind them to a change of its tools."""
    said: Record[dict[str, Any]] = Record()
    bus = InMemorySubscriptionBus()
    server: Server[Any] = Server(
        "tooltray",
        version=__version__,
        title="Tooltray",
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_list_prompts=_nobody_asks,
        on_list_resources=_nobody_asks,
        on_subscribe_resource=_nobody_asks,
        on_completion=_nobody_asks,
        on_set_logging_level=_nobody_asks,
        on_subscriptions_listen=ListenHandler(bus),
    )
    to_server, server_reads = anyio.create_memory_object_stream[SessionMessage | Exception](ROOM)
    server_writes, from_server = anyio.create_memory_object_stream[SessionMessage](ROOM)

    async def serve() -> None:
        options = server.create_initialization_options(NotificationOptions(True, True, True))
        async with server.lifespan(server) as state:
            await serve_dual_era_loop(server, server_reads, server_writes, lifespan_state=state, init_options=options)

    async def listen() -> None:
        async for message in from_server:
            said.add(message.message.model_dump(by_alias=True, mode="json", exclude_unset=True))

    async with to_server, from_server, anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        tasks.start_soon(listen)
        for line in lines:
            await to_server.send(_message(line))
            await said.wait(lambda message, line=line: _is_answer(message, line))
        if then_change:
            await bus.publish(ToolsListChanged())
            await said.wait(lambda message: message.get("method") == CHANGED)
        tasks.cancel_scope.cancel()
    return said.all


async def asked_of_us(lines: Sequence[bytes], *, then_change: bool) -> list[dict[str, Any]]:
    """The same of a session of ours."""
    async with Conversation() as client:
        client.presenter.listings[None] = LISTING
        for line in lines:
            client.session.dispatcher.feed(line + b"\n")
            await client.channel.lines.wait(lambda said, line=line: _is_answer(json.loads(said), line))
        if then_change:
            client.change()
            await client.channel.notification(CHANGED)
        return client.channel.messages


@contextlib.asynccontextmanager
async def way_to(conversation: Conversation) -> AsyncIterator[Any]:
    """A transport for the SDK's client that leads to a session of ours."""
    to_client, client_reads = anyio.create_memory_object_stream[SessionMessage | Exception](ROOM)
    client_writes, from_client = anyio.create_memory_object_stream[SessionMessage](ROOM)

    class ToClient(FakeChannel):
        def write(self, data: bytes | memoryview) -> None:
            known = len(self.lines.all)
            super().write(data)
            for line in self.lines.all[known:]:
                to_client.send_nowait(_message(line))

    async def carry() -> None:
        async for message in from_client:
            conversation.session.dispatcher.feed(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    conversation.channel = ToClient()
    conversation.session.dispatcher.attach(conversation.channel)
    keeper = TaskKeeper()
    async with to_client, client_reads, client_writes, from_client:
        keeper.spawn(carry(), name="carry")
        try:
            yield client_reads, client_writes
        finally:
            await keeper.close()


async def _nobody_asks(*arguments: Any) -> Any:
    """There so that the server declares it."""
    raise AssertionError("it was asked all the same")


async def _list_tools(context: Any, params: Any) -> mcp_types.ListToolsResult:
    return mcp_types.ListToolsResult.model_validate({"tools": [TOOL], "ttlMs": 0, "cacheScope": "private"})


def _message(line: bytes) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))


def _is_answer(said: dict[str, Any], asked: bytes) -> bool:
    """Whether this answers a request, or acknowledges a subscription."""
    id = json.loads(asked).get("id")
    subscription = said.get("params", {}).get("_meta", {}).get(PREFIX + "subscriptionId")
    return id in (None, said.get("id") if "method" not in said else subscription)
