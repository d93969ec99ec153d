"""presenter/tool_manager.py"""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.heard import PATIENCE_S, Record
from tests.fakes.hub_parts import HubParts, entry, hub_parts, one_server, opened, settled, started, two_servers
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, text, tool

from tooltray.errors import TooltrayError
from tooltray.events import ConfigChanged, ServerStarted, ToolCallResult, ToolListChanged
from tooltray.presenter.held_calls import HELD_FOR_S
from tooltray.presenter.relay import CALL_TIMEOUT_S
from tooltray.presenter.server_lists import ERROR_LISTED_FOR_S
from tooltray.presenter.tool_calls import SEARCHED_FOR_ERROR_BYTES, is_error
from tooltray.snapshots.servers import ServerState
from tooltray.tools.names import PublishedNames
from tooltray.wire import eras
from tooltray.wire.envelope import Envelope, dump
from tooltray.wire.eras import Head

QUICK_LIST = {"first_listing_wait_s": 0.02}


async def text_of(parts: HubParts, name: str, **options: Any) -> str:
    reply = await parts.call(name, **options)
    return str(reply["result"]["content"][0]["text"])


async def refusal(parts: HubParts, name: str, **options: Any) -> str:
    return str((await parts.call(name, **options))["error"]["message"])


# listing


async def test_the_tools_of_all_servers_are_one_page_sorted_by_name_and_keep_what_the_hub_does_not_know(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("m"), tool("z")), ScriptedServer(tool("b", vendor={"n": 2**70}))
    async with hub_parts(tmp_path, **two_servers(first, second)) as parts:
        await started(parts, "a", "b")
        listing = json.loads(bytes(await parts.tools.listing()))
        assert listing == {"tools": [tool("b", vendor={"n": 2**70}), tool("m"), tool("z")]}
        assert await parts.tools.listing() is await parts.tools.listing()


async def test_all_pages_of_a_server_are_one(tmp_path: Path) -> None:
    program = ScriptedServer()
    pages = {None: {"tools": [tool("a")], "nextCursor": "2"}, "2": {"tools": [tool("b")]}}
    program.handlers["tools/list"] = lambda copy, params: pages[params.get("cursor")]
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["a", "b"]


async def test_tools_that_cannot_be_used_are_left_out_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = ScriptedServer(tool("a"), {"no": "name"}, {"name": 5}, tool("a", second=True), {"name": "b", "inputSchema": {}})
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["a", "b"]
        assert parts.tools.tool_count("s") == 2
        assert "'s': tool 4 of the list is left out: the name 'a' stands in it before" in caplog.text


async def test_a_server_for_itself_is_listed_under_its_own_names(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("read.file"), tool("x")), ScriptedServer(tool("x"))
    async with hub_parts(tmp_path, **two_servers(first, second)) as parts:
        await started(parts, "a", "b")
        assert await parts.listed("a") == ["read.file", "x"]
        assert await parts.listed("b") == ["x"]
        assert await parts.listed("c") == []
        assert not parts.home.names.exists()


async def test_five_thousand_tools_are_listed_and_called(tmp_path: Path) -> None:
    program = ScriptedServer(*(tool(f"tool_{number}") for number in range(5000)))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        names = await parts.listed()
        assert names == sorted(f"tool_{number}" for number in range(5000))
        assert await text_of(parts, "tool_4999", arguments={"text": "hi"}) == "hi"


async def test_the_first_list_waits_for_servers_that_were_never_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program), waits={"first_listing_wait_s": 20.0}) as parts:
        parts.servers.get("s").start()
        listing = asyncio.create_task(parts.listed())
        await program.request("tools/list")
        assert not listing.done()
        go_on.set()
        assert await listing == ["t"]


async def test_the_first_list_waits_a_bounded_time_and_not_a_second_time(tmp_path: Path) -> None:
    slow, quick = ScriptedServer(tool("slow")), ScriptedServer(tool("quick"))
    go_on = slow.hold("initialize")
    async with hub_parts(tmp_path, **two_servers(slow, quick), waits=QUICK_LIST) as parts:
        parts.servers.get("a").start()
        await started(parts, "b")
        await parts.heard.event(ToolListChanged, server="b")
        assert await parts.listed() == ["quick"]
        again = asyncio.create_task(parts.listed())
        await settled()
        assert again.done()
        go_on.set()
        await parts.heard.event(ToolListChanged, server="a")
        assert await parts.listed() == ["quick", "slow"]


