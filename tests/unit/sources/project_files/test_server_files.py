"""server_files.py: servers of files from the file to the list of servers."""

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_hub import FileHub, file_hub

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported, ServerFilesChanged
from tooltray.foundation.snapshots.setup import FileEntrySnapshot
from tooltray.sources.project_files.server_files import settings_snapshot
from tooltray.sources.projects.projects import UNUSED_S

ONE = {"command": "program", "args": ["one"]}
TWO = {"command": "program", "args": ["two"]}


def served_config(**entries: Any) -> str:
    """A config of mcp-proxy with these servers."""
    return json.dumps({"mcpProxy": {"addr": "127.0.0.1:0"}, "mcpServers": entries})


async def test_an_entry_of_a_project_waits_for_a_yes_and_runs_from_then_on(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.session(folder)
    assert (hub.names(), hub.states(folder)) == ([], {"one": "waits"})
    assert await hub.trusted(folder) == ["one"]
    assert (hub.names(), hub.states(folder)) == (["one"], {"one": "used"})
    server = hub.parts.conf.file_server("one")
    assert server
    assert (server.origin, server.folder, server.project, server.file) == ("project", folder, folder, os.path.join(folder, ".mcp.json"))
    assert server.entry.variables == {"CLAUDE_PROJECT_DIR": folder}
    await hub.parts.heard.until(lambda: len(hub.program.running) == 1)
    assert hub.parts.heard.of(ServerFilesChanged)


async def test_a_first_list_of_a_session_has_the_servers_of_its_project(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.trusted(folder)
    assert hub.names() == []
    client = hub.parts.client(name="client")
    client.state = hub.parts.states.connect(1, folder=folder)
    assert await hub.listed(client) == ["work"]


async def test_a_project_without_a_file_has_no_servers_and_no_problem(hub: FileHub) -> None:
    folder = hub.project()
    client = await hub.session(folder)
    assert (hub.names(), list(hub.files.problems()), await hub.project_servers.trust_requests(folder)) == ([], [], [])
    assert [await hub.listed(each) for each in (client, await hub.session())] == [[], []]
    assert os.path.join(folder, ".mcp.json") in hub.parts.watching.paths
    await hub.saved(folder, {"one": ONE})
    assert hub.states(folder) == {"one": "waits"}


async def test_the_project_that_the_hub_was_started_for_serves_all_and_needs_a_yes_too(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "projects/shop"
    folder.mkdir(parents=True)
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"one": ONE}}))
    async with file_hub(tmp_path, project=str(folder)) as hub:
        assert hub.states(str(folder)) == {"one": "waits"}
        await hub.trusted(str(folder))
        server = hub.parts.conf.file_server("one")
        assert server
        assert (server.project, server.folder) == ("", str(folder))
        client = await hub.session(str(folder), key="a")
        assert await hub.listed(client) == ["work"]
        hub.parts.states.disconnect("a")
        hub.parts.wheel.expire(UNUSED_S)
        assert hub.names() == ["one"]


