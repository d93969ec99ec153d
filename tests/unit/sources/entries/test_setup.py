"""setup.py: the set-up taken out, taken over and put back; through McpPresenter's verbs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_entry
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.sources.entries.setup import exported_settings, shipped_servers

PROGRAM = {"command": "program", "autoApprove": ["all"]}
SHIPPED = {"mcpServers": {"memory": {"command": "program"}, "time": {"command": "program", "args": ["utc"]}}, "defaultServers": ["time"]}


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    servers = {"own": entry("program", env={"API_KEY": "hunter2"}), "memory": {"command": "program", "disable": True}}
    programs = {"program": ScriptedServer(tool("get_it"))}
    settings = {"npmRegistries": [{"url": "https://me:pw@mirror.example/"}]}
    async with hub_parts(tmp_path / "home", servers=servers, default=("own",), settings=settings, programs=programs) as parts:
        parts.shipped_setup = json.loads(json.dumps(SHIPPED))
        yield parts


# out


async def test_an_export_has_everything_but_secrets_and_says_which_it_wants(parts: HubParts) -> None:
    await parts.presenter.set_secret("known", "a known value")
    await parts.presenter.update_mcp_server("memory", {"command": "program", "args": ["a known value"], "disable": True})
    exported = await parts.presenter.export_setup()
    assert exported == {
        "version": 1,
        "mcpServers": {
            "own": {"command": "program", "autoApprove": ["all"], "env": {"API_KEY": "${secret:own/API_KEY}"}},
            "memory": {"command": "program", "args": ["${secret:memory/ARGUMENT}"], "disable": True},
        },
        "defaultServers": ["own"],
        "npmRegistries": [{"url": "https://mirror.example/", "name": ""}],
        "secrets": ["own/API_KEY", "memory/ARGUMENT"],
    }


async def test_what_was_exported_is_taken_over_elsewhere_as_it_was(parts: HubParts, tmp_path: Path) -> None:
    exported = await parts.presenter.export_setup()
    async with hub_parts(tmp_path / "other", servers={}, programs={"program": ScriptedServer(tool("get_it"))}) as other:
        changes = await other.presenter.import_setup(exported)
        assert SetupChange("add", "server", "own", "program (runs without asking: all)") in changes
        assert SetupChange("add", "default", "own", "starts with Tooltray") in changes
        assert SetupChange("add", "setting", "npmRegistries") in changes
        assert changes[-1] == SetupChange("add", "secret", "own/API_KEY", "its value is not in the backup")
        assert (await other.presenter.export_setup())["mcpServers"] == exported["mcpServers"]
        assert other.settings_on_disk["defaultServers"] == ["own"]


# in


async def test_what_is_there_stays_unless_it_is_to_be_replaced(parts: HubParts) -> None:
    own = parts.settings_on_disk["mcpServers"]["own"]
    setup = {"mcpServers": {"own": PROGRAM, "memory": {"command": "program", "disable": True}}, "npmRegistries": []}
    assert await parts.presenter.import_setup(setup) == [
        SetupChange("keep", "server", "own", "a server with this name already exists"),
        SetupChange("keep", "server", "memory", "already the same"),
        SetupChange("keep", "setting", "npmRegistries"),
    ]
    assert parts.settings_on_disk["mcpServers"]["own"] == own
    assert await parts.presenter.import_setup(setup, replace=True) == [
        SetupChange("replace", "server", "own", "changes env"),
        SetupChange("keep", "server", "memory", "already the same"),
        SetupChange("replace", "setting", "npmRegistries"),
    ]
    assert parts.settings_on_disk["mcpServers"]["own"] == PROGRAM
    assert parts.settings_on_disk["npmRegistries"] == []


async def test_a_server_that_runs_already_under_another_name_is_recognised(parts: HubParts) -> None:
    await parts.presenter.import_setup({"mcpServers": {"files": {"command": "program", "args": ["a"], "env": {"B": "c"}}}})
    again = {"command": "program", "args": ["a"], "env": {"B": "c"}, "transport": "stdio", "autoApprove": ["read"]}
    others = {"d": {**again, "args": ["d"]}, "e": {**again, "env": {}}, "f": {"command": "program"}}
    setup = {"mcpServers": {"again": again, **others}, "defaultServers": ["again"]}
    done = await parts.presenter.import_setup(setup)
    assert done[0] == SetupChange("keep", "server", "again", "already exists as 'files'")
    assert {change.name for change in done if change.kind == "add"} == set(others)  # what is switched off here (`memory`) offers nothing
    assert "again" not in parts.settings_on_disk["mcpServers"]
    assert await parts.presenter.preview_import(setup, replace=True) == [
        done[0],
        *(SetupChange("keep", "server", name, "already the same") for name in others),
    ]


async def test_with_another_key_it_is_another_server(parts: HubParts) -> None:
    def keyed(value: str) -> dict[str, Any]:
        return {"command": "program", "args": ["a"], "env": {"API_KEY": value}}

    await parts.presenter.import_setup({"mcpServers": {"work": keyed("sk-12345678")}})
    done = await parts.presenter.import_setup({"mcpServers": {"again": keyed("sk-12345678"), "home": keyed("sk-87654321")}})
    assert done[0] == SetupChange("keep", "server", "again", "already exists as 'work'")
    assert (done[1].kind, done[1].name) == ("add", "home")
    assert await parts.presenter.get_secret_names() == ["home/API_KEY", "work/API_KEY"]
    named = {"mcpServers": {"third": keyed("${secret:third/API_KEY}"), "fourth": keyed("${secret:work/API_KEY}")}}
    assert [change.kind for change in await parts.presenter.preview_import(named)][:2] == ["add", "keep"]


async def test_an_import_is_one_change_of_the_settings(parts: HubParts) -> None:
    before = len(parts.heard.of(ConfigChanged))
    await parts.presenter.import_setup({"mcpServers": {"a": PROGRAM, "b": PROGRAM}})
    assert len(parts.heard.of(ConfigChanged)) == before + 1


async def test_a_setting_that_is_the_same_is_not_mentioned(parts: HubParts) -> None:
    registries = parts.settings_on_disk["npmRegistries"]
    assert await parts.presenter.preview_import({"mcpServers": {}, "npmRegistries": registries}) == []


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        ({}, "no `mcpServers`"),
        ({"mcpServers": []}, "no `mcpServers`"),
        ({"version": 99, "mcpServers": {}}, "newer Tooltray"),
        ({"mcpServers": {}, "defaultServers": "own"}, "`defaultServers` must be"),
        ({"mcpServers": {}, "defaultServers": [1]}, "`defaultServers` must be"),
        ({"mcpServers": {"good": PROGRAM, "bad": {}}}, "The entry of server 'bad' cannot be used"),
        ({"mcpServers": {"hub": PROGRAM}}, "comes with Tooltray"),
    ],
)
async def test_what_cannot_be_used_is_refused_as_a_whole(parts: HubParts, setup: dict[str, Any], said: str) -> None:
    before = parts.home.settings.read_bytes()
    for verb in (parts.presenter.preview_import, parts.presenter.import_setup):
        with pytest.raises(TooltrayError, match=said):
            await verb(setup)
    assert parts.home.settings.read_bytes() == before


async def test_secrets_that_are_there_are_not_asked_for_and_a_closed_store_asks_for_all(parts: HubParts) -> None:
    setup = {"mcpServers": {"new": {"command": "x", "env": {"A": "${secret:a}", "B": "${secret:b}"}}}}
    await parts.presenter.set_secret("a", "value")
    assert [each.name for each in await parts.presenter.preview_import(setup) if each.subject == "secret"] == ["b"]
    parts.home.secrets_file.write_bytes(b"no vault")
    parts.secrets.use("file")
    assert [each.name for each in await parts.presenter.preview_import(setup) if each.subject == "secret"] == ["a", "b"]


async def test_a_file_that_was_damaged_since_is_not_written(parts: HubParts) -> None:
    await parts.conf.edit(lambda document: document.update(mcpServers=[], defaultServers=None))
    with pytest.raises(TooltrayError, match="mcpServers: must be an object"):
        await parts.presenter.import_setup({"mcpServers": {"new": PROGRAM}})
    assert parts.settings_on_disk["mcpServers"] == []


async def test_an_entry_that_cannot_be_used_is_replaced_by_one_that_can(parts: HubParts) -> None:
    await parts.conf.edit(lambda document: document["mcpServers"].update(odd="text"))
    assert await parts.presenter.import_setup({"mcpServers": {"odd": PROGRAM}}, replace=True) == [
        SetupChange("replace", "server", "odd", "changes command, autoApprove")
    ]


# back


async def test_a_reset_shows_what_it_will_do_does_it_and_keeps_a_person_s_own_servers(parts: HubParts) -> None:
    own = parts.settings_on_disk["mcpServers"]["own"]
    preview = await parts.presenter.preview_reset()
    assert preview == [
        SetupChange("replace", "server", "memory", "changes disable"),
        SetupChange("add", "server", "time", "program utc (runs without asking: read)"),
        SetupChange("add", "default", "time", "starts with Tooltray"),
        SetupChange("keep", "server", "own", "your own server"),
    ]
    assert await parts.presenter.reset_to_default_servers() == preview
    assert parts.settings_on_disk["mcpServers"] == {"own": own, **SHIPPED["mcpServers"]}  # type: ignore[dict-item]
    assert parts.settings_on_disk["defaultServers"] == ["own", "time"]


async def test_a_second_reset_changes_nothing(parts: HubParts) -> None:
    await parts.presenter.reset_to_default_servers()
    assert {change.kind for change in await parts.presenter.reset_to_default_servers()} == {"keep"}


async def test_a_reset_puts_back_what_starts_with_the_hub(parts: HubParts) -> None:
    await parts.presenter.reset_to_default_servers()
    await parts.presenter.remove_mcp_default_server("time")
    await parts.presenter.add_mcp_default_server("memory")
    changes = [change for change in await parts.presenter.reset_to_default_servers() if change.kind != "keep"]
    assert changes == [
        SetupChange("remove", "default", "memory", "starts when used"),
        SetupChange("add", "default", "time", "starts with Tooltray"),
    ]
    assert parts.settings_on_disk["defaultServers"] == ["own", "time"]


def test_the_servers_that_come_with_tooltray_can_be_used() -> None:
    shipped = shipped_servers()
    for name, each in shipped["mcpServers"].items():
        check_name(name, BUILTIN_NAMES)
        assert read_entry(name, each).descriptions
    assert set(shipped["defaultServers"]) <= set(shipped["mcpServers"])


async def test_a_secret_in_plain_text_moves_into_the_secrets_and_never_into_the_settings(parts: HubParts) -> None:
    setup = {"mcpServers": {"new": {**PROGRAM, "env": {"API_KEY": "hunter22"}}, "own": {**PROGRAM, "env": {"API_KEY": "other"}}}}
    moved = SetupChange("replace", "secret", "new/API_KEY", "is in the file in plain text; will be stored as a secret")
    assert moved in await parts.presenter.preview_import(setup)
    assert await parts.presenter.get_secret_names() == []
    assert moved in await parts.presenter.import_setup(setup)
    assert parts.settings_on_disk["mcpServers"]["new"]["env"] == {"API_KEY": "${secret:new/API_KEY}"}
    assert await parts.secrets.get("new/API_KEY") == "hunter22"
    assert await parts.presenter.get_secret_names() == ["new/API_KEY"]  # `own` was there already and stays as it is
    assert "hunter22" not in parts.home.settings.read_text()


async def test_where_secrets_cannot_be_kept_nothing_is_taken_over(parts: HubParts) -> None:
    parts.home.secrets_file.write_bytes(b"no vault")
    parts.secrets.use("file")
    with pytest.raises(TooltrayError):
        await parts.presenter.import_setup({"mcpServers": {"new": {**PROGRAM, "env": {"API_KEY": "hunter22"}}}})
    assert "new" not in parts.settings_on_disk["mcpServers"]


async def test_where_the_settings_cannot_be_written_the_secrets_are_what_they_were(parts: HubParts) -> None:
    await parts.secrets.set("own/API_KEY", "before")
    parts.home.settings.unlink()
    parts.home.settings.mkdir()  # so that it cannot be written
    keyed = {**PROGRAM, "env": {"API_KEY": "hunter22"}}
    with pytest.raises(TooltrayError):
        await parts.presenter.import_setup({"mcpServers": {"own": keyed, "new": keyed}}, replace=True)
    parts.home.settings.rmdir()
    assert (await parts.secrets.names(), await parts.secrets.get("own/API_KEY")) == (["own/API_KEY"], "before")


async def test_replacing_takes_over_what_starts_with_the_hub_where_the_file_says_it(parts: HubParts) -> None:
    setup = {"mcpServers": {"own": PROGRAM, "memory": {"command": "program", "disable": True}}, "defaultServers": ["memory"]}
    await parts.presenter.import_setup(setup)
    assert parts.settings_on_disk["defaultServers"] == ["own"]
    assert SetupChange("add", "default", "memory", "starts with Tooltray") in await parts.presenter.import_setup(setup, replace=True)
    assert parts.settings_on_disk["defaultServers"] == ["memory"]


CLIENTS = {"acme.code": {"mode": "search", "profile": "work", "autoApprove": ["read"]}, "other": {"mode": "lazy"}}
SHOWN = {"naming": "always", "lazyLoad": True, "mode": "automatic", "clients": CLIENTS, "feedback": False}
CARRIED: dict[str, Any] = {
    "publish": SHOWN,
    "profiles": {"work": {"servers": ["files"], "tools": {"files": ["read"]}}, "home": {"description": "all of it"}},
    "readyAnswers": ["Go on.", "Stop."],
}
OF_THIS_MACHINE = {"allowedFolders": ["/srv/project"], "secrets": {"backend": "memory"}, "mcpEnabled": False}


@pytest.fixture
async def carried(tmp_path: Path) -> AsyncIterator[HubParts]:
    settings = {**CARRIED, **OF_THIS_MACHINE, "publish": {**SHOWN, "http": {"enabled": False, "port": 7000}}}
    async with hub_parts(tmp_path / "home", servers={}, settings=settings) as carried:
        yield carried


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[HubParts]:
    async with hub_parts(tmp_path / "other", servers={}) as carried:
        yield carried


def without_servers(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("version", "mcpServers", "defaultServers", "secrets")}


async def test_how_tools_are_shown_profiles_and_ready_answers_are_carried_and_what_belongs_to_a_machine_is_not(
    carried: HubParts,
) -> None:
    assert without_servers(await carried.presenter.export_setup()) == CARRIED


async def test_what_nobody_has_chosen_is_not_carried(other: HubParts) -> None:
    assert without_servers(await other.presenter.export_setup()) == {}
    await other.presenter.import_setup({"mcpServers": {}, "publish": {"feedback": None, "clients": {"acme": None}}, "profiles": None})
    assert without_servers(await other.presenter.export_setup()) == {}


async def test_elsewhere_it_counts_as_it_did_here(carried: HubParts, other: HubParts) -> None:
    exported = await carried.presenter.export_setup()
    preview = await other.presenter.preview_import(exported)
    assert SetupChange("add", "setting", "publish.clients.acme.code", "runs without asking: read") in preview
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
    assert SetupChange("add", "setting", "publish.clients.acme", f"runs without asking: {said}") in preview
    assert SetupChange("add", "server", "s", f"x (runs without asking: {said})") in preview


async def test_profiles_and_clients_from_elsewhere_come_beside_those_that_are_here(carried: HubParts) -> None:
    setup = {
        "mcpServers": {},
        "profiles": {"work": {"servers": []}, "new": {}},
        "publish": {"clients": {"other": {"autoApprove": []}, "new": {"mode": "lazy"}}},
    }
    await carried.presenter.import_setup(setup)
    assert carried.settings_on_disk["profiles"] == {**CARRIED["profiles"], "new": {}}
    assert carried.settings_on_disk["publish"]["clients"] == {**CLIENTS, "new": {"mode": "lazy"}}
    assert await carried.presenter.import_setup(setup, replace=True) == [
        SetupChange("replace", "setting", "profiles.work"),
        SetupChange("replace", "setting", "publish.clients.other", "runs without asking: nothing"),
    ]
    assert carried.settings_on_disk["publish"]["clients"]["other"] == {"autoApprove": []}
    assert carried.settings_on_disk["publish"]["http"] == {"enabled": False, "port": 7000}


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


async def test_ready_answers_with_a_known_secret_stay_here(carried: HubParts) -> None:
    await carried.presenter.set_secret("known", "hunter2000")
    await carried.conf.edit(lambda document: document.update(readyAnswers=["Log in with hunter2000.", "Go on."]))
    assert (await carried.presenter.export_setup())["readyAnswers"] == ["Go on."]


async def test_a_registry_is_carried_without_its_login(tmp_path: Path) -> None:
    registries = [{"url": "https://me:pw@mirror.example/"}]
    async with hub_parts(tmp_path, servers={}, settings={"npmRegistries": registries, "readyAnswers": ["Go on."]}) as carried:
        settings, document = carried.conf.own_settings, carried.conf.document
        carried = exported_settings(settings, document, ())
        assert carried == {"npmRegistries": [{"url": "https://mirror.example/", "name": ""}], "readyAnswers": ["Go on."]}


@pytest.mark.parametrize(("secret", "kept"), [("hunter2", ["Go on."]), ("hunter", ["Go on."]), ("hunt", ["Go on.", "It is hunter2."])])
async def test_an_answer_with_a_secret_in_it_is_not_carried_unless_it_is_so_short_that_it_may_be_a_word(
    tmp_path: Path, secret: str, kept: list[str]
) -> None:
    async with hub_parts(tmp_path, servers={}, settings={"readyAnswers": ["Go on.", "It is hunter2."]}) as carried:
        assert exported_settings(carried.conf.own_settings, carried.conf.document, [secret])["readyAnswers"] == kept
