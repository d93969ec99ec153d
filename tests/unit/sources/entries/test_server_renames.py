"""server_renames.py: a server gets another name with all that is kept under the old one, also if the hub is killed meanwhile."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts, text_of
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import ConfigChanged, GrantsChanged, ServerRemoved
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.profiles import state_folder
from tooltray.sources.bundles.bundle_store import BundleRecord, ServerChoices

SERVERS = {"s": {"command": "p", "autoApprove": ["ask:t"], "confinement": "own"}, "other": entry("p", disable=True)}
PROFILES = {"p": {"servers": ["s"], "tools": {"s": ["t"]}}}


def hub(root: Path, *, has_settings: bool = True) -> Any:
    program = ScriptedServer(tool("t"), tool("write_it"))
    servers, settings = (SERVERS, {"profiles": PROFILES}) if has_settings else (None, None)
    return hub_parts(root, servers=servers, default=("s",), settings=settings, programs={"p": program})


async def use(parts: HubParts) -> None:
    """A person uses `s`, and it writes a file."""
    await parts.presenter.start_server("s")
    assert await parts.listed() == ["t", "write_it"]
    await parts.presenter.add_grant("s", "tool", "write_it")
    (state_folder(parts.home.confined, "s").work / "notes").write_text("mine")


def folder_of(home: Home, server: str) -> list[str]:
    return [path.name for path in state_folder(home.confined, server).work.glob("*")]


async def has_all(parts: HubParts, name: str) -> bool:
    """Whether a server has what `s` had, and nothing is left under another name."""
    grants = json.loads(parts.home.grants.read_bytes())["grants"]
    assert [grant.server for grant in await parts.presenter.get_grants()] == [grant["server"] for grant in grants] == [name]
    assert (await parts.listed(), parts.names.target("t")) == (["t", "write_it"], (name, "t"))
    assert set(json.loads(parts.home.names.read_bytes())["names"]) == {name}
    assert folder_of(parts.home, name) == ["notes"]
    assert len([path for path in parts.home.confined.iterdir() if path.name != "shared"]) == 1
    assert {json.loads(path.read_bytes().partition(b"\n")[0])["server"] for path in parts.home.catalogue.glob("*.jsonl")} <= {name, "other"}
    return not parts.home.renaming.exists()


async def test_a_running_server_is_called_under_its_new_name_and_what_was_allowed_of_it_still_is(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await use(parts)
        await parts.presenter.rename_mcp_server("s", "notes")
        assert list(parts.settings_on_disk["mcpServers"].items()) == [("notes", SERVERS["s"]), ("other", SERVERS["other"])]
        assert parts.settings_on_disk["defaultServers"] == ["notes"]
        assert parts.settings_on_disk["profiles"] == {"p": {"servers": ["notes"], "tools": {"notes": ["t"]}}}
        assert [server.name for server in parts.servers] == ["notes", "other"]
        await parts.heard.until(lambda: parts.servers.get("notes").state is ServerState.RUNNING)
        assert await text_of(parts, "write_it", server="notes", arguments={"text": "hello"}) == "hello"
        assert await has_all(parts, "notes")
        assert [each.name for each in parts.heard.of(ServerRemoved)] == ["s"]
        await parts.presenter.rename_mcp_server("notes", "s")
        assert await has_all(parts, "s")
        assert parts.settings_on_disk["profiles"] == PROFILES


async def test_the_choices_for_a_bundle_are_those_of_its_renamed_server(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        parts.bundle_store.save(BundleRecord("notes/1", "abc", "notes", "Notes", "1", "me", "/a", 1.0, {"s": ServerChoices()}))
        await parts.presenter.rename_mcp_server("s", "notes")
        assert (parts.bundle_store.of_server("s"), parts.bundle_store.of_server("notes")) == (None, parts.bundle_store.records[0])


async def test_a_server_that_does_not_run_keeps_its_known_tools(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await use(parts)
        await parts.ended()
    async with hub(tmp_path) as parts:
        await parts.presenter.rename_mcp_server("s", "notes")
        assert await has_all(parts, "notes")
    async with hub(tmp_path, has_settings=False) as parts:
        assert await has_all(parts, "notes")


def before_the_settings(parts: HubParts, kill: Callable[[], None]) -> None:
    edit = parts.config.edit

    async def edited(*args: Any) -> None:
        kill()
        await edit(*args)

    parts.config.edit = edited  # type: ignore[method-assign]


def after_the_settings(parts: HubParts, kill: Callable[[], None]) -> None:
    parts.bus.subscribe(ConfigChanged, lambda event: kill())


def after_the_grants(parts: HubParts, kill: Callable[[], None]) -> None:
    parts.bus.subscribe(GrantsChanged, lambda event: kill())


@pytest.mark.parametrize(
    ("moment", "name"), [(before_the_settings, "s"), (after_the_settings, "notes"), (after_the_grants, "notes")], ids=lambda each: str(each)
)
async def test_a_hub_that_is_killed_meanwhile_leaves_all_that_a_server_had_to_the_next(
    tmp_path: Path, moment: Callable[[HubParts, Callable[[], None]], None], name: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    async with hub(first) as parts:
        await use(parts)
        moment(parts, lambda: None if second.exists() else shutil.copytree(first, second, ignore=shutil.ignore_patterns("*.sock")))
        await parts.presenter.rename_mcp_server("s", "notes")
    assert Home(second).renaming.exists()
    async with hub(second, has_settings=False) as parts:
        assert [each.name for each in parts.servers] == [name, "other"]
        assert await has_all(parts, name)


async def test_the_copy_of_a_sign_in_goes_where_the_settings_have_the_old_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.renaming.write_text('{"before": "s", "after": "notes"}')
    home.sign_ins.write_text('{"s": "1", "notes": "1"}')
    async with hub(tmp_path) as parts:
        assert list(parts.sign_ins.kept) == ["s"]
        assert not home.renaming.exists()


@pytest.mark.parametrize(("note", "is_kept"), [('{"before": "s", "after": "other"}', False), ('{"before": "a", "after": "b"}', True)])
async def test_a_note_that_is_none_of_the_settings_now_changes_nothing(tmp_path: Path, note: str, is_kept: bool) -> None:
    home = Home(tmp_path)
    home.renaming.write_text(note)
    home.sign_ins.write_text('{"s": "1", "other": "2", "a": "3"}')
    async with hub(tmp_path) as parts:
        assert parts.sign_ins.kept == {"s": "1", "other": "2", "a": "3"}
        assert home.renaming.exists() == is_kept


@pytest.mark.expected_warnings("cannot be read")
async def test_a_note_that_cannot_be_read_keeps_no_hub_from_its_start(tmp_path: Path) -> None:
    Home(tmp_path).renaming.write_text("{")
    async with hub(tmp_path) as parts:
        assert [each.name for each in parts.servers] == ["s", "other"]


@pytest.mark.expected_warnings("is still under its old name")
async def test_what_cannot_be_moved_now_is_moved_by_the_next_hub(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await use(parts)
        aside = parts.home.grants.rename(tmp_path / "aside")
        parts.home.grants.mkdir()
        await parts.presenter.rename_mcp_server("s", "notes")
        assert [grant.server for grant in await parts.presenter.get_grants()] == ["notes"]
        assert parts.home.renaming.exists()
    parts.home.grants.rmdir()
    aside.rename(parts.home.grants)
    async with hub(tmp_path, has_settings=False) as parts:
        assert await has_all(parts, "notes")


@pytest.mark.parametrize("new_name", ["s", "other", "broken", "of-a-file"])
async def test_a_name_that_is_taken_is_given_to_no_other_server(tmp_path: Path, new_name: str) -> None:
    async with hub_parts(tmp_path, servers={**SERVERS, "broken": {"command": 1}}) as parts:
        parts.conf.set_file_servers({"of-a-file": file_server("of-a-file", project=SHOP)})
        before = parts.home.settings.read_bytes()
        with pytest.raises(Conflict, match="already"):
            await parts.presenter.rename_mcp_server("s", new_name)
        assert parts.home.settings.read_bytes() == before


async def test_only_servers_of_the_settings_get_another_name_and_only_one_that_can_be(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=SERVERS, builtins={"hub": object()}, is_live=False) as parts:
        parts.conf.set_file_servers({"of-a-file": file_server("of-a-file", project=SHOP)})
        for name, new_name, refusal in (
            ("hub", "x", "comes with"),
            ("of-a-file", "x", "Change it there"),
            ("s", "a/b", "cannot be the name"),
        ):
            with pytest.raises(TooltrayError, match=refusal):
                await parts.presenter.rename_mcp_server(name, new_name)
        with pytest.raises(NotFound):
            await parts.presenter.rename_mcp_server("gone", "x")
        assert list(parts.settings_on_disk["mcpServers"]) == ["s", "other"]


async def test_a_server_keeps_its_name_where_the_note_or_the_settings_cannot_be_written(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        parts.home.renaming.mkdir()
        with pytest.raises(TooltrayError, match="'s' is not changed"):
            await parts.presenter.rename_mcp_server("s", "notes")
        parts.home.renaming.rmdir()
        parts.home.settings.unlink()
        parts.home.settings.mkdir()
        with pytest.raises(TooltrayError):
            await parts.presenter.rename_mcp_server("s", "notes")
        assert [server.name for server in parts.servers] == ["s", "other"]
        assert not parts.home.renaming.exists()
