"""sse.py: old clients, whose one GET is their session."""

import pytest
from tests.fakes.http_hub import HttpHub, OpenResponse, http_hub, request

from tooltray.carriers.mcp import sse

STREAM = {"Accept": "text/event-stream"}
PATH = "/servers/files/sse"


async def connected(hub: HttpHub, path: str = PATH, **headers: str) -> tuple[OpenResponse, str]:
    """A session's stream, and where its messages go."""
    stream = await hub.open("GET", path, headers={**STREAM, **headers})
    first = await stream.event()
    assert first.type == "endpoint"
    return stream, bytes(first.data).decode()


async def test_messages_are_posted_where_the_first_event_says_and_answered_on_the_stream() -> None:
    async with http_hub() as hub:
        stream, messages = await connected(hub)
        answer = await hub.post(request("echo", id=4, x=1), path=messages)
        assert (answer.status, answer.body) == (202, b"Accepted")
        assert await stream.message() == {"jsonrpc": "2.0", "id": 4, "result": {"x": 1}}
        hub.clients.dispatchers[0].send_notification("news")
        assert (await stream.message())["method"] == "news"
        assert hub.clients.opened == [("files", True, None)]


async def test_a_session_ends_with_its_stream() -> None:
    async with http_hub() as hub:
        stream, messages = await connected(hub)
        await hub.post(request("hang", id=4), path=messages)
        await hub.clients.answering.wait()
        stream.close()
        assert await hub.clients.cancelled.wait() == b"4"
        await hub.clients.dispatchers[0].closed.wait()


async def test_a_stream_ends_with_its_session() -> None:
    async with http_hub() as hub:
        stream, messages = await connected(hub)
        await hub.app.end_of(None, "ended", grace_s=0)
        await stream.end()
        assert (await hub.post(request("echo"), path=messages)).status == 404


async def test_a_server_with_any_name_can_be_reached() -> None:
    async with http_hub() as hub:
        stream, messages = await connected(hub, "/servers/a%20b/sse")
        assert messages.startswith("/servers/a%20b/messages?")
        assert (await hub.post(request("echo"), path=messages)).status == 202
        stream.close()


async def test_a_session_belongs_to_its_token_and_its_server() -> None:
    async with http_hub(tokens={"t1": "one", "t2": "two"}) as hub:
        stream, messages = await connected(hub, Authorization="Bearer t1")
        for path, token, status in (
            (messages, "t2", 404),
            (messages.replace("files", "a%20b"), "t1", 404),
            (messages, "t1", 202),
            (messages, "", 401),
        ):
            assert (await hub.post(request("echo"), path=path, headers={"Authorization": f"Bearer {token}"})).status == status
        stream.close()


async def test_what_is_no_message_is_refused() -> None:
    async with http_hub() as hub:
        stream, messages = await connected(hub)
        headers = hub.posting({})["headers"]
        answer = await hub.ask("POST", messages, data=b"{", headers=headers)
        assert (answer.status, answer.json["error"]["code"]) == (400, -32700)
        assert (await hub.ask("POST", messages, data=b"{}", headers={"Content-Type": "text/plain"})).status == 415
        stream.close()


async def test_other_methods_and_forms_are_refused() -> None:
    async with http_hub() as hub:
        assert (await hub.ask("GET", PATH, headers={"Accept": "application/json"})).status == 406
        answer = await hub.ask("POST", PATH)
        assert (answer.status, answer.headers["Allow"]) == (405, "GET")
        answer = await hub.ask("GET", "/servers/files/messages")
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")


async def test_there_are_not_endlessly_many_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_SESSIONS", 1)
    async with http_hub() as hub:
        stream, _ = await connected(hub)
        assert (await hub.ask("GET", PATH, headers=STREAM)).status == 503
        stream.close()
