"""auto_approve.py, tool_manager.py: entries of `autoApprove` that mean nothing are told where a person looks."""

from pathlib import Path

from tests.fakes.hub_parts import entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import Problem


async def notices(hub) -> list[Problem]:
    return [each for each in (await hub.presenter.get_snapshot()).notices if "autoApprove" in each.title]


async def test_an_entry_that_means_nothing_is_a_notice_of_the_hub_until_it_is_corrected(tmp_path: Path) -> None:
    servers = {"a": entry("program", autoApprove=["hint:readonly", "names:get_*"]), "b": entry("program", autoApprove=["get_it"])}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer(tool("get_it"))}) as hub:
        (notice,) = await notices(hub)
        assert notice.title == "autoApprove of 'a' has an entry that means nothing"
        assert '"hint:readonly"' in notice.message
        await hub.presenter.update_mcp_server("a", entry("program", autoApprove=["names:get_*"]))
        assert await notices(hub) == []


async def test_what_looks_like_a_rule_is_no_notice_once_a_tool_of_that_name_is_known(tmp_path: Path) -> None:
    servers = {"a": entry("program", autoApprove=["ns:Read"])}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer(tool("ns:Read"))}) as hub:
        assert len(await notices(hub)) == 1
        await hub.presenter.start_server("a")
        await hub.listed()
        assert await notices(hub) == []
