"""sse_transport.py, http_transport.py: a server over HTTP+SSE, the transport of 2024-11-05."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientConnectionResetError, web
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_server import EventStream, Hit, HttpServer, aborting, answering, connected, error_of, message_of, result_of, serving
from tests.unit.servers.transports.http.test_http_connections import LetIn

from tooltray.protocol.envelope import NotDelivered
from tooltray.servers.transports.http import bodies, sse_transport
from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import HttpConnection
from tooltray.servers.transports.http.sse_transport import SseTransport
from tooltray.servers.transports.transport import NotAuthorized

HAD_IT = "; it had already received the request, and may have carried it out"


class SseServer(HttpServer):
    """Answers on its stream.

    Attributes:
        endpoint: what its first event names; None: nothing.
    """

    def __init__(self, endpoint: str | None = "/messages?session=7") -> None:
        super().__init__()
        self.endpoint = endpoint
        self.on = {}
        self.on_get = self._listen
        self.is_over = asyncio.Event()
        self.streams: list[EventStream] = []

    async def _listen(self, hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        if self.endpoint is not None:
            await stream.response.write(f"event: endpoint\ndata: {self.endpoint}\n\n".encode())
        self.streams.append(stream)
        async with asyncio.timeout(PATIENCE_S):
            await self.is_over.wait()
        return stream.response

    async def handle(self, request: web.Request) -> web.StreamResponse:
        response = await super().handle(request)
        if request.method == "GET":
            return response
        hit = self.hits.all[-1]
        if response.status == 200 and hit.rpc:
            await self.streams[-1].reply(hit.id, {"echo": hit.message.get("params")})
            return web.Response(status=202)
        return response


async def test_requests_are_posted_where_the_first_event_says_and_answered_on_the_stream() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True, headers={"X-Key": "k"}) as client:
        assert result_of(await client.call("initialize", {"a": 1})) == {"echo": {"a": 1}}
        client.dispatcher.send_notification("notifications/initialized")
        await client.call("tools/list")
        hit = await server.hit("tools/list")
        assert hit.http.path_qs == "/messages?session=7"
        assert (hit.headers["X-Key"], hit.headers["Content-Type"]) == ("k", "application/json")
        assert [each.rpc for each in server.hits.all if each.method == "POST"] == ["initialize", "notifications/initialized", "tools/list"]


async def test_what_the_server_says_and_asks_on_its_stream_is_heard_and_answered() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        await server.streams[0].send({"jsonrpc": "2.0", "method": "notifications/message"})
        await server.streams[0].send({"jsonrpc": "2.0", "id": 5, "method": "ping"})
        assert (await client.told.wait()).method == "notifications/message"
        answer = await server.hits.wait(lambda hit: hit.method == "POST" and not hit.rpc)
        assert answer.message == {"jsonrpc": "2.0", "id": 5, "result": {"answered": "ping"}}


async def test_the_end_of_the_stream_is_the_end_of_the_connection() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        server.on["tools/call"] = answering(202)
        pending = client.start("tools/call")
        await server.hit("tools/call")
        server.is_over.set()
        assert message_of(await client.outcome(pending)) == "server 'far' closed its stream of events" + HAD_IT
        assert client.dispatcher.closed.is_set()


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [("http://elsewhere.invalid/m?key=hidden", "another host, http://elsewhere.invalid/m"), ("http://[", "names no URL")],
)
async def test_an_endpoint_on_another_host_or_none_is_refused(endpoint: str, said: str) -> None:
    async with serving(SseServer(endpoint)) as server, connected(server.url, is_sse=True) as client:
        message = message_of(await client.call("initialize"))
        assert said in message
        assert "hidden" not in message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answering(404), "has no MCP at "),
        (answering(401, "", **{"WWW-Authenticate": "Bearer"}), "wants a sign-in (HTTP 401) (Bearer)"),
        (answering(200, "{}", **{"Content-Type": "text/html"}), "answers with text/html in place of events"),
    ],
)
async def test_a_url_without_events_ends_the_connection_with_the_reason(answer: Any, said: str) -> None:
    async with serving() as server, connected(server.url, is_sse=True) as client:
        server.on_get = answer
        assert said in message_of(await client.call("initialize"))
        assert client.dispatcher.closed.is_set()


async def test_a_server_that_is_not_there_ends_the_connection() -> None:
    async with serving() as server:
        url = server.url
    async with connected(url, is_sse=True) as client:
        assert "cannot be reached: " in message_of(await client.call("initialize"))


async def test_a_request_that_is_refused_gets_an_error_and_the_others_go_on() -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no"}}
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        server.on["tools/call"], server.on["notifications/odd"] = answering(400, error), answering(500)
        assert error_of(await client.call("tools/call")) == {"code": -32602, "message": "no"}
        client.dispatcher.send_notification("notifications/odd")
        await server.hit("notifications/odd")
        assert (await client.call("tools/list")).result


async def test_a_request_whose_post_breaks_gets_an_error() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        server.on["tools/call"] = aborting
        assert "gave no answer" in message_of(await client.call("tools/call"))
        assert not client.dispatcher.closed.is_set()


@pytest.mark.parametrize(("status", "body"), [(404, "Could not find session"), (400, "No transport found for sessionId")])
async def test_calls_of_a_session_that_the_server_has_forgotten_were_not_delivered(status: int, body: str) -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        server.on["tools/call"] = answering(status, body)
        calls = [client.start("tools/call") for _ in range(3)]
        for pending in calls:
            reply = await client.outcome(pending)
            assert isinstance(reply, NotDelivered)
            assert message_of(reply) == "server 'far' has ended the session"
        assert client.dispatcher.closed.is_set()
        assert client.transport.has_expired
        server.is_over.set()


async def test_a_server_that_takes_no_calls_any_more_may_still_answer_those_it_has() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        server.on["tools/call"] = answering(202)
        begun = client.start("tools/call")
        taken = await server.hit("tools/call")
        server.on["tools/call"] = answering(404)
        assert isinstance(await client.call("tools/call"), NotDelivered)
        assert client.dispatcher.closed.is_set()
        assert not begun.reply.done()
        closing = asyncio.ensure_future(client.transport.close())
        await server.streams[0].reply(taken.id, "done")
        assert result_of(await client.outcome(begun)) == "done"
        server.is_over.set()
        await closing


async def test_a_call_that_is_never_answered_ends_a_while_after_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse_transport, "LAST_REPLIES_S", 0.01)
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        server.on["tools/call"], server.on["tools/list"] = answering(202), answering(404)
        begun = client.start("tools/call")
        await server.hit("tools/call")
        assert isinstance(await client.call("tools/list"), NotDelivered)
        reply = await client.outcome(begun)
        assert not isinstance(reply, NotDelivered)
        assert message_of(reply) == "server 'far' has ended the session" + HAD_IT
        server.is_over.set()


async def test_a_call_whose_post_is_on_its_way_when_the_stream_ends_hears_from_its_post(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = asyncio.Event()

    async def call(hit: Hit) -> web.StreamResponse:
        await goes_on.wait()
        return web.Response(status=404 if hit.message["params"]["name"] == "refused" else 202)

    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        server.on["tools/call"], server.on["notifications/initialized"] = call, call_never
        refused, taken = (client.start("tools/call", {"name": name}) for name in ("refused", "taken"))
        await server.hit("tools/call", count=2)
        client.dispatcher.send_notification("notifications/initialized")
        waiting = client.start("tools/call", {"name": "waiting"})
        await server.hit("notifications/initialized")
        server.is_over.set()
        assert isinstance(await client.outcome(waiting), NotDelivered)
        assert not refused.reply.done()
        assert not taken.reply.done()
        goes_on.set()
        assert isinstance(await client.outcome(refused), NotDelivered)
        reply = await client.outcome(taken)
        assert not isinstance(reply, NotDelivered)
        assert message_of(reply) == "server 'far' closed its stream of events" + HAD_IT
        assert len(server.of("tools/call")) == 2


async def test_a_request_that_could_not_be_written_was_not_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        monkeypatch.setattr(bodies.RequestBody, "write", write_nothing)
        reply = await client.call("tools/call")
        assert isinstance(reply, NotDelivered)
        assert "did not accept the request" in message_of(reply)
        assert not client.dispatcher.closed.is_set()
        server.is_over.set()


async def write_nothing(body: object, writer: object) -> None:
    raise ClientConnectionResetError("gone")


async def call_never(hit: Hit) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_stream_that_breaks_ends_the_connection() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        transport = server.hits.all[0].http.transport
        assert transport
        transport.abort()
        async with asyncio.timeout(PATIENCE_S):
            await client.dispatcher.closed.wait()
        assert "the connection broke" in client.dispatcher.closed_because


async def test_closing_before_opening_and_twice_is_nothing() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await client.call("initialize")
        await client.transport.close()
        await client.transport.close()
    connection = HttpConnection(server="far", url=server.url, headers={}, environ={}, trust=tls_context({}))
    await SseTransport(name="far", connection=connection).close()


async def test_a_server_that_takes_no_connections_any_more_ends_the_connection() -> None:
    async with serving(SseServer()) as server, connected(server.url, is_sse=True) as client:
        await server.hit(method="GET")
        await server.stop_listening()
        assert "cannot be reached" in message_of(await client.call("initialize"))
        assert client.dispatcher.closed.is_set()


async def test_a_url_that_was_taken_for_streamable_http_is_reached_over_sse() -> None:
    async with serving(SseServer()) as server, connected(server.url) as client:
        server.on["server/discover"] = answering(405)

        async def initialize(hit: Hit) -> web.StreamResponse:
            return hit.result({}) if hit.http.path == "/messages" else web.Response(status=405)

        server.on["initialize"] = initialize
        await client.call("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
        assert (await client.call("initialize", {"a": 1})).result
        client.dispatcher.send_notification("notifications/initialized")
        assert (await client.call("tools/list")).result
        assert (await server.hit("tools/list")).http.path == "/messages"


@pytest.mark.parametrize("status", [400, 404, 405, 500])
async def test_a_server_that_speaks_neither_keeps_its_error(status: int) -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = answering(status)
        assert f"HTTP {status}" in message_of(await client.call("initialize"))


async def test_events_of_another_kind_are_not_the_older_transport() -> None:
    async def listen(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "method": "notifications/message"})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["initialize"], server.on_get = answering(404), listen
        assert "HTTP 404" in message_of(await client.call("initialize"))


async def test_a_server_that_breaks_while_it_is_asked_for_the_older_transport_keeps_its_error() -> None:
    async def silent(hit: Hit) -> web.StreamResponse:
        return (await hit.stream()).response

    async with serving() as server, connected(server.url) as client:
        for broken in (aborting, silent):
            server.on["initialize"], server.on_get = answering(404), broken
            assert "HTTP 404" in message_of(await client.call("initialize"))


async def test_an_endpoint_is_posted_to_as_it_was_written() -> None:
    endpoint = "/messages?session=a%2Fb%3D%7E"
    async with serving(SseServer(endpoint)) as server, connected(server.url, is_sse=True) as client:
        assert result_of(await client.call("tools/list")) == {"echo": None}
        assert (await server.hit("tools/list")).http.raw_path == endpoint
        server.is_over.set()


async def test_a_user_in_the_endpoint_is_not_ours_and_loses_no_request() -> None:
    server = SseServer()
    async with serving(server):
        server.endpoint = server.url.replace("http://", "http://ann:word@").replace("/mcp", "/messages")
        async with connected(server.url, is_sse=True, authorization=LetIn()) as client:
            assert result_of(await client.call("tools/list")) == {"echo": None}
            assert {hit.headers.get("Authorization") for hit in server.hits.all} == {LetIn.held}
        server.is_over.set()


class BrokenLater(LetIn):
    """Lets the stream in, and nothing after it."""

    asked = 0

    async def header(self) -> str:
        self.asked += 1
        return self.held if self.asked == 1 else str(1 // 0)


class Barred(BrokenLater):
    async def header(self) -> str:
        self.asked += 1
        if self.asked > 1:
            raise NotAuthorized("the sign-in has ended", is_temporary=False)
        return self.held


async def test_a_request_that_only_a_person_can_let_in_says_just_that() -> None:
    server = SseServer()
    async with serving(server), connected(server.url, is_sse=True, authorization=Barred()) as client:
        reply = await client.call("tools/list")
        assert message_of(reply) == "the sign-in has ended"
        assert not isinstance(reply, NotDelivered)
        server.is_over.set()


@pytest.mark.expected_warnings("a request to 'far' failed")
async def test_a_bug_in_what_lets_in_is_logged_and_nobody_waits_for_ever() -> None:
    server = SseServer()
    async with serving(server), connected(server.url, is_sse=True, authorization=BrokenLater()) as client:
        assert "was not reached: an internal error" in message_of(await client.call("tools/list"))
        server.is_over.set()
