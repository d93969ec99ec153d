"""An AI client's end of a session whose presenter is scripted."""

import asyncio
import itertools
from types import TracebackType
from typing import Any

from msgspec import Raw
from tests.fakes.fake_channel import FakeChannel, line
from tests.fakes.fake_core_presenter import FakeCorePresenter
from tests.fakes.kept_log import KeptLog

from tooltray import __version__
from tooltray.carriers.mcp.client_session import ClientSession, SessionTerms
from tooltray.carriers.mcp.request_recorder import Recorder
from tooltray.foundation.events import EventBus, ToolListChanged
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.upstream.handshake import Greeting

PREFIX = "io.modelcontextprotocol/"
META = {
    PREFIX + "protocolVersion": "2026-07-28",
    PREFIX + "clientInfo": {"name": "t", "version": "1"},
    PREFIX + "clientCapabilities": {"elicitation": {"form": {}}},
}
CHANGED = "notifications/tools/list_changed"
SERVER_INFO = {"name": "tooltray", "title": "Tooltray", "version": __version__}
CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
LONG_S = 60.0  # everything that was going to happen has happened


class Conversation:
    """An AI client at one end of a session. Use as a context manager."""

    def __init__(self, *, server: str | None = None, refusal: str = "", held: HeldCalls | None = None, is_lasting: bool = True) -> None:
        self.presenter, self.bus, self.log, self.channel = FakeCorePresenter(), EventBus(), KeptLog(), FakeChannel()
        self.session = ClientSession(
            recorder=Recorder(self.log, "client 1"),  # type: ignore[arg-type]
            terms=SessionTerms(server, refusal, held=held, is_lasting=is_lasting),
            state=SessionState("s1", server),
            presenter=self.presenter,  # type: ignore[arg-type]
            bus=self.bus,
            deadlines=DeadlineWheel(),
        )
        self.session.dispatcher.attach(self.channel)
        self._keeper = TaskKeeper()
        self._ids = itertools.count(100)

    async def __aenter__(self) -> "Conversation":
        self.running = self._keeper.spawn(self.session.run(), name="session")
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.session.dispatcher.connection_lost("the AI client disconnected")
        await self.running
        await self.session.dispatcher.close("the AI client disconnected")

    def send(self, **message: Any) -> None:
        self.session.dispatcher.feed(line(**message))

    async def ask(self, method: str, params: Any = None, **message: Any) -> dict[str, Any]:
        """Sends a request and waits for its reply."""
        id = message.pop("id", next(self._ids))
        self.send(id=id, method=method, **({} if params is None else {"params": params}), **message)
        return await self.channel.reply(id)

    async def result(self, method: str, params: Any = None) -> Any:
        return (await self.ask(method, params))["result"]

    async def error(self, method: str, params: Any = None) -> dict[str, Any]:
        return (await self.ask(method, params))["error"]

    async def greet(self, version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
        info = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}
        result = await self.result("initialize", info)
        self.send(method="notifications/initialized")
        await self.session.dispatcher.idle()  # it is heard behind the handshake
        return result

    def change(self, server: str = "any") -> None:
        self.bus.publish(ToolListChanged(server))

    @property
    def news(self) -> list[Any]:
        """The parameters of every list_changed told so far."""
        return [message.get("params") for message in self.channel.messages if message.get("method") == CHANGED]


async def listen(client: Conversation, id: Any, **kinds: bool) -> dict[str, Any]:
    """Opens a subscription; returns what was acknowledged."""
    count = sum(message.get("method") == "notifications/subscriptions/acknowledged" for message in client.channel.messages)
    client.send(id=id, method="subscriptions/listen", params={"notifications": kinds, "_meta": META})
    return await client.channel.notification("notifications/subscriptions/acknowledged", count=count + 1)


def one_server(client: Conversation) -> None:
    """Lets there be a server `one`, of the legacy era, for sessions that have it alone."""
    client.presenter.servers["one"] = Greeting(
        era=Era.LEGACY,
        version="2025-06-18",
        capabilities={"logging": {}, "tools": {}, "resources": {"x": 1}},
        instructions="Be kind.",
        result=Raw(
            b'{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{},"resources":{"x":1e400}},'
            b'"serverInfo":{"name":"one","version":"9","later":1},"instructions":"Be kind.","later":[1]}'
        ),
    )
    client.presenter.listings["one"] = b'{"tools":[{"name":"its own"}]}'
