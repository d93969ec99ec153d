"""One AI client's conversation with the hub, in both eras."""

import asyncio
import json
from typing import Any

import pytest
from tests.fakes.conversation import CAPABILITIES, LONG_S, META, PREFIX, SERVER_INFO, Conversation, listen
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_core_presenter import INSTRUCTIONS

from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import Era
from tooltray.servers.relay.held_calls import HeldCalls

LISTED = b'{"tools":[{"name":"echo","later":1e400}]}'


# the legacy handshake


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
@in_fake_time
async def test_the_handshake_takes_every_legacy_version(version: str) -> None:
    async with Conversation() as client:
        assert await client.greet(version) == {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": INSTRUCTIONS,
        }


@pytest.mark.parametrize("version", ["2026-07-28", "2099-01-01", "1.0", ""])
@in_fake_time
async def test_another_version_is_answered_with_the_newest_that_has_a_handshake(version: str) -> None:
    async with Conversation() as client:
        assert (await client.greet(version))["protocolVersion"] == "2025-11-25"


@in_fake_time
async def test_a_handshake_under_a_modern_envelope_is_a_handshake_all_the_same() -> None:
    async with Conversation() as client:
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}, "_meta": META}
        assert (await client.result("initialize", params))["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"protocolVersion": 5},
        {"protocolVersion": "2025-06-18", "capabilities": []},
        {"protocolVersion": "2025-06-18", "capabilities": None},
        {"protocolVersion": "2025-06-18", "clientInfo": "t"},
        {"protocolVersion": "2025-06-18", "clientInfo": {"name": 5}},
    ],
)
@in_fake_time
async def test_a_handshake_that_cannot_be_read_is_refused_and_may_be_tried_again(params: Any) -> None:
    async with Conversation() as client:
        assert (await client.error("initialize", params))["code"] == -32602
        assert (await client.greet())["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    "request_of",
    [
        b'"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"x":%b}}',
        b'"subscriptions/listen","params":{"notifications":%b,"_meta":' + json.dumps(META).encode() + b"}",
        b'"tools/call","params":{"name":"echo","arguments":%b}',
        b'"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%b,"io.modelcontextprotocol/clientCapabilities":{}}}',
    ],
    ids=["initialize", "listen", "call", "version"],
)
@in_fake_time
async def test_a_request_of_any_depth_is_answered_or_refused_and_never_a_failure_of_ours(request_of: bytes) -> None:
    async with Conversation() as client:
        depths = [*range(10, 900, 300), *range(900, 1010), 50_000]
        for depth in depths:
            deep = b"[" * depth + b"]" * depth
            request = b'{"jsonrpc":"2.0","id":%d,"method":%b}\n' % (depth, request_of % deep)
            asyncio.get_running_loop().call_soon(client.session.dispatcher.feed, request)  # where the stack is as low as in a hub
        await client.channel.lines.until(lambda: len(client.channel.lines.all) == len(depths))
        replies = [json.loads(reply) for reply in client.channel.lines.all if b"[[" not in reply]
        assert {reply["error"]["code"] for reply in replies if "error" in reply} <= {-32602, -32700}


@in_fake_time
async def test_a_client_that_tells_only_its_version_is_taken_and_named_in_the_records() -> None:
    async with Conversation() as client:
        await client.result("initialize", {"protocolVersion": "2025-06-18"})
        await client.result("tools/call", {"name": "echo"})
        assert client.presenter.relayed.all == [("tools/call", Era.LEGACY, None, "AI client")]


@in_fake_time
async def test_what_follows_the_handshake_at_once_is_answered_behind_it() -> None:
    async with Conversation() as client:
        client.send(id=1, method="initialize", params={"protocolVersion": "2025-06-18"})
        client.send(method="notifications/initialized")
        client.send(id=2, method="tools/list")
        await client.channel.reply(2)
        assert list(client.channel.replies) == [1, 2]


@in_fake_time
async def test_ping_is_answered() -> None:
    async with Conversation() as client:
        assert await client.result("ping") == {}


@pytest.mark.parametrize(
    "method", ["resources/list", "prompts/list", "logging/setLevel", "server/discover", "subscriptions/listen", "tasks/get", "x"]
)
@in_fake_time
async def test_a_method_that_is_not_offered_is_not_found(method: str) -> None:
    async with Conversation() as client:
        await client.greet()
        assert await client.error(method) == {"code": -32601, "message": "Method not found", "data": method}