async def test_the_settings_take_a_name_and_the_server_of_the_file_gets_another(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.session(folder)
    await hub.trusted(folder)
    await hub.parts.conf.set_server("one", TWO)
    assert hub.names() == ["one-shop"]
    assert hub.parts.conf.settings.mcp_servers["one"].args == ("two",)


async def test_own_calls_for_a_project_have_its_servers(tmp_path: Path) -> None:
    async with file_hub(tmp_path, settings={"allowedFolders": [str(tmp_path.resolve() / "projects")]}) as hub:
        folder = hub.project(one={**ONE, "autoApprove": ["all"]})
        await hub.trusted(folder)
        assert hub.names() == []
        result = await hub.parts.presenter.call_tool("work", {}, project=folder)
        assert "content" in result
        hub.parts.wheel.expire(UNUSED_S)
        assert hub.names() == []


@pytest.mark.posix
async def test_a_link_that_leads_out_of_the_project_is_not_read(hub: FileHub) -> None:
    folder, other = hub.project(), hub.project("other", one=ONE)
    Path(folder, ".mcp.json").symlink_to(Path(other, ".mcp.json"))
    await hub.session(folder)
    await hub.quiet()
    assert hub.states(folder) == {}
    with pytest.raises(TooltrayError, match="leads out of the project"):
        await hub.project_servers.trust_requests(folder)
    with pytest.raises(TooltrayError, match="leads out of the project"):
        await hub.project_servers.add(folder, "two", TWO)


# files that the hub was started with


async def test_servers_of_a_served_config_run_without_a_yes_and_all_their_calls_go_through(tmp_path: Path) -> None:
    config = tmp_path / "servers.json"
    config.write_text(served_config(one=ONE, two=TWO, off={**TWO, "options": {"disabled": True}}))
    async with file_hub(tmp_path, configs=[config], servers={"one": TWO}) as hub:
        name = f"one-{tmp_path.name}"[:64]
        assert hub.names()[1:] == ["two", "off"]
        [server] = [hub.parts.conf.file_servers[each] for each in hub.names()[:1]]
        assert (server.origin, server.project, server.folder, server.entry.config.auto_approve) == ("served", "", str(tmp_path), ("all",))
        assert hub.names()[0].startswith(name[:20])
        [settings, served] = hub.files.snapshots()
        assert (settings.kind, [entry.name for entry in settings.entries]) == ("settings", ["one"])
        assert {entry.name: entry.state for entry in served.entries} == {"one": "used", "two": "used", "off": "off"}
        assert [reading.path for reading in hub.files.served()] == [str(config)]
        told = len(hub.parts.heard.of(ServerFilesChanged))
        for _ in range(2):
            hub.files.set_endpoints({str(config): "http://127.0.0.1:1"})
        assert (len(hub.parts.heard.of(ServerFilesChanged)), hub.files.snapshots()[1].url) == (told + 1, "http://127.0.0.1:1")
        with pytest.raises(TooltrayError, match="Change it there"):
            await hub.project_servers.remove("two", "")
        config.write_text(served_config(new=ONE))
        hub.parts.watching.changed(config)
        await hub.quiet()
        assert hub.names() == ["new"]


async def test_a_served_config_that_is_broken_serves_what_it_had(tmp_path: Path) -> None:
    config = tmp_path / "servers.json"

    async def saved(text: str) -> list[str]:
        config.write_text(text)
        hub.parts.watching.changed(config)
        await hub.quiet()
        return hub.names()

    config.write_text(served_config(one=ONE, two=TWO))
    async with file_hub(tmp_path, configs=[config]) as hub:
        assert await saved("{") == ["one", "two"]
        assert [problem.title for problem in hub.files.problems()]
        assert await saved(served_config(one={}, three={}, two=ONE)) == ["two", "one"]
        assert {entry.name: (entry.state, entry.server) for entry in hub.files.snapshots()[1].entries} == {
            "two": ("used", "two"),
            "one": ("broken", "one"),
            "three": ("broken", ""),
        }
        kept = [("keep", "one"), ("keep", "three")]
        assert [(each.kind, each.name) for each in await hub.files.reload()] == kept
        await hub.parts.conf.set_server("one", TWO)
        assert hub.names()[1].startswith("one-")


# changes


async def test_how_a_server_of_a_file_is_described_is_told_with_what_was_chosen_for_it(hub: FileHub) -> None:
    folder = hub.project(hub={**ONE, "note": "kept", "options": {"lazyLoad": True}})
    await hub.session(folder)
    [name] = await hub.trusted(folder)
    presenter = hub.parts.presenter
    await presenter.set_lazy_load(False, name)
    await presenter.set_tool_override(name, "query", name="ask")
    there = await presenter.get_server_entry(name)
    assert (there.name, there.entry) == ("hub", {**ONE, "note": "kept", "options": {"lazyLoad": True}})
    assert (name != "hub", there.counts["command"], there.counts["note"]) == (True, ONE["command"], "kept")
    assert (there.counts["lazyLoad"], there.counts["toolOverrides"]) == (False, {"query": {"name": "ask"}})
    with pytest.raises(NotFound, match="nobody"):
        await presenter.get_server_entry("nobody")


async def test_what_waits_is_told_to_who_started_the_hub_and_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tooltray.sources.project_files")
    async with file_hub(tmp_path) as hub:
        assert hub.files.startup_lines == ()
        folder = hub.project(one=ONE)
        await hub.session(folder)
        [line] = hub.files.startup_lines
        assert line.endswith(f"brings one. Review what they start, and allow them: tooltray trust {folder}")
        await hub.saved(folder, {"one": ONE, "two": {**TWO, "disabled": True}})
        assert [record.getMessage() for record in caplog.records if "allow them" in record.getMessage()] == [line]
        await hub.trusted(folder)
        assert hub.files.startup_lines == ()


async def test_what_was_allowed_of_a_server_of_a_file_stays_as_long_as_the_yes_to_it(hub: FileHub) -> None:
    folder = hub.project(one={**ONE, "autoApprove": []})
    client = await hub.session(folder, key="a")
    await hub.trusted(folder)
    assert "work" in await hub.listed(client)
    await hub.parts.presenter.add_grant("one", "tool", "work")
    await hub.parts.presenter.set_mcp_enabled(True)  # any change of the settings
    hub.parts.states.disconnect("a")
    hub.parts.wheel.expire(UNUSED_S)
    assert hub.names() == []
    await hub.session(folder, key="a")
    assert [each.server for each in await hub.parts.presenter.get_grants()] == ["one"]
    await hub.project_servers.distrust(folder, "one")
    assert await hub.parts.presenter.get_grants() == []


async def test_a_reload_says_what_it_would_do_and_does_it(tmp_path: Path) -> None:
    async with file_hub(tmp_path, servers={"own": ONE}) as hub:
        folder = hub.project(one=ONE, two=TWO)
        await hub.session(folder)
        await hub.trusted(folder)
        path = Path(folder, ".mcp.json")
        path.write_text(json.dumps({"mcpServers": {"two": ONE, "three": ONE}}))
        planned = await hub.files.preview_reload()
        assert hub.names() == ["one", "two"]
        assert {(each.kind, each.name) for each in planned} == {("remove", "one"), ("wait", "two"), ("wait", "three")}
        assert await hub.files.reload() == planned
        assert (hub.names(), hub.states(folder)) == (["two"], {"two": "changed", "three": "waits"})


async def test_a_reload_takes_over_what_the_settings_say_by_now(hub: FileHub) -> None:
    document = hub.parts.settings_on_disk
    document["mcpServers"]["new"] = {"command": "program"}
    hub.parts.home.settings.write_text(json.dumps(document))
    assert [(each.kind, each.name) for each in await hub.files.reload()] == [("add", "new")]
    assert "new" in hub.parts.conf.own_settings.mcp_servers


async def test_a_first_reading_that_is_not_understood_is_told_too(hub: FileHub) -> None:
    folder = hub.project()
    Path(folder, ".mcp.json").write_text("{")
    await hub.session(folder)
    await hub.quiet()
    assert len(hub.parts.heard.of(ProblemReported)) == 1
    hub.parts.conf.path.write_text("{")
    assert [(each.kind, each.file) for each in await hub.files.preview_reload()] == [
        ("keep", str(hub.parts.conf.path)),
        ("keep", os.path.join(folder, ".mcp.json")),
    ]


async def test_a_paused_hub_starts_nothing_of_a_project(tmp_path: Path) -> None:
    async with file_hub(tmp_path, settings={"mcpEnabled": False}) as hub:
        folder = hub.project(one=ONE)
        await hub.session(folder)
        await hub.trusted(folder)
        assert (hub.names(), hub.program.running) == (["one"], [])


async def test_a_server_that_a_person_wants_only_when_it_is_called_does_not_start(tmp_path: Path) -> None:
    settings = {"fileServers": {"one": {"isDefault": False}, "two": {"disable": True}}}
    async with file_hub(tmp_path, settings=settings) as hub:
        folder = hub.project(one=ONE, two=TWO, three=TWO)
        await hub.session(folder)
        await hub.trusted(folder)
        assert "three" in hub.parts.conf.settings.default_servers
        assert "one" not in hub.parts.conf.settings.default_servers
        await hub.parts.heard.until(lambda: len(hub.program.running) == 2)  # one of them to be listed once
        assert {copy.name for copy in hub.program.running} == {"one", "three"}


async def test_a_reading_that_comes_after_everybody_left_changes_nothing(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.trusted(folder)
    client = await hub.session(folder, key="a")
    hub.parts.states.disconnect("a")
    hub.parts.watching.changed(Path(folder, ".mcp.json"))
    hub.parts.wheel.expire(UNUSED_S)
    hub.parts.watching.changed(Path(folder, ".mcp.json"))
    await hub.quiet()
    assert hub.names() == []
    await hub.parts.look_at_project(client)
    assert hub.names() == []


@pytest.mark.expected_warnings("cannot be saved")
async def test_names_that_cannot_be_kept_are_told_and_count_meanwhile(hub: FileHub) -> None:
    hub.parts.home.trust.mkdir()
    folder = hub.project(one=ONE)
    await hub.session(folder)
    await hub.quiet()
    assert hub.states(folder) == {"one": "waits"}
    with pytest.raises(TooltrayError, match="cannot be saved"):
        await hub.trusted(folder)
    assert hub.names() == []


async def test_what_is_trusted_cannot_be_read_and_nothing_is(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE)
        await hub.trusted(folder)
    (tmp_path / "home/trust.json").write_text("{")
    async with file_hub(tmp_path) as hub:
        await hub.session(folder)
        assert hub.states(folder) == {"one": "waits"}
        [problem] = hub.files.problems()
        assert "none of it counts" in problem.message + problem.title


async def test_a_server_of_a_project_does_not_pass_for_another_one(tmp_path: Path) -> None:
    entries = {"github": ONE, "fs": ONE, "FS": TWO, "\uff46\uff53": TWO, "Hub": ONE}
    async with file_hub(tmp_path, servers={"GitHub": ONE}) as hub:
        folder = hub.project(**entries)
        await hub.session(folder)
        names = await hub.trusted(folder)
        assert names == ["github-shop", "fs", "FS-shop", "\uff46\uff53-shop-2", "Hub-shop"]


async def test_a_yes_that_is_taken_back_during_a_call_ends_the_call(hub: FileHub) -> None:
    folder = hub.project(one={**ONE, "autoApprove": ["all"]})
    client = await hub.session(folder)
    await hub.trusted(folder)
    assert "work" in await hub.listed(client)
    hub.program.hold("tools/call")
    calling = asyncio.ensure_future(hub.parts.call("work", client))
    await hub.program.call("work")
    await hub.project_servers.distrust(folder, "one")
    async with asyncio.timeout(10):
        assert "error" in await calling
    assert hub.names() == []


async def test_a_file_that_is_gone_for_a_moment_after_a_change_of_ours_keeps_its_servers(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.session(folder)
    await hub.trusted(folder)
    await hub.project_servers.add(folder, "two", TWO)
    await hub.parts.presenter.set_tool_enabled("two", "work", False)  # chosen for it, and so written again with it
    await hub.parts.presenter.remove_mcp_server("two")
    path, content = Path(folder, ".mcp.json"), list[str]()

    def take_away(event: ConfigChanged) -> None:
        if not content:
            content.append(path.read_text())
            path.unlink()

    hub.parts.bus.subscribe(ConfigChanged, take_away)
    await hub.project_servers.add(folder, "two", TWO)
    assert hub.names() == ["one"]
    await hub.saved(folder, content[0])
    assert hub.names() == ["one", "two"]


async def test_an_entry_of_the_settings_that_cannot_be_used_is_told_with_its_line_like_those_of_other_files(tmp_path: Path) -> None:
    async with file_hub(tmp_path, servers={"one": ONE, "two": TWO}) as hub:
        path = hub.parts.conf.path
        path.write_text(json.dumps({"mcpServers": {"one": {}, "two": {**TWO, "disable": True}, "new": {"url": 1}}}, indent=1))
        assert ("keep", "one", "line 3: it has neither a command nor a URL") in [
            (each.kind, each.name, each.detail) for each in await hub.files.preview_reload()
        ]
        await hub.parts.conf.reload()
        [settings, *_] = hub.files.snapshots()
        assert [(entry.name, entry.server, entry.state) for entry in settings.entries] == [
            ("two", "two", "off"),
            ("one", "one", "broken"),
            ("new", "", "broken"),
        ]
        assert [(problem.entry, problem.line) for problem in settings.problems] == [("one", settings.entries[1].line), ("new", 11)]
        await hub.quiet()
        assert [each.problem for each in hub.parts.heard.of(ProblemReported)] == [each.problem for each in settings.problems]


async def test_a_request_says_whether_its_variables_are_set_where_its_server_would_run(hub: FileHub) -> None:
    hub.parts.shell.variables = {"PATH": "/usr/bin:/bin", "SET": "hunter2"}
    folder = hub.project(one={**ONE, "env": {"A": "${SET}${GONE}${LEFT:-x}"}})
    await hub.session(folder)
    [request] = await hub.project_servers.trust_requests("")
    assert (request.variables, request.variable_states) == (("SET", "GONE", "LEFT"), ("set", "missing", "default"))


async def test_of_the_settings_a_broken_entry_is_shown_once_and_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    config = McpConfHelper(path, EventBus())
    entries = ['"a": {"command": "x"}', '"off": {"command": "x", "disable": true}', '"b": {"command": "y"}']
    path.write_text('{"version": 1, "mcpServers": {\n' + ",\n".join(entries) + "}}")
    await config.load()
    path.write_text(path.read_text().replace('"y"', "5"))
    await config.reload()
    assert settings_snapshot(config).entries == (
        FileEntrySnapshot("a", "a", "used"),
        FileEntrySnapshot("off", "off", "off"),
        FileEntrySnapshot("b", "b", "broken", 4),
    )
