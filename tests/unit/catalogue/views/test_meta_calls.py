"""meta_calls.py: lazy servers that are activated, and those that cannot be."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import BARELY, hub_parts
from tests.fakes.lazy_hub import (
    PROMPT,
    PROMPTS,
    RESOURCE,
    RESOURCES,
    SEARCH,
    TEMPLATE,
    TOOLS,
    Follower,
    activated,
    answered,
    called,
    described,
    lazy,
    names_of,
    ready_parts,
    rich,
    said,
    six,
)
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.views import meta_calls


async def test_an_activation_answers_with_everything_and_the_lists_follow(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "serena", **lazy(serena=rich(tool("a", description="A"), tool("b")))) as parts:
        follower, other = Follower(parts), Follower(parts)
        client = follower.client
        result = await called(parts, client, "activate_serena")
        expected = {
            "activated": True,
            "server": "serena",
            "toolCount": 2,
            "promptCount": 1,
            "resourceCount": 1,
            "templateCount": 1,
            "tools": [tool("a", description="A"), tool("b")],
            "prompts": [PROMPT],
            "resources": [RESOURCE],
            "resourceTemplates": [TEMPLATE],
        }
        assert result["structuredContent"] == expected
        assert json.loads(said(result)) == expected
        assert sorted(follower.take()) == [PROMPTS, RESOURCES, TOOLS]
        assert other.take() == []
        assert await names_of(parts, client) == ["activate_serena", "a", "b"]
        assert await names_of(parts, other.client) == ["activate_serena", *SEARCH]
        assert client.state.activated == {"serena"}


async def test_a_second_activation_answers_the_same_and_tells_nothing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(serena=six())) as parts:
        follower = Follower(parts)
        first, second = await asyncio.gather(activated(parts, follower.client), activated(parts, follower.client))
        assert first == second
        assert first["toolCount"] == 6
        assert follower.take() == [TOOLS]
        assert await activated(parts, follower.client) == first
        assert follower.take() == []
        assert len(parts.programs["serena"].copies.all) == 1


async def test_a_modern_client_gets_a_modern_result(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(serena=six())) as parts:
        result = await called(parts, parts.client(), "activate_serena", is_modern=True)
        assert result["resultType"] == "complete"
        assert result["structuredContent"]["toolCount"] == 6


async def test_five_hundred_sessions_activate_at_once_and_each_for_itself(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=six(), y=six("u"))) as parts:
        followers = []
        for number in range(500):
            follower = Follower(parts, name=f"client {number}")
            followers.append(follower)
        answers = await asyncio.gather(*(activated(parts, each.client, "x") for each in followers[:400]))
        assert {answer["toolCount"] for answer in answers} == {6}
        lists = await asyncio.gather(*(names_of(parts, each.client) for each in followers))
        assert {len(each) for each in lists[:400]} == {2 + 6 + 2}
        assert {len(each) for each in lists[400:]} == {2 + 2}
        assert [len(each.news) for each in followers] == [1] * 400 + [0] * 100


@pytest.mark.parametrize(
    ("settings", "reason"), [({"disable": True}, "server 'x' is disabled"), ({"command": "absent"}, "server 'x' is not running")]
)
@pytest.mark.expected_warnings("")
async def test_a_server_that_cannot_run_is_not_activated_and_says_why(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        follower = Follower(parts)
        await names_of(parts, follower.client)
        await parts.conf.change_server("x", **settings)
        result = await called(parts, follower.client, "activate_x")
        assert result["isError"]
        assert reason in said(result)
        assert follower.client.state.activated == set()


async def test_stopped_removed_and_paused_servers_are_not_activated(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=six(), y=six("u"))) as parts:
        client = parts.client()
        await names_of(parts, client)
        await parts.servers.stop("x")
        assert "server 'x' is stopped" in said(await called(parts, client, "activate_x"))
        await parts.conf.remove_server("x")
        assert "server 'x' no longer exists" in said(await called(parts, client, "activate_x"))
        await parts.conf.set_enabled(False)
        assert "paused" in said(await called(parts, client, "activate_y"))
        assert client.state.activated == set()


async def test_a_name_that_was_never_given_is_an_unknown_tool(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(x=six())) as parts:
        reply = await answered(parts, "tools/call", parts.client(), name="activate_nothing", arguments={})
        assert "Unknown tool" in reply["error"]["message"]


@pytest.mark.expected_warnings("")
async def test_a_crash_in_the_middle_is_told_and_the_next_call_tries_again(tmp_path: Path) -> None:
    program = six()
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **lazy(x=program)) as parts:
        client = parts.client()
        await names_of(parts, client)
        first = asyncio.create_task(called(parts, client, "activate_x"))
        await program.request("tools/list")
        await parts.servers.stop("x")
        result = await first
        assert result["isError"]
        assert client.state.activated == set()
        go_on.set()
        parts.servers.get("x").start()
        assert (await activated(parts, client, "x"))["toolCount"] == 6


@pytest.mark.expected_warnings("")
async def test_a_server_that_crashes_and_comes_back_is_waited_for(tmp_path: Path) -> None:
    program = six()
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **lazy(x=program)) as parts:
        answer = asyncio.create_task(activated(parts, parts.client(), "x"))
        await program.request("tools/list")
        program.copy.die()
        await program.request("tools/list", count=2)
        go_on.set()
        assert (await answer)["toolCount"] == 6


async def test_a_server_that_does_not_say_what_it_has_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meta_calls, "LISTS_WAIT_S", 0.02)
    program = six()
    program.hold("tools/list")
    async with hub_parts(tmp_path, **lazy(x=program), waits=BARELY) as parts:
        client = parts.client()
        result = await called(parts, client, "activate_x")
        assert "has not listed its tools" in said(result)
        assert client.state.activated == set()


async def test_what_else_it_has_is_not_waited_for_for_ever_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meta_calls, "LISTS_WAIT_S", 0.3)  # enough for the tools also on a busy machine
    program = rich(tool("a"))
    program.hold("prompts/list")
    async with hub_parts(tmp_path, **lazy(x=program), waits=BARELY) as parts:
        answer = await activated(parts, parts.client(), "x")
        assert (answer["toolCount"], answer["promptCount"]) == (1, 0)


async def test_a_session_with_a_copy_of_its_own_is_answered_by_that(tmp_path: Path) -> None:
    program = ScriptedServer()
    program.handlers["tools/list"] = lambda copy, params: {"tools": [tool("of_all" if copy is program.copies.all[0] else "own")]}
    options = lazy(x=program)
    options["servers"]["x"]["isolation"] = "session"
    async with ready_parts(tmp_path, "x", **options) as parts:
        client = parts.client()
        client.state.server = "x"
        assert "Available: of_all." in await described(parts, client, "activate_x")
        assert [each["name"] for each in (await activated(parts, client, "x"))["tools"]] == ["own"]
        assert await names_of(parts, client) == ["activate_x", "own"]
        await parts.servers.end_session(client)


async def test_where_no_session_lasts_the_answer_says_that_nothing_will_be_listed(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        client = parts.client()
        assert "note" not in await activated(parts, client, "x")
        client.state.is_passing = True
        assert "call_tool" in (await activated(parts, client, "x"))["note"]
