"""tool_manager.py, server_lists.py, tool_routes.py: what is listed when, what is kept, what becomes of a list that changes."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import HubParts, entry, hub_parts, one_server, settled, started, started_parts, text_of, two_servers
from tests.fakes.lazy_hub import answered
from tests.fakes.scripted_server import ScriptedServer, text, tool

from tooltray.catalogue.tool_manager import TASK_ONLY
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.events import ConfigChanged, ServerStarted, ToolListChanged
from tooltray.foundation.snapshots.servers import ServerState

# listing


async def test_the_tools_of_all_servers_are_one_page_sorted_by_name_and_keep_what_the_hub_does_not_know(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("m"), tool("z")), ScriptedServer(tool("b", vendor={"n": 2**70}))
    async with started_parts(tmp_path, "a", "b", **two_servers(first, second)) as parts:
        listing = json.loads(bytes(await parts.tools.listing()))
        assert listing == {"tools": [tool("b", vendor={"n": 2**70}), tool("m"), tool("z")]}
        assert await parts.tools.listing() is await parts.tools.listing()


async def test_all_pages_of_a_server_are_one(tmp_path: Path) -> None:
    program = ScriptedServer()
    pages = {None: {"tools": [tool("a")], "nextCursor": "2"}, "2": {"tools": [tool("b")]}}
    program.handlers["tools/list"] = lambda copy, params: pages[params.get("cursor")]
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["a", "b"]


async def test_tools_that_cannot_be_used_are_left_out_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = ScriptedServer(tool("a"), {"no": "name"}, {"name": 5}, tool("a", second=True), {"name": "b", "inputSchema": {}})
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["a", "b"]
        assert parts.tools.tool_count("s") == 2
        assert "'s': tool 4 of the list is left out: the name 'a' is already in the list" in caplog.text


async def test_a_server_for_itself_is_listed_under_its_own_names(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("read.file"), tool("x")), ScriptedServer(tool("x"))
    async with started_parts(tmp_path, "a", "b", **two_servers(first, second)) as parts:
        assert await parts.listed("a") == ["read.file", "x"]
        assert await parts.listed("b") == ["x"]
        assert await parts.listed("c") == []
        assert not parts.home.names.exists()


async def test_tools_that_run_as_tasks_alone_are_listed_and_are_in_no_format_of_a_provider(tmp_path: Path) -> None:
    tools = [tool("at_once"), tool("long", execution={"taskSupport": "required"}), tool("both", execution={"taskSupport": "optional"})]
    async with started_parts(tmp_path, **one_server(ScriptedServer(*tools))) as parts:
        assert await parts.listed("s") == ["at_once", "long", "both"]
        assert await parts.listed() == ["at_once", "both", "long"]
        assert [each["name"] for each in await parts.presenter.get_all_tool_definitions()] == ["at_once", "both", "long"]
        assert len(await parts.presenter.mcp_tools_to_anthropic_tools(server="s")) == 2
        shown = {each.original_name: each.description for each in await parts.presenter.get_tools("s")}
        assert shown == {"at_once": "", "both": "", "long": TASK_ONLY}


async def test_a_client_that_has_a_server_alone_calls_its_tools_as_tasks(tmp_path: Path) -> None:
    program = ScriptedServer(tool("long", execution={"taskSupport": "required"}))
    program.calls["long"] = lambda copy, params: {"task": {"taskId": "t1", "status": "working", "ttl": params["task"]["ttl"]}}
    program.handlers["tasks/result"] = lambda copy, params: text(f"the result of {params['taskId']}")
    async with started_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        client.state.server = "s"
        made = await parts.call("long", client, server="s", task={"ttl": 60})
        assert made["result"]["task"] == {"taskId": "t1", "status": "working", "ttl": 60}
        ended = await answered(parts, "tasks/result", client, taskId="t1")
        assert ended["result"] == text("the result of t1")


async def test_five_thousand_tools_are_listed_and_called(tmp_path: Path) -> None:
    program = ScriptedServer(*(tool(f"tool_{number}") for number in range(5000)))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        names = await parts.listed()
        assert names == sorted(f"tool_{number}" for number in range(5000))
        assert await text_of(parts, "tool_4999", arguments={"text": "hi"}) == "hi"


async def test_who_gives_up_while_the_list_is_made_leaves_no_empty_list_to_others(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await parts.heard.event(ToolListChanged)
        for turns in range(1, 12):
            await parts.tools.forget_names()
            listing = asyncio.create_task(parts.tools.listing())
            for _ in range(turns):
                await asyncio.sleep(0)
            listing.cancel()
            await asyncio.wait({listing})
            assert await parts.listed() == ["t"]


class SlowNames(PublishedNames):
    """Names that a test lets be given."""

    asked, may_answer = threading.Event(), threading.Event()

    def publish(self, tools: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        self.asked.set()
        self.may_answer.wait(PATIENCE_S)
        return super().publish(tools)


async def test_a_change_while_the_list_is_made_is_in_it(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t"))), names_type=SlowNames) as parts:
        await parts.heard.event(ToolListChanged)
        listing = asyncio.create_task(parts.listed())
        await asyncio.to_thread(SlowNames.asked.wait, PATIENCE_S)
        await parts.servers.stop("s")
        SlowNames.may_answer.set()
        assert await listing == []


# the catalogue on disk


async def test_what_another_command_line_listed_is_not_served_after_a_restart_of_the_hub(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("old")))) as parts:
        assert await parts.listed() == ["old"]
        await parts.ended()
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), args=["other"])) as parts:
        assert not parts.servers.get("s").is_known
        assert await parts.listed() == []


async def test_the_same_tools_under_another_command_line_are_kept_for_that_one(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.tools.list_unknown_servers()
        await parts.heard.state("s", ServerState.ON_DEMAND)
        await parts.conf.change_server("s", args=["other"])
        assert not parts.servers.get("s").is_known
        parts.tools.list_unknown_servers()
        await parts.heard.until(lambda: parts.servers.get("s").is_known and parts.servers.get("s").state is ServerState.ON_DEMAND)
        await parts.ended()
    async with hub_parts(tmp_path, programs={"program": program}) as parts:
        assert await parts.listed() == ["t"]


async def test_what_is_known_of_a_removed_server_is_forgotten(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await text_of(parts, "t")
        assert parts.stats.percentile_ms("s", 0.95) > 0
        await parts.conf.remove_server("s")
        assert await parts.listed() == []
        await parts.ended()
        assert list(parts.home.catalogue.iterdir()) == []
        assert parts.stats.percentile_ms("s", 0.95) == 0


# a list changes


async def changed(parts: HubParts, program: ScriptedServer, *tools: Any) -> None:
    program.tools = list(tools)
    count = len(parts.heard.of(ToolListChanged))
    program.copy.notify("notifications/tools/list_changed")
    await parts.heard.event(ToolListChanged, count=count + 1)


async def test_a_server_that_says_so_is_listed_anew(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["a"]
        await changed(parts, program, tool("b"), tool("a"))
        assert await parts.listed() == ["a", "b"]


async def test_a_list_of_a_server_that_was_removed_meanwhile_counts_for_nothing(tmp_path: Path) -> None:
    program = ScriptedServer(tool("old"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        go_on = program.hold("tools/list")
        await started(parts)
        await program.request("tools/list")
        program.may_end.clear()
        await parts.conf.remove_server("s")
        await parts.conf.set_server("s", entry("program", args=["2"]))
        go_on.set()
        await settled()
        assert await parts.listed() == []
        program.may_end.set()


async def test_what_a_server_lists_in_the_moment_it_is_replaced_counts_for_nothing(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["a"]
        go_on = program.hold("tools/list")
        program.copy.notify("notifications/tools/list_changed")
        await program.request("tools/list", count=2)
        program.tools = [tool("of the old one")]
        parts.bus.subscribe(ConfigChanged, lambda event: program.copy.say(late))
        asked = program.asked.all[-1]
        late = b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"late"}]}}' % asked.id
        program.may_end.clear()
        await parts.conf.change_server("s", args=["2"])
        await settled()
        assert await parts.listed() == ["a"]
        program.may_end.set()
        go_on.set()


async def test_another_command_line_of_a_server_that_does_not_run_is_listed_anew(tmp_path: Path) -> None:
    program = ScriptedServer(tool("old"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.tools.list_unknown_servers()
        await parts.heard.state("s", ServerState.ON_DEMAND)
        program.tools = [tool("new")]
        await parts.conf.change_server("s", args=["2"])
        parts.tools.list_unknown_servers()
        await parts.heard.event(ServerStarted, count=2)
        await parts.heard.until(lambda: parts.servers.get("s").is_known)
        assert await parts.listed() == ["new"]
