"""An AI client's conversation with one server alone: it is greeted as that server would, and hears of nothing else."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.conversation import CAPABILITIES, CHANGED, LONG_S, META, PREFIX, SERVER_INFO, Conversation, listen, one_server
from tests.fakes.fake_clock import in_fake_time

from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.handshake import Greeting


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
            "later": [1],
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
        assert await client.greet() == {
            "protocolVersion": "2025-11-25",
            "capabilities": offered,
            "serverInfo": {"name": "one"},
            "_meta": {"x": 1},
        }


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


@in_fake_time
async def test_a_session_whose_profile_lacks_its_server_learns_nothing_of_it() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        client.presenter.excluded.add("one")
        assert (await client.greet())["serverInfo"]["name"] != "one"


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


@pytest.mark.parametrize(
    ("members", "legacy", "modern"),
    [
        ('"capabilities":["x"]', {}, {}),
        ('"later":1', {}, {}),
        ('"capabilities":{"extensions":[],"experimental":5,"tools":true,"later":[1]}', {"tools": True, "later": [1]}, None),
        ('"capabilities":{"extensions":{"a/b":{"x":1}},"experimental":{"c":{}},"tasks":{"list":{}}}', None, {"a/b", "c"}),
        ('"capabilities":{},"_meta":[1]', {}, {}),
    ],
)
@in_fake_time
async def test_capabilities_go_through_as_they_are_but_for_what_is_no_object_and_what_the_other_era_has_not(
    members: str, legacy: Any, modern: Any
) -> None:
    async with Conversation(server="one") as client:
        result = Raw(b'{"protocolVersion":"2025-11-25","serverInfo":{"name":"one","icons":[1],"websiteUrl":"x"},%b}' % members.encode())
        client.presenter.servers["one"] = Greeting(Era.LEGACY, "2025-11-25", {}, None, result)
        told = await client.result("server/discover", {"_meta": META})
        assert told["_meta"] == {PREFIX + "serverInfo": {"name": "one", "icons": [1], "websiteUrl": "x"}}
        if modern is None:
            assert told["capabilities"] == legacy
        else:
            found = told["capabilities"]
            assert {*found.get("extensions", ()), *found.get("experimental", ())} == set(modern)
            assert "tasks" not in found
        greeted = (await client.greet())["capabilities"]
        whole = {"extensions": {"a/b": {"x": 1}}, "experimental": {"c": {}}, "tasks": {"list": {}}}
        assert greeted == (whole if legacy is None else legacy)
