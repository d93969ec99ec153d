"""file_server.py, mcp_conf_helper.py, settings.py: servers of other files beside those of the settings, with what a person chose here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conftest import put

from tooltray.config.settings.file_server import FileEntry, FileServer
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.server_edits import all_choices, choices_of
from tooltray.config.settings.settings import FileServerSettings
from tooltray.config.settings.settings_edits import settings_document
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import EventBus

OWN = {"version": 1, "mcpServers": {"own": {"command": "x"}}, "defaultServers": ["own"]}


def of_file(command: str = "theirs", **fields: Any) -> FileServer:
    written = {"command": command, **fields}
    return FileServer(FileEntry("theirs", MCPServerConfig(**written), written), "/shop/.mcp.json", "project", "/shop")


async def settings(folder: Path, document: Mapping[str, Any] = OWN, **servers: FileServer) -> McpConfHelper:
    put(folder / "settings.json", document)
    conf = McpConfHelper(folder / "settings.json", EventBus())
    await conf.load()
    conf.set_file_servers(servers)
    return conf


def on_disk(folder: Path) -> Any:
    return json.loads((folder / "settings.json").read_bytes())


async def test_they_stand_beside_those_of_the_settings(tmp_path: Path) -> None:
    chosen = {"fileServers": {"later": {"isDefault": False}}}
    conf = await settings(tmp_path, OWN | chosen, theirs=of_file(), later=of_file("later"))
    assert {name: each.command for name, each in conf.settings.mcp_servers.items()} == {"own": "x", "theirs": "theirs", "later": "later"}
    assert conf.settings.default_servers == ("own", "theirs")
    assert list(conf.own_settings.mcp_servers) == ["own"]
    assert list(conf.entries) == ["own"]
    assert conf.settings is conf.settings


async def test_without_them_the_settings_are_what_the_file_says(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    assert conf.settings is conf.own_settings


async def test_the_settings_go_before_a_file_with_the_same_name(tmp_path: Path) -> None:
    conf = await settings(tmp_path, own=of_file())
    assert conf.settings.mcp_servers["own"].command == "x"
    assert conf.file_server("own") is None


async def test_what_is_chosen_here_is_kept_beside_and_the_file_is_left_alone(tmp_path: Path) -> None:
    conf = await settings(tmp_path, theirs=of_file(autoApprove=["all"]))
    await conf.change_server("theirs", auto_approve=("read",), disabled_tools=("rm",))
    changed = conf.settings.mcp_servers["theirs"]
    assert (changed.auto_approve, changed.disabled_tools, changed.command) == (("read",), ("rm",), "theirs")
    assert on_disk(tmp_path)["fileServers"] == {"theirs": {"autoApprove": ["read"], "disabledTools": ["rm"]}}
    assert list(on_disk(tmp_path)["mcpServers"]) == ["own"]
    await conf.change_server("theirs", auto_approve=None, disabled_tools=None)
    assert conf.settings.mcp_servers["theirs"].auto_approve == ("all",)
    assert on_disk(tmp_path)["fileServers"] == {}


async def test_all_that_was_chosen_is_forgotten_and_brought_back_also_while_its_file_is_not_read(tmp_path: Path) -> None:
    written = {"autoApprove": ["read"], "callTimeout": 5}
    conf = await settings(tmp_path, {**OWN, "fileServers": {"theirs": written, "other": {"disable": True}}})
    chosen = dict(choices_of(conf.document, "theirs"))
    assert chosen == written
    await conf.edit(all_choices({"theirs": {}, "nobody": {}}))
    assert (choices_of(conf.document, "theirs"), on_disk(tmp_path)["fileServers"]) == ({}, {"other": {"disable": True}})
    await conf.edit(all_choices({"theirs": chosen}))
    chosen.clear()
    assert on_disk(tmp_path)["fileServers"]["theirs"] == choices_of(conf.document, "theirs") == written


async def test_choices_that_cannot_be_read_are_none_and_stay(tmp_path: Path) -> None:
    conf = await settings(tmp_path, {**OWN, "fileServers": ["theirs"]})
    assert choices_of(conf.document, "theirs") == {}
    with pytest.raises(TooltrayError, match="fileServers: must be an object"):
        await conf.edit(all_choices({"theirs": {"disable": True}}))
    assert on_disk(tmp_path)["fileServers"] == ["theirs"]


async def test_what_only_its_file_can_say_is_refused_and_the_file_named(tmp_path: Path) -> None:
    conf = await settings(tmp_path, theirs=of_file())
    with pytest.raises(TooltrayError) as refused:
        await conf.change_server("theirs", command="other", base_url="https://h")
    assert "/shop/.mcp.json" in str(refused.value)
    assert "baseUrl, command" in str(refused.value)


@pytest.mark.parametrize("is_default", [True, False])
async def test_whether_it_starts_at_once_can_be_chosen_here(tmp_path: Path, is_default: bool) -> None:
    conf = await settings(tmp_path, theirs=of_file())
    await conf.set_default("theirs", is_default)
    assert ("theirs" in conf.settings.default_servers) is is_default
    assert on_disk(tmp_path)["fileServers"] == {"theirs": {"isDefault": is_default}}


async def test_each_choice_counts_in_the_place_of_what_the_file_says() -> None:
    config = MCPServerConfig(command="x", call_timeout=5, lazy_load=True)
    chosen = FileServerSettings(disable=True, call_timeout=7, isolation="session", idle_stop=3, lazy_load=False)
    applied = chosen.applied(config)
    found = (applied.disable, applied.call_timeout, applied.isolation, applied.idle_stop, applied.lazy_load)
    assert found == (True, 7, "session", 3, False)
    assert FileServerSettings().applied(config) == config
    assert FileServerSettings(tool_overrides={"t": ToolOverride(name="n")}).applied(config).tool_overrides["t"].name == "n"


@pytest.mark.parametrize("given", [{"theirs": {"disable": "no"}}, []])
async def test_by_a_slip_no_call_goes_through_unasked(tmp_path: Path, given: Any) -> None:
    conf = await settings(tmp_path, {**OWN, "fileServers": given}, theirs=of_file(autoApprove=["all"]))
    assert (conf.settings.mcp_servers["theirs"].auto_approve, conf.settings.mcp_servers["theirs"].disable) == ((), True)
    (problem,) = conf.problems
    assert "fileServers" in problem.message


async def test_who_has_seen_another_entry_changes_and_removes_nothing(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    seen = conf.revision("own")
    await conf.set_server("own", {"command": "y"}, revision=seen)
    for revision in (seen, "0" * 16):
        with pytest.raises(Conflict):
            await conf.set_server("own", {"command": "z"}, revision=revision)
        with pytest.raises(Conflict):
            await conf.remove_server("own", revision=revision)
    with pytest.raises(Conflict):
        await conf.set_server("new", {"command": "z"}, revision=seen)
    assert on_disk(tmp_path)["mcpServers"] == {"own": {"command": "y"}}
    await conf.remove_server("own", revision=conf.revision("own"))
    with pytest.raises(NotFound):
        await conf.remove_server("own", revision=seen)


async def test_the_settings_are_told_without_servers_and_with_a_revision(tmp_path: Path) -> None:
    conf = await settings(tmp_path, {**OWN, "publish": {"lazyLoad": True}, "fileServers": {"theirs": {}}})
    found = settings_document(conf.document)
    assert found.settings == {"publish": {"lazyLoad": True}}
    await conf.set_enabled(False)
    assert settings_document(conf.document).settings == {"publish": {"lazyLoad": True}, "mcpEnabled": False}
    assert settings_document(conf.document).revision != found.revision


def test_an_entry_is_told_from_another_by_its_content() -> None:
    assert of_file(note=1).entry.digest == of_file(note=1).entry.digest != of_file(note=2).entry.digest
