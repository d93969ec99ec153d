"""http_legacy.py: streamable HTTP, and HTTP with SSE."""

import asyncio
import gzip
import io
import json
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_hub import ACCEPT, HttpHub, OpenResponse, http_hub, notification, request

from tooltray.carriers.mcp import http_legacy, http_sessions

STREAM = {"Accept": "text/event-stream"}


def in_session(session: str, **more: str) -> dict[str, dict[str, str]]:
    return {"headers": {**STREAM, "Mcp-Session-Id": session, **more}}


async def test_a_reply_that_comes_alone_is_the_whole_response_and_arrives_byte_for_byte(hub: HttpHub) -> None:
    session = await hub.initialize()
    body = b'{"jsonrpc":"2.0","id":"a","method":"echo","params":{"n":1e400,"d":0.1000000000000000055}}'
    answer = await hub.ask("POST", data=body, headers=hub.posting({}, session=session)["headers"])
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.body == b'{"jsonrpc":"2.0","id":"a","result":{"n":1e400,"d":0.1000000000000000055}}'
    assert "Server" not in answer.headers


async def test_a_large_reply_arrives_whole(hub: HttpHub) -> None:
    session = await hub.initialize()
    answer = await hub.post(request("big", size=3_000_000), session=session)
    assert len(answer.json["result"]["text"]) == 3_000_000


async def test_messages_before_the_reply_make_the_response_a_stream_of_events(hub: HttpHub) -> None:
    session = await hub.initialize("2025-06-18")
    response = await hub.post_open(request("tell", id=7, x=1), session=session)
    assert response.response.headers["Content-Type"] == "text/event-stream"
    first = await response.event()
    assert json.loads(first.data)["method"] == "notifications/progress"
    assert b"1e400" in first.data
    hub.clients.go.set()
    last = await response.event()
    assert json.loads(last.data) == {"jsonrpc": "2.0", "id": 7, "result": {"x": 1}}
    assert first.id != last.id
    await response.end()


async def test_a_reply_that_takes_long_comes_behind_an_event_that_only_has_an_id_and_a_time_to_come_back_after(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("hang"), session=session)
    primer = await response.event()
    assert (primer.data, primer.retry_ms) == (b"", 1000)
    assert primer.id
    hub.clients.go.set()
    assert (await response.message())["result"] == {"went": True}


async def test_older_versions_get_no_event_without_data(hub: HttpHub) -> None:
    session = await hub.initialize("2025-06-18")
    response = await hub.post_open(request("tell"), session=session)
    assert (await response.event()).data
    hub.clients.go.set()
    await response.end()


async def test_a_question_goes_to_the_stream_of_its_request_and_is_answered_by_a_post(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("ask", message="who?"), session=session)
    question = await response.message()
    assert (question["method"], question["params"]) == ("elicitation/create", {"message": "who?"})
    answer = await hub.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}, session=session)
    assert (answer.status, answer.body) == (202, b"")
    assert (await response.message())["result"] == {"action": "accept"}


async def test_a_notification_is_taken(hub: HttpHub) -> None:
    session = await hub.initialize()
    assert (await hub.post(notification("notifications/initialized"), session=session)).status == 202
    assert await hub.clients.taken.wait() == "notifications/initialized"


async def test_what_belongs_to_no_request_waits_for_the_get_stream(hub: HttpHub) -> None:
    session = await hub.initialize()
    hub.clients.dispatchers[0].send_notification("notifications/tools/list_changed")
    response = await hub.open("GET", **in_session(session))
    assert (await response.message())["method"] == "notifications/tools/list_changed"
    hub.clients.dispatchers[0].send_notification("notifications/prompts/list_changed")
    assert (await response.message())["method"] == "notifications/prompts/list_changed"


async def test_what_was_read_is_not_sent_again_to_a_new_get_stream(hub: HttpHub) -> None:
    session = await hub.initialize()
    first = await hub.open("GET", **in_session(session))
    hub.clients.dispatchers[0].send_notification("one")
    assert (await first.message())["method"] == "one"
    first.close()
    second = await _open_again(hub, session)
    hub.clients.dispatchers[0].send_notification("two")
    assert (await second.message())["method"] == "two"


