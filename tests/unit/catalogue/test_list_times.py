"""list_times.py, server_lists.py, tool_manager.py: how long first lists are waited for, and how often lists that change are read."""

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import BARELY, FOR_EVER, entry, hub_parts, one_server, settled, started, started_parts, text_of, two_servers
from tests.fakes.lazy_hub import names_of
from tests.fakes.offering import OfferingServer, offer_parts, prompt
from tests.fakes.scripted_server import ScriptedBuiltIn, ScriptedServer, never, tool

from tooltray.catalogue.list_times import AT_ONCE, CALM_AFTER_S, FIRST_PAUSE_S, LONGEST_PAUSE_S, FirstListings, FirstPatience, Relisting
from tooltray.catalogue.offer import PROMPTS, TOOLS
from tooltray.foundation.events import ToolListChanged
from tooltray.servers.upstream.start_limits import Patience

LONG = Patience(restart_after_s=(600.0, 600.0, 600.0))
SOME = FirstPatience(together_s=0.0, first_tools_s=600.0, in_memory_s=600.0, command_s=600.0, launcher_s=600.0, remote_s=600.0)


# one deadline


async def test_servers_that_are_waited_for_at_the_same_time_share_one_deadline(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two_servers(ScriptedServer(), ScriptedServer())) as parts:
        first = FirstListings(FirstPatience(together_s=600.0))
        one = first.until(parts.servers.get("a"), silent_since=math.inf, is_enough=True)
        await asyncio.sleep(0)
        assert first.until(parts.servers.get("b"), silent_since=math.inf, is_enough=True) == one
        assert first.until(parts.servers.get("a"), silent_since=math.inf, is_enough=True) == one


async def test_a_server_that_comes_when_that_deadline_is_over_has_one_of_its_own(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two_servers(ScriptedServer(), ScriptedServer())) as parts:
        first = FirstListings(FirstPatience(together_s=0.0))
        one = first.until(parts.servers.get("a"), silent_since=math.inf, is_enough=True)
        assert first.until(parts.servers.get("b"), silent_since=math.inf, is_enough=True) > one
        assert first.until(parts.servers.get("a"), silent_since=math.inf, is_enough=True) == one


async def test_a_client_that_lists_tools_and_then_all_else_waits_once(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    program.handlers["initialize"] = never
    async with offer_parts(tmp_path, {"s": program}, **BARELY) as parts:
        parts.servers.get("s").start()
        assert await parts.parts.listed() == []
        others = asyncio.create_task(parts.offers.wait_for_first_listings())
        await settled()
        assert others.done()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"command": "python3"}, 2.0),
        ({"command": "/usr/bin/npx"}, 3.0),
        ({"command": "uvx"}, 3.0),
        ({"type": "http", "url": "http://127.0.0.1:1"}, 4.0),
        ({"type": "sse", "url": "http://127.0.0.1:1"}, 4.0),
    ],
)
async def test_how_long_a_server_is_usually_silent_goes_by_its_kind(tmp_path: Path, fields: dict[str, Any], expected: float) -> None:
    async with hub_parts(tmp_path, servers={"s": fields}) as parts:
        assert FirstPatience(in_memory_s=1.0, command_s=2.0, launcher_s=3.0, remote_s=4.0).usual_s(parts.servers.get("s")) == expected


async def test_a_server_that_is_silent_for_longer_than_usual_is_not_waited_for(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = never
    patience = FirstPatience(together_s=600.0, first_tools_s=600.0, command_s=0.02)
    async with hub_parts(tmp_path, **one_server(program), waits={"first_patience": patience}) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []


# who is not waited for


async def test_nobody_waits_for_a_server_that_has_failed_and_is_tried_again(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = lambda copy, params: copy.die()
    async with hub_parts(tmp_path, **one_server(program), patience=LONG, waits=FOR_EVER) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []


async def test_nobody_waits_for_a_server_that_was_never_listed_after_it_failed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    deaths = iter([True])
    program.handlers["initialize"] = lambda copy, params: copy.die() if next(deaths, False) else copy.usual("initialize")(copy, params)
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program), waits=FOR_EVER) as parts:
        parts.servers.get("s").start()
        await program.request("tools/list")
        assert await parts.listed() == []
        go_on.set()
        await parts.heard.event(ToolListChanged)
        assert await parts.listed() == ["t"]