async def test_nobody_waits_for_a_server_that_is_given_up(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = lambda copy, params: copy.die()
    async with hub_parts(tmp_path, **one_server(program), waits={"first_listing_wait_s": 600.0}) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []


async def test_nobody_waits_for_a_server_that_cannot_list(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = ScriptedServer()
    program.handlers["tools/list"] = lambda copy, params: error(-32603, "not ready")
    async with hub_parts(tmp_path, **one_server(program), waits={"first_listing_wait_s": 600.0}) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == []
        assert "the tools of 's' could not be listed: it answered tools/list with an error: not ready" in caplog.text


async def test_nobody_waits_for_a_server_that_is_removed_meanwhile(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = never
    async with hub_parts(tmp_path, **one_server(program), waits={"first_listing_wait_s": 600.0}) as parts:
        parts.servers.get("s").start()
        await program.request("initialize")
        listing = asyncio.create_task(parts.listed())
        await asyncio.sleep(0)
        await parts.conf.remove_server("s")
        assert await listing == []


async def test_a_server_that_dies_before_it_listed_is_waited_for_until_its_next_copy_has(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    deaths = iter([True])
    program.handlers["tools/list"] = lambda copy, params: copy.die() if next(deaths, False) else {"tools": program.tools}
    async with hub_parts(tmp_path, **one_server(program), waits={"first_listing_wait_s": 600.0}) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == ["t"]


async def test_who_gives_up_while_the_list_is_made_leaves_no_empty_list_to_others(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
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
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t"))), names_type=SlowNames) as parts:
        await started(parts)
        await parts.heard.event(ToolListChanged)
        listing = asyncio.create_task(parts.listed())
        await asyncio.to_thread(SlowNames.asked.wait, PATIENCE_S)
        await parts.servers.stop("s")
        SlowNames.may_answer.set()
        assert await listing == []


# the catalogue on disk


async def test_the_last_known_tools_are_served_at_once_and_then_corrected(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("old")))) as parts:
        await started(parts)
        assert await parts.listed() == ["old"]
        await parts.ended()
    program = ScriptedServer(tool("new"))
    go_on = program.hold("initialize")
    async with hub_parts(tmp_path, programs={"program": program}, waits={"first_listing_wait_s": 600.0}) as parts:
        assert parts.servers.get("s").is_known
        parts.servers.get("s").start()
        assert await parts.listed() == ["old"]
        heard = len(parts.heard.of(ToolListChanged))
        go_on.set()
        await parts.heard.event(ToolListChanged, count=heard + 1)
        assert await parts.listed() == ["new"]


async def test_a_list_that_is_as_it_was_is_no_news_and_is_not_written_again(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        assert await parts.listed() == ["t"]
        await parts.offers.listed(parts.servers.get("s")).wait()
        await parts.ended()
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "catalogue").iterdir()}
    assert files
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, programs={"program": program}) as parts:
        told = len(parts.heard.of(ToolListChanged))
        await started(parts)
        await program.request("tools/list")
        program.copy.notify("notifications/tools/list_changed")
        await program.request("tools/list", count=2)
        await parts.ended()
        assert len(parts.heard.of(ToolListChanged)) == told + 1  # the hub has stopped the server
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "catalogue").iterdir()} == files


async def test_what_another_command_line_listed_is_not_served_after_a_restart_of_the_hub(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("old")))) as parts:
        await started(parts)
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
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        await text_of(parts, "t")
        assert parts.stats.p95_ms("s") > 0
        await parts.conf.remove_server("s")
        assert await parts.listed() == []
        await parts.ended()
        assert list(parts.home.catalogue.iterdir()) == []
        assert parts.stats.p95_ms("s") == 0


# servers that nobody uses yet


# a list changes


async def changed(parts: HubParts, program: ScriptedServer, *tools: Any) -> None:
    program.tools = list(tools)
    count = len(parts.heard.of(ToolListChanged))
    program.copy.notify("notifications/tools/list_changed")
    await parts.heard.event(ToolListChanged, count=count + 1)


