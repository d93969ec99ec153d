"""One connection to a scripted server, with calls over it as an AI client's session makes them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.heard import Record
from tests.fakes.hub_parts import Client, loaded, opened
from tests.fakes.manual_wheel import ManualWheel
from tests.fakes.scripted_server import ScriptedServer

from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.handshake import DISCOVER_TIMEOUT_S, GreetingPlan
from tooltray.servers.upstream.idle_stop import Usage
from tooltray.servers.upstream.mcp_client import Audience, McpClient


class Relay:
    """A connection to a scripted server, and the tasks that call over it.

    Attributes:
        wheel: the deadlines of the connection; only a test lets them be over.
        said: what the server said outside of calls.
    """

    def __init__(self, server: ScriptedServer, *, wants: Era = Era.MODERN, **audience: Any) -> None:
        self.server = server
        self.keeper, self.wheel = TaskKeeper(), ManualWheel()
        self.said: Record[tuple[str, Any]] = Record()
        self.on_said: Callable[[], None] | None = None
        self.client = McpClient(
            name="s",
            transport=server(name="s"),
            deadlines=self.wheel,  # type: ignore[arg-type]
            plan=GreetingPlan(wants, False, None, DISCOVER_TIMEOUT_S),
            audience=Audience(**audience),
            usage=Usage(),
            on_notification=self._on_notification,
        )

    def _on_notification(self, client: McpClient, method: str, params: Raw) -> None:
        self.said.add((method, loaded(params)))
        if self.on_said:
            self.on_said()

    async def call(self, name: str, caller: Client | None = None, *, timeout_s: float = 60.0, **params: Any) -> Any:
        request = Envelope(method="tools/call", params=dump({"name": name, "arguments": {}, **params}))
        return await self.relay(request, caller, timeout_s=timeout_s)

    async def relay(self, request: Envelope, caller: Client | None = None, *, timeout_s: float = 60.0) -> Any:
        return opened(await self.client.call(exchange_of(request, caller or Client()), timeout_s=timeout_s))

    def calling(self, name: str, caller: Client | None = None, **options: Any) -> "asyncio.Task[Any]":
        return self.keeper.spawn(self.call(name, caller, **options), name=f"call {name}")

    async def close(self) -> None:
        await self.keeper.close()
        await self.client.close("the test is over")


@contextlib.asynccontextmanager
async def connected(server: ScriptedServer, **options: Any) -> AsyncIterator[Relay]:
    """A connection that has been greeted."""
    relay = Relay(server, **options)
    try:
        await relay.client.open(timeout_s=10)
        yield relay
    finally:
        await relay.close()