async def _open_again(hub: HttpHub, session: str) -> OpenResponse:
    """A session's stream, as soon as the hub has noticed that the client of the one before is gone."""
    async with asyncio.timeout(PATIENCE_S):
        while (response := await hub.open("GET", **in_session(session))).response.status == 409:
            response.close()
        return response


async def test_a_session_has_one_get_stream_at_a_time(hub: HttpHub) -> None:
    session = await hub.initialize()
    first = await hub.open("GET", **in_session(session))
    assert (await hub.ask("GET", **in_session(session))).status == 409
    first.close()


async def test_a_get_stream_goes_on_behind_the_last_event_that_was_seen(hub: HttpHub) -> None:
    session = await hub.initialize()
    first = await hub.open("GET", **in_session(session))
    for name in ("one", "two", "three"):
        hub.clients.dispatchers[0].send_notification(name)
    seen = await first.event()
    second = await hub.open("GET", **in_session(session, **{"Last-Event-ID": seen.id or ""}))
    assert (await second.event()).data == b""
    assert [(await second.message())["method"] for _ in range(2)] == ["two", "three"]
    await first.end()


async def test_a_request_whose_client_left_goes_on_and_its_reply_is_kept(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("hang", id=5), session=session)
    primer = await response.event()
    response.close()
    hub.clients.go.set()
    resumed = await hub.open("GET", **in_session(session, **{"Last-Event-ID": primer.id or ""}))
    assert await resumed.message() == {"jsonrpc": "2.0", "id": 5, "result": {"went": True}}
    await resumed.end()
    assert not hub.clients.cancelled.all


async def test_a_stream_that_is_resumed_before_its_reply_ends_with_it(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("tell", id=5, x=1), session=session)
    await response.event()
    progress = await response.event()
    response.close()
    resumed = await hub.open("GET", **in_session(session, **{"Last-Event-ID": progress.id or ""}))
    assert (await resumed.event()).id == progress.id
    hub.clients.go.set()
    assert (await resumed.message())["result"] == {"x": 1}
    await resumed.end()


@pytest.mark.parametrize("event", ["nonsense", "7-1", "-", "x-1", "1-y"])
async def test_a_stream_that_there_never_was_is_not_resumed(hub: HttpHub, event: str) -> None:
    session = await hub.initialize()
    assert (await hub.ask("GET", **in_session(session, **{"Last-Event-ID": event}))).status == 400


async def test_a_cancelled_request_ends_its_stream_without_a_reply(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("hang", id=5), session=session)
    await response.event()
    assert (await hub.post(notification("notifications/cancelled", requestId=5), session=session)).status == 202
    with pytest.raises(EOFError):
        await response.event()
    assert hub.clients.cancelled.all == [b"5"]


async def test_a_cancellation_of_nothing_is_taken(hub: HttpHub) -> None:
    session = await hub.initialize()
    for params in ({}, {"requestId": 99}):
        assert (await hub.post(notification("notifications/cancelled", **params), session=session)).status == 202


async def test_a_second_request_with_an_id_in_flight_is_refused(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("hang", id=5), session=session)
    answer = await hub.post(request("echo", id=5), session=session)
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32600, 5)
    response.close()


async def test_a_batch_is_answered_by_one_array_in_the_version_that_has_them(hub: HttpHub) -> None:
    session = await hub.initialize("2025-03-26")
    answer = await hub.post(request("echo", id=1, a=1), request("echo", id=2), notification("noted"), session=session)
    assert sorted(reply["id"] for reply in answer.json) == [1, 2]
    assert hub.clients.taken.all == ["noted"]


async def test_a_batch_of_notifications_is_taken(hub: HttpHub) -> None:
    session = await hub.initialize("2025-03-26")
    answer = await hub.post(notification("a"), notification("notifications/cancelled", requestId=3), session=session)
    assert answer.status == 202


