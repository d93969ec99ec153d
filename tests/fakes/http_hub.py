"""The HTTP endpoints on a loopback port, in front of sessions that a test scripts, and a client that shows the responses as they come."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
from msgspec import Raw
from tests.fakes.heard import PATIENCE_S, Record

from tooltray.carriers.http_server.guard import Guard
from tooltray.carriers.mcp.http_app import HttpApp, McpEndpoints
from tooltray.carriers.mcp.http_sessions import HttpSessions
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import METHOD_NOT_FOUND, Envelope, failure, load, success
from tooltray.protocol.event_stream import Event, EventReader
from tooltray.protocol.in_flight import AnswerOrder

ACCEPT = {"Accept": "application/json, text/event-stream"}
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class ScriptedClients:
    """In the place of the hub's Sessions. What a session answers, by method:

    `echo` its params; `big` a text of `size` letters; `hang` nothing until `go` is set; `tell` its params behind a notification;
    `ask` what the client answers to a question; `fail` an error with the code given; `listen` nothing, but an acknowledgement at once.

    Attributes:
        opened: (server, is_lasting, held) of each session.
        clients: the names of their tokens, in the same order.
        dispatchers: of each, in the same order.
        cancelled: ids of requests that were given up.
        taken: methods of notifications.
        refusals: errors that no session gave, with the id of each message.
    """

    def __init__(self) -> None:
        self.opened: list[tuple[str | None, bool, Any]] = []
        self.clients: list[str] = []
        self.dispatchers: list[RawDispatcher] = []
        self.answering: Record[bytes] = Record()
        self.cancelled: Record[bytes] = Record()
        self.taken: Record[str] = Record()
        self.refusals = list[tuple[bytes, Any]]()
        self.go = asyncio.Event()
        self._deadlines = DeadlineWheel(tick_s=0.01)

    def note_refusal(self, id: Raw, refusal: Envelope) -> None:
        self.refusals.append((bytes(id), load(refusal.error)))

    def open_client(self, server: str | None, *, is_lasting: bool = True, client: str = "", held: Any = None) -> Any:
        self.opened.append((server, is_lasting, held))
        self.clients.append(client)

        async def answer(request: Envelope) -> Envelope:
            return await self._answer(dispatcher, request)

        dispatcher = RawDispatcher(
            name="client",
            deadlines=self._deadlines,
            answer=answer,
            take_notification=lambda message: self.taken.add(message.method),
            order=AnswerOrder(holds_back=frozenset({"initialize"}), stays_open=frozenset({"listen"})),
            max_line_bytes=2**26,
        )
        self.dispatchers.append(dispatcher)
        return SimpleNamespace(dispatcher=dispatcher)

    async def _answer(self, dispatcher: RawDispatcher, request: Envelope) -> Envelope:
        self.answering.add(bytes(request.id))
        params = load(request.params) or {}
        try:
            match request.method:
                case "initialize" if "protocolVersion" in params:
                    dispatcher.takes_batches = params["protocolVersion"] == "2025-03-26"
                    return success({"protocolVersion": params["protocolVersion"]})
                case "echo" | "tools/call":
                    return Envelope(result=request.params)
                case "big":
                    return Envelope(result=Raw(b'{"text":"%b"}' % (b"x" * params["size"])))
                case "hang":
                    await self.go.wait()
                    return success({"went": True})
                case "tell":
                    dispatcher.send_notification("notifications/progress", Raw(b'{"progress":1e400}'), about=request.id)
                    await self.go.wait()
                    return Envelope(result=request.params)
                case "ask":
                    return Envelope(result=(await dispatcher.call("elicitation/create", request.params, about=request.id)).result)
                case "fail":
                    return failure(params["code"], "it failed")
                case "listen":
                    dispatcher.send_notification("notifications/acknowledged", about=request.id)
                    await asyncio.get_running_loop().create_future()
            return failure(METHOD_NOT_FOUND, "Method not found")
        except asyncio.CancelledError:
            self.cancelled.add(bytes(request.id))
            raise


@dataclass
class Answer:
    """A whole response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Event]:
        return list(EventReader().feed(self.body))


