"""views.py, meta_calls.py: tools that are called without being listed, and how what a session sees changes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import hub_parts
from tests.fakes.lazy_hub import (
    PROMPTS,
    RESOURCES,
    SEARCH,
    TOOLS,
    Follower,
    activated,
    answered,
    called,
    found,
    lazy,
    names_of,
    ready,
    ready_parts,
    rich,
    said,
    six,
)
from tests.fakes.scripted_server import ScriptedServer, error, text, tool

from tooltray.catalogue.views.views import CALLS_WITHOUT_LISTING
from tooltray.foundation.events import ServerRemoved, SessionListChanged, ToolCallResult

# what is not listed


async def test_a_tool_that_is_not_listed_can_be_called_and_activates_its_server(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        follower = Follower(parts)
        assert said(await called(parts, follower.client, "t3", text="hi")) == "hi"
        assert follower.take() == [TOOLS]
        assert await names_of(parts, follower.client) == ["activate_x", *(f"t{number}" for number in range(6))]


@pytest.mark.parametrize(("method", "params"), [("prompts/get", {"name": "p"}), ("resources/read", {"uri": "x://1"})])
@pytest.mark.parametrize("server", [None, "x"])
async def test_so_does_a_prompt_or_a_resource(tmp_path: Path, method: str, params: Any, server: str | None) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=rich(tool("a")))) as parts:
        client = parts.client()
        client.state.server = server
        assert "result" in await answered(parts, method, client, **params)
        assert client.state.activated == {"x"}


async def test_what_is_completed_or_subscribed_to_activates_nothing(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=rich(tool("a")))) as parts:
        client = parts.client()
        assert "result" in await answered(parts, "resources/subscribe", client, uri="x://1")
        ref = {"type": "ref/prompt", "name": "p"}
        assert "result" in await answered(parts, "completion/complete", client, ref=ref, argument={"name": "a", "value": ""})
        assert client.state.activated == set()


async def test_tools_are_found_by_what_they_do_and_come_with_their_signatures(tmp_path: Path) -> None:
    program = ScriptedServer(tool("take_screenshot", description="Takes a picture"), tool("write_file"), tool("no"))
    async with ready_parts(tmp_path, "x", "open", **lazy(x=program, open=ScriptedServer(tool("read_file")))) as parts:
        client = parts.client()
        result = await called(parts, client, "find_tools", query="picture")
        assert said(result) == "take_screenshot() - Takes a picture [x; name: screenshot]"
        assert "structuredContent" not in result
        assert set(await found(parts, client, "file")) == {"read_file", "write_file"}
        assert len(await found(parts, client, "", limit=2)) == 2
        assert "English" in said(await called(parts, client, "find_tools", query="拍照"))


@pytest.mark.parametrize(
    "arguments", [{}, {"query": 5}, {"query": "a", "limit": 0}, {"query": "a", "limit": True}, {"query": "a", "limit": 51}]
)
async def test_a_search_that_cannot_be_read_says_why(tmp_path: Path, arguments: Any) -> None:
    async with hub_parts(tmp_path, **lazy(x=six())) as parts:
        result = await called(parts, parts.client(), "find_tools", **arguments)
        assert result["isError"]
        assert "find_tools" in said(result)


async def test_call_tool_does_what_a_call_of_the_tool_does(tmp_path: Path) -> None:
    program = six()
    program.calls["t1"] = lambda copy, params: {"content": [], "params": params}
    async with ready_parts(tmp_path, "x", **lazy(x=program)) as parts:
        client = parts.client()
        arguments = {"name": "t1", "arguments": {"deep": {"n": 2**70}}}
        reply = await answered(parts, "tools/call", client, name="call_tool", arguments=arguments, _meta={"progressToken": 7})
        seen = reply["result"]["params"]
        assert (seen["name"], seen["arguments"]) == ("t1", {"deep": {"n": 2**70}})
        assert "progressToken" in seen["_meta"]
        records = [event.response for event in parts.heard.all if isinstance(event, ToolCallResult)]
        assert [(record.tool, record.server, record.outcome) for record in records] == [("t1", "x", "ok")]
        assert client.state.activated == {"x"}


async def test_call_tool_passes_errors_and_refusals_as_they_are(tmp_path: Path) -> None:
    program = six()
    program.calls["t1"] = lambda copy, params: error(-5, "no")
    options = lazy(x=program)
    options["servers"]["x"]["autoApprove"] = ["t1"]
    async with ready_parts(tmp_path, "x", **options) as parts:
        client = parts.client()
        call = {"method": "tools/call", "client": client, "name": "call_tool"}
        assert (await answered(parts, **call, arguments={"name": "t1"}))["error"] == {"code": -5, "message": "no"}
        assert "Unknown tool: t9" in said((await answered(parts, **call, arguments={"name": "t9"}))["result"])
        assert "'t2'" in str((await answered(parts, **call, arguments={"name": "t2"}))["error"]).replace('"', "'")
        assert program.count("tools/call") == 1


@pytest.mark.parametrize(
    "arguments", [{}, {"name": 5}, {"name": "t1", "arguments": 5}, {"name": "t1", "arguments": "{"}, {"name": "call_tool"}]
)
async def test_a_call_of_nothing_says_what_is_missing(tmp_path: Path, arguments: Any) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        result = await called(parts, parts.client(), "call_tool", **arguments)
        assert result["isError"]
        assert "call_tool" in said(result)


async def test_call_tool_asks_a_modern_client_and_goes_on_with_its_answer(tmp_path: Path) -> None:
    async def asks(copy: Any, params: Any) -> Any:
        reply = await copy.ask("elicitation/create", {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}})
        return text(str(reply.get("result", reply)["action"]))

    program = six()
    program.calls["t1"] = asks
    async with ready_parts(tmp_path, "x", **lazy(x=program)) as parts:
        client, call = parts.client(), {"name": "call_tool", "arguments": {"name": "t1", "arguments": {}}}
        asked = (await answered(parts, "tools/call", client, is_modern=True, **call))["result"]
        assert asked["resultType"] == "input_required"
        again = {"requestState": asked["requestState"], "inputResponses": {key: {"action": "accept"} for key in asked["inputRequests"]}}
        result = (await answered(parts, "tools/call", client, is_modern=True, **call, **again))["result"]
        assert said(result) == "accept"


async def test_a_name_that_no_text_can_be_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(x=six())) as parts:
        reply = await answered(parts, "tools/call", parts.client(), name="call_tool", arguments={"name": "\ud800"})
        assert reply["error"]["code"] == -32602


# changes


async def test_a_change_of_the_settings_is_told_to_those_whose_view_is_another(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "open", **lazy(open=rich(tool("a")))) as parts:
        follower, alone = Follower(parts), Follower(parts)
        alone.client.state.server = "other"
        for each in (follower, alone):
            await names_of(parts, each.client)
        await parts.conf.change_server("open", lazy_load=True)
        assert sorted(follower.take()) == [PROMPTS, RESOURCES, TOOLS]
        assert alone.take() == []
        assert await names_of(parts, follower.client) == ["activate_open", *SEARCH]
        await parts.conf.change_server("open", lazy_load=False)
        assert sorted(follower.take()) == [PROMPTS, RESOURCES, TOOLS]
        assert await names_of(parts, follower.client) == ["a"]
        await parts.conf.change_server("open", descriptions="other words")
        assert follower.take() == []


async def test_another_profile_of_a_session_changes_all_its_lists(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six()) | {"settings": {"profiles": {"few": {"servers": []}}}}) as parts:
        follower = Follower(parts)
        await names_of(parts, follower.client)
        follower.client.state.profile = "few"
        parts.views.invalidate()
        assert sorted(follower.take()) == [PROMPTS, RESOURCES, TOOLS]


async def test_the_tool_of_a_server_that_was_never_listed_comes_and_goes_with_it(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(x=six())) as parts:
        follower = Follower(parts)
        assert "activate_x" in await names_of(parts, follower.client)
        await parts.servers.stop("x")
        assert follower.take() == [TOOLS]
        assert await names_of(parts, follower.client) == []


async def test_who_has_activated_a_server_keeps_it_through_changes_until_it_is_removed(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=six(), y=six("u"))) as parts:
        client = parts.states.connect("key")
        state, caller = client, parts.client()
        caller.state = state
        await activated(parts, caller, "x")
        await parts.conf.change_server("x", lazy_load=False)
        await parts.conf.change_server("x", lazy_load=True)
        assert len(await names_of(parts, caller)) == 2 + 6 + len(SEARCH)
        await parts.conf.change_server("x", disabled_tools=["t0"])
        assert len(await names_of(parts, caller)) == 2 + 5 + len(SEARCH)
        await parts.servers.stop("x")
        assert await names_of(parts, caller) == ["activate_y", *SEARCH]
        await ready(parts, "x")
        assert len(await names_of(parts, caller)) == 2 + 5 + len(SEARCH)
        await parts.conf.remove_server("x")
        await parts.heard.event(ServerRemoved, name="x")
        assert state.activated == set()


async def test_a_session_that_comes_back_finds_what_it_activated(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        first = parts.client()
        first.state = parts.states.connect("bridge")
        await activated(parts, first, "x")
        parts.states.disconnect("bridge")
        second = parts.client()
        second.state = parts.states.connect("bridge")
        assert len(await names_of(parts, second)) == 1 + 6


async def test_an_activation_is_news_for_people_too(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        before = sum(isinstance(event, SessionListChanged) for event in parts.heard.all)
        client = parts.client()
        await activated(parts, client, "x")
        await activated(parts, client, "x")
        assert sum(isinstance(event, SessionListChanged) for event in parts.heard.all) == before + 1


async def test_who_has_gone_is_told_nothing(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        follower = Follower(parts)
        twin: list[str] = []
        end_twin = parts.views.follow(follower.client.state, twin.append)
        follower.end()
        await activated(parts, follower.client, "x")
        assert (follower.take(), twin) == ([], [TOOLS])
        end_twin()
        end_twin()
        await parts.conf.change_server("x", lazy_load=False)
        assert twin == [TOOLS]


async def test_what_changes_while_a_list_is_made_is_in_it(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=rich(tool("a")), y=rich(tool("b")))) as parts:
        follower = Follower(parts)
        listing = parts.keeper.spawn(names_of(parts, follower.client), name="a list")
        prompts = parts.keeper.spawn(answered(parts, "prompts/list", follower.client), name="another list")
        await asyncio.sleep(0)  # both have begun
        assert not listing.done()
        parts.views.used(follower.client.state, "x")
        assert await listing == ["activate_x", "activate_y", *SEARCH, "a"]
        assert [each["name"] for each in (await prompts)["result"]["prompts"]] == ["x_p"]


async def test_a_list_that_one_connection_gets_leaves_the_others_of_its_session_their_news(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        follower, twin = Follower(parts), list[str]()
        end_twin = parts.notifications.follow_lists(follower.client, twin.append)
        await names_of(parts, follower.client)
        assert (follower.take(), twin) == ([], [])
        follower.client.state.activated.add("x")  # which nobody was told
        await names_of(parts, follower.client)
        assert twin == [TOOLS]
        end_twin()


# what shows that a client obeys


async def test_a_list_does_not_become_a_search_when_tools_are_added(tmp_path: Path) -> None:
    options = lazy(x=six(), y=six("u")) | {"settings": {"publish": {"mode": "automatic"}}}
    for number in range(120):
        options["programs"]["y"].tools.append(tool(f"more{number}", description="d" * 400))
    async with ready_parts(tmp_path, "x", **options) as parts:
        client = parts.client()
        assert "t1" in await names_of(parts, client)
        await ready(parts, "y")
        assert "more1" in await names_of(parts, client)
        assert "find_tools" in await names_of(parts, Follower(parts).client)


async def test_a_client_that_lists_when_it_was_told_obeys(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        client = parts.client()
        await names_of(parts, client)
        assert client.state.obeys_changes is None
        parts.notifications.told_of_tools(client)
        for _ in range(CALLS_WITHOUT_LISTING - 1):
            await called(parts, client, "t1")
        assert "find_tools" not in await names_of(parts, client)
        assert client.state.obeys_changes is True


async def test_one_that_calls_on_without_listing_does_not(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=six(), y=six("u"))) as parts:
        follower = Follower(parts)
        client = follower.client
        parts.notifications.told_of_tools(client)
        for _ in range(CALLS_WITHOUT_LISTING):
            await answered(parts, "prompts/list", client)
        for _ in range(CALLS_WITHOUT_LISTING):
            assert client.state.obeys_changes is None
            await called(parts, client, "call_tool", name="t1")
        assert client.state.obeys_changes is False
        assert "find_tools" in await names_of(parts, client)
        assert client.state.obeys_changes is False
        told = len(parts.heard.of(SessionListChanged))
        for _ in range(2):
            parts.notifications.told_of_tools(client)
            await names_of(parts, client)
            assert client.state.obeys_changes is True
            assert len(parts.heard.of(SessionListChanged)) == told + 1
        follower.take()
        parts.notifications.told_of_tools(client)
        for _ in range(CALLS_WITHOUT_LISTING):
            await called(parts, client, "t1")
        assert follower.take() == [TOOLS]  # with find_tools again
