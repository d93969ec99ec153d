"""The stream on which a legacy server says what belongs to no request."""

import asyncio

from aiohttp import web
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_server import (
    SESSION,
    Hit,
    HttpServer,
    answering,
    connected,
    serving,
)


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