class OpenResponse:
    """A response that is read event by event."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response, self._reader = response, EventReader()
        self._events: list[Event] = []

    async def event(self) -> Event:
        """The next one; waits for it."""
        async with asyncio.timeout(PATIENCE_S):
            while not self._events:
                chunk = await self.response.content.readany()
                if not chunk:
                    raise EOFError
                self._events += self._reader.feed(chunk)
        return self._events.pop(0)

    async def message(self) -> Any:
        """The next one with a message in it."""
        while not (event := await self.event()).data:
            pass
        return json.loads(event.data)

    async def end(self) -> None:
        """Waits until nothing more comes."""
        with contextlib.suppress(EOFError):
            while True:
                await self.event()

    def close(self) -> None:
        """Leaves, as a client that is killed does."""
        self.response.close()


@dataclass
class HttpHub:
    """
    Attributes:
        schemas: of tools by name, for `Mcp-Param-*` headers.
    """

    app: HttpApp
    clients: ScriptedClients
    sessions: HttpSessions
    port: int
    http: aiohttp.ClientSession
    schemas: dict[str, Raw] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ask(self, method: str, path: str = "/mcp", **options: Any) -> Answer:
        async with asyncio.timeout(PATIENCE_S), self.http.request(method, self.url + path, **options) as response:
            return Answer(response.status, response.headers, await response.read())

    async def open(self, method: str, path: str = "/mcp", **options: Any) -> OpenResponse:
        """The response as soon as it begins."""
        async with asyncio.timeout(PATIENCE_S):
            return OpenResponse(await self.http.request(method, self.url + path, **options))

    def posting(self, *messages: Any, session: str = "", headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Options for a POST of one message, or of a batch."""
        all_headers = {**ACCEPT, "Content-Type": "application/json", **({"Mcp-Session-Id": session} if session else {}), **(headers or {})}
        content = messages[0] if len(messages) == 1 else list(messages)
        return {"data": json.dumps(content), "headers": all_headers}

    async def post(self, *messages: Any, session: str = "", path: str = "/mcp", headers: Mapping[str, str] | None = None) -> Answer:
        return await self.ask("POST", path, **self.posting(*messages, session=session, headers=headers))

    async def post_open(self, message: Any, *, session: str = "", headers: Mapping[str, str] | None = None) -> OpenResponse:
        return await self.open("POST", **self.posting(message, session=session, headers=headers))

    async def initialize(self, version: str = "2025-11-25", *, path: str = "/mcp", headers: Mapping[str, str] | None = None) -> str:
        """Opens a session; returns its id."""
        answer = await self.post(request("initialize", id=0, protocolVersion=version), path=path, headers=headers)
        assert answer.status == 200, answer.body
        return answer.headers["Mcp-Session-Id"]


def request(method: str, /, *, id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def modern(method: str, /, *, id: Any = 1, meta: Mapping[str, Any] | None = None, **params: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of 2026-07-28 and the headers that go with it."""
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = str(params["name"])
    return request(method, id=id, _meta=MODERN_META if meta is None else meta, **params), headers


@contextlib.asynccontextmanager
async def http_hub(*, tokens: Mapping[str, str] | None = None, **session_options: Any) -> AsyncIterator[HttpHub]:
    """Endpoints on a free port.

    Args:
        tokens: whose token each is; None: none is needed.
        session_options: limits of HttpSessions.
    """
    clients, deadlines, schemas = ScriptedClients(), DeadlineWheel(tick_s=0.01), dict[str, Raw]()
    place = socket.create_server(("127.0.0.1", 0))
    place.setblocking(False)
    port = place.getsockname()[1]
    sessions = HttpSessions(clients, deadlines=deadlines, **session_options)
    keeper = TaskKeeper()
    endpoints = McpEndpoints(
        clients,
        sessions,
        deadlines=deadlines,
        spawn=keeper.spawn,
        tool_schema=lambda name, server: schemas.get(name),
    )
    app = HttpApp(
        guard=Guard(host="127.0.0.1", port=port, requires_token=tokens is not None, owner_of=(tokens or {}).get),
        has_server=lambda name: name in ("files", "a b"),
        endpoints=endpoints,
        note_refusal=clients.note_refusal,
    )
    await app.open(place)
    async with aiohttp.ClientSession() as http:
        hub = HttpHub(app, clients, sessions, port, http, schemas)
        try:
            yield hub
        finally:
            clients.go.set()
            await endpoints.end_of(None, "the test is over", grace_s=0)
            await app.close()
