"""http_modern.py: clients of 2026-07-28 over HTTP, as they see it on the wire."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw
from multidict import CIMultiDict
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_hub import MODERN_META, HttpHub, http_hub, modern, notification, request

from tooltray.carriers.http_server import answers
from tooltray.carriers.mcp import http_modern

HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
SCHEMA = Raw(
    json.dumps(
        {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "size": {"type": "integer", "x-mcp-header": "Size"},
                "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
                "free": {"type": "string"},
            },
        }
    ).encode()
)


async def ask(hub: HttpHub, method: str = "echo", /, *, headers: dict[str, str] | None = None, **params: Any) -> Any:
    message, own = modern(method, **params)
    return await hub.post(message, headers={**own, **(headers or {})})


async def test_a_reply_that_comes_alone_is_the_whole_response_and_there_is_no_session(hub: HttpHub) -> None:
    answer = await ask(hub, x=1)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json["result"]["x"] == 1
    assert "Mcp-Session-Id" not in answer.headers
    assert hub.clients.opened == [(None, False, hub.clients.opened[0][2])]
    assert hub.clients.dispatchers[0].closed.is_set()


async def test_calls_that_wait_for_a_person_are_kept_for_each_client_and_not_for_each_request() -> None:
    async with http_hub(tokens={"t1": "one", "t2": "two"}) as hub:
        for token in ("t1", "t1", "t2"):
            assert (await ask(hub, headers={"Authorization": f"Bearer {token}"})).status == 200
        first, again, other = [held for _, _, held in hub.clients.opened]
        assert first is again
        assert first is not other


async def test_a_batch_is_refused_for_each_of_its_requests(hub: HttpHub) -> None:
    message, headers = modern("echo")
    answer = await hub.post(message | {"id": 1}, message | {"id": 2}, headers=headers)
    assert answer.status == 400
    assert [(each["id"], each["error"]["code"]) for each in answer.json] == [(1, -32600), (2, -32600)]


async def test_one_server_has_its_own_endpoint(hub: HttpHub) -> None:
    message, headers = modern("echo")
    assert (await hub.post(message, path="/servers/a%20b/mcp", headers=headers)).status == 200
    assert hub.clients.opened[0][0] == "a b"


async def test_messages_before_the_reply_make_the_response_a_stream_of_events_without_ids(hub: HttpHub) -> None:
    message, headers = modern("tell", id="x")
    response = await hub.post_open(message, headers=headers)
    first = await response.event()
    assert (json.loads(first.data)["method"], first.id) == ("notifications/progress", None)
    hub.clients.go.set()
    assert (await response.message())["id"] == "x"
    await response.end()


async def test_a_listening_request_stays_open_until_the_client_leaves(hub: HttpHub) -> None:
    message, headers = modern("listen", id=9)
    response = await hub.post_open(message, headers=headers)
    assert (await response.message())["method"] == "notifications/acknowledged"
    hub.clients.dispatchers[0].send_notification("notifications/tools/list_changed")
    assert (await response.message())["method"] == "notifications/tools/list_changed"
    response.close()
    assert await hub.clients.cancelled.wait() == b"9"


async def test_a_client_that_closes_the_response_has_cancelled_its_request(hub: HttpHub) -> None:
    message, headers = modern("hang", id=9)
    asking = asyncio.ensure_future(hub.post(message, headers=headers))
    await hub.clients.answering.wait()
    asking.cancel()
    assert await hub.clients.cancelled.wait() == b"9"
    assert hub.clients.dispatchers[0].closed.is_set()


async def test_a_question_is_not_sent_to_a_client_that_cannot_answer_it(hub: HttpHub) -> None:
    message, headers = modern("ask", id=9)
    asking = asyncio.ensure_future(hub.post(message, headers=headers))
    await hub.clients.answering.wait()
    await hub.app.endpoints.end_of(None, "ended", grace_s=0)
    assert (await asking).json["error"]["message"] == "ended"


@pytest.mark.parametrize(("code", "status"), [(-32602, 400), (-32601, 404), (-32021, 400), (-32603, 200), (7, 200)])
async def test_the_status_tells_what_kind_of_error_it_is(hub: HttpHub, code: int, status: int) -> None:
    answer = await ask(hub, "fail", code=code)
    assert (answer.status, answer.json["error"]["code"]) == (status, code)


async def test_an_error_behind_other_messages_has_no_status_of_its_own(hub: HttpHub) -> None:
    assert http_modern.status_of(_reply(b'"no object"')) == 200
    hub.clients.go.set()
    answer = await ask(hub, "tell", code=-32601)
    assert answer.status == 200


def _reply(error: bytes) -> Any:
    from tooltray.protocol.channels import Outgoing

    return Outgoing((b'{"jsonrpc":"2.0","id":1,"error":', Raw(error), b"}\n"), id=Raw(b"1"))


async def test_there_is_no_initialize_any_more(hub: HttpHub) -> None:
    answer = await ask(hub, "initialize")
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (404, -32601, 1)


async def test_a_notification_is_taken_and_dropped(hub: HttpHub) -> None:
    answer = await hub.post(notification("notifications/cancelled", requestId=1), headers={"MCP-Protocol-Version": "2026-07-28"})
    assert (answer.status, answer.body) == (202, b"")
    answer = await hub.post(notification("x"), headers={"MCP-Protocol-Version": "2030-01-01"})
    assert (answer.status, answer.json["error"]["code"]) == (400, UNSUPPORTED_VERSION)
    assert not hub.clients.opened


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', -32600),
    ],
)
async def test_a_body_that_is_no_request_is_refused(hub: HttpHub, body: bytes, code: int) -> None:
    headers = {**hub.posting({})["headers"], "MCP-Protocol-Version": "2026-07-28"}
    answer = await hub.ask("POST", data=body, headers=headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, code)


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        {"io.modelcontextprotocol/clientCapabilities": {}},
        5,
    ],
)
async def test_a_request_without_its_envelope_is_refused(hub: HttpHub, meta: Any) -> None:
    answer = await ask(hub, meta=meta)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": "2026-07-29"},
        {"Mcp-Method": "other"},
        {"Mcp-Name": "other"},
        {"Mcp-Name": "=?base64?b3RoZXI=?="},
        {"Mcp-Name": "=?base64?!?="},
    ],
)
async def test_headers_that_contradict_the_body_are_refused(hub: HttpHub, headers: dict[str, str]) -> None:
    answer = await ask(hub, "tools/call", name="tool", headers=headers)
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, HEADER_MISMATCH, 1)


@pytest.mark.parametrize("missing", ["Mcp-Method", "Mcp-Name"])
async def test_headers_that_are_missing_are_refused(hub: HttpHub, missing: str) -> None:
    message, headers = modern("tools/call", name="tool")
    del headers[missing]
    answer = await hub.post(message, headers=headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, HEADER_MISMATCH)


async def test_the_name_of_a_resource_is_its_uri_and_extensions_need_not_repeat_theirs(hub: HttpHub) -> None:
    message, headers = modern("resources/read", uri="test://ü")
    assert (
        await hub.post(message, headers={**headers, "Mcp-Name": "=?base64?dGVzdDovL8O8?="})
    ).status == 404  # of the session: no such method
    assert (await hub.post(message, headers=headers)).json["error"]["code"] == HEADER_MISMATCH
    message, headers = modern("tasks/get", taskId="7")
    assert (await hub.post(message, headers=headers)).json["error"]["code"] == -32601
    assert (await hub.post(message, headers={**headers, "Mcp-Name": "8"})).json["error"]["code"] == HEADER_MISMATCH


async def test_a_name_that_no_header_can_repeat_is_the_session_s_to_judge(hub: HttpHub) -> None:
    message, headers = modern("resources/read", uri="x")
    body = json.dumps(message).replace('"x"', '"\\ud800"')
    answer = await hub.ask("POST", data=body, headers=hub.posting(message, headers=headers)["headers"])
    assert answer.json["error"]["code"] == -32601  # it has reached the session


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
async def test_a_header_that_stands_twice_is_refused(hub: HttpHub, name: str) -> None:
    message, headers = modern("tools/call", name="tool")
    all_headers = CIMultiDict(hub.posting(message, headers=headers)["headers"])
    all_headers.add(name, headers[name])
    answer = await hub.ask("POST", data=json.dumps(message), headers=all_headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, HEADER_MISMATCH)


async def test_a_version_that_is_not_spoken_is_told_with_those_that_are(hub: HttpHub) -> None:
    meta = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    answer = await ask(hub, meta=meta, headers={"MCP-Protocol-Version": "2030-01-01"})
    assert answer.status == 400
    assert answer.json["error"]["code"] == UNSUPPORTED_VERSION
    assert answer.json["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}


async def test_a_version_that_is_no_text_matches_no_header(hub: HttpHub) -> None:
    answer = await ask(hub, meta={**MODERN_META, "io.modelcontextprotocol/protocolVersion": 2026})
    assert (answer.status, answer.json["error"]["code"]) == (400, HEADER_MISMATCH)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"free": "x"}, {}),
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}),
        ({"region": "ü"}, {"mcp-param-region": "=?base64?w7w=?="}),
        ({"region": None}, {}),
        ({"size": 42}, {"Mcp-Param-Size": "42"}),
        ({"size": 42.0}, {"Mcp-Param-Size": "42"}),
        ({"size": 42}, {"Mcp-Param-Size": "42.0"}),
        ({"deep": {"on": True}}, {"Mcp-Param-On": "true"}),
        ({"region": ["odd"]}, {}),
        ({"free": "x"}, {"Mcp-Param-Unknown": "y"}),
    ],
)
async def test_headers_that_repeat_the_marked_arguments_are_right(hub: HttpHub, arguments: dict[str, Any], headers: dict[str, str]) -> None:
    hub.schemas["tool"] = SCHEMA
    assert (await ask(hub, "tools/call", name="tool", arguments=arguments, headers=headers)).status == 200


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({"region": "eu"}, {"Mcp-Param-Region": "us"}),
        ({"region": "eu"}, {"Mcp-Param-Region": "=?base64?!?="}),
        ({}, {"Mcp-Param-Region": "eu"}),
        ({"region": ["odd"]}, {"Mcp-Param-Region": "odd"}),
        ({"size": 42}, {"Mcp-Param-Size": "43"}),
        ({"size": 42}, {"Mcp-Param-Size": "42.5"}),
        ({"size": 42}, {"Mcp-Param-Size": "4" * 5000}),
        ({"deep": {"on": True}}, {"Mcp-Param-On": "True"}),
    ],
)
async def test_headers_that_contradict_the_arguments_are_refused(hub: HttpHub, arguments: dict[str, Any], headers: dict[str, str]) -> None:
    hub.schemas["tool"] = SCHEMA
    answer = await ask(hub, "tools/call", name="tool", arguments=arguments, headers=headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, HEADER_MISMATCH)


async def test_a_long_argument_fits_into_its_header(hub: HttpHub) -> None:
    hub.schemas["tool"] = SCHEMA
    region = "e" * 60_000
    answer = await ask(hub, "tools/call", name="tool", arguments={"region": region}, headers={"Mcp-Param-Region": region})
    assert answer.status == 200


async def test_a_header_of_an_argument_that_stands_twice_is_refused(hub: HttpHub) -> None:
    hub.schemas["tool"] = SCHEMA
    message, headers = modern("tools/call", name="tool", arguments={"region": "eu"})
    all_headers = CIMultiDict(hub.posting(message, headers=headers)["headers"])
    all_headers.extend([("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "eu")])
    answer = await hub.ask("POST", data=json.dumps(message), headers=all_headers)
    assert answer.json["error"]["code"] == HEADER_MISMATCH


async def test_nothing_is_checked_for_a_tool_that_marks_its_arguments_wrongly(hub: HttpHub) -> None:
    hub.schemas["tool"] = Raw(b'{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}')
    assert (await ask(hub, "tools/call", name="tool", arguments={"n": 1})).status == 200
    assert (await ask(hub, "tools/call", arguments={"n": 1}, headers={"Mcp-Name": "x"})).status == 200


async def test_too_many_requests_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_modern, "MAX_EXCHANGES", 1)
    async with http_hub() as hub:
        message, headers = modern("hang")
        asking = asyncio.ensure_future(hub.post(message, headers=headers))
        await hub.clients.answering.wait()
        assert (await ask(hub)).status == 503
        hub.clients.go.set()
        assert (await asking).status == 200


async def test_what_one_client_leaves_open_keeps_no_other_from_calling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_modern, "MAX_OF_ONE", 2)
    async with http_hub(tokens={"t1": "one", "t2": "two"}) as hub:
        one, two = ({"Authorization": f"Bearer {token}"} for token in ("t1", "t2"))
        message, headers = modern("tell")
        waiting = [await hub.post_open(message, headers={**headers, **one}) for _ in range(2)]
        refused = await ask(hub, headers=one)
        assert (refused.status, refused.json["error"]["message"]) == (503, "too many requests of this client are in flight")
        assert (await ask(hub, headers=two)).status == 200
        hub.clients.go.set()
        for response in waiting:
            await response.end()
        assert (await ask(hub, headers=one)).status == 200


async def test_streams_of_news_keep_their_client_from_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_modern, "MAX_LISTENING", 1)
    monkeypatch.setattr(http_modern, "LISTEN", "listen")
    async with http_hub() as hub:
        message, headers = modern("listen")
        stream = await hub.post_open(message, headers=headers)
        await stream.message()
        refused = await ask(hub, "listen")
        assert (refused.status, refused.json["error"]["message"]) == (503, "this client has too many notification streams open")
        assert (await ask(hub)).status == 200
        stream.close()
        await hub.clients.cancelled.wait()
        again = await hub.post_open(message, headers=headers)
        await again.message()
        again.close()


async def test_half_a_message_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BODY_SILENCE_S", 0.05)
    async with http_hub() as hub, asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", hub.port)
        message, headers = modern("echo")
        head = {**hub.posting(message, headers=headers)["headers"], "Host": f"127.0.0.1:{hub.port}", "Content-Length": "1000"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n{json.dumps(message)}".encode())
        assert b" 408 " in await reader.readline()
        assert b"the rest of the message was not received" in await reader.readuntil(b"not received")
        writer.close()
        assert hub.clients.opened == []


async def test_a_client_has_to_accept_both_forms_of_an_answer(hub: HttpHub) -> None:
    for accept in ("application/json", "text/event-stream"):
        assert (await ask(hub, headers={"Accept": accept})).status == 406


async def test_the_endpoint_takes_posts_alone(hub: HttpHub) -> None:
    version = {"MCP-Protocol-Version": "2026-07-28"}
    for method in ("GET", "DELETE", "PUT"):
        answer = await hub.ask(method, headers=version)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    answer = await hub.ask("GET", headers={"MCP-Protocol-Version": "1999-01-01", "Mcp-Session-Id": "x"})
    assert answer.status == 400


async def test_a_legacy_client_with_its_version_in_the_header_is_none_of_this(hub: HttpHub) -> None:
    session = await hub.initialize()
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    assert (await hub.post(request("echo"), session=session, headers=headers)).status == 200
