"""served_app.py: a config's servers over HTTP, with and without sessions."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.http_hub import ACCEPT, modern, notification, request
from tests.fakes.served_hub import ServedHub, entry, reading, served_hub

from tooltray.carriers.mcp import served_app
from tooltray.carriers.mcp.served_app import ANONYMOUS
from tooltray.config.settings.file_server import Endpoint

TOKEN = {"Authorization": "Bearer secret-1"}
EVENTS = {"Accept": "text/event-stream"}


def files_of(tmp_path: Path, **options: Any) -> Any:
    """One server without a token at `/base/fetch/`, called `web` here, and one with two."""
    endpoint = Endpoint("127.0.0.1", 0, base_path="/base", **options)
    entries = (entry("fetch"), entry("git/hub", tokens=("secret-1", "secret-2")))
    return served_hub(tmp_path, reading(*entries, endpoint=endpoint), names={"fetch": "web", "git/hub": "git-hub"})


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[ServedHub]:
    async with files_of(tmp_path) as hub:
        yield hub


@pytest.mark.parametrize("tail", ["", "/", "/mcp", "/mcp/"])
async def test_a_streamable_client_is_served_at_its_servers_path(hub: ServedHub, tail: str) -> None:
    await hub.listener.start()
    client, path = hub.client(), f"/base/fetch{tail}"
    session = await client.initialize(path=path)
    answer = await client.post(request("echo", said="hi"), path=path, session=session)
    assert answer.json["result"] == {"said": "hi"}
    assert (await client.ask("DELETE", path, headers={"Mcp-Session-Id": session})).status == 204
    assert (await client.post(request("echo"), path=path, session=session)).status == 404
    assert hub.clients.opened[0][:2] == ("web", True)


async def test_a_streamable_client_hears_what_nobody_asked_for_at_the_plain_path(hub: ServedHub) -> None:
    await hub.listener.start()
    client = hub.client()
    session = await client.initialize(path="/base/fetch/")
    standing = await client.open("GET", "/base/fetch/", headers={**EVENTS, "Mcp-Session-Id": session})
    assert standing.response.status == 200
    hub.clients.dispatchers[0].send_notification("notifications/tools/list_changed")
    assert (await standing.message())["method"] == "notifications/tools/list_changed"
    standing.close()


@pytest.mark.parametrize("tail", ["", "/", "/sse"])
async def test_a_client_of_the_older_transport_is_served_at_the_same_paths(hub: ServedHub, tail: str) -> None:
    await hub.listener.start()
    client = hub.client()
    stream = await client.open("GET", f"/base/fetch{tail}", headers=EVENTS)
    endpoint = await stream.event()
    path = endpoint.data.decode()
    assert (endpoint.type, path.partition("?")[0]) == ("endpoint", "/base/fetch/message")
    assert (await client.post(request("echo", said="hi"), path=path)).status == 202
    assert (await stream.message())["result"] == {"said": "hi"}
    assert (await client.ask("GET", path)).status == 405
    stream.close()


async def test_a_name_with_a_slash_is_a_path_and_messages_go_to_it(hub: ServedHub) -> None:
    await hub.listener.start()
    client = hub.client()
    stream = await client.open("GET", "/base/git/hub/sse", headers={**EVENTS, **TOKEN})
    path = (await stream.event()).data.decode()
    assert path.startswith("/base/git/hub/message?sessionId=")
    assert (await client.post(request("echo"), path=path, headers=TOKEN)).status == 202
    assert (await client.post(request("echo"), path=path, headers={"Authorization": "secret-2"})).status == 404
    assert (await client.post(request("echo"), path=path)).status == 401
    stream.close()


async def test_modern_clients_are_served_without_a_session(hub: ServedHub) -> None:
    await hub.listener.start()
    message, headers = modern("echo", said="hi")
    client = hub.client()
    answer = await client.post(message, path="/base/git/hub/", headers={**headers, **TOKEN})
    assert answer.json["result"]["said"] == "hi"
    assert (await client.post(message, path="/base/git/hub/", headers={**headers, **TOKEN})).status == 200
    assert hub.clients.opened[0][:2] == ("git-hub", False)
    assert hub.clients.opened[0][2] is hub.clients.opened[1][2] is not None  # calls that wait are the client's
    for _ in range(2):
        assert (await client.post(message, path="/base/fetch/", headers=headers)).status == 200
    assert hub.clients.clients[2:] == [ANONYMOUS, ANONYMOUS]  # what they activate holds for the next request
    assert (await client.ask("GET", "/base/fetch/", headers={**ACCEPT, **headers})).status == 405


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/base/fetch/sse", 405),
        ("PUT", "/base/fetch/", 405),
        ("GET", "/base/fetch/elsewhere", 404),
        ("GET", "/base/nothing/", 404),
        ("GET", "/fetch/", 404),
        ("GET", "/", 404),
    ],
)
async def test_what_is_not_there_is_refused_in_words(hub: ServedHub, method: str, path: str, status: int) -> None:
    await hub.listener.start()
    answer = await hub.client().ask(method, path, headers=ACCEPT)
    assert (answer.status, bool(answer.json["error"]["message"])) == (status, True)
    assert "Server" not in answer.headers


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret-3"}, {"X-Token": "secret-1"}])
async def test_a_server_with_tokens_lets_nobody_in_without_one(hub: ServedHub, headers: dict[str, str]) -> None:
    await hub.listener.start()
    assert (await hub.client().post(request("initialize"), path="/base/git/hub/", headers=headers)).status == 401
    assert hub.clients.opened == []


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Host": "proxy.example"}])
async def test_a_web_page_reaches_no_server_that_asks_for_no_token(hub: ServedHub, headers: dict[str, str]) -> None:
    await hub.listener.start()
    client = hub.client()
    for path in ("/base/fetch/", "/base/nothing/"):
        assert (await client.post(request("initialize"), path=path, headers=headers)).status == 403
    assert hub.clients.opened == []


async def test_a_right_token_counts_under_whatever_name_the_machine_is_reached(hub: ServedHub) -> None:
    await hub.listener.start()
    elsewhere = {"Host": "nas:9090", "Origin": "app://editor", **TOKEN}
    assert await hub.client().initialize(path="/base/git/hub/", headers=elsewhere)


async def test_the_public_name_of_the_file_is_a_right_host(tmp_path: Path) -> None:
    async with files_of(tmp_path, public_host="Proxy.example") as hub:
        await hub.listener.start()
        client = hub.client()
        assert await client.initialize(path="/base/fetch/", headers={"Host": "proxy.EXAMPLE"})
        refused = {"Host": "proxy.example", "Origin": "https://evil.example"}
        assert (await client.post(request("initialize"), path="/base/fetch/", headers=refused)).status == 403


async def until_gone(hub: ServedHub, server: str) -> None:
    index = [opened[0] for opened in hub.clients.opened].index(server)
    await hub.clients.dispatchers[index].closed.wait()


async def test_a_server_that_left_the_file_ends_what_its_clients_have_open_and_no_other(hub: ServedHub) -> None:
    await hub.listener.start()
    client = hub.client()
    stream = await client.open("GET", "/base/fetch/sse", headers=EVENTS)
    await stream.event()
    hub.now(reading(entry("git/hub", tokens=("secret-1",)), entry("new"), endpoint=Endpoint("127.0.0.1", 0, base_path="/base")))
    await stream.end()
    await until_gone(hub, "web")
    assert (await client.ask("GET", "/base/fetch/sse", headers=EVENTS)).status == 404
    assert await client.initialize(path="/base/new/")


async def test_a_token_that_left_the_file_ends_what_it_opened_and_the_others_go_on(tmp_path: Path) -> None:
    async with files_of(tmp_path) as hub:
        await hub.listener.start()
        client, other = hub.client(), {"Authorization": "secret-2"}
        kept = await client.initialize(path="/base/git/hub/", headers=TOKEN)
        stream = await client.open("GET", "/base/git/hub/sse", headers={**EVENTS, **other})
        await stream.event()
        message, headers = modern("echo")
        assert (await client.post(message, path="/base/git/hub/", headers={**headers, **other})).status == 200
        kept_entries = (entry("fetch"), entry("git/hub", tokens=("secret-1",)))
        hub.now(reading(*kept_entries, endpoint=Endpoint("127.0.0.1", 0, base_path="/base")), names={"fetch": "web", "git/hub": "git-hub"})
        await stream.end()
        assert (await client.post(request("initialize"), path="/base/git/hub/", headers=other)).status == 401
        assert (await client.post(request("echo"), path="/base/git/hub/", session=kept, headers=TOKEN)).status == 200


PATH = "/fetch/mcp"
JSON_ALONE = {"Accept": "application/json"}


def plain_files(tmp_path: Path) -> Any:
    entries = (entry("fetch"), entry("git", tokens=("secret-1", "secret-2")))
    return served_hub(tmp_path, reading(*entries, endpoint=Endpoint("127.0.0.1", 0)))


async def test_a_request_without_a_handshake_is_answered(tmp_path: Path) -> None:
    async with plain_files(tmp_path) as hub:
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
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        for path, headers in ((PATH, {}), (PATH, {}), ("/git/", TOKEN), ("/git/", TOKEN), ("/git/", {"Authorization": "secret-2"})):
            assert (await client.post(request("echo"), path=path, headers=headers)).status == 200
        first, second, *others = hub.clients.clients
        assert first == second == served_app.ANONYMOUS != served_app.ANONYMOUS.strip()
        assert others[0] == others[1] != others[2]
        assert (await client.post(request("echo"), path="/git/")).status == 401


async def test_a_client_that_forgets_its_session_after_the_handshake_goes_on_without(tmp_path: Path) -> None:
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        await client.initialize(path=PATH)
        assert (await client.post(notification("notifications/initialized"), path=PATH)).status == 202
        assert (await client.post(request("echo", said="hi"), path=PATH)).json["result"] == {"said": "hi"}


@pytest.mark.parametrize("headers", [JSON_ALONE, {"Accept": ""}])
async def test_a_client_that_reads_plain_json_alone_gets_it_and_no_session(tmp_path: Path, headers: dict[str, str]) -> None:
    async with plain_files(tmp_path) as hub:
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
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        stream = await hub.client().open("POST", PATH, **hub.client().posting(request("tell")))
        assert (await stream.message())["method"] == "notifications/progress"
        hub.clients.go.set()
        assert "result" in await stream.message()
        await stream.end()


@pytest.mark.parametrize("headers", [{}, JSON_ALONE])
async def test_a_call_may_take_long(tmp_path: Path, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_app, "KEEPALIVE_S", 0)
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()

        async def let_go() -> None:
            await hub.clients.answering.wait()
            hub.clients.go.set()

        answer, _ = await asyncio.gather(hub.client().post(request("hang"), path=PATH, headers=headers), let_go())
        assert b'"went":true' in answer.body
        assert answer.headers["Content-Type"].startswith("application/json" if headers else "text/event-stream")


async def test_an_error_of_the_server_is_an_answer(tmp_path: Path) -> None:
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        answer = await hub.client().post(request("fail", code=-32602), path=PATH)
        assert (answer.status, answer.json["error"]["code"]) == (200, -32602)


async def test_a_client_that_leaves_has_given_up_its_call(tmp_path: Path) -> None:
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        stream = await client.open("POST", PATH, **client.posting(request("tell", id=7)))
        await stream.message()
        stream.close()
        assert await hub.clients.cancelled.wait() == b"7"


async def test_a_token_that_left_the_file_ends_the_calls_that_it_began(tmp_path: Path) -> None:
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        client = hub.client()
        posting = client.posting(request("tell"), headers={"Authorization": "secret-2"})
        stream = await client.open("POST", "/git/", **posting)
        await stream.message()
        hub.now(reading(entry("fetch"), entry("git", tokens=("secret-1",)), endpoint=Endpoint("127.0.0.1", 0)))
        assert "error" in await stream.message()
        await stream.end()


async def test_too_many_requests_at_once_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_app, "MAX_EXCHANGES", 1)
    async with plain_files(tmp_path) as hub:
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
    async with plain_files(tmp_path) as hub:
        await hub.listener.start()
        assert (await hub.client().post(*messages, path=PATH, headers=headers)).status == status
        assert hub.clients.opened == []