@in_fake_time
async def test_other_notifications_are_taken_in_silence() -> None:
    async with Conversation() as client:
        await client.greet()
        for method in ("notifications/roots/list_changed", "notifications/progress", "x"):
            client.send(method=method)
        await client.result("ping")
        assert len(client.channel.messages) == 2


# the modern era


@in_fake_time
async def test_discovery_tells_versions_capabilities_and_who_we_are() -> None:
    async with Conversation() as client:
        assert await client.result("server/discover", {"_meta": META}) == {
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            "supportedVersions": ["2026-07-28"],
            "capabilities": CAPABILITIES,
            "instructions": INSTRUCTIONS,
            "_meta": {PREFIX + "serverInfo": SERVER_INFO},
        }


@in_fake_time
async def test_a_client_may_discover_and_then_change_its_mind() -> None:
    async with Conversation() as client:
        await client.result("server/discover", {"_meta": META})
        await client.greet()
        assert "resultType" not in await client.result("tools/list")
        assert (await client.result("tools/list", {"_meta": META}))["resultType"] == "complete"


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call", "subscriptions/listen", "x"])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (
            {PREFIX + "clientCapabilities": None},
            {"code": -32602, "message": "the client's capabilities in the envelope must be an object"},
        ),
        ({PREFIX + "protocolVersion": 5}, {"code": -32602, "message": "the protocol version in the envelope must be a string"}),
        (
            {PREFIX + "logLevel": "loud"},
            {
                "code": -32602,
                "message": "no such log level in the envelope; available: debug, info, notice, warning, error, critical, alert, emergency",
            },
        ),
        ({PREFIX + "protocolVersion": None}, {"code": -32602, "message": "the protocol version in the envelope must be a string"}),
        (
            {PREFIX + "protocolVersion": "2099-01-01"},
            {
                "code": -32022,
                "message": "Unsupported protocol version",
                "data": {"supported": ["2026-07-28"], "requested": "2099-01-01"},
            },
        ),
        (
            {PREFIX + "protocolVersion": "2025-11-25", PREFIX + "clientCapabilities": 5},
            {
                "code": -32022,
                "message": "Unsupported protocol version",
                "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"},
            },
        ),
    ],
)
@in_fake_time
async def test_an_envelope_with_a_fault_is_refused_with_its_error(method: str, changes: dict[str, Any], error: dict[str, Any]) -> None:
    async with Conversation() as client:
        assert await client.error(method, {"name": "echo", "_meta": META | changes}) == error


@in_fake_time
async def test_an_envelope_without_capabilities_is_told_what_it_lacks() -> None:
    async with Conversation() as client:
        error = await client.error("tools/list", {"_meta": {PREFIX + "protocolVersion": "2026-07-28"}})
        assert error["code"] == -32602
        assert "clientCapabilities" in error["message"]


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "x"])
@in_fake_time
async def test_what_the_modern_era_does_not_have_is_not_found_in_it(method: str) -> None:
    async with Conversation() as client:
        assert await client.error(method, {"_meta": META}) == {"code": -32601, "message": "Method not found", "data": method}


@pytest.mark.parametrize("is_lasting", [True, False])
@in_fake_time
async def test_who_comes_back_with_nothing_is_told_that_a_stream_of_news_has_ended(is_lasting: bool) -> None:
    """A bridge asks the next hub for the same, so that its client hears of no end."""
    async with Conversation(is_lasting=is_lasting) as client:
        await listen(client, "news", toolsListChanged=True)
        await client.session.dispatcher.close("the hub ends")
        meta = {PREFIX + "subscriptionId": "news"}
        ended = {"jsonrpc": "2.0", "id": "news", "result": {"resultType": "complete", "_meta": meta}}
        assert client.channel.messages[1:] == ([] if is_lasting else [ended])


# lists and calls


@in_fake_time
async def test_the_list_is_given_verbatim() -> None:
    async with Conversation() as client:
        client.send(id=1, method="tools/list", params={"cursor": "x", "_meta": {"progressToken": 1}})
        await client.channel.reply(1)
        client.send(id=2, method="tools/list", params={"_meta": META})
        await client.channel.reply(2)
        assert client.channel.lines.all == [
            b'{"jsonrpc":"2.0","id":1,"result":' + LISTED + b"}",
            b'{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",' + LISTED[1:] + b"}",
        ]


