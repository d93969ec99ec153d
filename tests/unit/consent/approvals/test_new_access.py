"""new_access.py, and the ways by which servers are added"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.fakes.unconfirmed import Program

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals.new_access import NOT_CAREFUL, NewAccess
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.servers.confinement.confinements import Confinements, Support

FULL, NO_FILES = Support("linux", 7, True, "/usr/bin/bwrap"), Support("linux", 0, True)
OWN = {"files": "own"}
LOCAL, REMOTE, ELSEWHERE = {"command": "p"}, {"url": "https://a.example/mcp"}, {"command": "docker"}
CAREFUL, TRUSTED, FREE = {"autoApprove": ["read"], "confinement": OWN}, {"autoApprove": ["read"]}, {"autoApprove": ["all"]}


async def new_access(path: Path, setting: AccessChoice | None, support: Support = FULL) -> NewAccess:
    (path / "settings.json").write_text(json.dumps({"newServers": setting}))
    config = McpConfHelper(path / "settings.json", EventBus())
    await config.load()
    return NewAccess(config=config, confinements=Confinements(support=support))


@pytest.mark.parametrize(
    ("setting", "entry", "is_found", "support", "added"),
    [
        (None, LOCAL, False, FULL, TRUSTED),
        (None, LOCAL, True, FULL, CAREFUL),
        (None, LOCAL, True, NO_FILES, TRUSTED),
        ("careful", LOCAL, False, FULL, CAREFUL),
        ("careful", LOCAL, False, NO_FILES, TRUSTED),
        ("careful", REMOTE, False, FULL, TRUSTED),
        ("careful", ELSEWHERE, False, FULL, TRUSTED),
        ("trusted", LOCAL, True, FULL, TRUSTED),
        ("free", LOCAL, True, FULL, FREE),
    ],
)
async def test_the_setting_decides_what_a_new_server_may_do(
    tmp_path: Path, setting: AccessChoice | None, entry: dict[str, Any], is_found: bool, support: Support, added: dict[str, Any]
) -> None:
    access = await new_access(tmp_path, setting, support)
    assert access.entry("s", entry, is_found=is_found) == {**entry, **added}


@pytest.mark.parametrize(
    ("setting", "says", "added"),
    [
        ("careful", {"confinement": "open"}, {"autoApprove": ["read"], "confinement": "open"}),
        ("careful", {"autoApprove": ["all"]}, {"autoApprove": ["all"], "confinement": OWN}),
        ("careful", {"autoApprove": []}, {"autoApprove": [], "confinement": OWN}),
        ("free", {"confinement": "read"}, {"autoApprove": ["all"], "confinement": "read"}),
        ("free", {"autoApprove": ["t"], "callRules": []}, {"autoApprove": ["t"], "callRules": []}),
    ],
)
async def test_what_an_entry_says_itself_stays(tmp_path: Path, setting: AccessChoice, says: dict[str, Any], added: dict[str, Any]) -> None:
    access = await new_access(tmp_path, setting)
    assert access.entry("s", LOCAL | says) == LOCAL | added


async def test_what_is_chosen_replaces_what_the_entry_says(tmp_path: Path) -> None:
    access = await new_access(tmp_path, "free", NO_FILES)
    says = {"autoApprove": ["all", "ask:rm"], "callRules": [{"tool": "t"}], "confinement": {"files": "read", "hosts": ["a.org"]}}
    assert access.entry("s", LOCAL | says, chosen="trusted") == LOCAL | {
        "autoApprove": ["read", "ask:rm"],
        "confinement": {"files": "open", "network": "open", "hosts": ["a.org"]},
    }
    with pytest.raises(TooltrayError, match="'s' cannot be careful"):
        access.entry("s", LOCAL, chosen="careful")
    assert (await new_access(tmp_path, "free")).entry("s", LOCAL, chosen="careful") == LOCAL | CAREFUL


@pytest.mark.parametrize(
    ("entry", "support", "choice", "offered", "says"),
    [
        (LOCAL, FULL, "careful", ("careful", "trusted", "free"), ()),
        (LOCAL, NO_FILES, "trusted", ("trusted", "free"), (NOT_CAREFUL,)),
        (ELSEWHERE, FULL, "trusted", ("trusted", "free"), (NOT_CAREFUL,)),
        (REMOTE, FULL, "trusted", ("trusted", "free"), ()),
    ],
)
async def test_a_preview_says_what_is_chosen_and_what_cannot_be(
    tmp_path: Path, entry: dict[str, Any], support: Support, choice: AccessChoice, offered: tuple[AccessChoice, ...], says: object
) -> None:
    access = await new_access(tmp_path, "careful", support)
    shown, lacking = access.shown("s", access.entry("s", entry))
    assert (shown.choice, shown.offered, lacking) == (choice, offered, says)


async def added(parts: HubParts, name: str, **more: Any) -> dict[str, Any]:
    await parts.servers_api.add_mcp_server(name, {"command": "p", "disable": True}, **more)
    return {key: value for key, value in parts.config.entries[name].items() if key in ("autoApprove", "confinement")}


async def test_a_changed_setting_counts_for_the_next_server_and_a_person_confirms_a_wider_one(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs={"p": ScriptedServer(tool("t"))}) as parts:
        change = parts.presenter.change_settings
        assert await added(parts, "a") == TRUSTED
        with asked_by(UNATTENDED):
            await change({"newServers": "careful"})
        assert await added(parts, "b") == CAREFUL
        assert await added(parts, "c", access="free") == FREE
        await parts.servers_api.duplicate_mcp_server("a", "a2")
        assert "confinement" not in parts.config.entries["a2"]
        for wider in ("trusted", "free", None, "odd"):
            with asked_by(UNATTENDED), pytest.raises(Denied):
                await change({"newServers": wider})
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await parts.servers_api.add_mcp_server("d", {"command": "p", "confinement": "open"})
        await change({"newServers": "free"})
        with asked_by(UNATTENDED):
            assert await added(parts, "d") == FREE


async def test_an_undone_removal_brings_back_what_was_there(tmp_path: Path) -> None:
    before = {"command": "p", "disable": True, "autoApprove": ["all"]}
    async with hub_parts(tmp_path, servers={"s": before}, programs={"p": ScriptedServer(tool("t"))}) as parts:
        await parts.presenter.change_settings({"newServers": "careful"})
        await parts.servers_api.remove_mcp_server("s", keep_secrets=True)
        await parts.servers_api.add_mcp_server("s", before)
        assert parts.config.entries["s"] == before
        await parts.servers_api.remove_mcp_server("s")
        await parts.servers_api.add_mcp_server("s", {**before, "args": ["other"]})
        assert parts.config.entries["s"]["confinement"] == OWN


async def test_a_program_proposes_what_the_setting_has_and_a_found_server_is_offered_like_that(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs={"p": ScriptedServer(tool("t"))}) as parts:
        await parts.presenter.change_settings({"newServers": "careful"})
        with asked_by(Program()):
            await parts.servers_api.add_mcp_server("new", {"command": "p", "disable": True})
        [request] = await parts.proposals.requests()
        assert (request.auto_approve, request.confinement and request.confinement.files) == (("read",), "own")
        discovery = parts.discovery_api
        shown = await discovery.preview_starter_server("memory", {})
        assert shown.access
        assert shown.access.choice == "careful"
        assert shown.command[0] == "npx"
        await parts.presenter.change_settings({"newServers": "free"})
        assert (await discovery.preview_starter_server("memory", {})).access == shown.access.__class__("free", shown.access.offered, "all")
        name = await discovery.add_starter_server("memory", {}, "kept", "careful")
        assert parts.config.entries[name]["confinement"] == OWN
