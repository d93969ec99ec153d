"""An MCP server over HTTP that does what a test tells it to, on a port of its own of the loopback; and a dispatcher connected to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from tests.fakes.heard import PATIENCE_S, Record

from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import NOTHING, Envelope, dump, success
from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import HttpConnection
from tooltray.servers.transports.http.http_transport import HttpTransport
from tooltray.servers.transports.http.sse_transport import SseTransport
from tooltray.servers.transports.transport import Authorization, RefusedRequests

VERSION = "2025-11-25"
SESSION = "session-of-the-test"


@dataclass
class Hit:
    """One HTTP request."""

    http: web.Request
    method: str  # of HTTP
    headers: Mapping[str, str]
    message: Any  # the body
    raw: bytes

    @property
    def rpc(self) -> str:
        """The JSON-RPC method; empty for a reply, and where there is no body."""
        return self.message.get("method", "") if isinstance(self.message, dict) else ""

    @property
    def id(self) -> Any:
        return self.message.get("id")

    def result(self, result: Any, **headers: str) -> web.Response:
        """The reply as JSON."""
        return web.json_response({"jsonrpc": "2.0", "id": self.id, "result": result}, headers=headers)

    async def stream(self, **headers: str) -> "EventStream":
        """The beginning of an answer in events."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **headers})
        await response.prepare(self.http)
        return EventStream(response)


class EventStream:
    def __init__(self, response: web.StreamResponse) -> None:
        self.response = response

    async def send(self, message: Any = None, **fields: Any) -> None:
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines += ["data: " + (json.dumps(message) if message is not None else "")]
        await self.response.write(("\n".join(lines) + "\n\n").encode())

    async def reply(self, id: Any, result: Any, **fields: Any) -> None:
        await self.send({"jsonrpc": "2.0", "id": id, "result": result}, **fields)


Handler = Callable[[Hit], Awaitable[web.StreamResponse]]


class HttpServer:
    """Speaks the legacy era with a session, and echoes what it is asked, unless told otherwise.

    Attributes:
        hits: every request, in its order.
        on: what is done for a JSON-RPC method; "reply" stands for replies to the server.
        on_get, on_delete: what is done for these methods of HTTP.
    """

    def __init__(self) -> None:
        self.hits: Record[Hit] = Record()
        self.on: dict[str, Handler] = {"initialize": _initialize}
        self.on_get: Handler = _not_allowed
        self.on_delete: Handler = _accept
        self.port = 0
        self.scheme = "http"
        self.site: web.TCPSite | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/mcp"

    async def stop_listening(self) -> None:
        """Open connections stay."""
        assert self.site
        await self.site.stop()

    def of(self, rpc: str) -> list[Hit]:
        return [hit for hit in self.hits.all if hit.rpc == rpc]

    async def hit(self, rpc: str = "", *, method: str = "POST", count: int = 1) -> Hit:
        """Waits for a request, for the `count`-th time."""
        return await self.hits.wait(lambda hit: (hit.method, hit.rpc) == (method, rpc), count=count)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        hit = Hit(request, request.method, request.headers, json.loads(raw) if raw else None, raw)
        self.hits.add(hit)
        if request.method == "GET":
            return await self.on_get(hit)
        if request.method == "DELETE":
            return await self.on_delete(hit)
        if handler := self.on.get(hit.rpc or "reply"):
            return await handler(hit)
        return hit.result({"echo": hit.message.get("params")}) if hit.rpc and "id" in hit.message else web.Response(status=202)


async def _initialize(hit: Hit) -> web.StreamResponse:
    return hit.result({"protocolVersion": VERSION, "capabilities": {}}, **{"Mcp-Session-Id": SESSION})


async def _not_allowed(hit: Hit) -> web.StreamResponse:
    return web.Response(status=405)


async def _accept(hit: Hit) -> web.StreamResponse:
    return web.Response(status=200)


def answering(status: int, body: Any = "", **headers: str) -> Handler:
    """A handler that always says the same."""

    async def answer(hit: Hit) -> web.StreamResponse:
        text = body if isinstance(body, str) else json.dumps(body)
        kind = {} if isinstance(body, str) else {"Content-Type": "application/json"}
        return web.Response(status=status, text=text, headers=kind | headers)

    return answer


async def aborting(hit: Hit) -> web.StreamResponse:
    """A handler that breaks the connection off."""
    assert hit.http.transport
    hit.http.transport.abort()
    return web.Response(status=500)  # which nobody sees


async def hang(hit: Hit) -> web.StreamResponse:
    """A handler that answers when nobody waits any more."""
    await asyncio.sleep(PATIENCE_S)
    return web.Response()


def rpc_error(code: int, message: str, id: Any = None, data: Any = None) -> dict[str, Any]:
    """A JSON-RPC error as a body."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id, "error": error}


@asynccontextmanager
async def serving(server: HttpServer | None = None, *, ssl: Any = None, port: int = 0) -> AsyncIterator[HttpServer]:
    """Args:
    port: any free one by default.
    """
    server = server or HttpServer()
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=ssl)
    await site.start()
    server.site = site
    server.port, server.scheme = runner.addresses[0][1], "https" if ssl else "http"
    try:
        yield server
    finally:
        await runner.cleanup()


class Connected:
    """
    Attributes:
        told: the notifications of the server.
        asked: its requests; answered with {"answered": ...}.
    """

    def __init__(self, transport: HttpTransport | SseTransport) -> None:
        self.transport = transport
        self.told: Record[Envelope] = Record()
        self.asked: Record[Envelope] = Record()
        self.dispatcher = RawDispatcher(
            name="server 'far'",
            deadlines=DeadlineWheel(tick_s=0.01),
            answer=self._answer,
            take_notification=self.told.add,
            is_server=True,
            max_line_bytes=MAX_SERVER_LINE_BYTES,
        )

    async def _answer(self, request: Envelope) -> Envelope:
        self.asked.add(request)
        return success({"answered": request.method})

    async def initialize(self) -> Envelope:
        """Opens the legacy session."""
        reply = await self.call("initialize", {"protocolVersion": VERSION})
        self.dispatcher.send_notification("notifications/initialized")
        return reply

    async def call(self, method: str, params: Any = None) -> Envelope:
        return await self.dispatcher.call(method, raw(params))

    def start(self, method: str, params: Any = None) -> Any:
        return self.dispatcher.start_call(method, raw(params))

    async def outcome(self, pending: Any) -> Envelope:
        return await self.dispatcher.calls.outcome(pending)


def raw(value: Any) -> Any:
    return NOTHING if value is None else dump(value)


@asynccontextmanager
async def connected(
    url: str,
    *,
    is_sse: bool = False,
    headers: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    authorization: Authorization | None = None,
    **options: Any,
) -> AsyncIterator[Connected]:
    environ, trust = environ or {}, tls_context(environ or {})
    connection = HttpConnection(server="far", url=url, headers=headers or {}, environ=environ, trust=trust, authorization=authorization)
    options = {"tool_schema": lambda tool: None, "refused": RefusedRequests(), **options}
    made = SseTransport(name="far", connection=connection) if is_sse else HttpTransport(name="far", connection=connection, **options)
    client = Connected(made)
    await made.open(client.dispatcher)
    try:
        yield client
    finally:
        await client.dispatcher.close("the test is over")
        await made.close()


def message_of(reply: Envelope) -> str:
    """What an error says."""
    return str(json.loads(bytes(reply.error))["message"])


def error_of(reply: Envelope) -> Any:
    return json.loads(bytes(reply.error))


def result_of(reply: Envelope) -> Any:
    return json.loads(bytes(reply.result))
