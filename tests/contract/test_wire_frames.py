"""What real AI clients write, byte for byte in their own spelling, and what they must get; and our answers beside those of the `mcp` SDK.

The frames follow what was seen of these clients on the wire: the order of members, the ids, the versions asked for, what they declare, and
which of them try `server/discover` before `initialize`.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import mcp_types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import jsonrpc, version
from tests.contract.sdk_peers import LISTING, TOOL, asked_of_sdk, asked_of_us, way_to
from tests.fakes.conversation import META, PREFIX, Conversation
from tests.fakes.fake_channel import line, make_dispatcher
from tests.fakes.fake_clock import in_fake_time

from tooltray.protocol import envelope, eras

# AI clients: each line as it is written, and the ids that must be answered with a result, in this order

CLAUDE_CODE = [
    b'{"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"claude-code","title":"Claude Code","version":"2.1.330"},'
    b'"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}}},"jsonrpc":"2.0","id":0}',
    b'{"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.330"},"io.modelcontextprotocol/clientCapabilities":{}}},'
    b'"jsonrpc":"2.0","id":1}',
    b'{"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"},"_meta":{"progressToken":2,"claudecode/toolUseId":"toolu_1",'
    b'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.330"},'
    b'"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}},"jsonrpc":"2.0","id":2}',
]
CODEX = [
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},'
    b'"clientInfo":{"name":"codex-mcp-client","title":"Codex","version":"0.169.0"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}',
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"echo","arguments":{"text":"hi"}}}',
]
GEMINI = [
    b'{"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},'
    b'"clientInfo":{"name":"gemini-cli-mcp-client-tooltray","version":"0.61.0"}},"jsonrpc":"2.0","id":0}',
    b'{"method":"notifications/initialized","jsonrpc":"2.0"}',
    b'{"method":"tools/list","params":{},"jsonrpc":"2.0","id":1}',
    b'{"method":"notifications/roots/list_changed","jsonrpc":"2.0"}',
    b'{"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}},"jsonrpc":"2.0","id":2}',
]
CLINE = [
    b'{"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},'
    b'"clientInfo":{"name":"@cline/core","version":"3.0.65"}},"jsonrpc":"2.0","id":0}',
    b'{"method":"notifications/initialized","jsonrpc":"2.0"}',
    b'{"method":"tools/list","jsonrpc":"2.0","id":1}',
    b'{"method":"ping","jsonrpc":"2.0","id":2}',
]
COPILOT_CHANGES_ITS_MIND = [
    b'{"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"copilot-cli","version":"1.0.102"},'
    b'"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{}}}},"jsonrpc":"2.0","id":0}',
    b'{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{}},'
    b'"clientInfo":{"name":"copilot-cli","version":"1.0.102"}},"jsonrpc":"2.0","id":1}',
    b'{"method":"notifications/initialized","jsonrpc":"2.0"}',
    b'{"method":"tools/list","jsonrpc":"2.0","id":2}',
]
PYTHON_SDK = [
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"mcp","version":"0.1.0"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":"listen-1","method":"ping"}',
    b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": {}}}',
]
SEEN = {
    "Claude Code": (CLAUDE_CODE, [0, 1, 2]),
    "Codex": (CODEX, [0, 1, 2]),
    "Gemini CLI": (GEMINI, [0, 1, 2]),
    "Cline": (CLINE, [0, 1, 2]),
    "Copilot CLI": (COPILOT_CHANGES_ITS_MIND, [0, 1, 2]),
    "Python SDK": (PYTHON_SDK, [1, "listen-1", 2]),
}


@pytest.mark.parametrize(("lines", "ids"), SEEN.values(), ids=SEEN.keys())
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@in_fake_time
async def test_what_a_client_writes_is_answered_in_order(lines: Sequence[bytes], ids: Sequence[Any], newline: bytes) -> None:
    async with Conversation() as client:
        client.session.dispatcher.feed(b"".join(line + newline for line in lines))
        await client.channel.message(len(ids))
        await client.session.dispatcher.idle()
        assert [message["id"] for message in client.channel.messages] == list(ids)
        assert all("result" in message for message in client.channel.messages)


@in_fake_time
async def test_a_client_that_closes_its_side_behind_its_last_request_gets_every_answer() -> None:
    async with Conversation() as client:
        client.session.dispatcher.feed(b"".join(line + b"\n" for line in CLINE))
        client.session.dispatcher.end_of_input("gone", grace_s=2)
        await client.channel.closing()
        assert [message["id"] for message in client.channel.messages] == [0, 1, 2]


@in_fake_time
async def test_a_cancellation_as_clients_write_it_is_understood() -> None:
    for written in (
        b'{"method":"notifications/cancelled","params":{"requestId":5,"reason":"AbortError: The operation was aborted"},"jsonrpc":"2.0"}\n',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}\n',
    ):
        async with Conversation() as client:
            client.send(id=5, method="tools/call", params={"name": "hang"})
            await client.presenter.relayed.wait()
            client.session.dispatcher.feed(written)
            await client.presenter.cancelled.wait()
            await client.result("ping")
            assert len(client.channel.messages) == 1


# servers: what they write is understood in any order of members, and what is no message is passed over

SERVER_REPLIES = {
    "TypeScript SDK": b'{"result":{"content":[{"type":"text","text":"%%"}]},"jsonrpc":"2.0","id":@}',
    "Python SDK": b'{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":"%%"}]}}',
    "every member written": b'{"jsonrpc":"2.0","id":@,"result":{"content":[]},"error":null}',
    "white space": b' { "id" : @ , "jsonrpc" : "2.0" , "result" : { "content" : [ ] } } \r',
    "a number as text": b'{"jsonrpc":"2.0","id":"@","result":{"content":[]}}',
    "no version": b'{"id":@,"result":{"content":[]}}',
    "behind a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":@,"result":{"content":[]}}',
    "behind a log line": b'INFO ready\n{"jsonrpc":"2.0","id":@,"result":{"content":[]}}',
}


@pytest.mark.parametrize("written", SERVER_REPLIES.values(), ids=SERVER_REPLIES.keys())
@in_fake_time
async def test_a_reply_as_servers_write_it_reaches_its_caller(written: bytes) -> None:
    dispatcher, channel = make_dispatcher(is_server=True)
    pending = dispatcher.start_call("tools/call")
    id = (await channel.message())["id"]
    dispatcher.feed(written.replace(b"@", str(id).encode()) + b"\n")
    assert "content" in json.loads(bytes((await dispatcher.calls.outcome(pending)).result))


# what we promise the bridge


@in_fake_time
async def test_every_reply_begins_as_the_bridge_expects() -> None:
    async with Conversation() as client:
        refused = [b"garbage", b"[]", b'{"jsonrpc":"2.0","id":9,"method":"x"}']
        client.session.dispatcher.feed(b"".join(line + b"\n" for line in [*CLAUDE_CODE, *refused]))
        await client.channel.message(6)
        assert all(written.startswith(b'{"jsonrpc":"2.0","id":') for written in client.channel.lines.all)


# the SDK's own words


def test_versions_names_and_codes_are_those_of_the_sdk() -> None:
    assert list(eras.HANDSHAKE_VERSIONS) == list(version.HANDSHAKE_PROTOCOL_VERSIONS)
    assert list(eras.MODERN_VERSIONS) == list(version.MODERN_PROTOCOL_VERSIONS)
    for name in ("PROTOCOL_VERSION", "CLIENT_INFO", "CLIENT_CAPABILITIES", "LOG_LEVEL", "SERVER_INFO"):
        assert getattr(eras, f"{name}_KEY") == getattr(mcp_types, f"{name}_META_KEY")
    assert eras.UNSUPPORTED_PROTOCOL_VERSION == jsonrpc.UNSUPPORTED_PROTOCOL_VERSION
    for name in ("PARSE_ERROR", "INVALID_REQUEST", "METHOD_NOT_FOUND", "INVALID_PARAMS", "INTERNAL_ERROR", "CONNECTION_CLOSED"):
        assert getattr(envelope, name) == getattr(jsonrpc, name)
    assert envelope.REQUEST_TIMEOUT == jsonrpc.REQUEST_TIMEOUT


def test_subscriptions_are_told_under_the_name_that_the_sdk_uses() -> None:
    from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY

    assert eras.SUBSCRIPTION_ID_KEY == SUBSCRIPTION_ID_META_KEY


def request(method: str, params: Any = None, id: Any = 1) -> bytes:
    return line(id=id, method=method, **({} if params is None else {"params": params}))[:-1]


def greeting(asked: str) -> bytes:
    return request("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}, id=0)


SAME = {
    "discover": [request("server/discover", {"_meta": META})],
    **{f"initialize {asked}": [greeting(asked)] for asked in (*version.HANDSHAKE_PROTOCOL_VERSIONS, "2026-07-28", "1.0", "")},
    "legacy list": [greeting("2025-06-18"), request("tools/list"), request("tools/list", {}, id="a")],
    "legacy ping": [greeting("2025-06-18"), request("ping")],
    "legacy method that is not there": [greeting("2025-06-18"), request("x")],
    "legacy discover": [greeting("2025-06-18"), request("server/discover")],
    "legacy listen": [greeting("2025-06-18"), request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})],
    "discover without an envelope": [request("server/discover")],
    "modern ping": [request("ping", {"_meta": META})],
    "modern method that is not there": [request("x", {"_meta": META})],
    "another version": [request("tools/list", {"_meta": {**META, PREFIX + "protocolVersion": "2099-01-01"}})],
    "a legacy version in the envelope": [request("tools/list", {"_meta": {**META, PREFIX + "protocolVersion": "2025-11-25"}})],
}
SAME_WITH_NEWS = {
    "listen": [request("subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": META}, id="listen-1")],
    "listen under a number": [request("subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": META}, id=7)],
    "listen for more": [request("subscriptions/listen", {"notifications": {"toolsListChanged": True, "later": 1}, "_meta": META})],
}
SAME_CODE = {
    "no capabilities": [request("tools/list", {"_meta": {PREFIX + "protocolVersion": "2026-07-28"}})],
    "capabilities that are none": [request("server/discover", {"_meta": {**META, PREFIX + "clientCapabilities": 5}})],
    "a version that is no text": [request("server/discover", {"_meta": {**META, PREFIX + "protocolVersion": 5}})],
    "initialize without anything": [request("initialize", {})],
    "listen without a filter": [request("subscriptions/listen", {"_meta": META})],
    "listen with an odd filter": [request("subscriptions/listen", {"notifications": 5, "_meta": META})],
}


@pytest.mark.parametrize("asked", SAME.values(), ids=SAME.keys())
async def test_we_answer_field_by_field_as_the_sdk_does(asked: Sequence[bytes]) -> None:
    assert await asked_of_us(asked, then_change=False) == await asked_of_sdk(asked, then_change=False)


@pytest.mark.parametrize("asked", SAME_WITH_NEWS.values(), ids=SAME_WITH_NEWS.keys())
async def test_subscriptions_are_acknowledged_and_told_field_by_field_as_by_the_sdk(asked: Sequence[bytes]) -> None:
    assert await asked_of_us(asked, then_change=True) == await asked_of_sdk(asked, then_change=True)


@pytest.mark.parametrize("asked", SAME_CODE.values(), ids=SAME_CODE.keys())
async def test_faults_have_the_code_that_the_sdk_gives_them(asked: Sequence[bytes]) -> None:
    (ours,), (theirs,) = await asked_of_us(asked, then_change=False), await asked_of_sdk(asked, then_change=False)
    assert (ours["id"], ours["error"]["code"]) == (theirs["id"], theirs["error"]["code"])


async def test_a_modern_list_differs_from_the_sdks_only_by_its_stamp() -> None:
    asked = [request("tools/list", {"_meta": META})]
    (ours,), (theirs,) = await asked_of_us(asked, then_change=False), await asked_of_sdk(asked, then_change=False)
    stamp = theirs["result"].pop("_meta")
    assert ours == theirs
    assert list(stamp) == [PREFIX + "serverInfo"]


# the SDK's client on a session of ours

RESULT = {"content": [{"type": "text", "text": "hi"}], "isError": False}


@pytest.mark.parametrize(("mode", "spoken"), [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_sdks_client_greets_lists_and_calls(mode: Any, spoken: str) -> None:
    async with Conversation() as hub:
        hub.presenter.listings[None] = LISTING
        hub.presenter.results["echo"] = json.dumps(RESULT | ({"resultType": "complete"} if spoken == "2026-07-28" else {})).encode()
        async with Client(way_to(hub), mode=mode, cache=None) as client:
            assert client.protocol_version == spoken
            (tool,) = (await client.list_tools()).tools
            assert tool.model_dump(by_alias=True, exclude_none=True, mode="json") == TOOL
            result = await client.call_tool("echo", {"text": "hi"})
            assert [content.model_dump(by_alias=True, exclude_none=True) for content in result.content] == RESULT["content"]


async def test_the_sdks_client_hears_of_changes_while_it_listens() -> None:
    async with Conversation() as hub:
        hub.presenter.listings[None] = LISTING
        async with Client(way_to(hub), mode="auto", cache=None) as client:
            async with client.listen(tools_list_changed=True) as subscription:
                hub.change()
                async with asyncio.timeout(20):
                    event = await anext(aiter(subscription))
                assert type(event).__name__ == "ToolsListChanged"
            assert (await client.list_tools()).tools


async def test_the_sdks_client_is_told_why_it_cannot_be_served() -> None:
    async with Conversation(refusal="Tooltray has no server 'x'") as hub:
        with pytest.RaisesGroup(pytest.RaisesExc(MCPError, match="Tooltray has no server 'x'"), flatten_subgroups=True):
            async with Client(way_to(hub), mode="auto", cache=None):
                pass


def test_the_eras_are_told_apart_as_the_sdk_tells_them() -> None:
    from mcp.shared.inbound import InboundModernRoute, classify_inbound_request

    for meta in (META, {"progressToken": 1}, {**META, PREFIX + "protocolVersion": "2099-01-01"}):
        head = eras.read_head(envelope.dump({"_meta": meta}))
        assert head
        route = classify_inbound_request({"method": "tools/list", "params": {"_meta": meta}})
        is_served = head.era is eras.Era.MODERN and eras.is_version_spoken(head)
        assert isinstance(route, InboundModernRoute) == is_served
