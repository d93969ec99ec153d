"""setup_api.py: the verbs of settings, of the set-up, and of remedies."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.confirmation import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, TooltrayError
from tooltray.foundation.events import ServerStarted
from tooltray.foundation.snapshots.servers import ServerState


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    program = ScriptedServer(tool("echo"))
    servers = {"s": entry("program", autoApprove=["all"])}
    async with hub_parts(tmp_path / "home", servers=servers, programs={"program": program}) as parts:
        yield parts


async def test_settings_are_what_the_file_says_besides_the_servers(parts: HubParts) -> None:
    said = await parts.presenter.get_settings()
    assert not {"mcpServers", "defaultServers", "version"} & said.settings.keys()
    changed = await parts.presenter.change_settings({"hotReload": False}, said.revision)
    assert changed.settings == {**said.settings, "hotReload": False}
    assert changed == await parts.presenter.get_settings()
    with pytest.raises(Conflict):
        await parts.presenter.change_settings({"hotReload": True}, said.revision)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"customNpmRegistry": "ftp://npm.test"}, "no address of an npm registry"),
        ({"customNpmRegistry": "https://me:hunter2@npm.test/"}, "user name or password"),
        ({"npmRegistries": [{"url": "https://me:hunter2@npm.test/"}]}, "user name or password"),
        ({"npmRegistries": ["https://npm.test/"]}, "must be an object"),
        ({"npmRegistries": 5}, "must be a list"),
        ({"customNpmRegistry": 5}, "must be text"),
    ],
)
async def test_an_address_of_a_registry_is_looked_at_first(parts: HubParts, changes: dict[str, Any], reason: str) -> None:
    before = parts.home.settings.read_bytes()
    with pytest.raises(TooltrayError, match=reason) as raised:
        await parts.presenter.change_settings(changes)
    assert "hunter2" not in str(raised.value)
    assert parts.home.settings.read_bytes() == before


async def test_addresses_that_can_be_used_are_taken(parts: HubParts) -> None:
    await parts.presenter.change_settings({"customNpmRegistry": "https://a.test/", "npmRegistries": [{"url": "https://b.test/"}]})
    assert json.loads(parts.home.settings.read_bytes())["customNpmRegistry"] == "https://a.test/"


@pytest.mark.parametrize("changes", [{"contents": True}, {"line": False}, {"days": 1}, None])
async def test_what_the_journal_keeps_is_a_persons_to_say(parts: HubParts, changes: Any) -> None:
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await parts.presenter.change_settings({"activity": changes})
    await parts.presenter.change_settings({"activity": changes})
    with pytest.raises(TooltrayError, match=r"activity: days: must be more than 0"):
        await parts.presenter.change_settings({"activity": {"days": 0}})


PROGRAMS = {"program": ScriptedServer()}
SETUP = {"version": 1, "mcpServers": {"new": {"command": "program"}}, "defaultServers": ["new"]}


async def test_what_is_taken_over_starts_if_it_starts_with_the_hub_and_not_when_it_is_only_looked_at(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        seen = await parts.presenter.preview_import(SETUP)
        assert parts.conf.entries == {}
        assert await parts.presenter.import_setup(SETUP) == seen
        await parts.heard.event(ServerStarted, server_name="new")
        assert (await parts.presenter.export_setup())["mcpServers"].keys() == {"new"}


async def test_the_servers_that_come_with_tooltray_start_when_they_are_put_back(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        parts.shipped_setup = json.loads(json.dumps(SETUP))
        seen = await parts.presenter.preview_reset()
        assert parts.conf.entries == {}
        assert await parts.presenter.reset_to_default_servers() == seen
        await parts.heard.event(ServerStarted, server_name="new")


async def test_a_remedy_is_carried_out_and_one_that_nobody_proposes_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs=PROGRAMS) as parts:
        assert await parts.presenter.apply_remedy("s", "start")
        assert parts.servers.get("s").state in (ServerState.STARTING, ServerState.RUNNING)
        assert await refusal(parts.presenter.apply_remedy("s", "pray"))
