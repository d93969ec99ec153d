"""api.py, server_entries.py, server_removals.py"""

import asyncio
import json
from pathlib import Path
from urllib.parse import unquote

from tests.fakes.file_hub import file_hub
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.lazy_hub import ready
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, error, tool

from tooltray.foundation.confirm_widening import Unattended, asked_by
from tooltray.foundation.errors import Conflict
from tooltray.foundation.events import ServerStarted
from tooltray.foundation.snapshots.servers import ServerState

NO_SERVER = "server 'gone' not found"


async def test_the_entries_are_given_as_they_are_in_the_file(parts: HubParts) -> None:
    assert await parts.presenter.get_mcp_servers() == {"s": entry("program")}


async def test_a_server_that_is_added_starts_and_is_kept(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.add_mcp_server("new", {"command": "program", "args": ["1"]})
    await parts.heard.event(ServerStarted, server_name="new")
    assert parts.settings_on_disk["mcpServers"]["new"] == {"autoApprove": ["read"], "command": "program", "args": ["1"]}
    assert await parts.presenter.get_mcp_default_servers() == ["new"]


async def test_a_server_added_for_later_is_started_once_to_be_listed(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.add_mcp_server("new", {"command": "program"}, is_default=False)
    await parts.heard.state("new", ServerState.ON_DEMAND, count=2)
    assert await parts.presenter.get_mcp_default_servers() == []
    assert [each.original_name for each in await parts.presenter.get_tools("new")] == ["get_it", "drop"]


async def test_a_server_that_is_added_switched_off_is_not_started(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.add_mcp_server("new", {"command": "program", "disable": True})
    assert parts.servers.get("new").state is ServerState.STOPPED
    await parts.presenter.update_mcp_server("new", entry("program"))
    await parts.heard.event(ServerStarted, server_name="new")


async def test_a_name_that_is_taken_is_not_added(parts: HubParts) -> None:
    assert await refusal(parts.presenter.add_mcp_server("s", {"command": "x"})) == (
        "there is a server 's' already. Choose another name, or change the one that is there"
    )
    assert "comes with Tooltray" in await refusal(parts.presenter.add_mcp_server("hub", {"command": "x"}))
    assert parts.settings_on_disk["mcpServers"] == {"s": entry("program")}


async def test_of_two_that_are_added_at_once_under_one_name_one_is_refused(parts: HubParts, program: ScriptedServer) -> None:
    adding = [parts.presenter.add_mcp_server("new", {"command": "program", "args": [each]}) for each in ("1", "2")]
    done = await asyncio.gather(*adding, return_exceptions=True)
    assert [type(each) for each in done] == [str, Conflict]
    assert parts.settings_on_disk["mcpServers"]["new"]["args"] == ["1"]


async def test_an_entry_is_replaced_and_what_it_runs_is_started_anew(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.start_server("s")
    await parts.presenter.update_mcp_server("s", {"command": "program", "args": ["2"]})
    await parts.heard.event(ServerStarted, server_name="s", count=2)
    assert parts.settings_on_disk["mcpServers"]["s"] == {"command": "program", "args": ["2"]}


async def test_an_update_lists_a_server_that_was_never_listed(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.update_mcp_server("s", {"command": "program", "args": ["2"]})
    await parts.heard.event(ServerStarted, server_name="s")


async def test_an_update_does_not_start_what_a_person_stopped(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.add_mcp_default_server("s")
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.presenter.stop_server("s")
    await parts.presenter.update_mcp_server("s", entry("program", descriptions="mine"))
    await parts.ended()
    assert len(program.copies.all) == 1


async def test_the_built_in_server_and_unknown_ones_cannot_be_changed(parts: HubParts) -> None:
    p = parts.presenter
    for work in (p.update_mcp_server("hub", entry("x")), p.remove_mcp_server("hub"), p.add_mcp_default_server("hub")):
        assert (await refusal(work)).startswith("'hub' comes with Tooltray")
    for work in (p.remove_mcp_default_server("hub"), p.toggle_mcp_default_server("hub"), p.set_tool_enabled("hub", "t", False)):
        assert (await refusal(work)).startswith("'hub' comes with Tooltray")
    for work in (p.update_mcp_server("gone", entry("x")), p.add_mcp_default_server("gone"), p.remove_mcp_default_server("gone")):
        assert (await refusal(work)).startswith(NO_SERVER)
    for work in (p.toggle_mcp_default_server("gone"), p.set_tool_enabled("gone", "t", False), p.remove_mcp_server("gone")):
        assert (await refusal(work)).lower().startswith(NO_SERVER)


async def test_a_removed_server_is_gone_from_the_file_too(parts: HubParts) -> None:
    await parts.presenter.add_mcp_default_server("s")
    await parts.presenter.remove_mcp_server("s")
    assert not parts.session_servers.has_server("s")
    assert (parts.settings_on_disk["mcpServers"], parts.settings_on_disk["defaultServers"]) == ({}, [])


async def test_the_names_of_a_removed_server_s_tools_are_free_at_once_unless_it_may_be_brought_back(tmp_path: Path) -> None:
    entries = {name: entry("program", args=[name]) for name in "abc"}
    async with hub_parts(tmp_path, servers={"a": entries["a"]}, programs={"program": ScriptedServer(tool("read"))}) as parts:

        async def listed_with(server: str) -> list[str]:
            await ready(parts, server)
            return await parts.listed()

        assert await listed_with("a") == ["read"]
        await parts.presenter.remove_mcp_server("a")
        await parts.presenter.add_mcp_server("b", entries["b"])
        assert await listed_with("b") == ["read"]
        await parts.presenter.remove_mcp_server("b", keep_secrets=True)
        await parts.presenter.add_mcp_server("c", entries["c"])
        assert await listed_with("c") == ["c_read"]
        await parts.presenter.add_mcp_server("b", entries["b"])
        assert await listed_with("b") == ["c_read", "read"]


async def test_an_entry_that_cannot_be_used_can_be_removed(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"bad": {"note": 1}}) as parts:
        await parts.presenter.remove_mcp_server("bad")
        assert parts.settings_on_disk["mcpServers"] == {}


async def test_servers_are_started_stopped_and_restarted(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.start_server("s")
    assert parts.servers.get("s").state is ServerState.RUNNING
    await parts.presenter.restart_server("s")
    assert (parts.servers.get("s").state, len(program.copies.all)) == (ServerState.RUNNING, 2)
    await parts.presenter.stop_server("s")
    assert (parts.servers.get("s").state, program.running) == (ServerState.STOPPED, [])


async def test_a_server_that_does_not_start_says_why(parts: HubParts, program: ScriptedServer) -> None:
    program.handlers["initialize"] = lambda copy, params: error(-1, "no licence")
    for verb in (parts.presenter.start_server, parts.presenter.restart_server):
        assert "no licence" in await refusal(verb("s"))
    p = parts.presenter
    for work in (p.start_server("gone"), p.stop_server("gone"), p.restart_server("gone"), p.get_server_log("gone")):
        assert (await refusal(work)).startswith(NO_SERVER)


async def test_the_last_lines_of_a_server_are_given(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.start_server("s")
    for number in range(5):
        parts.servers.get("s").log.append(f"line {number}")
    assert await parts.presenter.get_server_log("s") == [f"line {number}" for number in range(5)]
    assert await parts.presenter.get_server_log("s", 2) == ["line 3", "line 4"]
    assert await parts.presenter.get_server_log("s", 0) == await parts.presenter.get_server_log("s", -3) == []


async def test_what_starts_with_the_hub_can_be_chosen(parts: HubParts) -> None:
    p = parts.presenter
    await p.add_mcp_default_server("s")
    await p.add_mcp_default_server("s")
    assert await p.get_mcp_default_servers() == parts.settings_on_disk["defaultServers"] == ["s"]
    await p.remove_mcp_default_server("s")
    assert await p.get_mcp_default_servers() == []
    assert await p.toggle_mcp_default_server("s") is True
    assert parts.presenter.snapshot().servers[1].is_default
    assert await p.toggle_mcp_default_server("s") is False


class Program(Unattended):
    """A program whose entries wait for a person."""

    name, proposes = "panel", True


async def test_an_entry_that_waits_for_a_yes_is_replaced_by_who_may_say_yes_and_by_a_program_only_while_it_waits(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs={"program": ScriptedServer()}) as parts:
        with asked_by(Program()):
            await parts.presenter.add_mcp_server("new", entry("program"))
            await parts.presenter.update_mcp_server("new", entry("program", args=["1"]))
        [request] = await parts.presenter.get_trust_requests()
        assert (request.target, parts.settings_on_disk["mcpServers"]) == ("program 1", {})
        await parts.presenter.update_mcp_server("new", entry("program", args=["2"]))
        assert await parts.presenter.get_trust_requests() == []
        assert parts.settings_on_disk["mcpServers"]["new"]["args"] == ["2"]


async def test_links_for_ai_clients_are_given_for_a_server_and_for_the_hub(parts: HubParts) -> None:
    assert '"command":"program"' in unquote((await parts.presenter.get_client_links("s"))["VS Code"])
    own = await parts.presenter.get_client_links()
    assert "tooltray" in unquote(own["Kiro"])
    assert (await refusal(parts.presenter.get_client_links("gone"))).startswith(NO_SERVER)


async def test_without_packages_there_are_no_servers_inside(parts: HubParts) -> None:
    assert await parts.presenter.get_inmemory_servers() == []


async def test_whether_a_server_runs_and_what_it_says_of_itself_is_told(parts: HubParts) -> None:
    assert await parts.presenter.is_server_running("s") is False
    assert await parts.presenter.get_mcp_clients() == []
    await parts.presenter.start_server("s")
    assert await parts.presenter.is_server_running("s") is True
    assert [each.server for each in await parts.presenter.get_mcp_clients()] == ["s"]
    assert NO_SERVER in await refusal(parts.presenter.is_server_running("gone"))


async def test_a_server_of_a_projects_file_is_changed_in_that_file(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one={"command": "program"})
        await hub.session(folder)
        await hub.trusted(folder)
        await hub.parts.presenter.update_mcp_server("one", {"command": "program", "args": ["new"]})
        assert json.loads(Path(folder, ".mcp.json").read_bytes())["mcpServers"] == {"one": {"command": "program", "args": ["new"]}}
        assert "one" not in hub.parts.settings_on_disk["mcpServers"]