@pytest.mark.parametrize("is_failing", [True, False])
async def test_the_next_hub_does_not_wait_for_a_server_that_was_waited_for_in_vain(tmp_path: Path, is_failing: bool) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = (lambda copy, params: copy.die()) if is_failing else never
    async with hub_parts(tmp_path, **one_server(program), patience=LONG, waits=BARELY) as parts:
        for _ in range(2):
            parts.servers.get("s").start()
            assert await parts.listed() == []
        await parts.ended()
    program.handlers["initialize"] = never
    async with hub_parts(tmp_path, programs={"program": program}, waits=FOR_EVER) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []
        del program.handlers["initialize"]
        go_on = program.hold("initialize")
        await parts.conf.change_server("s", args=["other"])
        await program.request("initialize", count=3)
        listing = asyncio.create_task(parts.listed())
        await settled()
        assert not listing.done()
        go_on.set()
        assert await listing == ["t"]


async def test_another_server_in_the_place_of_one_that_failed_is_waited_for(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = lambda copy, params: copy.die()
    async with hub_parts(tmp_path, **one_server(program), patience=LONG, waits=FOR_EVER) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []
        del program.handlers["initialize"]
        go_on = program.hold("tools/list")
        await parts.conf.change_server("s", args=["mended"])
        await program.request("tools/list")
        listing = asyncio.create_task(parts.listed())
        await settled()
        assert not listing.done()
        go_on.set()
        assert await listing == ["t"]


async def test_a_session_does_not_wait_for_servers_that_it_has_not(tmp_path: Path) -> None:
    slow, quick = ScriptedServer(tool("slow")), ScriptedServer(tool("quick"))
    slow.handlers["initialize"] = never
    async with hub_parts(tmp_path, **two_servers(slow, quick), settings={"profiles": {"p": {"servers": ["b"]}}}, waits=FOR_EVER) as parts:
        parts.servers.get("a").start()
        await parts.servers.start("b")
        client = parts.client()
        client.state.profile = "p"
        assert await names_of(parts, client) == ["quick"]


# where there would be no tool at all


async def test_an_answer_without_any_tool_waits_longer_and_for_the_first_server_alone(tmp_path: Path) -> None:
    slow, slower = ScriptedServer(tool("slow")), ScriptedServer(tool("slower"))
    go_on, never_set = slow.hold("tools/list"), slower.hold("tools/list")
    async with hub_parts(tmp_path, **two_servers(slow, slower), waits={"first_patience": SOME}) as parts:
        for server in parts.servers:
            server.start()
        await asyncio.gather(slow.request("tools/list"), slower.request("tools/list"))
        await parts.offers.wait_for_first_listings()  # as long as it is waited for where there are tools
        listing = asyncio.create_task(parts.listed())
        await settled()
        assert not listing.done()
        go_on.set()
        assert await listing == ["slow"]
        never_set.set()


async def test_the_hubs_own_tools_are_none_of_a_server(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program), builtins={"hub": ScriptedBuiltIn()}, waits={"first_patience": SOME}) as parts:
        await started(parts, "hub")
        await parts.tools.listed(parts.servers.get("hub")).wait()
        parts.servers.get("s").start()
        await program.request("tools/list")
        await parts.offers.wait_for_first_listings()
        waiting = asyncio.create_task(parts.tools.wait_for_first_listings(None))
        await settled()
        assert not waiting.done()
        go_on.set()
        await waiting
        assert await parts.listed() == ["list_servers", "t"]


async def test_one_tool_of_any_server_is_enough_not_to_wait_longer(tmp_path: Path) -> None:
    slow, quick = ScriptedServer(tool("slow")), ScriptedServer(tool("quick"))
    slow.handlers["initialize"] = never
    async with hub_parts(tmp_path, **two_servers(slow, quick), waits={"first_patience": SOME}) as parts:
        parts.servers.get("a").start()
        await started(parts, "b")
        assert await parts.listed() == ["quick"]