@pytest.mark.parametrize(
    "arguments",
    [b'{"n":1180591620717411303424,"e":1e400}', b'{"text":"\\ud800"}', b"[" * 900 + b"]" * 900],
    ids=["numbers", "half a surrogate pair", "deep"],
)
@in_fake_time
async def test_a_call_is_carried_verbatim(arguments: bytes) -> None:
    async with Conversation() as client:
        params = b'{"name":"echo","arguments":' + arguments + b"}"
        client.session.dispatcher.feed(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}\n")
        await client.channel.message()
        assert client.channel.lines.all == [b'{"jsonrpc":"2.0","id":1,"result":' + params + b"}"]


@in_fake_time
async def test_a_call_is_carried_with_its_era_and_the_name_of_the_client() -> None:
    async with Conversation() as client:
        await client.result("tools/call", {"name": "echo", "_meta": META})
        await client.greet()
        await client.result("tools/call", {"name": "echo"})
        assert client.presenter.relayed.all == [("tools/call", Era.MODERN, None, "t 1"), ("tools/call", Era.LEGACY, None, "t 1")]


@in_fake_time
async def test_a_modern_client_is_known_by_its_first_request_whatever_that_is() -> None:
    async with Conversation() as client:
        await client.result("tools/list", {"_meta": META})
        assert (client.session.state.client, client.session.state.version) == ("t", "1")
        await client.result("tools/list", {"_meta": {**META, "io.modelcontextprotocol/clientInfo": {"name": "other"}}})
        assert client.session.state.client == "t"


@pytest.mark.parametrize("params", [[1], {"name": 5}, {"_meta": []}, {"_meta": None}, {"inputResponses": 1}, {"name": "\ud800"}])
@in_fake_time
async def test_parameters_of_another_type_are_refused(params: Any) -> None:
    async with Conversation() as client:
        assert await client.error("tools/call", params) == {"code": -32602, "message": "Invalid request parameters"}
        assert client.presenter.relayed.all == []


@pytest.mark.parametrize(
    ("params", "code"), [({"name": 5, "inputResponses": 1, "_meta": META}, -32601), ({"_meta": []}, -32602), ([1], -32602)]
)
@in_fake_time
async def test_what_the_members_of_an_extensions_method_mean_is_for_others_to_say(params: Any, code: int) -> None:
    async with Conversation() as client:
        assert (await client.error("foo/bar", params))["code"] == code


@in_fake_time
async def test_what_servers_declare_is_told_and_what_a_client_declares_is_kept_in_either_era() -> None:
    declared = {"extensions": {"com.example/foo": {"x": 1}}, "experimental": {"bar": {}}}
    async with Conversation() as client:
        client.presenter.joined = {"extensions": {"a/b": {}}, "tasks": {"list": {}}}
        told = {**CAPABILITIES, **client.presenter.joined}
        assert (await client.greet(**declared))["capabilities"] == told
        assert client.session.state.declared == declared
        meta = {**META, PREFIX + "clientCapabilities": {"extensions": {"c/d": {}}}}
        for _ in range(2):
            assert (await client.result("server/discover", {"_meta": meta}))["capabilities"] == told
            assert client.session.state.declared == {"extensions": {"c/d": {}}}
        await client.result("tools/list", {"_meta": META})
        assert client.session.state.declared == {}


@in_fake_time
async def test_a_call_that_the_client_cancels_is_cancelled_and_never_answered() -> None:
    async with Conversation() as client:
        client.send(id="c", method="tools/call", params={"name": "hang"})
        await client.presenter.relayed.wait()
        client.send(method="notifications/cancelled", params={"requestId": "c"})
        await client.presenter.cancelled.wait()
        await client.result("ping")
        assert list(client.channel.replies) == [100]


@in_fake_time
async def test_a_client_that_vanishes_in_a_call_ends_it() -> None:
    async with Conversation() as client:
        client.send(id="c", method="tools/call", params={"name": "hang"})
        await client.presenter.relayed.wait()
    assert client.presenter.cancelled.all == [b'"c"']


# what servers want of the client


@in_fake_time
async def test_a_servers_question_reaches_the_client_and_the_answer_the_server() -> None:
    async with Conversation() as client:
        await client.greet(elicitation={})
        client.send(id=1, method="tools/call", params={"name": "ask"})
        assert await client.channel.notification("elicitation/create") == {"message": "who?"}
        question = client.channel.messages[-1]
        client.send(id=question["id"], result={"action": "decline"})
        assert (await client.channel.reply(1))["result"] == {"action": "decline"}


