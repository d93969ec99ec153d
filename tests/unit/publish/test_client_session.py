"""One AI client's conversation with the hub, in both eras."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.conversation import CHANGED, META, PREFIX, Conversation
from tests.fakes.fake_clock import in_fake_time

from tooltray import __version__
from tooltray.events import PromptListChanged, ResourceListChanged
from tooltray.presenter.handshake import Greeting
from tooltray.presenter.held_calls import HeldCalls
from tooltray.publish.greetings import INSTRUCTIONS
from tooltray.tasks import TaskKeeper
from tooltray.wire.deadlines import DeadlineWheel
from tooltray.wire.envelope import dump
from tooltray.wire.eras import Era

SERVER_INFO = {"name": "tooltray", "title": "Tooltray", "version": __version__}
CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
LISTED = b'{"tools":[{"name":"echo","later":1e400}]}'
LONG_S = 60.0  # everything that was going to happen has happened


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


@pytest.mark.parametrize("params", [[], [1], {"name": 5}, {"_meta": []}, {"_meta": None}, {"inputResponses": 1}, {"name": "\ud800"}])
@in_fake_time
async def test_parameters_of_another_type_are_refused(params: Any) -> None:
    async with Conversation() as client:
        assert await client.error("tools/call", params) == {"code": -32602, "message": "Invalid request parameters"}
        assert client.presenter.relayed.all == []


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


# news of the tool list


@in_fake_time
async def test_a_legacy_client_is_told_once_of_several_changes() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        for _ in range(5):
            client.change()
        await client.channel.notification(CHANGED)
        await asyncio.sleep(LONG_S)
        assert client.news == [None]
        client.change()
        await client.channel.notification(CHANGED, count=2)


@in_fake_time
async def test_nothing_is_told_before_the_first_request_is_answered_and_then_it_is() -> None:
    async with Conversation() as client:
        await client.greet()
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.news == []
        await client.result("ping")
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_nothing_is_told_to_a_client_that_is_not_initialized() -> None:
    async with Conversation() as client:
        await client.result("initialize", {"protocolVersion": "2025-06-18"})
        await client.result("ping")
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.news == []


@in_fake_time
async def test_a_change_that_the_client_has_listed_already_is_no_news() -> None:
    async with Conversation() as client:
        await client.greet()
        client.change()
        await client.result("tools/list")
        await asyncio.sleep(LONG_S)
        assert client.news == []


@in_fake_time
async def test_a_change_while_a_list_is_made_is_news_if_it_comes_behind_it() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("tools/list")
        client.change()
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_news_is_not_lost_for_a_client_that_does_not_read_for_a_while() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.session.dispatcher.pause_writing()
        client.change()
        await asyncio.sleep(LONG_S)
        client.change()
        assert client.news == []
        client.session.dispatcher.resume_writing()
        await client.channel.notification(CHANGED)
        await asyncio.sleep(LONG_S)
        assert client.news == [None]


@in_fake_time
async def test_a_client_that_is_gone_is_told_nothing_more() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.change()
    client.change()
    await asyncio.sleep(LONG_S)
    assert client.news == []


# subscriptions of modern clients


async def listen(client: Conversation, id: Any, **kinds: bool) -> dict[str, Any]:
    """Opens a subscription; returns what was acknowledged."""
    count = sum(message.get("method") == "notifications/subscriptions/acknowledged" for message in client.channel.messages)
    client.send(id=id, method="subscriptions/listen", params={"notifications": kinds, "_meta": META})
    return await client.channel.notification("notifications/subscriptions/acknowledged", count=count + 1)


@pytest.mark.parametrize("id", ["s-1", 7, 2**60, "\ud83d"])
@in_fake_time
async def test_a_subscription_is_acknowledged_first_and_told_of_changes_under_its_id(id: Any) -> None:
    async with Conversation() as client:
        meta = {PREFIX + "subscriptionId": id}
        assert await listen(client, id, toolsListChanged=True) == {"notifications": {"toolsListChanged": True}, "_meta": meta}
        client.change()
        client.change()
        assert await client.channel.notification(CHANGED) == {"_meta": meta}
        await asyncio.sleep(LONG_S)
        assert client.news == [{"_meta": meta}]
        assert client.channel.replies == {}


@in_fake_time
async def test_only_what_is_offered_is_acknowledged() -> None:
    async with Conversation() as client:
        meta = {PREFIX + "subscriptionId": 1}
        acknowledged = await listen(client, 1, promptsListChanged=True, toolsListChanged=False, later=True)
        assert acknowledged == {"notifications": {"promptsListChanged": True}, "_meta": meta}
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.news == []
        assert client.channel.replies == {}


@in_fake_time
async def test_a_subscription_that_is_cancelled_is_told_nothing_more_and_never_answered() -> None:
    async with Conversation() as client:
        await listen(client, "a", toolsListChanged=True)
        await listen(client, "b", toolsListChanged=True)
        client.send(method="notifications/cancelled", params={"requestId": "a"})
        await client.result("tools/list", {"_meta": META})
        client.change()
        await client.channel.notification(CHANGED)
        await asyncio.sleep(LONG_S)
        assert client.news == [{"_meta": {PREFIX + "subscriptionId": "b"}}]
        assert list(client.channel.replies) == [100]


@in_fake_time
async def test_a_subscription_is_not_answered_when_the_hub_ends_so_that_the_bridge_renews_it() -> None:
    async with Conversation() as client:
        await listen(client, "a", toolsListChanged=True)
        client.send(id="c", method="tools/call", params={"name": "hang"})
        await client.presenter.relayed.wait()
        await client.session.dispatcher.close("Tooltray has ended", grace_s=1)
        assert list(client.channel.replies) == ["c"]


@pytest.mark.parametrize("params", [{}, {"notifications": 5}, {"notifications": {"toolsListChanged": "yes"}}, {"notifications": None}])
@in_fake_time
async def test_a_subscription_that_cannot_be_read_is_refused(params: dict[str, Any]) -> None:
    async with Conversation() as client:
        assert (await client.error("subscriptions/listen", {**params, "_meta": META}))["code"] == -32602


UPDATED = "notifications/resources/updated"


def updates(client: Conversation) -> list[Any]:
    return [message["params"] for message in client.channel.messages if message.get("method") == UPDATED]


@in_fake_time
async def test_a_client_hears_of_the_resources_that_it_listens_to_under_the_id_of_each_listen() -> None:
    async with Conversation() as client:
        first = await listen(client, 1, resourceSubscriptions=["x://1", "x://2"])  # type: ignore[arg-type]
        await listen(client, 2, resourceSubscriptions=["x://2"])  # type: ignore[arg-type]
        assert first["notifications"] == {"resourceSubscriptions": ["x://1", "x://2"]}
        assert client.presenter.listened == {b"1": (["x://1", "x://2"], None), b"2": (["x://2"], None)}
        client.session.listening.updated("x://2", dump({"uri": "x://2", "later": 1}))
        assert updates(client) == [{"uri": "x://2", "later": 1, "_meta": {PREFIX + "subscriptionId": id}} for id in (1, 2)]
        client.send(method="notifications/cancelled", params={"requestId": 1})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert client.presenter.listened == {b"2": (["x://2"], None)}
        client.session.listening.updated("x://1", dump({"uri": "x://1"}))
        assert len(updates(client)) == 2


@in_fake_time
async def test_an_update_is_not_lost_for_a_client_that_does_not_read_for_a_while() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.session.dispatcher.pause_writing()
        for number in range(3):
            client.session.listening.updated("x://1", dump({"uri": "x://1", "number": number}))
        client.session.listening.updated("x://2", dump({"uri": "x://2"}))
        await asyncio.sleep(LONG_S)
        assert updates(client) == []
        client.session.dispatcher.resume_writing()
        await asyncio.sleep(LONG_S)
        assert updates(client) == [{"uri": "x://1", "number": 2}, {"uri": "x://2"}]


@in_fake_time
async def test_a_listen_on_one_server_is_for_what_that_server_offers() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True, "resourceSubscriptions": ["x://1"]}
        acknowledged = await listen(client, 1, **wanted)  # type: ignore[arg-type]
        assert acknowledged["notifications"] == {
            "toolsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": ["x://1"],
        }
        client.presenter.servers["one"] = Greeting(Era.MODERN, "2026-07-28", {"prompts": {}}, None)
        acknowledged = await listen(client, 2, **wanted)  # type: ignore[arg-type]
        assert acknowledged["notifications"] == {"promptsListChanged": True}


@in_fake_time
async def test_other_lists_that_change_are_told_as_tools_are_and_only_to_who_listens_for_them() -> None:
    async with Conversation() as client:
        await listen(client, 1, promptsListChanged=True)
        client.bus.publish(PromptListChanged("one"))
        client.bus.publish(ResourceListChanged("one"))
        await asyncio.sleep(LONG_S)
        changes = [message["method"] for message in client.channel.messages if "list_changed" in message.get("method", "")]
        assert changes == ["notifications/prompts/list_changed"]


@in_fake_time
async def test_the_held_calls_that_outlive_a_session_are_not_ended_with_it() -> None:
    held = HeldCalls(deadlines=DeadlineWheel(), spawn=TaskKeeper().spawn)
    closed: list[bool] = []
    held.close = lambda: closed.append(True)  # type: ignore[method-assign]
    async with Conversation(held=held) as client:
        await client.result("tools/list")
    assert closed == []


@in_fake_time
async def test_a_client_of_both_eras_is_told_in_both() -> None:
    async with Conversation() as client:
        await client.greet()
        await listen(client, "a", toolsListChanged=True)
        client.change()
        await client.channel.notification(CHANGED, count=2)
        assert client.news == [{"_meta": {PREFIX + "subscriptionId": "a"}}, None]


# sessions of one server


def one_server(client: Conversation) -> None:
    client.presenter.servers["one"] = Greeting(
        era=Era.LEGACY,
        version="2025-06-18",
        capabilities={"logging": {}, "tools": {}, "resources": {"x": 1}},
        instructions="Be kind.",
        result=Raw(
            b'{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{},"resources":{"x":1e400}},'
            b'"serverInfo":{"name":"one","version":"9","later":1},"instructions":"Be kind.","later":[1]}'
        ),
    )
    client.presenter.listings["one"] = b'{"tools":[{"name":"its own"}]}'


@in_fake_time
async def test_a_session_of_one_server_greets_as_that_server_would() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        greeting = await client.greet("2025-03-26")
        offered = {"logging": {}, "resources": {"x": float("inf"), "listChanged": True}, "tools": {"listChanged": True}}
        info = {"name": "one", "version": "9", "later": 1}
        assert greeting == {
            "protocolVersion": "2025-03-26",
            "capabilities": offered,
            "serverInfo": info,
            "instructions": "Be kind.",
            "later": [1],
        }
        assert await client.result("server/discover", {"_meta": META}) == {
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            "supportedVersions": ["2026-07-28"],
            "capabilities": offered,
            "instructions": "Be kind.",
            "_meta": {PREFIX + "serverInfo": info},
        }


@in_fake_time
async def test_a_session_of_one_modern_server_greets_as_that_server_would_in_either_era() -> None:
    async with Conversation(server="one") as client:
        result = (
            b'{"resultType":"complete","ttlMs":5,"cacheScope":"public","supportedVersions":["2026-07-28","2027-01-01"],'
            b'"capabilities":{"prompts":{"listChanged":false}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"one"},"x":1}}'
        )
        client.presenter.servers["one"] = Greeting(Era.MODERN, "2026-07-28", {}, None, Raw(result))
        offered = {"prompts": {"listChanged": True}}
        assert await client.result("server/discover", {"_meta": META}) == {
            "resultType": "complete",
            "ttlMs": 5,
            "cacheScope": "public",
            "supportedVersions": ["2026-07-28"],
            "capabilities": offered,
            "_meta": {PREFIX + "serverInfo": {"name": "one"}, "x": 1},
        }
        assert await client.greet() == {"protocolVersion": "2025-11-25", "capabilities": offered, "serverInfo": {"name": "one"}}


@in_fake_time
async def test_a_session_with_a_copy_of_its_own_speaks_the_version_of_that_copy() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        client.presenter.own.add("one")
        assert (await client.greet("2025-11-25"))["protocolVersion"] == "2025-06-18"


@in_fake_time
async def test_a_session_of_a_server_that_does_not_run_greets_all_the_same() -> None:
    async with Conversation(server="one") as client:
        greeting = await client.greet()
        assert greeting == {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": SERVER_INFO}


@in_fake_time
async def test_a_session_of_one_server_lists_and_calls_it_alone_and_carries_every_other_method_to_it() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        assert await client.result("tools/list") == {"tools": [{"name": "its own"}]}
        await client.result("tools/call", {"name": "echo"})
        assert await client.result("resources/list", {"cursor": "c"}) == {"relayed": {"cursor": "c"}}
        assert await client.result("later/method") == {"relayed": None}
        assert [(method, server) for method, _, server, _ in client.presenter.relayed.all] == [
            ("tools/call", "one"),
            ("resources/list", "one"),
            ("later/method", "one"),
        ]


@pytest.mark.parametrize(("method", "meta"), [("server/discover", {}), ("subscriptions/listen", {}), ("ping", META)])
@in_fake_time
async def test_what_sessions_answer_themselves_is_never_carried_to_a_server(method: str, meta: dict[str, Any]) -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        assert (await client.error(method, {"_meta": meta}))["code"] == -32601
        assert client.presenter.relayed.all == []


@in_fake_time
async def test_a_session_of_one_server_hears_of_the_tools_of_no_other() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        await client.greet()
        await client.result("ping")
        client.change("another")
        await asyncio.sleep(LONG_S)
        assert client.news == []
        client.change("one")
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_what_a_server_says_by_itself_reaches_a_legacy_client_behind_its_first_answer() -> None:
    async with Conversation(server="one") as client:
        said = "notifications/message"
        tell: Callable[[], None] = lambda: client.session.tell_server_news(said, dump({"level": "info"}))  # noqa: E731
        tell()
        await client.greet()
        tell()
        await client.result("ping")
        assert [message["id"] for message in client.channel.messages] == [100, 101]
        tell()
        assert client.channel.messages[-1] == {"jsonrpc": "2.0", "method": said, "params": {"level": "info"}}
        assert client.session.server == "one"


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
        ("client 1", "initialize"),
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


# what one session sees


@in_fake_time
async def test_a_list_that_changed_for_this_session_alone_is_told_in_the_way_of_each_era() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        [tell] = client.presenter.followers
        tell(CHANGED)
        tell("notifications/prompts/list_changed")
        assert await client.channel.notification("notifications/prompts/list_changed") is None
        await client.channel.notification(CHANGED)
        assert client.presenter.told == [client.session]
    assert client.presenter.followers == []
    async with Conversation() as client:
        await listen(client, "a", toolsListChanged=True)
        client.presenter.followers[0](CHANGED)
        assert await client.channel.notification(CHANGED) == {"_meta": {PREFIX + "subscriptionId": "a"}}
        assert client.presenter.told == [client.session]


@in_fake_time
async def test_a_change_of_what_the_session_does_not_see_is_no_news() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.presenter.hidden.add("lazy")
        client.change("lazy")
        await asyncio.sleep(LONG_S)
        assert client.news == []
        client.change("open")
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_a_client_that_wants_to_hear_of_other_lists_alone_counts_as_told_of_none() -> None:
    async with Conversation() as client:
        await listen(client, "a", promptsListChanged=True)
        client.presenter.followers[0](CHANGED)
        client.presenter.followers[0]("notifications/prompts/list_changed")
        await client.channel.notification("notifications/prompts/list_changed")
        assert client.presenter.told == []


@in_fake_time
async def test_a_session_whose_profile_lacks_its_server_learns_nothing_of_it() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        client.presenter.excluded.add("one")
        assert (await client.greet())["serverInfo"]["name"] != "one"


@in_fake_time
async def test_who_has_seen_one_of_two_lists_is_told_that_they_have_changed() -> None:
    changed = "notifications/resources/list_changed"
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        for methods in (["resources/list"], ["resources/list", "resources/templates/list"]):
            client.presenter.followers[0](changed)
            for method in methods:
                client.session.listening.seen(method)
            await asyncio.sleep(LONG_S)
            assert [message["method"] for message in client.channel.messages if "method" in message] == [changed]
