"""A server over streamable HTTP: what is sent, what is understood, and what becomes of a request that gets no reply."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from msgspec import Raw
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_server import (
    SESSION,
    VERSION,
    Hit,
    HttpServer,
    aborting,
    answering,
    connected,
    error_of,
    message_of,
    result_of,
    serving,
)

from tooltray.servers.http import http_connections, http_failures, http_transport
from tooltray.servers.http.http_connections import HttpConnection
from tooltray.servers.http.http_transport import HttpTransport
from tooltray.servers.http.trust import tls_context
from tooltray.wire.envelope import NOT_DELIVERED, NotDelivered
from tooltray.wire.protocol import PROTOCOL_VERSION_KEY

MODERN = "2026-07-28"
META = {PROTOCOL_VERSION_KEY: MODERN}
HAD_IT = "; it had the request by then, and may have done what was asked"


def rpc_error(code: int, message: str, id: Any = None, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id, "error": error}


# what is sent


async def test_a_request_is_posted_and_its_json_reply_is_handed_on_unchanged() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        return web.Response(
            text=f'{{"jsonrpc":"2.0","id":{hit.id},\n  "result": {{"number": 0.1000000000000000055, "unknown": [1e400]}}}}',
            content_type="application/json",
        )

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        reply = await client.call("tools/call", {"name": "a"})
        assert b"0.1000000000000000055" in bytes(reply.result)
        assert b"\n" not in bytes(reply.result)
        hit = await server.hit("tools/call")
        assert hit.headers["Accept"] == "application/json, text/event-stream"
        assert hit.headers["Content-Type"] == "application/json"
        assert hit.headers["Accept-Encoding"] == "identity"
        assert hit.message["params"] == {"name": "a"}


async def test_session_and_version_of_the_initialize_reply_are_sent_from_then_on() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        await client.call("tools/list")
        first, initialized = await server.hit("initialize"), await server.hit("notifications/initialized")
        listing = await server.hit("tools/list")
        assert "Mcp-Session-Id" not in first.headers
        assert "MCP-Protocol-Version" not in first.headers
        for hit in (initialized, listing):
            assert (hit.headers["Mcp-Session-Id"], hit.headers["MCP-Protocol-Version"]) == (SESSION, VERSION)


async def test_session_and_version_are_found_in_an_initialize_reply_that_comes_as_events() -> None:
    async def initialize(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream(**{"Mcp-Session-Id": "other"})
        await stream.reply(hit.id, {"protocolVersion": "2025-06-18", "capabilities": {}})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = initialize
        await client.initialize()
        await client.call("tools/list")
        hit = await server.hit("tools/list")
        assert (hit.headers["Mcp-Session-Id"], hit.headers["MCP-Protocol-Version"]) == ("other", "2025-06-18")


async def test_own_headers_go_along_but_never_replace_those_of_the_protocol() -> None:
    own = {"Authorization": "Bearer key", "accept": "text/html", "user-agent": "mine"}
    async with serving() as server, connected(server.url, headers=own) as client:
        await client.initialize()
        hit = await server.hit("initialize")
        assert hit.headers["Authorization"] == "Bearer key"
        assert hit.headers["Accept"] == "application/json, text/event-stream"
        assert hit.headers["User-Agent"] == "mine"


async def test_nothing_leaves_before_the_server_has_taken_that_the_session_is_open() -> None:
    is_taken = asyncio.Event()

    async def initialized(hit: Hit) -> web.StreamResponse:
        await is_taken.wait()
        return web.Response(status=202)

    async with serving() as server, connected(server.url) as client:
        server.on["notifications/initialized"] = initialized
        await client.initialize()
        pending = client.start("tools/list")
        await server.hit("notifications/initialized")
        assert not server.of("tools/list")
        is_taken.set()
        assert (await client.outcome(pending)).result


async def test_notifications_arrive_in_their_order() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        for number in range(20):
            client.dispatcher.send_notification("notifications/count", Raw(b'{"number":%d}' % number))
        await server.hit("notifications/count", count=20)
        assert [hit.message["params"]["number"] for hit in server.of("notifications/count")] == list(range(20))


async def test_cookies_are_kept_for_the_connection() -> None:
    async def initialize(hit: Hit) -> web.StreamResponse:
        response = hit.result({"protocolVersion": VERSION, "capabilities": {}})
        response.set_cookie("node", "seven")
        return response

    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = initialize
        await client.initialize()
        assert (await server.hit("notifications/initialized")).headers["Cookie"] == "node=seven"


async def test_a_large_request_arrives_whole() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        text = "x" * 3_000_000
        assert result_of(await client.call("tools/call", {"text": text})) == {"echo": {"text": text}}


# what comes back


async def test_progress_and_questions_on_a_reply_s_stream_are_heard_before_the_reply() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
        await stream.send({"jsonrpc": "2.0", "id": "q1", "method": "roots/list"})
        answered = {"jsonrpc": "2.0", "id": "q1", "result": {"answered": "roots/list"}}
        await server.hits.wait(lambda each: each.message == answered)
        await stream.reply(hit.id, {"ok": True})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert result_of(await client.call("tools/call")) == {"ok": True}
        assert [each.method for each in client.told.all] == ["notifications/progress"]
        answer = next(hit for hit in server.hits.all if not hit.rpc)
        assert answer.headers["Mcp-Session-Id"] == SESSION


async def test_a_result_of_20_mb_in_one_event_arrives_whole() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.reply(hit.id, {"text": "y" * 20_000_000})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        reply = await client.call("tools/call")
        assert len(reply.result) == 20_000_000 + len('{"text": ""}')


async def test_a_stream_that_the_server_keeps_open_after_the_reply_is_let_go() -> None:
    is_let_go = asyncio.Event()

    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.reply(hit.id, {})
        try:
            await asyncio.sleep(PATIENCE_S)
        finally:
            is_let_go.set()
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert (await client.call("tools/call")).result
        async with asyncio.timeout(PATIENCE_S):
            await is_let_go.wait()


@pytest.mark.parametrize("status", [400, 404, 405, 406, 422, 500])
@pytest.mark.parametrize("body", ["<html>no</html>", "", {"error": "odd"}, "not json {"])
async def test_however_a_legacy_server_refuses_an_unknown_request_the_call_gets_an_error(status: int, body: Any) -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["server/discover"] = answering(status, body)
        reply = await client.call("server/discover", {"_meta": META})
        assert f"HTTP {status}" in message_of(reply)
        assert result_of(await client.initialize())["protocolVersion"] == VERSION
        assert "MCP-Protocol-Version" not in (await server.hit("initialize")).headers


async def test_html_with_status_200_is_an_error_of_the_call() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(200, "<html></html>", **{"Content-Type": "text/html"})
        await client.initialize()
        assert "answered with text/html in place of JSON" in message_of(await client.call("tools/call"))


@pytest.mark.parametrize("status", [200, 400, 404, 500])
@pytest.mark.parametrize("id", [None, "server-error", "own"])
async def test_a_json_rpc_error_is_the_call_s_reply_unchanged_whatever_the_status_and_its_id(status: int, id: Any) -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        body = rpc_error(-32022, "Unsupported", hit.id if id == "own" else id, {"supported": ["2025-11-25"]})
        return web.json_response(body, status=status)

    async with serving() as server, connected(server.url) as client:
        server.on["server/discover"] = call
        reply = await client.call("server/discover", {"_meta": META})
        assert error_of(reply) == {"code": -32022, "message": "Unsupported", "data": {"supported": ["2025-11-25"]}}


async def test_a_server_error_shows_its_status_and_the_beginning_of_its_text() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(503, "overloaded\n" + "z" * 300)
        await client.initialize()
        message = message_of(await client.call("tools/call"))
        assert "HTTP 503 Service Unavailable: overloaded zzz" in message
        assert message.count("z") < 200


async def test_too_many_requests_says_when_to_try_again() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(429, "slow down", **{"Retry-After": "70"})
        await client.initialize()
        assert "HTTP 429, try again after 70 s): slow down" in message_of(await client.call("tools/call"))


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_says_when_to_come_again_soon_is_asked_again(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_failures, "SHORTEST_RETRY_AFTER_S", 0.01)

    async def call(hit: Hit) -> web.StreamResponse:
        is_ready = len(server.of("tools/call")) == 3
        return hit.result("done") if is_ready else web.Response(status=status, headers={"Retry-After": "0"})

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert result_of(await client.call("tools/call")) == "done"


async def test_a_server_that_puts_off_again_and_again_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_failures, "SHORTEST_RETRY_AFTER_S", 0.01)
    monkeypatch.setattr(http_connections, "LONGEST_RETRY_AFTER_S", 0.025)
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(503, "deploying", **{"Retry-After": "0"})
        await client.initialize()
        assert "HTTP 503 Service Unavailable: deploying" in message_of(await client.call("tools/call"))
        assert len(server.of("tools/call")) == 3


async def test_a_sign_in_that_is_wanted_is_said_with_what_the_server_asks_for() -> None:
    async with serving() as server, connected(server.url) as client:
        challenge = 'Bearer resource_metadata="https://x/y"'
        server.on["initialize"] = answering(401, {"error": "invalid_token"}, **{"WWW-Authenticate": challenge})
        message = message_of(await client.call("initialize"))
        assert "wants a sign-in (HTTP 401)" in message
        assert challenge in message


async def test_access_that_is_refused_is_said() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = answering(403)
        assert "refuses access (HTTP 403)" in message_of(await client.call("initialize"))


async def test_a_request_that_is_only_accepted_gets_an_error() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(202)
        await client.initialize()
        assert "HTTP 202" in message_of(await client.call("tools/call"))


async def test_a_notification_that_is_refused_harms_nothing() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["notifications/initialized"] = answering(500)
        await client.initialize()
        assert (await client.call("tools/list")).result


# the session's end


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, ""),
        (404, rpc_error(-32600, "Session not found", "server-error")),
        (400, rpc_error(-32000, "Bad Request: No valid session ID provided")),
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


async def test_a_bad_request_that_is_not_about_the_session_is_that_call_s_error_alone() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        server.on["tools/call"] = answering(400, rpc_error(-32602, "bad arguments"))
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
    assert "is out of reach" in client.dispatcher.closed_because
    await scope.__aexit__(None, None, None)


async def test_closing_before_opening_and_twice_is_nothing() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        await client.transport.close()
        await client.transport.close()
    connection = HttpConnection(server="far", url=server.url, headers={}, environ={}, trust=tls_context({}))
    transport = HttpTransport(name="far", connection=connection)
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
    monkeypatch.setattr("tooltray.servers.http.http_transport.GOODBYE_TIMEOUT_S", 0.01)

    async def never(hit: Hit) -> web.StreamResponse:
        await asyncio.sleep(PATIENCE_S)
        return web.Response()

    async with serving() as server:
        server.on_delete = never
        async with connected(server.url) as client:
            await client.initialize()
            await client.call("tools/list")


# the standing stream


async def test_what_belongs_to_no_request_is_heard_on_the_standing_stream() -> None:
    async def listen(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        await asyncio.sleep(PATIENCE_S)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on_get = listen
        await client.initialize()
        assert (await client.told.wait()).method == "notifications/tools/list_changed"
        hit = await server.hit(method="GET")
        assert (hit.headers["Accept"], hit.headers["Mcp-Session-Id"]) == ("text/event-stream", SESSION)


async def test_a_server_without_a_standing_stream_is_asked_for_it_once() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        await server.hit(method="GET")
        await client.call("tools/list")
        assert not client.dispatcher.closed.is_set()
        assert sum(hit.method == "GET" for hit in server.hits.all) == 1


async def test_the_standing_stream_is_reopened_after_the_server_s_own_time_behind_its_last_event() -> None:
    async def listen(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "method": "notifications/message"}, id="e7", retry=1)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on_get = listen
        await client.initialize()
        assert "Last-Event-ID" not in (await server.hit(method="GET")).headers
        assert (await server.hit(method="GET", count=2)).headers["Last-Event-ID"] == "e7"
        await client.told.wait(count=2)


async def test_a_standing_stream_that_finds_the_session_gone_ends_the_connection() -> None:
    async def listen(hit: Hit) -> web.StreamResponse:
        server.on_get = answering(404)
        stream = await hit.stream()
        await stream.send(id="1", retry=1)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on_get = listen
        await client.initialize()
        async with asyncio.timeout(PATIENCE_S):
            await client.dispatcher.closed.wait()
        assert client.transport.has_expired


async def test_a_server_that_knows_no_get_at_all_keeps_its_session() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on_get = answering(404, "Cannot GET /mcp")
        await client.initialize()
        await server.hit(method="GET")
        assert (await client.call("tools/list")).result
        assert not client.dispatcher.closed.is_set()


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
    monkeypatch.setattr(http_transport, "LAST_ANSWERS_S", 0.01)
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
    monkeypatch.setattr(http_transport, "LAST_ANSWERS_S", 0.01)
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


async def test_a_server_that_goes_away_is_noticed_on_the_standing_stream() -> None:
    server, is_open = HttpServer(), asyncio.Event()

    async def listen(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send(retry=1)
        is_open.set()
        await asyncio.sleep(PATIENCE_S)
        return stream.response

    server.on_get = listen
    async with serving(server) as served:
        url = served.url
        scope = connected(url)
        client = await scope.__aenter__()
        await client.initialize()
        await is_open.wait()
    async with asyncio.timeout(PATIENCE_S):
        await client.dispatcher.closed.wait()
    assert "is out of reach" in client.dispatcher.closed_because
    assert not client.transport.has_expired
    await scope.__aexit__(None, None, None)


async def test_a_standing_stream_that_fails_for_a_moment_is_opened_again() -> None:
    async def fail(hit: Hit) -> web.StreamResponse:
        server.on_get = listen
        return web.Response(status=503)

    async def listen(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "method": "notifications/message"})
        await asyncio.sleep(PATIENCE_S)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on_get = fail
        await client.initialize()
        assert await client.told.wait()


# streams that end before the reply


async def test_a_stream_that_ends_before_the_reply_is_resumed_behind_its_last_event() -> None:
    calls: list[Any] = []

    async def call(hit: Hit) -> web.StreamResponse:
        calls.append(hit.id)
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        return stream.response

    async def resume(hit: Hit) -> web.StreamResponse:
        if "Last-Event-ID" not in hit.headers:
            return web.Response(status=405)
        stream = await hit.stream()
        if hit.headers["Last-Event-ID"] == "first":
            await stream.send({"jsonrpc": "2.0", "method": "notifications/progress"}, id="second")
        else:
            await stream.reply(calls[0], {"resumed": True})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"], server.on_get = call, resume
        await client.initialize()
        assert result_of(await client.call("tools/call")) == {"resumed": True}
        resumed = [hit.headers["Last-Event-ID"] for hit in server.hits.all if "Last-Event-ID" in hit.headers]
        assert resumed == ["first", "second"]
        assert len(calls) == 1
        assert all(hit.headers["Mcp-Session-Id"] == SESSION for hit in server.hits.all if "Last-Event-ID" in hit.headers)


async def test_a_stream_that_breaks_before_the_reply_is_resumed_too() -> None:
    calls: list[Any] = []

    async def call(hit: Hit) -> web.StreamResponse:
        calls.append(hit.id)
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        assert hit.http.transport
        hit.http.transport.abort()
        return stream.response

    async def resume(hit: Hit) -> web.StreamResponse:
        if "Last-Event-ID" not in hit.headers:
            return web.Response(status=405)
        stream = await hit.stream()
        await stream.reply(calls[0], {"resumed": True})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"], server.on_get = call, resume
        await client.initialize()
        assert result_of(await client.call("tools/call")) == {"resumed": True}


async def test_a_stream_that_cannot_be_resumed_ends_its_call_alone() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send({"jsonrpc": "2.0", "method": "notifications/progress"})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert "ended its answer before the reply" in message_of(await client.call("tools/call"))
        assert (await client.call("tools/list")).result


async def test_a_resumption_that_the_server_refuses_ends_its_call_alone() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert "does not resume it (HTTP 405)" in message_of(await client.call("tools/call"))
        assert not client.dispatcher.closed.is_set()


async def test_a_connection_that_breaks_without_an_answer_ends_its_call_alone() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = aborting
        await client.initialize()
        assert "gave no answer" in message_of(await client.call("tools/call"))
        assert (await client.call("tools/list")).result


async def test_a_resumption_is_tried_again_while_the_server_is_away_for_a_moment() -> None:
    calls: list[Any] = []
    tries: list[int] = []

    async def call(hit: Hit) -> web.StreamResponse:
        calls.append(hit.id)
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        return stream.response

    async def resume(hit: Hit) -> web.StreamResponse:
        if "Last-Event-ID" not in hit.headers:
            return web.Response(status=405)
        tries.append(1)
        if len(tries) < 3:
            return await aborting(hit)
        stream = await hit.stream()
        await stream.reply(calls[0], {"resumed": True})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"], server.on_get = call, resume
        await client.initialize()
        assert result_of(await client.call("tools/call")) == {"resumed": True}


async def test_a_resumption_that_fails_again_and_again_ends_its_call_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.servers.http.http_exchange.RESUME_ATTEMPTS", 2)

    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        return stream.response

    async def resume(hit: Hit) -> web.StreamResponse:
        return await aborting(hit) if "Last-Event-ID" in hit.headers else web.Response(status=405)

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"], server.on_get = call, resume
        await client.initialize()
        assert "gave no answer" in message_of(await client.call("tools/call"))
        assert not client.dispatcher.closed.is_set()


async def test_a_resumption_that_finds_the_session_gone_ends_the_connection() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        return stream.response

    async def resume(hit: Hit) -> web.StreamResponse:
        return web.Response(status=404 if "Last-Event-ID" in hit.headers else 405)

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"], server.on_get = call, resume
        await client.initialize()
        assert message_of(await client.call("tools/call")) == "server 'far' has ended the session"
        assert client.transport.has_expired


# cancelling


async def hang(hit: Hit) -> web.StreamResponse:
    await asyncio.sleep(PATIENCE_S)
    return web.Response()


async def test_a_legacy_server_is_told_of_a_cancellation_and_its_answer_is_let_go() -> None:
    is_let_go = asyncio.Event()

    async def call(hit: Hit) -> web.StreamResponse:
        try:
            return await hang(hit)
        finally:
            is_let_go.set()

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        task = asyncio.get_running_loop().create_task(client.call("tools/call"))
        id = (await server.hit("tools/call")).id
        task.cancel()
        assert (await server.hit("notifications/cancelled")).message["params"]["requestId"] == id
        async with asyncio.timeout(PATIENCE_S):
            await is_let_go.wait()
        await asyncio.wait({task})


async def test_a_modern_request_is_cancelled_by_closing_its_answer() -> None:
    is_let_go = asyncio.Event()

    async def call(hit: Hit) -> web.StreamResponse:
        try:
            return await hang(hit)
        finally:
            is_let_go.set()

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        task = asyncio.get_running_loop().create_task(client.call("tools/call", {"_meta": META, "name": "a"}))
        await server.hit("tools/call")
        task.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await is_let_go.wait()
        await client.call("tools/list", {"_meta": META})
        assert not server.of("notifications/cancelled")
        await asyncio.wait({task})


async def test_a_cancellation_that_comes_too_late_is_not_sent_to_a_modern_server() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.call("tools/list", {"_meta": META})
        client.dispatcher.send_notification("notifications/cancelled", Raw(b'{"requestId":1}'))
        client.dispatcher.send_notification("notifications/cancelled", Raw(b"[]"))
        await client.call("tools/list", {"_meta": META})
        assert not server.of("notifications/cancelled")


async def test_a_cancellation_that_comes_too_late_is_still_told_to_a_legacy_server() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        await client.call("tools/list")
        client.dispatcher.send_notification("notifications/cancelled", Raw(b'{"requestId":1}'))
        await server.hit("notifications/cancelled")


# the modern era


async def test_a_notification_of_a_modern_connection_names_version_and_method() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.call("tools/list", {"_meta": META})
        client.dispatcher.send_notification("notifications/odd")
        hit = await server.hit("notifications/odd")
        assert (hit.headers["MCP-Protocol-Version"], hit.headers["Mcp-Method"]) == (MODERN, "notifications/odd")


async def test_a_modern_request_repeats_itself_in_headers_and_has_no_session() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "other": {"type": "string"}}}
    async with serving() as server, connected(server.url, tool_schema=lambda tool: Raw(json.dumps(schema).encode())) as client:
        await client.call("tools/call", {"_meta": META, "name": "größe", "arguments": {"region": "eu", "other": "x"}})
        hit = await server.hit("tools/call")
        assert hit.headers["MCP-Protocol-Version"] == MODERN
        assert hit.headers["Mcp-Method"] == "tools/call"
        assert hit.headers["Mcp-Name"] == "=?base64?Z3LDtsOfZQ==?="
        assert hit.headers["Mcp-Param-Region"] == "eu"
        assert not [name for name in hit.headers if name.lower() in ("mcp-session-id", "mcp-param-other")]


async def test_a_modern_connection_opens_no_standing_stream_and_ends_no_session() -> None:
    async with serving() as server:
        async with connected(server.url) as client:
            await client.call("server/discover", {"_meta": META})
            await client.call("tools/list", {"_meta": META})
        assert {hit.method for hit in server.hits.all} == {"POST"}


async def test_a_modern_request_that_is_not_found_is_no_end_of_a_session() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["odd/method"] = answering(404)
        assert "HTTP 404" in message_of(await client.call("odd/method", {"_meta": META}))
        assert not client.dispatcher.closed.is_set()


async def test_a_broken_modern_stream_is_not_resumed() -> None:
    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.send(id="first", retry=1)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        assert message_of(await client.call("tools/call", {"_meta": META}))
        assert not [hit for hit in server.hits.all if hit.method == "GET"]


async def test_what_was_tried_in_the_modern_era_is_given_up_when_the_legacy_one_is_opened() -> None:
    is_let_go = asyncio.Event()

    async def discover(hit: Hit) -> web.StreamResponse:
        try:
            return await hang(hit)
        finally:
            is_let_go.set()

    async with serving() as server, connected(server.url) as client:
        server.on["server/discover"] = discover
        pending = client.start("server/discover", {"_meta": META})
        await server.hit("server/discover")
        await client.initialize()
        async with asyncio.timeout(PATIENCE_S):
            await is_let_go.wait()
        assert not pending.reply.done()


# connections


async def test_a_server_that_is_not_there_ends_the_connection_in_one_clear_sentence() -> None:
    async with serving() as server:
        url = server.url
    async with connected(url + "?key=hidden") as client:
        message = message_of(await client.call("initialize"))
        assert message.startswith("server 'far' is out of reach: ")
        assert "nothing answers there (connection refused)" in message
        assert url in message
        assert "hidden" not in message
        assert client.dispatcher.closed.is_set()


async def test_a_call_to_a_server_that_has_gone_was_not_delivered() -> None:
    async with serving() as server:
        scope = connected(server.url)
        client = await scope.__aenter__()
        await client.initialize()
        await client.call("tools/list")
    assert await client.call("tools/call") is NOT_DELIVERED
    assert client.dispatcher.closed.is_set()
    await scope.__aexit__(None, None, None)


async def test_a_redirect_within_the_same_server_is_followed_with_the_body() -> None:
    async def redirect(hit: Hit) -> web.StreamResponse:
        if hit.http.path != "/mcp/":
            return web.Response(status=307, headers={"Location": "/mcp/"})
        return hit.result({"path": hit.http.path})

    async with serving() as server, connected(server.url) as client:
        server.on["tools/list"] = redirect
        assert result_of(await client.call("tools/list")) == {"path": "/mcp/"}


@pytest.mark.parametrize(("status", "target"), [(307, "http://elsewhere.invalid/mcp?key=hidden"), (302, "/mcp/")])
async def test_other_redirects_are_not_followed_and_named(status: int, target: str) -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/list"] = answering(status, "", Location=target)
        message = message_of(await client.call("tools/list"))
        assert "it redirects to http://" in message
        assert "hidden" not in message


async def test_a_redirect_to_nowhere_is_an_error_of_the_call() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/list"] = answering(302, "", Location="http://[")
        assert "HTTP 302" in message_of(await client.call("tools/list"))


async def test_only_the_beginning_of_an_endless_error_is_read() -> None:
    async def endless(hit: Hit) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(hit.http)
        while True:
            await response.write(b"x" * 10_000)

    async with serving() as server, connected(server.url) as client:
        server.on["tools/list"] = endless
        assert "HTTP 500" in message_of(await client.call("tools/list"))


async def test_a_redirect_in_a_circle_ends() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/list"] = answering(307, "", Location="/mcp")
        assert "redirects in a circle" in message_of(await client.call("tools/list"))


async def test_connections_are_used_again() -> None:
    ports: set[Any] = set()

    async def call(hit: Hit) -> web.StreamResponse:
        assert hit.http.transport
        ports.add(hit.http.transport.get_extra_info("peername"))
        stream = await hit.stream()
        await stream.reply(hit.id, {})
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        for _ in range(5):
            await client.call("tools/call")
        assert len(ports) < 5  # the end of a stream may come a moment behind its reply
