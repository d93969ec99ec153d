"""presenter/mcp_presenter.py"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.hub_parts import HubParts, entry, hub_parts, opened
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, text, tool

from tooltray.errors import Problem, TooltrayError
from tooltray.events import ServerChanged, ServerStarted, SessionsChanged, ToolCallResult
from tooltray.snapshots import ServerState
from tooltray.wire.envelope import Envelope, dump
from tooltray.wire.eras import Era, Head

NO_SERVER = "there is no server 'gone'"


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("get_it", description="Gets it"), tool("drop"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with one server `s` that starts on demand, and the built-in `hub`; nothing runs."""
    builtins = {"hub": ScriptedBuiltIn()}
    async with hub_parts(tmp_path / "home", servers={"s": entry("program")}, programs={"program": program}, builtins=builtins) as parts:
        yield parts


class ScriptedBuiltIn:
    async def answer(self, request: Envelope) -> Envelope:
        replies: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
            "tools/list": {"tools": [tool("list_servers")]},
            "tools/call": text("from the hub"),
        }
        return Envelope(result=dump(replies[request.method])) if request.method in replies else error(-32601, "Method not found")


def on_disk(parts: HubParts) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(parts.home.settings.read_bytes())
    return document


async def refusal(work: Any) -> str:
    with pytest.raises(TooltrayError) as raised:
        await work
    return str(raised.value)


# the hub


