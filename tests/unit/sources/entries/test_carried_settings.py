"""carried_settings.py: which settings a set-up carries, and how they come to others."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.sources.entries.carried_settings import exported

CLIENTS = {"acme.code": {"mode": "search", "profile": "work", "autoApprove": ["read"]}, "other": {"mode": "lazy"}}
SHOWN = {"naming": "always", "lazyLoad": True, "mode": "automatic", "clients": CLIENTS, "feedback": False}
CARRIED: dict[str, Any] = {
    "publish": SHOWN,
    "profiles": {"work": {"servers": ["files"], "tools": {"files": ["read"]}}, "home": {"description": "all of it"}},
    "readyAnswers": ["Go on.", "Stop."],
}
OF_THIS_MACHINE = {"allowedFolders": ["/srv/project"], "secrets": {"backend": "memory"}, "mcpEnabled": False}


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    settings = {**CARRIED, **OF_THIS_MACHINE, "publish": {**SHOWN, "http": {"enabled": False, "port": 7000}}}
    async with hub_parts(tmp_path / "home", servers={}, settings=settings) as parts:
        yield parts


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[HubParts]:
    async with hub_parts(tmp_path / "other", servers={}) as parts:
        yield parts


def without_servers(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("version", "mcpServers", "defaultServers", "secrets")}


async def test_how_tools_are_shown_profiles_and_ready_answers_are_carried_and_what_belongs_to_a_machine_is_not(parts: HubParts) -> None:
    assert without_servers(await parts.presenter.export_setup()) == CARRIED


async def test_what_nobody_has_chosen_is_not_carried(other: HubParts) -> None:
    assert without_servers(await other.presenter.export_setup()) == {}
    await other.presenter.import_setup({"mcpServers": {}, "publish": {"feedback": None, "clients": {"acme": None}}, "profiles": None})
    assert without_servers(await other.presenter.export_setup()) == {}


async def test_elsewhere_it_counts_as_it_did_here(parts: HubParts, other: HubParts) -> None:
    exported = await parts.presenter.export_setup()
    preview = await other.presenter.preview_import(exported)
    assert SetupChange("add", "setting", "publish.clients.acme.code", "approved without asking: read") in preview
    assert {change.name for change in preview} == {
        *(f"publish.{name}" for name in ("naming", "lazyLoad", "mode", "feedback", "clients.acme.code", "clients.other")),
        *("profiles.work", "profiles.home", "readyAnswers"),
    }
    assert await other.presenter.import_setup(exported) == preview
    assert without_servers(await other.presenter.export_setup()) == CARRIED
    assert await other.presenter.preview_import(exported) == []


async def test_rules_on_arguments_of_a_client_are_said_in_words(other: HubParts) -> None:
    rules = {"callRules": [{"tool": "t", "arguments": {"a": {"equals": 1}}}]}
    setup = {"mcpServers": {"s": {"command": "x", "autoApprove": [], **rules}}, "publish": {"clients": {"acme": rules}}}
    said = "t, where a is 1; no other arguments"
    preview = await other.presenter.preview_import(setup)
    assert SetupChange("add", "setting", "publish.clients.acme", f"approved without asking: {said}") in preview
    assert SetupChange("add", "server", "s", f"x (approved without asking: {said})") in preview


async def test_profiles_and_clients_from_elsewhere_come_beside_those_that_are_here(parts: HubParts) -> None:
    setup = {
        "mcpServers": {},
        "profiles": {"work": {"servers": []}, "new": {}},
        "publish": {"clients": {"other": {"autoApprove": []}, "new": {"mode": "lazy"}}},
    }
    await parts.presenter.import_setup(setup)
    assert parts.settings_on_disk["profiles"] == {**CARRIED["profiles"], "new": {}}
    assert parts.settings_on_disk["publish"]["clients"] == {**CLIENTS, "new": {"mode": "lazy"}}
    assert await parts.presenter.import_setup(setup, replace=True) == [
        SetupChange("replace", "setting", "profiles.work"),
        SetupChange("replace", "setting", "publish.clients.other", "approved without asking: nothing"),
    ]
    assert parts.settings_on_disk["publish"]["clients"]["other"] == {"autoApprove": []}
    assert parts.settings_on_disk["publish"]["http"] == {"enabled": False, "port": 7000}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"publish": ["lazyLoad"]}, "publish: must be an object"),
        ({"publish": {"lazyLoad": "yes"}}, "publish: lazyLoad: must be true or false"),
        ({"publish": {"clients": {"acme": {"autoApprove": "all"}}}}, "publish: clients.acme.autoApprove: must be a list"),
        ({"profiles": {"work": {"servers": "files"}}}, "profiles: work.servers: must be a list"),
        ({"readyAnswers": "yes"}, "readyAnswers: must be a list"),
        ({"npmRegistries": [{}]}, "npmRegistries: 0.url: is missing"),
    ],
)
async def test_a_setting_that_cannot_be_used_is_refused_with_everything_else(other: HubParts, settings: dict[str, Any], said: str) -> None:
    before = other.home.settings.read_bytes()
    for verb in (other.presenter.preview_import, other.presenter.import_setup):
        with pytest.raises(TooltrayError, match=said):
            await verb({"mcpServers": {"new": {"command": "program"}}, **settings})
    assert other.home.settings.read_bytes() == before


async def test_a_setting_that_cannot_be_used_here_is_not_exported_and_stays(other: HubParts) -> None:
    clients = {"odd": 1, "fine": {"mode": "lazy"}}
    await other.conf.edit(lambda document: document.update(profiles={"work": 3}, publish={"clients": clients, "mode": 5, "feedback": True}))
    assert without_servers(await other.presenter.export_setup()) == {"publish": {"clients": {"fine": {"mode": "lazy"}}}}
    await other.conf.edit(lambda document: document.update(publish={"clients": ["acme"], "mode": "lazy"}))
    assert without_servers(await other.presenter.export_setup()) == {"publish": {"mode": "lazy"}}
    with pytest.raises(TooltrayError, match="clients: must be an object"):
        await other.presenter.import_setup({"mcpServers": {}, **CARRIED}, replace=True)
    assert other.conf.document["publish"]["clients"] == ["acme"]


async def test_ready_answers_with_a_known_secret_stay_here(parts: HubParts) -> None:
    await parts.presenter.set_secret("known", "hunter2000")
    await parts.conf.edit(lambda document: document.update(readyAnswers=["Log in with hunter2000.", "Go on."]))
    assert (await parts.presenter.export_setup())["readyAnswers"] == ["Go on."]


async def test_a_registry_is_carried_without_its_login(tmp_path: Path) -> None:
    registries = [{"url": "https://me:pw@mirror.example/"}]
    async with hub_parts(tmp_path, servers={}, settings={"npmRegistries": registries, "readyAnswers": ["Go on."]}) as parts:
        settings, document = parts.conf.own_settings, parts.conf.document
        carried = exported(settings, document, ())
        assert carried == {"npmRegistries": [{"url": "https://mirror.example/", "name": ""}], "readyAnswers": ["Go on."]}


@pytest.mark.parametrize(("secret", "kept"), [("hunter2", ["Go on."]), ("hunter", ["Go on."]), ("hunt", ["Go on.", "It is hunter2."])])
async def test_an_answer_with_a_secret_in_it_is_not_carried_unless_it_is_so_short_that_it_may_be_a_word(
    tmp_path: Path, secret: str, kept: list[str]
) -> None:
    async with hub_parts(tmp_path, servers={}, settings={"readyAnswers": ["Go on.", "It is hunter2."]}) as parts:
        assert exported(parts.conf.own_settings, parts.conf.document, [secret])["readyAnswers"] == kept
