"""One AI client's connection: both eras on one dispatcher.

Above it: sessions. Below it: McpPresenter, which lists and calls. Handshake, discovery, ping and subscriptions are answered here. The era
is told request by request, so a client that tries `server/discover` and then changes its mind is served too.
"""

import asyncio
import contextlib
from typing import Any

import msgspec
from msgspec import Raw

from tooltray import __version__
from tooltray.activity.structured_log import StructuredLog
from tooltray.errors import TooltrayError
from tooltray.events import EventBus, ToolListChanged
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.publish.recorded import Recorder
from tooltray.tasks import TaskKeeper
from tooltray.wire import eras
from tooltray.wire.deadlines import DeadlineWheel
from tooltray.wire.dispatcher import RawDispatcher
from tooltray.wire.envelope import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, dump, failure, success
from tooltray.wire.eras import ClientInfo, Era, Head
from tooltray.wire.framing import MAX_CLIENT_LINE_BYTES
from tooltray.wire.member_scanner import opened
from tooltray.wire.protocol import (
    CAPABILITY_FOR,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    SERVER_INFO_KEY,
    SUBSCRIPTION_ID_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)

SERVER_INFO = {"name": "tooltray", "title": "Tooltray", "version": __version__}
INSTRUCTIONS = "Tools of several MCP servers, published by Tooltray. list_servers and server_status of the built-in hub tell what runs."
TOLD_AFTER_S = 0.05  # several changes of the tool list become one notification
TOLD_AGAIN_AFTER_S = 1.0  # to a client that does not read
OPENING_WAIT_S = 5.0  # for one server's own capabilities; clients give a handshake little more
TOOLS_CHANGED = "notifications/tools/list_changed"
ANSWERED_HERE = frozenset({"ping", "server/discover", "subscriptions/listen"})  # never by a server, also where a session has but one