async def test_a_request_of_a_batch_is_cancelled_alone(hub: HttpHub) -> None:
    session = await hub.initialize("2025-03-26")
    response = asyncio.ensure_future(hub.post(request("echo", id=1), request("hang", id=2), session=session))
    await hub.clients.answering.wait(lambda id: id == b"2")
    await hub.post(notification("notifications/cancelled", requestId=2), session=session)
    assert [reply["id"] for reply in (await response).json] == [1]


async def test_a_batch_may_cancel_and_ask_at_once(hub: HttpHub) -> None:
    session = await hub.initialize("2025-03-26")
    response = asyncio.ensure_future(hub.post(request("hang", id=1), session=session))
    await hub.clients.answering.wait(lambda id: id == b"1")
    answer = await hub.post(notification("notifications/cancelled", requestId=1), request("echo", id=2), session=session)
    assert [reply["id"] for reply in answer.json] == [2]
    assert (await response).events == []


@pytest.mark.parametrize("messages", [(request("echo", id=1), request("echo", id=2)), (notification("a"), notification("b"))])
async def test_other_versions_have_no_batches_and_say_so_for_each_request(hub: HttpHub, messages: tuple[dict[str, Any], ...]) -> None:
    session = await hub.initialize()
    answer = await hub.post(*messages, session=session)
    assert answer.status == 400
    errors = answer.json if isinstance(answer.json, list) else [answer.json]
    ids = [message["id"] for message in messages if "id" in message]
    assert [(each["id"], each["error"]["code"]) for each in errors] == [(id, -32600) for id in ids or [None]]


async def test_what_is_no_message_of_a_batch_is_answered_together_with_the_requests(hub: HttpHub) -> None:
    session = await hub.initialize("2025-03-26")
    body = b'[{"jsonrpc":"2.0","id":1,"method":"echo","params":{}},7,[{"jsonrpc":"2.0","id":2,"method":"echo"}]]'
    answer = await hub.ask("POST", data=body, headers=hub.posting({}, session=session)["headers"])
    assert [(each.get("id"), "error" in each) for each in answer.json] == [(None, True), (None, True), (1, False)]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[{]", -32700),
        (b"[]", -32600),
        (b"[1]", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
        (b'{"id":1}', -32600),
        (b"", -32700),
    ],
)
async def test_a_body_that_is_no_message_is_refused(hub: HttpHub, body: bytes, code: int) -> None:
    answer = await hub.ask("POST", data=body, headers=hub.posting({})["headers"])
    assert (answer.status, answer.json["error"]["code"]) == (400, code)


async def test_white_space_around_a_message_does_not_matter(hub: HttpHub) -> None:
    session = await hub.initialize()
    body = b'\r\n {\n"jsonrpc":"2.0",\n"id":1,"method":"echo","params":{\r\n"a":1}}\n'
    answer = await hub.ask("POST", data=body, headers=hub.posting({}, session=session)["headers"])
    assert answer.json["result"] == {"a": 1}


async def test_line_breaks_of_a_server_do_not_break_an_event(hub: HttpHub) -> None:
    session = await hub.initialize()
    hub.clients.go.set()
    body = b'{"jsonrpc":"2.0","id":1,"method":"tell","params":{\r\n"a":\n1}}'
    answer = await hub.ask("POST", data=body, headers=hub.posting({}, session=session)["headers"])
    assert json.loads(answer.events[-1].data)["result"] == {"a": 1}


async def test_a_request_without_a_session_that_is_no_initialize_is_refused(hub: HttpHub) -> None:
    assert (await hub.post(request("echo"))).status == 400
    assert (await hub.ask("GET", headers=STREAM)).status == 400
    assert (await hub.ask("DELETE")).status == 400


async def test_an_unknown_session_is_not_found(hub: HttpHub) -> None:
    assert (await hub.post(request("echo"), session="nobody")).status == 404
    assert (await hub.post(request("initialize", protocolVersion="2025-11-25"), session="nobody")).status == 404
    assert (await hub.ask("GET", **in_session("nobody"))).status == 404