async def test_a_server_that_says_so_is_listed_anew(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["a"]
        await changed(parts, program, tool("b"), tool("a"))
        assert await parts.listed() == ["a", "b"]


async def test_other_news_of_a_server_do_not_make_it_list(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["a"]
        program.copy.notify("notifications/message", {})
        await parts.conf.change_server("s", descriptions="mine")
        await settled()
        assert program.count("tools/list") == 1


async def test_a_change_during_a_list_is_listed_after_it_and_the_older_one_does_not_count(tmp_path: Path) -> None:
    program = ScriptedServer(tool("old"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["old"]
        go_on = program.hold("tools/list")
        program.copy.notify("notifications/tools/list_changed")
        await program.request("tools/list", count=2)
        said: Record[str] = Record()
        parts.servers.listen(on_changed=lambda name: None, on_notification=lambda name, client, method, params: said.add(method))
        for _ in range(3):
            program.copy.notify("notifications/tools/list_changed")
        await said.wait(count=3)
        lists = iter([[tool("stale")], [tool("new")]])
        program.handlers["tools/list"] = lambda copy, params: {"tools": next(lists)}
        await program.request("tools/list", count=2)
        told = len(parts.heard.of(ToolListChanged))
        program.tools = next(lists)
        go_on.set()
        await parts.heard.event(ToolListChanged, count=told + 1)
        assert await parts.listed() == ["new"]
        assert program.count("tools/list") == 3  # the three that came meanwhile were one
        assert len(parts.heard.of(ToolListChanged)) == told + 1


async def test_a_sudden_empty_list_is_believed_only_when_it_is_confirmed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with hub_parts(tmp_path, **one_server(program), waits={"empty_confirmed_after_s": 0.0}) as parts:
        await started(parts)
        assert await parts.listed() == ["a"]
        lists = iter([[], [tool("a"), tool("b")]])
        program.handlers["tools/list"] = lambda copy, params: {"tools": next(lists)}
        await changed(parts, program)
        assert await parts.listed() == ["a", "b"]
        program.handlers["tools/list"] = lambda copy, params: {"tools": []}
        await changed(parts, program)
        assert await parts.listed() == []


async def test_a_list_that_fails_leaves_what_was_known(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["a"]
        program.handlers["tools/list"] = lambda copy, params: error(-32603, "busy")
        program.copy.notify("notifications/tools/list_changed")
        await program.request("tools/list", count=2)
        await settled()
        assert await parts.listed() == ["a"]
        assert await text_of(parts, "a", arguments={"text": "hi"}) == "hi"


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
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
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


async def test_another_command_line_keeps_the_tools_until_the_new_server_has_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("old"))
    async with hub_parts(tmp_path, **one_server(program), waits={"first_listing_wait_s": 600.0}) as parts:
        await started(parts)
        assert await parts.listed() == ["old"]
        go_on = program.hold("tools/list")
        program.tools = [tool("new")]
        await parts.conf.change_server("s", args=["2"])
        await program.request("tools/list", count=2)
        assert await parts.listed() == ["old"]
        told = len(parts.heard.of(ToolListChanged))
        go_on.set()
        await parts.heard.event(ToolListChanged, count=told + 1)
        assert await parts.listed() == ["new"]


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


# names


async def test_tools_that_come_together_with_one_name_are_named_together(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two_servers(ScriptedServer(tool("t"), tool("u")), ScriptedServer(tool("t")))) as parts:
        await started(parts, "a", "b")
        assert await parts.listed() == ["a_t", "b_t", "u"]
        for name in ("a_t", "b_t", "u"):
            assert await text_of(parts, name, arguments={"text": name}) == name


async def test_names_are_given_when_somebody_lists_and_kept(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("t")), ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **two_servers(first, second)) as parts:
        await started(parts, "a")
        await parts.heard.event(ToolListChanged, server="a")
        assert not parts.home.names.exists()
        assert await parts.listed() == ["t"]
        assert parts.home.names.exists()
        await started(parts, "b")
        await parts.heard.event(ToolListChanged, server="b")
        assert await parts.listed() == ["b_t", "t"]  # a name that was given stays
        await parts.tools.forget_names()
        assert await parts.listed() == ["a_t", "b_t"]


async def test_forgetting_the_names_tells_the_clients_of_servers_with_tools(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two_servers(ScriptedServer(tool("t")), ScriptedServer())) as parts:
        await started(parts, "a", "b")
        await parts.listed()
        told = len(parts.heard.of(ToolListChanged))
        await parts.tools.forget_names()
        assert [each.server for each in parts.heard.of(ToolListChanged)[told:]] == ["a"]


async def test_a_client_may_call_by_heart_before_anybody_has_listed(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        assert await text_of(parts, "t", arguments={"text": "hi"}) == "hi"


async def test_a_client_of_one_server_may_call_by_heart_while_the_server_is_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        calling = asyncio.create_task(text_of(parts, "t", server="s", arguments={"text": "hi"}))
        await program.request("tools/list")
        await settled()
        assert not calling.done()
        go_on.set()
        assert await calling == "hi"


async def test_a_call_goes_out_under_the_servers_own_name(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read.file"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["read_file"]
        assert await text_of(parts, "read_file", arguments={"text": "x", "n": 2**70}) == "x"
        assert (await program.call("read.file")).params["arguments"]["n"] == 2**70


async def test_what_was_approved_is_what_the_server_gets_also_if_a_client_names_two_tools(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read"), tool("wipe"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        request = Envelope(method="tools/call", params=Raw(b'{"name":"wipe","arguments":{},"name":"read"}'))
        head = eras.read_head(request.params)
        assert head is not None
        client = parts.client()
        await parts.calls.call(request, head, client, client.held, server=None, client="test")
        assert (await program.call("read")).params == {"name": "read", "arguments": {}}
        assert b"wipe" not in bytes(request.params)


# which tools are offered and to whom


@pytest.mark.parametrize(
    ("fields", "offered"),
    [
        ({}, ["a", "b", "c"]),
        ({"disabledTools": ["b"]}, ["a", "c"]),
        ({"toolFilter": {"mode": "allow", "list": ["a", "b"]}}, ["a", "b"]),
        ({"toolFilter": {"mode": "block", "list": ["a"]}}, ["b", "c"]),
        ({"toolFilter": {"mode": "allow", "list": ["a", "b"]}, "disabledTools": ["a"]}, ["b"]),
    ],
)
async def test_a_server_offers_what_its_settings_let_through(tmp_path: Path, fields: dict[str, Any], offered: list[str]) -> None:
    program = ScriptedServer(tool("a"), tool("b"), tool("c"))
    async with hub_parts(tmp_path, **one_server(program, **fields)) as parts:
        await started(parts)
        assert await parts.listed() == offered
        assert await parts.listed("s") == offered
        assert parts.tools.tool_count("s") == 3


async def test_a_tool_that_is_switched_off_is_refused_and_comes_back(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("a"), tool("b")))) as parts:
        await started(parts)
        assert await parts.listed() == ["a", "b"]
        await parts.conf.change_server("s", disabled_tools=["b"])
        assert await parts.listed() == ["a"]
        assert await refusal(parts, "b") == "the tool 'b' is switched off in Tooltray"
        assert await refusal(parts, "b", server="s") == "the tool 'b' is switched off in Tooltray"
        await parts.conf.change_server("s", disabled_tools=[])
        assert await parts.listed() == ["a", "b"]


async def test_what_is_not_approved_is_listed_and_refused_with_the_way_to_allow_it(tmp_path: Path) -> None:
    program = ScriptedServer(tool("get_it"), tool("delete_it"))
    async with hub_parts(tmp_path, **one_server(program, autoApprove=["read"])) as parts:
        await started(parts)
        assert await parts.listed() == ["delete_it", "get_it"]
        assert await text_of(parts, "get_it", arguments={"text": "x"}) == "x"
        said = await refusal(parts, "delete_it")
        assert 'the tool "delete_it" of the server "s" writes' in said
        assert 'adds "write" (every tool of this category) or "delete_it"' in said
        assert program.count("tools/call") == 1
        await parts.conf.change_server("s", auto_approve=["read", "delete_it"])
        assert await text_of(parts, "delete_it", arguments={"text": "x"}) == "x"


async def test_a_paused_hub_lists_and_refuses(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.conf.set_enabled(False)
        assert await parts.listed() == ["t"]
        assert "Tooltray is paused" in await refusal(parts, "t")
        client = parts.client()
        relayed = await parts.relay.to(parts.servers.get("s"), Envelope(method="prompts/list"), Head(), client, client.held)
        assert "Tooltray is paused" in opened(relayed)["error"]["message"]
        assert program.count("tools/call") == 0


async def test_the_tools_of_the_built_in_server_need_no_approval(tmp_path: Path) -> None:
    builtin = BuiltIn()
    async with hub_parts(tmp_path, servers={}, builtins={"hub": builtin}) as parts:
        await started(parts, "hub")
        assert await text_of(parts, "delete_everything") == "done"
        [snapshot] = await parts.tools.snapshots()
        assert (snapshot.is_approved, snapshot.category) == (True, "write")


class BuiltIn:
    async def answer(self, request: Envelope) -> Envelope:
        replies = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
            "tools/list": {"tools": [tool("delete_everything")]},
            "tools/call": text("done"),
        }
        return Envelope(result=dump(replies[request.method])) if request.method in replies else error(-32601, "Method not found")


async def test_every_tool_known_has_a_snapshot_also_those_that_are_switched_off(tmp_path: Path) -> None:
    program = ScriptedServer(tool("get.it", description="Gets it"), tool("drop"), tool("off"))
    async with hub_parts(tmp_path, **one_server(program, autoApprove=["read"], disabledTools=["off"])) as parts:
        await started(parts)
        found = {each.original_name: each for each in await parts.tools.snapshots()}
        assert (found["get.it"].name, found["get.it"].description, found["get.it"].server) == ("get_it", "Gets it", "s")
        assert [(each.category, each.is_enabled, each.is_approved) for each in found.values()] == [
            ("read", True, True),
            ("write", True, False),
            ("write", False, False),
        ]
        assert found["off"].name == "off"
        assert await parts.tools.snapshots("other") == []


# calls


async def test_a_result_comes_back_as_the_server_wrote_it(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["t"] = lambda copy, params: raw(b'{"content":[],"n":1180591620717411303424,"x":0.1000000000000000055}')
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        request = Envelope(method="tools/call", params=Raw(b'{"name":"t"}'))
        client = parts.client()
        reply = await parts.calls.call(request, Head(name="t"), client, client.held, server=None, client="c")
        assert bytes(reply.result) == b'{"content":[],"n":1180591620717411303424,"x":0.1000000000000000055}'


async def test_a_call_that_comes_while_its_server_restarts_waits_and_succeeds(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        go_on = program.hold("initialize")
        program.copy.die()
        call = asyncio.create_task(parts.call("t", arguments={"text": "again"}))
        await program.request("initialize", count=2)
        go_on.set()
        assert (await call)["result"] == text("again")


async def test_calls_in_flight_are_answered_with_the_last_words_of_a_server_that_dies(tmp_path: Path) -> None:
    program = ScriptedServer(tool("hang"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        call = asyncio.create_task(parts.call("hang"))
        await program.call("hang")
        program.copy.die("out of cheese")
        assert (await call)["error"] == {"code": -32000, "message": "server 's' ended with exit code 1: out of cheese"}


async def test_a_call_waits_a_bounded_time_for_its_server(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        await parts.servers.stop("s", then=ServerState.ON_DEMAND)
        await parts.ended()
    program.handlers["initialize"] = never
    async with hub_parts(tmp_path, programs={"program": program}, waits={"start_wait_s": 0.02}) as parts:
        said = await refusal(parts, "t")
        assert said == "server 's' is not running: it is starting. Try again in a moment"


async def test_a_client_that_cancels_cancels_at_its_server_under_the_right_id(tmp_path: Path) -> None:
    programs = ScriptedServer(tool("hang")), ScriptedServer(tool("hang"))
    async with hub_parts(tmp_path, **two_servers(*programs)) as parts:
        await started(parts, "a", "b")
        await parts.listed()
        calls = [asyncio.create_task(parts.call(name)) for name in ("a_hang", "b_hang", "b_hang")]
        await programs[0].call("hang")
        wanted = await programs[1].call("hang", count=2)
        calls[2].cancel()
        assert (await programs[1].cancelled.wait()).id == wanted.id
        assert programs[0].cancelled.all == []
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)


async def test_a_modern_client_gets_the_question_of_a_legacy_server_as_a_result(tmp_path: Path) -> None:
    program = ScriptedServer(tool("ask"))

    async def ask(copy: Any, params: Any) -> Any:
        return text(str(await copy.ask("elicitation/create", {"message": "?"})))

    program.calls["ask"] = ask
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        client = parts.client()
        result = (await parts.call("ask", client, is_modern=True))["result"]
        assert result["resultType"] == "input_required"
        answer = {"requestState": result["requestState"], "inputResponses": {"1": {"action": "accept"}}}
        assert await text_of(parts, "ask", client=client, is_modern=True, **answer) == str({"action": "accept"})
        assert not parts.wheel.of(HELD_FOR_S)


async def test_a_legacy_client_is_asked_what_a_modern_server_requires(tmp_path: Path) -> None:
    program = ScriptedServer(tool("ask"), eras=("modern",))
    question = {"resultType": "input_required", "inputRequests": {"1": {"method": "elicitation/create", "params": {}}}}
    replies = iter([question, text("thanks")])
    program.calls["ask"] = lambda copy, params: next(replies)
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        client = parts.client(capabilities={"elicitation": {}}, answer={"action": "accept"})
        assert await text_of(parts, "ask", client=client) == "thanks"
        assert client.asked.all == [("elicitation/create", {})]


async def test_each_era_is_served_by_the_copy_of_its_era(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), eras=("legacy", "modern"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.call("t", is_modern=True)
        await parts.call("t")
        modern, legacy = [asked.copy for asked in program.asked.all if asked.method == "tools/call"]
        assert modern is program.copies.all[0]
        assert legacy is program.copies.all[1]


@pytest.mark.parametrize(("fields", "limit_s"), [({}, CALL_TIMEOUT_S), ({"callTimeout": 7}, 7.0)])
async def test_a_call_has_ten_minutes_without_progress_or_what_its_server_says(
    tmp_path: Path, fields: dict[str, Any], limit_s: float
) -> None:
    program = ScriptedServer(tool("hang"))
    async with hub_parts(tmp_path, **one_server(program, **fields)) as parts:
        await started(parts)
        call = asyncio.create_task(parts.call("hang"))
        await program.call("hang")
        assert parts.wheel.expire(limit_s) == 1
        assert f"did not answer tools/call within {limit_s:g} s" in (await call)["error"]["message"]


# calls that cannot be made


async def test_an_unknown_tool_is_told(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        await parts.listed()
        assert (await parts.call("u"))["error"] == {"code": -32602, "message": "Unknown tool: u"}
        assert await refusal(parts, "u", server="s") == "Unknown tool: u"
        assert await refusal(parts, "t", server="gone") == "Unknown tool: t"
        assert parts.heard.of(ToolCallResult) == []


async def test_the_tool_of_a_stopped_server_says_how_to_get_it_back(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        assert await parts.listed() == ["t"]
        await parts.servers.stop("s")
        assert await parts.listed() == []
        assert await refusal(parts, "t") == "server 's' is stopped; start it in Tooltray to use this tool"
        await started(parts)
        assert await parts.listed() == ["t"]


async def test_the_tool_of_a_server_that_is_switched_off_says_so(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        await parts.listed()
        await parts.conf.change_server("s", disable=True)
        await parts.heard.state("s", ServerState.STOPPED)
        assert await refusal(parts, "t") == "server 's' is stopped; start it in Tooltray to use this tool"


async def test_tools_of_a_server_in_error_stay_listed_for_ten_minutes_and_say_why_they_fail(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["t"]
        program.handlers["initialize"] = lambda copy, params: copy.die("no cheese at all")
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        assert await parts.listed() == ["t"]
        assert "server 's' is not running: 's' could not be opened" in await refusal(parts, "t")
        await parts.conf.change_server("s", descriptions="still the same")
        assert parts.wheel.expire(ERROR_LISTED_FOR_S) == 2  # its tools, and what else it offers
        assert await parts.listed() == []
        assert "no cheese at all" in await refusal(parts, "t")
        del program.handlers["initialize"]
        await started(parts)
        assert await parts.listed() == ["t"]
        assert not parts.wheel.of(ERROR_LISTED_FOR_S)


async def test_the_ten_minutes_count_anew_with_the_next_error(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        for _ in range(2):
            await started(parts)
            assert await parts.listed() == ["t"]
            program.handlers["initialize"] = lambda copy, params: copy.die()
            program.copy.die()
            await parts.heard.until(lambda: parts.servers.get("s").state is ServerState.ERROR)
            assert len(parts.wheel.of(ERROR_LISTED_FOR_S)) == 2
            del program.handlers["initialize"]
        await parts.conf.remove_server("s")
        assert not parts.wheel.of(ERROR_LISTED_FOR_S)


async def test_a_call_whose_server_is_removed_in_the_same_moment_is_told(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await started(parts)
        await parts.listed()
        await parts.conf.remove_server("s")
        assert await refusal(parts, "t") == "Unknown tool: t"


# the record


async def test_every_call_is_recorded_with_its_outcome_and_nothing_of_its_content(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), tool("bad"), tool("broken"), tool("hang"), tool("delete"))
    program.calls["bad"] = lambda copy, params: {"content": [], "isError": True}
    program.calls["broken"] = lambda copy, params: error(-1, "broken")
    async with hub_parts(tmp_path, **one_server(program, autoApprove=["t", "bad", "broken", "hang"])) as parts:
        await started(parts)
        await parts.listed()
        for name in ("t", "bad", "broken", "delete"):
            await parts.call(name)
        hanging = asyncio.create_task(parts.call("hang"))
        await program.call("hang")
        hanging.cancel()
        await asyncio.wait({hanging})
        records = [event.response for event in parts.heard.of(ToolCallResult)]
        assert [(each.tool, each.server, each.client, each.outcome) for each in records] == [
            ("t", "s", "test", "ok"),
            ("bad", "s", "test", "error"),
            ("broken", "s", "test", "error"),
            ("delete", "s", "test", "refused"),
            ("hang", "s", "test", "cancelled"),
        ]
        assert records[0].argument_bytes == len(b'{"name":"t","arguments":{}}')
        assert records[0].result_bytes == len(dump(text("")))
        assert records[4].result_bytes == 0
        assert parts.stats.today("s", time.time()) == 4  # a refused call never reached the server


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (b'{"content":[],"isError":true}', True),
        (b'{"content":[],"isError" : true }', True),
        (b'{"isError":false,"content":[]}', False),
        (b'{"isError":true,"content":["' + b"x" * 3 * SEARCHED_FOR_ERROR_BYTES + b'"]}', True),
        (b'{"content":["' + b"x" * 3 * SEARCHED_FOR_ERROR_BYTES + b'"],"isError":true}', True),
        (b'{"content":["' + b"x" * 3 * SEARCHED_FOR_ERROR_BYTES + b'"]}', False),
    ],
)
def test_a_result_says_at_one_of_its_ends_whether_it_is_an_error(result: bytes, expected: bool) -> None:
    assert is_error(Envelope(result=Raw(result))) is expected


def test_an_error_reply_is_an_error() -> None:
    assert is_error(error(-1, "no"))


async def test_a_server_that_cannot_run_says_so_to_a_call(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        await parts.servers.stop("s", then=ServerState.ON_DEMAND)
        program.fails_to_open = TooltrayError("no memory")
        assert await refusal(parts, "t") == "server 's' is not running: no memory"


async def test_the_schema_of_a_tool_is_known_as_long_as_it_is_offered(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t", inputSchema=schema)))) as parts:
        await started(parts)
        await parts.tools.listing()
        assert json.loads(bytes(parts.tools.input_schema("s", "t") or b"null")) == schema
        assert parts.tools.input_schema("s", "other") is None
        assert parts.tools.input_schema("other", "t") is None