class ClientSession:
    """Serves until its dispatcher is closed. Satisfies Caller, so that servers can ask its client."""

    def __init__(
        self,
        *,
        name: str,
        server: str | None,
        refusal: str,
        presenter: McpPresenter,
        bus: EventBus,
        deadlines: DeadlineWheel,
        log: StructuredLog,
    ) -> None:
        """
        Args:
            name: for records.
            server: only this server's tools, under their own names.
            refusal: why this client cannot be served; every request is answered with it.
        """
        self.name = name
        self.request_count = 0  # answered
        self._server, self._refusal, self._presenter, self._bus = server, refusal, presenter, bus
        self._capabilities = Raw(b"{}")
        self._client = name
        self._is_initialized = self._has_answered = self._has_news = False
        self._subscriptions: dict[bytes, Raw] = {}
        self._tasks = TaskKeeper()
        self._held = HeldCalls(client=self, deadlines=deadlines, spawn=self._tasks.spawn)
        self._telling: asyncio.TimerHandle | None = None
        self._recorder = Recorder(log, name)
        self.dispatcher = RawDispatcher(
            name=name,
            deadlines=deadlines,
            answer=self._answer,
            take_notification=self._take_notification,
            holds_back=frozenset({"initialize"}),
            stays_open=frozenset({"subscriptions/listen"}),
            max_line_bytes=MAX_CLIENT_LINE_BYTES,
        )

    async def run(self) -> None:
        """Until the client is gone."""
        unsubscribe = self._bus.subscribe(ToolListChanged, self._on_tool_list_changed)
        try:
            await self.dispatcher.closed.wait()
        finally:
            unsubscribe()
            if self._telling:
                self._telling.cancel()
            self._held.close()
            await self._tasks.close()

    # what servers want of the client (Caller)

    @property
    def capabilities(self) -> Raw:
        """What this client declared in its legacy handshake."""
        return self._capabilities

    def can_answer(self, method: str) -> bool:
        return CAPABILITY_FOR[method] in opened(self._capabilities)

    async def ask(self, method: str, params: Raw) -> Envelope:
        return await self.dispatcher.call(method, params)

    def tell(self, method: str, params: Raw) -> None:
        """News for the client; not kept for one that does not read."""
        if not self.dispatcher.is_congested:
            self.dispatcher.send_notification(method, params)

    def tell_server_news(self, method: str, params: Raw) -> None:
        """What the one server of this session says outside of calls, in the legacy way; modern clients ask for it by a subscription."""
        if self._is_initialized and self._has_answered and method != TOOLS_CHANGED:
            self.tell(method, params)

    @property
    def server(self) -> str | None:
        return self._server

    # requests

    async def _answer(self, request: Envelope) -> Envelope:
        recorded = self._recorder.received(request)
        reply = await self._answer_as_asked(request)
        self._recorder.answered(recorded, request, reply)
        self.request_count += 1
        if request.method != "initialize" and not self._has_answered:
            self._has_answered = True
            if self._has_news:
                self._tell_in(TOLD_AFTER_S)
        return reply

    async def _answer_as_asked(self, request: Envelope) -> Envelope:
        if self._refusal:
            return failure(INTERNAL_ERROR, self._refusal)
        head = eras.read_head(request.params)
        if head is None:
            return failure(INVALID_PARAMS, "Invalid request parameters")
        if head.era is Era.MODERN and request.method != "initialize" and (fault := _envelope_fault(head)):
            return fault
        match request.method, head.era:
            case "tools/call", _:
                return await self._presenter.relay_tool_call(request, head, self, self._held, server=self._server, client=self._client)
            case "tools/list", _:
                listing = await self._presenter.list_tools(self._server)
                self._has_news = False  # the client sees it now
                return self._in_era(request, head, listing)
            case "initialize", _:
                return await self._initialize(request)
            case "ping", Era.LEGACY:
                return success({})
            case "server/discover", Era.MODERN:
                return await self._discover(request, head)
            case "subscriptions/listen", Era.MODERN:
                return await self._listen(request)
        if self._server and request.method not in ANSWERED_HERE:
            return await self._presenter.relay(request, head, self, self._held, server=self._server)
        return failure(METHOD_NOT_FOUND, "Method not found", request.method)

    def _in_era(self, request: Envelope, head: Head, result: Raw) -> Envelope:
        return Envelope(result=eras.as_modern_result(request.method, result) if head.era is Era.MODERN else result)

    async def _initialize(self, request: Envelope) -> Envelope:
        try:
            asked = msgspec.json.decode(request.params, type=_Initialize)
        except (ValueError, RecursionError) as error:
            return failure(INVALID_PARAMS, f"Invalid request parameters: {error}")
        self._capabilities = dump(asked.capabilities)
        self._call_client(asked.client_info)
        greeting = await self._greeting(Era.LEGACY)
        version = asked.protocol_version
        return success({"protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1], **greeting})

    def _call_client(self, info: ClientInfo) -> None:
        """From now on records name the client as it names itself."""
        self._client = self._recorder.client = f"{info.name} {info.version}".strip()

    async def _discover(self, request: Envelope, head: Head) -> Envelope:
        self._call_client(eras.read_client_info(request.params))
        greeting = await self._greeting(Era.MODERN)
        meta = {"_meta": {SERVER_INFO_KEY: greeting.pop("serverInfo")}}
        return self._in_era(request, head, dump({"supportedVersions": list(MODERN_VERSIONS), **greeting, **meta}))

    async def _greeting(self, era: Era) -> dict[str, Any]:
        capabilities: dict[str, Any] = {}
        instructions: str | None = INSTRUCTIONS
        if self._server:
            instructions = None
            with contextlib.suppress(TooltrayError):
                client = await self._presenter.open_server(self._server, era, timeout_s=OPENING_WAIT_S)
                capabilities, instructions = client.greeting.capabilities, client.greeting.instructions
        greeting = {"capabilities": {**capabilities, "tools": {"listChanged": True}}, "serverInfo": SERVER_INFO}
        return greeting | ({"instructions": instructions} if instructions else {})

    async def _listen(self, request: Envelope) -> Envelope:
        """One call is one stream of news: acknowledged first, open until the client cancels it or is gone."""
        try:
            wanted = msgspec.json.decode(request.params, type=_Listen).notifications
        except (ValueError, RecursionError) as error:
            return failure(INVALID_PARAMS, f"Invalid request parameters: {error}")
        meta = dump({SUBSCRIPTION_ID_KEY: request.id})
        honored = {"toolsListChanged": True} if wanted.tools_list_changed else {}
        acknowledged = dump({"notifications": honored, "_meta": meta})
        self.dispatcher.send_notification("notifications/subscriptions/acknowledged", acknowledged)
        key = bytes(request.id)
        if honored:
            self._subscriptions[key] = dump({"_meta": meta})
            self._has_answered = True  # the acknowledgement; the request itself stays open
        end: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        try:
            return await end
        finally:
            self._subscriptions.pop(key, None)

    # notifications

    def _take_notification(self, message: Envelope) -> None:
        if message.method == "notifications/initialized":
            self._is_initialized = True

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        if self._server in (None, event.server) and (self._is_initialized or self._subscriptions):
            self._has_news = True
            self._tell_in(TOLD_AFTER_S)

    def _tell_in(self, seconds: float) -> None:
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(seconds, self._tell_tool_list_changed)

    def _tell_tool_list_changed(self) -> None:
        self._telling = None
        if not self._has_news or not self._has_answered:
            return  # a notification before the first reply breaks some clients; the reply brings us back
        if self.dispatcher.is_congested:
            self._tell_in(TOLD_AGAIN_AFTER_S)
            return
        self._has_news = False
        for params in self._subscriptions.values():
            self.dispatcher.send_notification(TOOLS_CHANGED, params)
        if self._is_initialized:
            self.dispatcher.send_notification(TOOLS_CHANGED)


class _Initialize(msgspec.Struct):
    protocol_version: str = msgspec.field(name="protocolVersion")
    capabilities: dict[str, Raw] = {}
    client_info: ClientInfo = msgspec.field(name="clientInfo", default_factory=ClientInfo)


class _Wanted(msgspec.Struct):
    tools_list_changed: bool = msgspec.field(name="toolsListChanged", default=False)


class _Listen(msgspec.Struct):
    notifications: _Wanted


def _envelope_fault(head: Head) -> Envelope | None:
    """What is wrong with a modern request's envelope, as the specification wants it said."""
    capabilities = bytes(head.meta.capabilities)
    if not capabilities:
        return failure(INVALID_PARAMS, "params._meta lacks a part of the envelope of 2026-07-28: protocolVersion or clientCapabilities")
    if not eras.is_version_spoken(head):
        return _version_fault(head.meta.version)
    if not capabilities.startswith(b"{"):
        return failure(INVALID_PARAMS, "the client's capabilities in the envelope must be an object")
    return None


def _version_fault(requested: Raw) -> Envelope:
    if not bytes(requested).startswith(b'"'):
        return failure(INVALID_PARAMS, "the protocol version in the envelope must be a string")
    data = {"supported": list(MODERN_VERSIONS), "requested": requested}
    return failure(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