async def test_a_session_belongs_to_the_endpoint_that_it_began_at(hub: HttpHub) -> None:
    session = await hub.initialize(path="/servers/files/mcp")
    assert hub.clients.opened[0][0] == "files"
    assert (await hub.post(request("echo"), session=session)).status == 404
    assert (await hub.post(request("echo"), session=session, path="/servers/files/mcp")).status == 200


async def test_a_session_belongs_to_the_token_that_it_began_with() -> None:
    async with http_hub(tokens={"t1": "one", "t2": "two"}) as hub:
        session = await hub.initialize(headers={"Authorization": "Bearer t1"})
        assert (await hub.post(request("echo"), session=session, headers={"Authorization": "Bearer t2"})).status == 404
        assert (await hub.post(request("echo"), session=session, headers={"Authorization": "bearer t1"})).status == 200


async def test_a_client_ends_its_session(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.open("GET", **in_session(session))
    assert (await hub.ask("DELETE", headers={"Mcp-Session-Id": session})).status == 204
    await response.end()
    assert hub.clients.dispatchers[0].closed.is_set()
    assert (await hub.post(request("echo"), session=session)).status == 404


async def test_an_initialize_that_fails_begins_no_session(hub: HttpHub) -> None:
    answer = await hub.post(request("initialize"))
    assert answer.json["error"]["code"] == -32601
    assert "Mcp-Session-Id" not in answer.headers
    assert len(hub.sessions) == 0


async def test_a_session_may_be_initialized_again(hub: HttpHub) -> None:
    session = await hub.initialize()
    answer = await hub.post(request("initialize", protocolVersion="2025-06-18"), session=session)
    assert answer.json["result"] == {"protocolVersion": "2025-06-18"}
    assert (await hub.post(request("initialize"), session=session)).json["error"]["code"] == -32601
    assert (await hub.post(request("echo"), session=session)).status == 200


async def test_too_many_sessions_end_the_oldest_idle_one_and_then_are_refused() -> None:
    async with http_hub(max_sessions=2) as hub:
        first, second = await hub.initialize(), await hub.initialize()
        assert (await hub.post(request("echo"), session=first)).status == 200
        third = await hub.initialize()
        assert (await hub.post(request("echo"), session=second)).status == 404
        streams = [await hub.open("GET", **in_session(session)) for session in (first, third)]
        assert (await hub.post(request("initialize", protocolVersion="2025-11-25"))).status == 503
        for stream in streams:
            stream.close()


async def test_too_many_requests_of_one_session_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_sessions, "MAX_STREAMS", 1)
    async with http_hub() as hub:
        session = await hub.initialize()
        response = await hub.post_open(request("hang", id=1), session=session)
        assert (await hub.post(request("echo", id=2), session=session)).status == 503
        response.close()


async def test_a_client_has_to_accept_both_forms_of_an_answer(hub: HttpHub) -> None:
    for accept in ("application/json", "text/event-stream", "text/html"):
        assert (await hub.post(request("initialize"), headers={"Accept": accept})).status == 406
    assert (await hub.post(request("initialize", protocolVersion="2025-11-25"), headers={"Accept": "*/*"})).status == 200
    assert (await hub.ask("GET", headers={"Accept": "application/json"})).status == 406


async def test_a_message_is_json_and_not_endless(hub: HttpHub) -> None:
    answer = await hub.ask("POST", data=b"{}", headers={**ACCEPT, "Content-Type": "text/plain"})
    assert answer.status == 415
    headers = {**ACCEPT, "Content-Type": "application/json"}
    assert (await hub.ask("POST", data=io.BytesIO(b" " * (64 * 2**20 + 1)), headers=headers)).status == 413


async def test_a_compressed_message_is_not_taken_whatever_is_in_it(hub: HttpHub) -> None:
    headers = {**ACCEPT, "Content-Type": "application/json", "Content-Encoding": "gzip"}
    for body in (b"{}", gzip.compress(b"{}")):
        assert (await hub.ask("POST", data=body, headers=headers)).status == 415


