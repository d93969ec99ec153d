"""upstream_session.py, http_exchange.py: the end of a session over streamable HTTP, and the requests that are under way then."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_server import (
    SESSION,
    VERSION,
    Hit,
    aborting,
    answering,
    connected,
    error_of,
    hang,
    message_of,
    result_of,
    rpc_error,
    serving,
)

from tooltray.protocol.envelope import NOT_DELIVERED, NotDelivered
from tooltray.servers.transports.http import http_transport
from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import HttpConnection
from tooltray.servers.transports.http.http_transport import HttpTransport
from tooltray.servers.transports.transport import RefusedRequests

HAD_IT = "; it had already received the request, and may have carried it out"


# the session's end


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, ""),
        (404, rpc_error(-32600, "Session not found", "server-error")),
        (400, rpc_error(-32000, "Bad Request: No valid session ID provided")),
        (400, rpc_error(-32000, "Bad Request: Server not initialized")),
        (400, "Invalid or missing session ID"),
    ],
)
async def test_a_request_of_a_session_that_has_ended_was_not_delivered_and_the_connection_is_lost(status: int, body: Any) -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["tools/call"] = answering(status, body)
        assert await client.call("tools/call") is NOT_DELIVERED
        assert "the server has ended the session" in client.dispatcher.closed_because
        assert client.transport.has_expired
    assert not [hit for hit in server.hits.all if hit.method == "DELETE"]


async def test_an_unknown_method_of_a_session_is_no_end_of_the_session() -> None:
    async def unknown(hit: Hit) -> web.StreamResponse:
        return web.json_response(rpc_error(-32601, "Method not found in this session", hit.id), status=404)

    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["odd/method"] = unknown
        assert error_of(await client.call("odd/method"))["code"] == -32601
        assert not client.dispatcher.closed.is_set()


@pytest.mark.parametrize("status", [400, 404])
async def test_a_request_that_two_sessions_refuse_gets_the_error_of_the_second(status: int) -> None:
    async def greet(hit: Hit) -> web.StreamResponse:
        return hit.result({"protocolVersion": VERSION, "capabilities": {}}, **{"Mcp-Session-Id": "the next one"})

    refused = RefusedRequests()
    async with serving() as server:
        server.on["tools/call"] = answering(status, rpc_error(-32602, "no session for bad arguments"))
        async with connected(server.url, refused=refused) as client:
            await client.initialize()
            assert await client.call("tools/call") is NOT_DELIVERED
        server.on["initialize"] = greet
        async with connected(server.url, refused=refused) as client:
            await client.initialize()
            assert error_of(await client.call("tools/call"))["code"] == -32602
            assert not client.dispatcher.is_closed


@pytest.mark.parametrize(("status", "body"), [(400, ""), (405, ""), (409, "come again"), (422, {"detail": "x"})])
async def test_a_refusal_without_a_reason_ends_a_session_of_which_a_ping_is_refused_too(status: int, body: Any) -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["tools/call"] = server.on["ping"] = answering(status, body)
        assert await client.call("tools/call") is NOT_DELIVERED
        assert client.transport.has_expired
        assert (await server.hit("ping")).headers["Mcp-Session-Id"] == SESSION


@pytest.mark.parametrize("ping", [answering(200, {}), answering(500), aborting, answering(429)])
async def test_a_refusal_without_a_reason_is_that_call_s_error_where_a_ping_shows_no_end_of_the_session(ping: Any) -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["tools/call"], server.on["ping"] = answering(400, rpc_error(-32602, "bad arguments")), ping
        assert error_of(await client.call("tools/call"))["code"] == -32602
        assert not client.dispatcher.closed.is_set()


async def test_a_bad_request_that_answers_the_request_itself_is_that_call_s_error_alone() -> None:
    async def refuse(hit: Hit) -> web.StreamResponse:
        return web.json_response(rpc_error(-32602, "bad arguments", hit.id), status=400)

    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["tools/call"] = refuse
        assert error_of(await client.call("tools/call"))["code"] == -32602
        assert not client.dispatcher.closed.is_set()


async def test_an_initialize_reply_that_cannot_be_read_opens_no_session() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = answering(200, '{"id": 1, "result": ', **{"Content-Type": "application/json"})
        assert message_of(await client.call("initialize"))
        await client.call("tools/list")
        assert "Mcp-Session-Id" not in (await server.hit("tools/list")).headers


async def test_an_initialize_that_is_refused_opens_no_session() -> None:
    async def refuse(hit: Hit) -> web.StreamResponse:
        return web.json_response(rpc_error(-32602, "no", hit.id), headers={"Mcp-Session-Id": "none"})

    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = refuse
        assert error_of(await client.call("initialize"))["code"] == -32602
        assert {hit.method for hit in server.hits.all} == {"POST"}
        await client.call("tools/list")
        assert "Mcp-Session-Id" not in (await server.hit("tools/list")).headers


async def test_a_notification_whose_post_breaks_harms_nothing() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["notifications/initialized"] = aborting
        await client.initialize()
        assert (await client.call("tools/list")).result


async def test_a_notification_to_a_server_that_has_gone_ends_the_connection() -> None:
    async with serving() as server:
        scope = connected(server.url)
        client = await scope.__aenter__()
        await client.initialize()
        await client.call("tools/list")
    client.dispatcher.send_notification("notifications/count")
    async with asyncio.timeout(PATIENCE_S):
        await client.dispatcher.closed.wait()
    assert "cannot be reached" in client.dispatcher.closed_because
    await scope.__aexit__(None, None, None)


async def test_closing_before_opening_and_twice_is_nothing() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        await client.transport.close()
        await client.transport.close()
    connection = HttpConnection(server="far", url=server.url, headers={}, environ={}, trust=tls_context({}))
    transport = HttpTransport(name="far", connection=connection, tool_schema=lambda tool: None, refused=RefusedRequests())
    assert not transport.has_expired
    await transport.close()


async def test_a_session_that_has_ended_is_noticed_by_a_notification_too() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["notifications/count"] = answering(404, rpc_error(-32001, "Session not found"))
        client.dispatcher.send_notification("notifications/count")
        async with asyncio.timeout(PATIENCE_S):
            await client.dispatcher.closed.wait()
        assert client.transport.has_expired


async def test_the_session_is_ended_when_the_connection_is_closed() -> None:
    async with serving() as server:
        async with connected(server.url) as client:
            await client.initialize()
            await client.call("tools/list")
        hit = server.hits.all[-1]
        assert (hit.method, hit.headers["Mcp-Session-Id"], hit.headers["MCP-Protocol-Version"]) == ("DELETE", SESSION, VERSION)


async def test_a_server_that_does_not_answer_the_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.servers.transports.http.http_transport.SESSION_END_TIMEOUT_S", 0.01)

    async def never(hit: Hit) -> web.StreamResponse:
        await asyncio.sleep(PATIENCE_S)
        return web.Response()

    async with serving() as server:
        server.on_delete = never
        async with connected(server.url) as client:
            await client.initialize()
            await client.call("tools/list")


# requests under way when the session is found gone


async def test_calls_that_the_next_server_did_not_take_are_all_to_be_sent_again() -> None:
    all_are_there = asyncio.Event()

    async def call(hit: Hit) -> web.StreamResponse:
        if len(server.of("tools/call")) == 3:
            all_are_there.set()
        await all_are_there.wait()
        return web.Response(status=404)

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        calls = [client.start("tools/call", {"name": str(n)}) for n in range(3)]
        await server.hit("tools/call", count=3)
        await client.transport.close()
        assert [await client.outcome(pending) is NOT_DELIVERED for pending in calls] == [True, True, True]


async def test_a_call_hears_from_its_server_itself_when_the_standing_stream_finds_the_session_gone() -> None:
    goes_on = asyncio.Event()

    async def listen(hit: Hit) -> web.StreamResponse:
        server.on_get = answering(404)
        stream = await hit.stream()
        await server.hit("tools/call", count=2)
        await stream.send(id="1", retry=1)
        return stream.response

    async def call(hit: Hit) -> web.StreamResponse:
        await goes_on.wait()
        if hit.message["params"]["name"] == "refused":
            return web.Response(status=404)
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage", "params": {}})
        await stream.reply(hit.id, "done")
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"], server.on_get = call, listen
        await client.initialize()
        refused, answered = (client.start("tools/call", {"name": name}) for name in ("refused", "answered"))
        async with asyncio.timeout(PATIENCE_S):
            await client.dispatcher.closed.wait()
        assert not refused.reply.done()
        assert not answered.reply.done()
        goes_on.set()
        await client.transport.close()
        assert await client.outcome(refused) is NOT_DELIVERED
        assert result_of(await client.outcome(answered)) == "done"
        assert client.asked.all == []


async def test_a_call_that_is_never_answered_ends_with_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "LAST_REPLIES_S", 0.01)
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = hang
        server.on["tools/list"] = answering(404)
        await client.initialize()
        pending = client.start("tools/call")
        await server.hit("tools/call")
        assert await client.call("tools/list") is NOT_DELIVERED
        assert not pending.reply.done()
        await client.transport.close()
        assert message_of(await client.outcome(pending)) == "server 'far': the server has ended the session" + HAD_IT


async def test_a_call_that_waits_for_its_turn_when_the_session_ends_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "LAST_REPLIES_S", 0.01)
    async with serving() as server, connected(server.url) as client:
        server.on["notifications/initialized"] = hang
        await client.initialize()
        pending = client.start("tools/call")
        await server.hit("notifications/initialized")
        client.dispatcher.connection_lost("the session is over", requests_stay=True)
        await client.transport.close()
        reply = await client.outcome(pending)
        assert isinstance(reply, NotDelivered)
        assert message_of(reply) == "the session is over"
        assert server.of("tools/call") == []


async def test_what_is_left_of_an_answer_is_asked_for_in_the_session_that_it_began_in() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send(id="1", retry=1)
        server.on["tools/list"] = answering(404)
        client.start("tools/list")
        async with asyncio.timeout(PATIENCE_S):
            await client.dispatcher.closed.wait()
        return stream.response

    async def rest(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.reply(server.of("tools/call")[0].id, "the rest")
        return stream.response

    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        await server.hit(method="GET")
        server.on["tools/call"], server.on_get = call, rest
        assert result_of(await client.call("tools/call")) == "the rest"
        assert (await server.hit(method="GET", count=2)).headers["Mcp-Session-Id"] == SESSION