# calls by name


async def test_a_call_by_name_finds_a_server_that_came_later_than_the_first_list(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        assert await parts.listed() == ["t"]
        await parts.ended()
    for file in (tmp_path / "catalogue").iterdir():
        file.unlink()
    program = ScriptedServer(tool("t"))
    go_on = program.hold("initialize")
    async with hub_parts(tmp_path, programs={"program": program}, waits=BARELY) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []
        call = asyncio.create_task(text_of(parts, "t", arguments={"text": "hi"}))
        await settled()
        assert not call.done()
        go_on.set()
        assert await call == "hi"


async def test_a_call_by_a_name_that_was_never_given_waits_for_servers_that_are_about_to_list(tmp_path: Path) -> None:
    slow, quick = ScriptedServer(tool("slow")), ScriptedServer(tool("quick"))
    go_on = slow.hold("tools/list")
    async with hub_parts(tmp_path, **two_servers(slow, quick), waits={"first_patience": SOME}) as parts:
        parts.servers.get("a").start()
        await started(parts, "b")
        assert await parts.listed() == ["quick"]
        call = asyncio.create_task(text_of(parts, "slow", arguments={"text": "hi"}))
        await settled()
        assert not call.done()
        go_on.set()
        assert await call == "hi"


async def test_what_a_person_has_started_is_listed_before_its_tools_are_counted(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs={"program": program}, waits=BARELY) as parts:
        assert await parts.listed() == []
        await started(parts)
        [snapshot] = parts.presenter.snapshot().servers
        assert not snapshot.is_listed
        counting = asyncio.create_task(parts.tools.snapshots("s"))
        await program.request("tools/list")
        await parts.offers.wait_for_first_listings()
        await settled()
        assert not counting.done()
        go_on.set()
        assert [each.name for each in await counting] == ["t"]
        [snapshot] = parts.presenter.snapshot().servers
        assert snapshot.is_listed


def test_a_few_changes_are_followed_at_once_and_a_storm_less_and_less_often() -> None:
    relisting, now = Relisting(), 1000.0
    assert [relisting.pause_s(now) for _ in range(AT_ONCE)] == [0.0] * AT_ONCE
    pauses = []
    for _ in range(20):
        pauses.append(relisting.pause_s(now))
        now += pauses[-1]
    assert pauses[:3] == [FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, 4 * FIRST_PAUSE_S]
    assert pauses[-1] == LONGEST_PAUSE_S
    assert relisting.pause_s(now + CALM_AFTER_S + 1) == 0.0


def test_a_list_counts_from_its_request_and_while_another_is_under_way_that_one_is_waited_for() -> None:
    times = Relisting()
    assert times.asked_at(TOOLS) == -math.inf
    assert times.is_known_from(TOOLS, -math.inf)
    times.begin(TOOLS, 5.0)
    assert (times.asked_at(TOOLS), times.needed_from(TOOLS, 2.0)) == (5.0, 5.0)
    times.end(TOOLS, is_overtaken=False)
    assert [times.is_known_from(TOOLS, at) for at in (5.0, 5.1)] == [True, False]
    assert times.needed_from(TOOLS, 2.0) == 2.0
    assert times.asked_at(PROMPTS) == -math.inf


def test_a_list_is_overtaken_once_in_a_row_and_known_only_if_it_is_not() -> None:
    times, taken = Relisting(), []
    for _ in range(4):
        times.begin(TOOLS, 5.0)
        taken.append(times.is_overtaken(TOOLS, is_due=True))
        assert not times.is_overtaken(TOOLS, is_due=False)
        times.end(TOOLS, is_overtaken=taken[-1])
        assert times.is_known_from(TOOLS, 5.0) is (False in taken)
    assert taken == [True, False, True, False]


def test_an_announcement_is_told_once_and_of_its_own_list() -> None:
    times = Relisting()
    times.announce([TOOLS])
    assert [times.was_announced(kind) for kind in (PROMPTS, TOOLS, TOOLS)] == [False, True, False]
