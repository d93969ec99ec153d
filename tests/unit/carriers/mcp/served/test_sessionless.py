"""sessionless.py: what a POST gets that names no session, as clients of a proxy without sessions send it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.http_hub import notification, request
from tests.fakes.served_hub import entry, reading, served_hub

from tooltray.carriers.mcp.served import sessionless
from tooltray.config.settings.file_server import Endpoint

PATH = "/fetch/mcp"
JSON_ALONE = {"Accept": "application/json"}
TOKEN = {"Authorization": "Bearer secret-1"}


def files_of(tmp_path: Path) -> Any:
    entries = (entry("fetch"), entry("git", tokens=("secret-1", "secret-2")))
    return served_hub(tmp_path, reading(*entries, endpoint=Endpoint("127.0.0.1", 0)))


async def test_a_request_without_a_handshake_is_answered(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        for _ in range(2):
            answer = await client.post(request("echo", said="hi"), path=PATH)
            assert (answer.status, answer.json["result"]) == (200, {"said": "hi"})
            assert "Mcp-Session-Id" not in answer.headers
        assert [opened[:2] for opened in hub.clients.opened] == [("fetch", False)] * 2
        for dispatcher in hub.clients.dispatchers:
            await dispatcher.closed.wait()


async def test_those_with_one_token_are_one_client_and_those_without_are_another(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        for path, headers in ((PATH, {}), (PATH, {}), ("/git/", TOKEN), ("/git/", TOKEN), ("/git/", {"Authorization": "secret-2"})):
            assert (await client.post(request("echo"), path=path, headers=headers)).status == 200
        first, second, *others = hub.clients.clients
        assert first == second == sessionless.NOBODYS != sessionless.NOBODYS.strip()
        assert others[0] == others[1] != others[2]
        assert (await client.post(request("echo"), path="/git/")).status == 401


async def test_a_client_that_forgets_its_session_after_the_handshake_goes_on_without(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        await client.initialize(path=PATH)
        assert (await client.post(notification("notifications/initialized"), path=PATH)).status == 202
        assert (await client.post(request("echo", said="hi"), path=PATH)).json["result"] == {"said": "hi"}


@pytest.mark.parametrize("headers", [JSON_ALONE, {"Accept": ""}])
async def test_a_client_that_reads_plain_json_alone_gets_it_and_no_session(tmp_path: Path, headers: dict[str, str]) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        greeting = await client.post(request("initialize", protocolVersion="2025-06-18"), path=PATH, headers=headers)
        assert (greeting.status, "Mcp-Session-Id" in greeting.headers) == (200, False)
        assert greeting.json["result"] == {"protocolVersion": "2025-06-18"}
        hub.clients.go.set()
        answer = await client.post(request("tell", said="behind its news"), path=PATH, headers=headers)
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.json["result"] == {"said": "behind its news"}


async def test_one_that_reads_events_hears_the_news_of_its_call(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        stream = await hub.client().open("POST", PATH, **hub.client().posting(request("tell")))
        assert (await stream.message())["method"] == "notifications/progress"
        hub.clients.go.set()
        assert "result" in await stream.message()
        await stream.end()


@pytest.mark.parametrize("headers", [{}, JSON_ALONE])
async def test_a_call_may_take_long(tmp_path: Path, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessionless, "KEEPALIVE_S", 0)
    async with files_of(tmp_path) as hub:
        await hub.listener.start()

        async def let_go() -> None:
            await hub.clients.answering.wait()
            hub.clients.go.set()

        answer, _ = await asyncio.gather(hub.client().post(request("hang"), path=PATH, headers=headers), let_go())
        assert b'"went":true' in answer.body
        assert answer.headers["Content-Type"].startswith("application/json" if headers else "text/event-stream")


async def test_an_error_of_the_server_is_an_answer(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        answer = await hub.client().post(request("fail", code=-32602), path=PATH)
        assert (answer.status, answer.json["error"]["code"]) == (200, -32602)


async def test_a_client_that_leaves_has_given_up_its_call(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        stream = await client.open("POST", PATH, **client.posting(request("tell", id=7)))
        await stream.message()
        stream.close()
        assert await hub.clients.cancelled.wait() == b"7"


async def test_a_token_that_left_the_file_ends_the_calls_that_it_began(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        posting = client.posting(request("tell"), headers={"Authorization": "secret-2"})
        stream = await client.open("POST", "/git/", **posting)
        await stream.message()
        hub.now(reading(entry("fetch"), entry("git", tokens=("secret-1",)), endpoint=Endpoint("127.0.0.1", 0)))
        assert "error" in await stream.message()
        await stream.end()


async def test_too_many_requests_at_once_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessionless, "MAX_EXCHANGES", 1)
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        stream = await client.open("POST", PATH, **client.posting(request("tell")))
        await stream.message()
        refused = await client.post(request("echo", id=2), path=PATH)
        assert (refused.status, refused.json["id"]) == (503, 2)
        stream.close()


@pytest.mark.parametrize(
    ("messages", "headers", "status"),
    [
        ((request("echo"), request("echo", id=2)), {}, 400),
        ((request("echo", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"}),), {}, 400),
        ((request("echo"),), {"Mcp-Session-Id": "nobody's"}, 404),
        ((request("initialize", protocolVersion="2025-11-25"),), {"Mcp-Session-Id": "nobody's", **JSON_ALONE}, 406),
    ],
)
async def test_what_belongs_to_a_session_is_refused_without_one(
    tmp_path: Path, messages: tuple[Any, ...], headers: dict[str, str], status: int
) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        assert (await hub.client().post(*messages, path=PATH, headers=headers)).status == status
        assert hub.clients.opened == []