@in_fake_time
async def test_a_client_can_answer_what_it_declared_and_nothing_else() -> None:
    async with Conversation() as client:
        assert not client.session.can_answer("roots/list")
        await client.greet(elicitation={}, experimental={"half": "x"})
        assert client.session.can_answer("elicitation/create")
        assert not client.session.can_answer("sampling/createMessage")
        assert json.loads(bytes(client.session.capabilities)) == {"elicitation": {}, "experimental": {"half": "x"}}


@in_fake_time
async def test_progress_is_told_but_not_kept_for_a_client_that_does_not_read() -> None:
    async with Conversation() as client:
        await client.result("tools/call", {"name": "tell"})
        assert await client.channel.notification("notifications/progress") == {"progressToken": 1, "progress": 1}
        client.session.dispatcher.pause_writing()
        client.session.tell("notifications/progress", dump({}))
        assert len(client.channel.messages) == 2


@in_fake_time
async def test_the_held_calls_that_outlive_a_session_are_not_ended_with_it() -> None:
    held = HeldCalls(deadlines=DeadlineWheel(), spawn=TaskKeeper().spawn)
    closed: list[bool] = []
    held.close = lambda: closed.append(True)  # type: ignore[method-assign]
    async with Conversation(held=held) as client:
        await client.result("tools/list")
    assert closed == []


# sessions that cannot be served


@pytest.mark.parametrize("method", ["initialize", "server/discover", "tools/list", "tools/call", "ping", "subscriptions/listen", "x"])
@in_fake_time
async def test_a_session_that_is_refused_answers_every_request_with_the_reason(method: str) -> None:
    async with Conversation(refusal="Tooltray has no server 'x'") as client:
        client.send(method="notifications/initialized")
        error = {"code": -32603, "message": "Tooltray has no server 'x'"}
        assert await client.error(method, {"_meta": META}) == error
        assert await client.error(method, [1]) == error
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.presenter.relayed.all == []


# records


@in_fake_time
async def test_requests_and_their_outcome_are_recorded_and_counted() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.ask("tools/call", {"name": "echo", "arguments": {"a": 1}}, id="x")
        await client.error("no/such")
        assert client.session.request_count == 3
    assert [(component, method) for component, _, method, _ in client.log.received] == [
        ("t 1", "initialize"),
        ("t 1", "tools/call"),
        ("t 1", "no/such"),
    ]
    assert json.loads(client.log.received[1][3]) == {"name": "echo", "arguments": {"a": 1}}
    assert [id for _, id, _, _ in client.log.received][:2] == [id for _, id, _ in client.log.sent] == [b"100", b'"x"']
    assert [(component, code, message) for component, _, code, message in client.log.errors] == [("t 1", -32601, "Method not found")]


@in_fake_time
async def test_a_cancelled_request_is_not_counted_as_answered() -> None:
    async with Conversation() as client:
        client.send(id="c", method="tools/call", params={"name": "hang"})
        await client.presenter.relayed.wait()
        client.send(method="notifications/cancelled", params={"requestId": "c"})
        await client.presenter.cancelled.wait()
        assert client.session.request_count == 0


@in_fake_time
async def test_what_cannot_be_read_and_what_is_left_at_the_end_is_recorded_as_an_error_and_counted() -> None:
    async with Conversation() as client:
        client.session.dispatcher.feed(b"nonsense\n")
        client.send(id="c", method="tools/call", params={"name": "hang"})
        await client.presenter.relayed.wait()
        await client.session.dispatcher.close("the hub ends")
        await asyncio.sleep(LONG_S)
        assert client.session.request_count == 2
    assert [(id, code) for _, id, code, _ in client.log.errors] == [(b"", -32700), (b'"c"', -32000)]


async def test_a_client_declares_in_either_era_that_it_shows_views() -> None:
    shows = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    async with Conversation() as client:
        await client.greet()
        assert not client.session.state.shows_views
        await client.greet(**shows)
        assert client.session.state.shows_views
    async with Conversation() as client:
        await client.ask("tools/list", {"_meta": {**META, PREFIX + "clientCapabilities": shows}})
        assert client.session.state.shows_views
        await client.ask("tools/list", {"_meta": META})
        assert not client.session.state.shows_views
