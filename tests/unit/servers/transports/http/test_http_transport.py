"""http_transport.py, http_exchange.py: what is sent, what is cancelled, and what is otherwise in the modern era."""

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
    answering,
    connected,
    hang,
    message_of,
    result_of,
    serving,
)

from tooltray.protocol.envelope import NOT_DELIVERED
from tooltray.protocol.eras import PROTOCOL_VERSION_KEY

MODERN = "2026-07-28"
META = {PROTOCOL_VERSION_KEY: MODERN}


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
        await server.hit(method="GET")
        assert sum(hit.method == "GET" for hit in server.hits.all) == 1, "one standing stream, as the session opens"


async def test_a_large_request_arrives_whole() -> None:
    async with serving() as server, connected(server.url) as client:
        await client.initialize()
        text = "x" * 3_000_000
        assert result_of(await client.call("tools/call", {"text": text})) == {"echo": {"text": text}}


# cancelling


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
        assert message.startswith("server 'far' cannot be reached: ")
        assert "was refused" in message
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


@pytest.mark.expected_warnings("Error handling request")  # of the server, which Windows tells in other words that we have left
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
    assert "cannot be reached" in client.dispatcher.closed_because
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
