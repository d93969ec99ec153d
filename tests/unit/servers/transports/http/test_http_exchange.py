"""One request over streamable HTTP: what its answer may be, and what becomes of it when no reply comes."""

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
    message_of,
    result_of,
    rpc_error,
    serving,
)

from tooltray.protocol.eras import PROTOCOL_VERSION_KEY
from tooltray.servers.transports.http import bodies, http_connections, http_exchange, http_failures

MODERN = "2026-07-28"
META = {PROTOCOL_VERSION_KEY: MODERN}


# what comes back


async def test_progress_and_questions_on_a_reply_s_stream_are_heard_before_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "LINGER_S", 0.0)

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


async def test_an_event_without_an_end_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_SERVER_LINE_BYTES", 1000)

    async def call(hit: Hit) -> web.StreamResponse:
        stream = await hit.stream()
        await stream.response.write(b"data: " + b"y" * 2000)
        return stream.response

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert "beyond the limit of 1,000 bytes" in message_of(await client.call("tools/call"))


async def test_a_stream_that_the_server_keeps_open_after_the_reply_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "LINGER_S", 0.0)
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
        assert {hit.method for hit in server.hits.all} == {"POST"}
        assert result_of(await client.initialize())["protocolVersion"] == VERSION
        assert "MCP-Protocol-Version" not in (await server.hit("initialize")).headers


async def test_html_with_status_200_is_an_error_of_the_call() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(200, "<html></html>", **{"Content-Type": "text/html"})
        await client.initialize()
        assert "answered with text/html instead of JSON" in message_of(await client.call("tools/call"))


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


async def test_too_many_requests_says_when_to_try_again() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(429, "slow down", **{"Retry-After": "70"})
        await client.initialize()
        assert "HTTP 429, try again after 70 s): slow down" in message_of(await client.call("tools/call"))


async def test_a_server_that_says_when_to_come_again_soon_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_failures, "SHORTEST_RETRY_AFTER_S", 0.01)

    async def call(hit: Hit) -> web.StreamResponse:
        is_ready = len(server.of("tools/call")) == 3
        return hit.result("done") if is_ready else web.Response(status=429, headers={"Retry-After": "0"})

    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = call
        await client.initialize()
        assert result_of(await client.call("tools/call")) == "done"


async def test_a_server_that_puts_off_again_and_again_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_failures, "SHORTEST_RETRY_AFTER_S", 0.01)
    monkeypatch.setattr(http_connections, "LONGEST_RETRY_AFTER_S", 0.025)
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(429, "slow down", **{"Retry-After": "0"})
        await client.initialize()
        assert "HTTP 429, try again after 0 s): slow down" in message_of(await client.call("tools/call"))
        assert len(server.of("tools/call")) == 3


async def test_what_a_server_may_have_had_before_it_was_away_is_not_sent_again() -> None:
    async with serving() as server, connected(server.url) as client:
        server.on["tools/call"] = answering(503, "deploying", **{"Retry-After": "0"})
        await client.initialize()
        assert "HTTP 503 Service Unavailable: deploying" in message_of(await client.call("tools/call"))
        assert len(server.of("tools/call")) == 1


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


@pytest.mark.posix  # Windows drops what was not read yet when a connection is reset
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
    monkeypatch.setattr("tooltray.servers.transports.http.http_exchange.RESUME_ATTEMPTS", 2)

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