async def test_a_body_of_unknown_length_is_not_endless_either() -> None:
    async def endless() -> object:
        for _ in range(65):
            yield b" " * 2**20

    async with http_hub() as hub:
        answer = await hub.ask("POST", data=endless(), headers={**ACCEPT, "Content-Type": "application/json"})
        assert answer.status == 413


async def test_a_modern_request_without_its_version_header_is_told_so(hub: HttpHub) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    answer = await hub.post(request("tools/list", _meta=meta))
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
    assert "is missing" in answer.json["error"]["message"]
    other = await hub.post(request("tools/list", _meta=meta), headers={"MCP-Protocol-Version": "2025-11-25"})
    assert (other.status, other.json["error"]["code"]) == (400, -32020)
    assert "does not match" in other.json["error"]["message"]


async def test_a_modern_request_belongs_to_no_session_either(hub: HttpHub) -> None:
    session = await hub.initialize()
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    answer = await hub.post(request("echo", _meta=meta), session=session)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


async def test_what_was_in_flight_when_the_hub_ends_is_answered() -> None:
    async with http_hub() as hub:
        session = await hub.initialize()
        response = await hub.post_open(request("hang", id=3), session=session)
        await response.event()
        await hub.app.stop_taking()
        await hub.app.endpoints.end_of(None, "Tooltray has ended", grace_s=0)
        assert (await response.message())["error"]["message"] == "Tooltray has ended"
        await hub.app.close()


PATH = "/servers/files/sse"


async def connected(hub: HttpHub, path: str = PATH, **headers: str) -> tuple[OpenResponse, str]:
    """A session's stream, and where its messages go."""
    stream = await hub.open("GET", path, headers={**STREAM, **headers})
    first = await stream.event()
    assert first.type == "endpoint"
    return stream, bytes(first.data).decode()


async def test_messages_are_posted_where_the_first_event_says_and_answered_on_the_stream(hub: HttpHub) -> None:
    stream, messages = await connected(hub)
    answer = await hub.post(request("echo", id=4, x=1), path=messages)
    assert (answer.status, answer.body) == (202, b"Accepted")
    assert await stream.message() == {"jsonrpc": "2.0", "id": 4, "result": {"x": 1}}
    hub.clients.dispatchers[0].send_notification("news")
    assert (await stream.message())["method"] == "news"
    assert hub.clients.opened == [("files", True, None)]


async def test_a_session_ends_with_its_stream(hub: HttpHub) -> None:
    stream, messages = await connected(hub)
    await hub.post(request("hang", id=4), path=messages)
    await hub.clients.answering.wait()
    stream.close()
    assert await hub.clients.cancelled.wait() == b"4"
    await hub.clients.dispatchers[0].closed.wait()


async def test_a_stream_ends_with_its_session(hub: HttpHub) -> None:
    stream, messages = await connected(hub)
    await hub.app.endpoints.end_of(None, "ended", grace_s=0)
    await stream.end()
    assert (await hub.post(request("echo"), path=messages)).status == 404


async def test_a_server_with_any_name_can_be_reached(hub: HttpHub) -> None:
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


async def test_what_is_no_message_is_refused(hub: HttpHub) -> None:
    stream, messages = await connected(hub)
    headers = hub.posting({})["headers"]
    answer = await hub.ask("POST", messages, data=b"{", headers=headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32700)
    assert (await hub.ask("POST", messages, data=b"{}", headers={"Content-Type": "text/plain"})).status == 415
    stream.close()


async def test_other_methods_and_forms_are_refused(hub: HttpHub) -> None:
    assert (await hub.ask("GET", PATH, headers={"Accept": "application/json"})).status == 406
    answer = await hub.ask("POST", PATH)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    answer = await hub.ask("GET", "/servers/files/messages")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


async def test_there_are_not_endlessly_many_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_legacy, "MAX_SESSIONS", 1)
    async with http_hub() as hub:
        stream, _ = await connected(hub)
        assert (await hub.ask("GET", PATH, headers=STREAM)).status == 503
        stream.close()
