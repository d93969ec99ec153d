"""call_routes.py: a call finds its tool, also one that nobody has listed yet."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import one_server, settled, started_parts, text_of
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.second_looks import LookPatience
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.sessions.exchange import Exchange

CHANGED = "notifications/tools/list_changed"


def calling(client: Any, name: str = "t", server: str | None = None) -> Exchange:
    return exchange_of(Envelope(method="tools/call", params=dump({"name": name, "arguments": {}})), client, server=server)


async def test_a_client_may_call_by_heart_before_anybody_has_listed(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        assert await text_of(parts, "t", arguments={"text": "hi"}) == "hi"


async def test_a_client_of_one_server_may_call_by_heart_while_the_server_is_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with started_parts(tmp_path, **one_server(program)) as parts:
        calling = asyncio.create_task(text_of(parts, "t", server="s", arguments={"text": "hi"}))
        await program.request("tools/list")
        await settled()
        assert not calling.done()
        go_on.set()
        assert await calling == "hi"


async def test_a_call_goes_out_under_the_servers_own_name(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read.file"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["read_file"]
        assert await text_of(parts, "read_file", arguments={"text": "x", "n": 2**70}) == "x"
        assert (await program.call("read.file")).params["arguments"]["n"] == 2**70


@pytest.mark.parametrize("isolation", ["shared", "session"])
@pytest.mark.parametrize(("present_for_s", "looks"), [(600.0, 0), (0.0, 1)])
async def test_a_call_that_was_allowed_goes_by_a_recent_list_of_the_instance_that_gets_it(
    tmp_path: Path, isolation: str, present_for_s: float, looks: int
) -> None:
    program = ScriptedServer(tool("t"))
    limits = {"present_for_s": present_for_s}
    async with started_parts(tmp_path, **one_server(program, isolation=isolation), waits=limits) as parts:
        await parts.listed()
        routes, exchange = parts.call_routes, calling(parts.client())
        route = await routes.route(exchange)
        assert route
        assert await routes.confirmed(route, exchange) == route  # starts and lists the session's own instance
        before = program.count("tools/list")
        assert await routes.confirmed(route, exchange) == route
        assert program.count("tools/list") == before + looks
        assert not routes.is_outdated(route, exchange)
        program.tools = [tool("other")]
        program.copy.notify(CHANGED)
        await settled()
        assert routes.is_outdated(route, exchange) is (isolation == "session")
        await program.request("tools/list", count=before + looks + 1)
        if isolation == "shared":
            await parts.heard.until(lambda: "other" in parts.tools.routes("s"))
            assert await routes.confirmed(route, exchange) is None


async def test_a_call_that_was_allowed_is_refused_where_its_server_does_not_list_in_time(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    limits = {"confirmed_within_s": 0.0, "present_for_s": 0.0}
    async with started_parts(tmp_path, **one_server(program), waits=limits) as parts:
        await parts.listed()
        exchange = calling(parts.client())
        route = await parts.call_routes.route(exchange)
        assert route
        go_on = program.hold("tools/list")
        with pytest.raises(TooltrayError, match="has not listed its tools yet"):
            await parts.call_routes.confirmed(route, exchange)
        go_on.set()


async def test_a_tool_that_a_server_alone_does_not_have_is_looked_for_once_in_a_while(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    patience = {"look_patience": LookPatience(within_s=20.0, name_again_after_s=600.0, pause_s=0.0)}
    async with started_parts(tmp_path, **one_server(program), waits=patience) as parts:
        await parts.listed()
        for _ in range(3):
            assert await parts.call_routes.late_route(calling(parts.client(), "gone", "s"), is_reached=lambda _: True) is None
        assert program.count("tools/list") == 2


async def test_a_tool_that_its_server_does_not_list_is_called_by_who_has_only_this_server(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program, disabledTools=["off"])) as parts:
        await parts.listed("s")
        routes = parts.call_routes
        hidden = routes.unlisted_route("hidden", "s")
        assert hidden
        assert (hidden.definition.name, hidden.is_listed) == ("hidden", False)
        exchange = calling(parts.client(), "hidden", "s")
        assert routes.current(hidden, exchange) == hidden
        listed = await routes.route(calling(parts.client(), "t", "s"))
        assert listed
        assert routes.current(listed, exchange) == listed
        assert [routes.unlisted_route(*each) for each in (("off", "s"), ("hidden", "gone"), ("hidden", "hub"))] == [None] * 3
        managed = parts.servers.get("s")
        await managed.stop(then=managed.idle_state)
        assert routes.unlisted_route("hidden", "s") == hidden
        await parts.servers.start("s")
        program.fails_to_open = TooltrayError("out of cheese")
        program.copy.die()
        await parts.heard.until(lambda: managed.problem is not None)
        assert routes.unlisted_route("hidden", "s") is None