async def test_the_snapshot_has_every_server_as_a_card_shows_it(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.call("get_it")
    parts.presenter.set_session_count(2)
    hub = await parts.presenter.get_snapshot()
    assert (hub.pid, hub.is_paused, hub.session_count, hub.notices) == (1, False, 2, ())
    built_in, server = hub.servers
    assert (built_in.name, built_in.is_builtin, built_in.is_default, built_in.transport) == ("hub", True, True, "inmemory")
    assert (server.name, server.state, server.transport, server.target, server.tool_count) == (
        "s",
        ServerState.RUNNING,
        "stdio",
        "program",
        2,
    )
    assert (server.calls_today, sum(server.calls), server.auto_approve, len(server.pids)) == (1, 1, ("all",), 1)
    assert parts.heard.of(SessionsChanged) == [SessionsChanged(2)]


async def test_the_snapshot_tells_what_a_person_should_know(tmp_path: Path) -> None:
    in_template = entry("program", deferredStartup=True, startupArgsTemplate=["${secret:s/KEY}"])
    servers = {"s": entry("program", args=["--key", "${secret:s/KEY}"]), "bad": {"note": 1}, "waits": in_template}
    async with hub_parts(tmp_path, servers=servers) as parts:
        parts.shell.problem = Problem("Your login shell could not be read")
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert len(titles) == 4
        assert "bad" in titles[0]
        in_arguments = [f"'{name}' gets a secret in its arguments" for name in ("s", "waits")]
        assert titles[1:] == ["Your login shell could not be read", *in_arguments]


async def test_the_snapshot_tells_what_others_were_asked_to_tell(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        parts.presenter.add_notices(lambda: [Problem("An address is taken")])
        assert [problem.title for problem in parts.presenter.snapshot().notices] == ["An address is taken"]


async def test_the_snapshot_tells_what_settings_say_of_projects_that_is_not_so(tmp_path: Path) -> None:
    servers = {"s": entry("program", deferredStartup=True, startupArgsTemplate=["{nope}"]), "t": entry("program", deferredStartup=True)}
    async with hub_parts(tmp_path, servers=servers, settings={"allowedFolders": ["src"]}) as parts:
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert titles == ["'src' is not allowed as a project", "'s' is not given all that its settings ask for"]
        assert await parts.presenter.get_allowed_folders() == []
        [found] = await parts.presenter.diagnose("s")
        assert found.remark.startswith("{nope} is handed over as it is written")


async def test_a_paused_hub_keeps_what_runs_and_starts_nothing_new(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.set_mcp_enabled(False)
    assert await parts.presenter.get_mcp_enabled() is False
    assert parts.presenter.snapshot().is_paused
    assert on_disk(parts)["mcpEnabled"] is False
    await parts.presenter.initialize()
    await parts.presenter.add_mcp_server("t", {"command": "program"})
    assert program.copies.all == []
    await parts.presenter.set_mcp_enabled(True)
    await parts.heard.event(ServerStarted, server_name="t")
    await parts.heard.event(ServerStarted, server_name="s")  # to be listed once


async def test_the_hub_starts_its_default_servers_and_lists_the_others_once(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.initialize()
    await parts.heard.event(ServerStarted, server_name="hub")
    await parts.heard.state("s", ServerState.ON_DEMAND)
    assert await parts.listed() == ["drop", "get_it", "list_servers"]
    assert program.running == []


async def test_every_change_of_a_server_is_told_with_its_whole_card(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.tool_count == 2)
    states = [event.server.state for event in parts.heard.of(ServerChanged)]
    assert states[:2] == [ServerState.STARTING, ServerState.RUNNING]


async def test_calls_change_a_card_once_for_several_of_them(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    told = len(parts.heard.of(ServerChanged))
    await asyncio.gather(parts.call("get_it"), parts.call("get_it"), parts.call("drop"))
    await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.calls_today == 3)
    assert len(parts.heard.of(ServerChanged)) == told + 1


async def test_calls_of_a_server_that_is_gone_meanwhile_change_no_card(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.call("get_it")
    await parts.presenter.remove_mcp_server("s")
    told = len(parts.heard.of(ServerChanged))
    await parts.ended()
    assert "s" not in [event.server.name for event in parts.heard.of(ServerChanged)[told:]]


# servers


async def test_the_entries_are_given_as_they_are_in_the_file(parts: HubParts) -> None:
    assert await parts.presenter.get_mcp_servers() == {"s": entry("program")}


async def test_a_server_that_is_added_starts_may_use_all_its_tools_and_is_kept(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.add_mcp_server("new", {"command": "program", "args": ["1"]})
    await parts.heard.event(ServerStarted, server_name="new")
    assert on_disk(parts)["mcpServers"]["new"] == {"autoApprove": ["all"], "command": "program", "args": ["1"]}
    assert await parts.presenter.get_mcp_default_servers() == ["new"]


async def test_what_the_entry_says_of_approval_counts(parts: HubParts) -> None:
    await parts.presenter.add_mcp_server("new", {"command": "program", "autoApprove": ["read"]})
    assert on_disk(parts)["mcpServers"]["new"]["autoApprove"] == ["read"]


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
    assert on_disk(parts)["mcpServers"] == {"s": entry("program")}


async def test_an_entry_that_is_not_valid_is_not_added(parts: HubParts) -> None:
    assert "neither a command nor a URL" in await refusal(parts.presenter.add_mcp_server("new", {}))
    assert parts.servers.find("new") is None


async def test_a_full_disk_changes_nothing_and_is_told(parts: HubParts) -> None:
    with full_disk(size_bytes=10):
        said = await refusal(parts.presenter.add_mcp_server("new", {"command": "program"}))
    assert "The settings could not be written" in said
    assert parts.servers.find("new") is None
    assert await parts.presenter.get_mcp_servers() == {"s": entry("program")}


async def test_an_entry_is_replaced_and_what_it_runs_is_started_anew(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.start_server("s")
    await parts.presenter.update_mcp_server("s", {"command": "program", "args": ["2"]})
    await parts.heard.event(ServerStarted, server_name="s", count=2)
    assert on_disk(parts)["mcpServers"]["s"] == {"command": "program", "args": ["2"]}


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
    assert not parts.presenter.has_server("s")
    assert (on_disk(parts)["mcpServers"], on_disk(parts)["defaultServers"]) == ({}, [])


async def test_an_entry_that_cannot_be_used_can_be_removed(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"bad": {"note": 1}}) as parts:
        await parts.presenter.remove_mcp_server("bad")
        assert on_disk(parts)["mcpServers"] == {}


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
    assert await p.get_mcp_default_servers() == on_disk(parts)["defaultServers"] == ["s"]
    await p.remove_mcp_default_server("s")
    assert await p.get_mcp_default_servers() == []
    assert await p.toggle_mcp_default_server("s") is True
    assert parts.presenter.snapshot().servers[1].is_default
    assert await p.toggle_mcp_default_server("s") is False


# for sessions


async def test_sessions_list_call_and_ask_for_more_through_the_presenter(parts: HubParts, program: ScriptedServer) -> None:
    program.handlers["prompts/list"] = lambda copy, params: {"prompts": [1]}
    assert parts.presenter.has_server("s")
    client = await parts.presenter.open_server("s", Era.LEGACY, session=parts.client(), timeout_s=10)
    assert client.greeting.capabilities == {"tools": {"listChanged": True}}
    assert parts.presenter.server_pids == set(client.transport.pids)
    caller = parts.client()

    async def answer(method: str, server: str | None = None, **params: Any) -> Any:
        request = Envelope(method=method, params=dump(params))
        head = Head(name=params.get("name", ""))
        return opened(await parts.presenter.answer(request, head, caller, caller.held, server=server, client="c"))

    assert [each["name"] for each in (await answer("tools/list"))["result"]["tools"]] == ["drop", "get_it"]
    assert (await answer("tools/call", name="get_it", arguments={"text": "hi"}))["result"] == text("hi")
    assert (await answer("prompts/list", "s"))["result"] == {"prompts": [1]}
    assert (await answer("prompts/list", "gone"))["error"]["message"] == "there is no server 'gone'"
    assert (await answer("no/such"))["error"]["code"] == -32601


async def test_opening_a_server_that_is_not_there_or_does_not_come_up_is_an_error(parts: HubParts, program: ScriptedServer) -> None:
    program.handlers["initialize"] = never
    assert "it is starting" in await refusal(parts.presenter.open_server("s", Era.LEGACY, session=parts.client(), timeout_s=0.02))
    assert (await refusal(parts.presenter.open_server("gone", Era.LEGACY, session=parts.client(), timeout_s=1))).startswith(NO_SERVER)


# tools


async def test_tools_are_given_as_definitions_and_as_snapshots(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.presenter.start_server("hub")
    definitions = await parts.presenter.get_all_tool_definitions()
    assert [each["name"] for each in definitions] == ["drop", "get_it", "list_servers"]
    assert [each["name"] for each in await parts.presenter.get_all_tool_definitions("hub")] == ["list_servers"]
    snapshots = await parts.presenter.get_tools("s")
    assert [(each.name, each.category, each.description) for each in snapshots] == [("get_it", "read", "Gets it"), ("drop", "write", "")]
    assert len(await parts.presenter.get_tools()) == 3
    assert (await refusal(parts.presenter.get_tools("gone"))).startswith(NO_SERVER)


async def test_a_tool_is_switched_off_and_on_by_its_own_name(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    for _ in range(2):
        await parts.presenter.set_tool_enabled("s", "drop", False)
    assert on_disk(parts)["mcpServers"]["s"]["disabledTools"] == ["drop"]
    assert await parts.listed() == ["get_it"]
    await parts.presenter.set_tool_enabled("s", "drop", True)
    assert await parts.listed() == ["drop", "get_it"]


async def test_a_tool_is_called_by_the_name_that_clients_see(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.start_server("s")
    assert await parts.presenter.call_tool("get_it", {"text": "hi"}) == text("hi")
    [call] = parts.heard.of(ToolCallResult)
    assert (call.response.client, call.response.outcome) == ("tooltray", "ok")


async def test_a_call_that_fails_says_why(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: error(-1, "no such thing")
    await parts.presenter.start_server("s")
    assert await refusal(parts.presenter.call_tool("get_it", {})) == "'get_it' could not be called: no such thing"
    assert await refusal(parts.presenter.call_tool("unknown", {})) == "'unknown' could not be called. Unknown tool: unknown"
    program.calls["get_it"] = lambda copy, params: Envelope(error=dump("no object"))
    assert await refusal(parts.presenter.call_tool("get_it", {})) == "'get_it' could not be called: no object"
    await parts.presenter.set_mcp_enabled(False)
    assert "Tooltray is paused" in await refusal(parts.presenter.call_tool("get_it", {}))


async def test_a_result_that_is_no_object_is_shown_as_one(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: raw(b"[1,2]")
    await parts.presenter.start_server("s")
    assert await parts.presenter.call_tool("get_it", {}) == {"content": [], "isError": False, "structuredContent": [1, 2]}


@pytest.mark.parametrize("eras", [("legacy",), ("modern",)])
async def test_in_a_call_of_ours_nobody_can_be_asked_and_progress_is_not_shown(
    parts: HubParts, program: ScriptedServer, eras: tuple[str, ...]
) -> None:
    program.eras = eras

    async def ask(copy: Any, params: Any) -> Any:
        if "modern" in eras:
            return {"resultType": "input_required", "inputRequests": {"1": {"method": "elicitation/create"}}}
        return text(str(await copy.ask("elicitation/create")))

    program.calls["get_it"] = ask
    await parts.presenter.start_server("s")
    if "modern" in eras:
        assert "cannot answer" in await refusal(parts.presenter.call_tool("get_it", {}))
    else:
        assert "no AI client" in (await parts.presenter.call_tool("get_it", {}))["content"][0]["text"]


async def test_names_can_be_forgotten(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    assert "get_it" in await parts.listed()
    await parts.presenter.reset_tool_names()
    assert "get_it" in await parts.listed()


# secrets


async def test_secrets_are_stored_named_and_removed(parts: HubParts) -> None:
    p = parts.presenter
    await p.set_secret("s/KEY", "value")
    await p.set_secret("a", "value")
    assert await p.get_secret_names() == ["a", "s/KEY"]
    await p.remove_secret("a")
    assert await p.get_secret_names() == ["s/KEY"]
    assert "There is no secret 'a'" in await refusal(p.remove_secret("a"))
    assert await p.check_secrets() == "memory"


async def test_a_server_that_failed_for_a_secret_is_tried_again_when_it_is_there(tmp_path: Path, program: ScriptedServer) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"}), "other": entry("program", env={"KEY": "${NOT_SET}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program}) as parts:
        for name in servers:
            parts.servers.get(name).start()
            await parts.heard.state(name, ServerState.ERROR)
        await parts.presenter.set_secret("s/KEY", "value")
        await parts.heard.event(ServerStarted, server_name="s")
        assert parts.launches[0].env["KEY"] == "value"
        assert parts.servers.get("other").state is ServerState.ERROR


async def test_a_server_that_failed_for_a_locked_file_is_tried_again_when_that_is_open(tmp_path: Path, program: ScriptedServer) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program}) as parts:
        await parts.presenter.set_secret_backend("file")
        assert on_disk(parts)["secrets"] == {"backend": "file"}
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        await parts.presenter.unlock_secrets("correct horse")
        await parts.heard.state("s", ServerState.ERROR, count=2)  # it is open, and there is no such secret
        await parts.presenter.set_secret("s/KEY", "value")
        await parts.heard.event(ServerStarted, server_name="s")


async def test_a_server_that_failed_for_a_secret_is_tried_again_with_another_place_for_them(
    tmp_path: Path, program: ScriptedServer
) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program}) as parts:
        await parts.secrets.set("s/KEY", "value")
        parts.secrets.use("file")
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        await parts.presenter.set_secret_backend("memory")
        await parts.heard.event(ServerStarted, server_name="s")


async def test_secrets_are_kept_nowhere_else(parts: HubParts) -> None:
    said = await refusal(parts.presenter.set_secret_backend("plain"))
    assert said == "'plain' is no place for secrets. Choose one of keyring, file, memory"
    assert "secrets" not in on_disk(parts)


# the doctor


async def test_an_answer_to_no_question_is_refused(parts: HubParts) -> None:
    assert "has ended" in await refusal(parts.presenter.answer_elicitation("gone", "accept", {}))


async def test_the_doctor_looks_at_one_server_or_at_all(parts: HubParts) -> None:
    assert [each.server for each in await parts.presenter.diagnose()] == ["hub", "s"]
    [found] = await parts.presenter.diagnose("s")
    assert (found.server, found.is_ok) == ("s", False)
    assert (await refusal(parts.presenter.diagnose("gone"))).startswith(NO_SERVER)
