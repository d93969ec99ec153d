"""settings_edits.py: changes to the settings besides the servers, all or none."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import (
    api_access,
    http_access,
    merge_patch,
    npm_registry,
    secret_backend,
    settings_document,
    without_old_trust,
)
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus

SERVER = {"command": "run-it", "odd": 1}
WRITTEN: dict[str, Any] = {
    "version": 1,
    "mcpServers": {"files": SERVER},
    "defaultServers": ["files"],
    "profiles": {"work": {"servers": ["files"]}},
    "publish": {"naming": "always", "clients": {"Cursor": {"profile": "work"}}, "ofALaterVersion": 1},
    "mine": {"kept": True},
}


async def settings(folder: Path, **changes: Any) -> McpConfHelper:
    path = folder / "settings.json"
    path.write_text(json.dumps(WRITTEN | changes))
    conf = McpConfHelper(path, EventBus())
    await conf.load()
    return conf


def on_disk(folder: Path) -> Any:
    return json.loads((folder / "settings.json").read_bytes())


async def test_a_change_sets_what_is_named_removes_what_is_null_and_leaves_the_rest(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    await conf.edit(merge_patch({"publish": {"naming": None, "http": {"port": 7000}}, "hotReload": False, "never": None}, ""))
    expected = WRITTEN | {
        "publish": {"clients": {"Cursor": {"profile": "work"}}, "ofALaterVersion": 1, "http": {"port": 7000}},
        "hotReload": False,
    }
    assert on_disk(tmp_path) == expected
    assert conf.settings.publish.http.port == 7000
    assert settings_document(conf.document).settings == {key: expected[key] for key in ("profiles", "publish", "mine", "hotReload")}


async def test_a_folder_is_allowed_by_its_whole_path(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    await conf.edit(merge_patch({"allowedFolders": [str(tmp_path)]}, ""))
    assert conf.settings.allowed_folders == (str(tmp_path),)


async def test_a_change_is_told(tmp_path: Path) -> None:
    bus = EventBus()
    heard: list[ConfigChanged] = []
    bus.subscribe(ConfigChanged, heard.append)
    conf = McpConfHelper(tmp_path / "settings.json", bus)
    await conf.edit(merge_patch({"mcpEnabled": False}, ""))
    await asyncio.sleep(0)
    assert [event.mcp_enabled for event in heard] == [False]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mcpServers": {}}, "mcpServers: this is not a setting"),
        ({"defaultServers": None}, "defaultServers: this is not a setting"),
        ({"fileServers": {"x": {}}}, "fileServers: this is not a setting"),
        ({"version": 7}, "version: this is not a setting"),
        ({"mcpEnable": True}, "mcpEnable: no such setting"),
        ({"a\nb": 1}, r"a\?b: no such setting"),
        ({"publish": {"http": {"prot": 7000}}}, "publish.http.prot: no such setting"),
        ({"publish": {"clients": {"Cursor": {"modus": "lazy"}}}}, "publish.clients.Cursor.modus: no such setting"),
        ({"npmRegistries": [{"url": "https://npm.test", "nick": "x"}]}, "npmRegistries.0.nick: no such setting"),
        ({"mcpEnabled": "yes"}, "mcpEnabled: must be true or false"),
        ({"hotReload": {"really": True}}, "hotReload: must be true or false"),
        ({"publish": {"http": {"port": 70000}}}, "http.port"),
        ({"publish": {"http": {"enabled": 1}}}, "http.enabled: must be true or false"),
        ({"publish": []}, "publish: must be an object"),
        ({"publish": {"mode": "odd"}}, "mode"),
        ({"publish": {"clients": {" x": {"mode": "lazy"}}}}, "cannot be the name of an AI client"),
        ({"publish": {"clients": {"Cursor": {"profile": "nowhere"}}}}, "profile 'nowhere' not found"),
        ({"profiles": {"work": None}}, "profile 'work' not found"),
        ({"profiles": {"a/b": {}}}, "cannot be the name of a profile"),
        ({"profiles": {"x": {"servers": "files"}}}, "profiles: x"),
        ({"npmRegistries": "https://npm.test"}, "npmRegistries"),
        ({"allowedFolders": ["relative"]}, "allowedFolders: relative"),
        ({"allowedFolders": [1]}, "allowedFolders"),
        ({"secrets": {"backend": "cloud"}}, "secrets"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_field_and_reason_and_changes_nothing(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    conf = await settings(tmp_path)
    with pytest.raises(TooltrayError, match=reason):
        await conf.edit(merge_patch({"readyAnswers": ["Go on"], **changes}, ""))
    assert on_disk(tmp_path) == WRITTEN


async def test_the_reason_quotes_no_value(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    with pytest.raises(TooltrayError) as raised:
        await conf.edit(merge_patch({"customNpmRegistry": ["hunter2"]}, ""))
    assert "hunter2" not in str(raised.value)


async def test_what_was_wrong_before_does_not_keep_other_things_from_being_changed(tmp_path: Path) -> None:
    publish = {"naming": 5, "clients": {"Cursor": {"profile": "gone"}, "Odd": {"profile": 7}}}
    conf = await settings(tmp_path, publish=publish, readyAnswers=7)
    await conf.edit(merge_patch({"mcpEnabled": False}, ""))
    assert on_disk(tmp_path)["mcpEnabled"] is False
    await conf.edit(merge_patch({"readyAnswers": ["Go on"]}, ""))
    assert conf.settings.ready_answers == ("Go on",)


async def test_of_two_writers_the_second_learns_that_the_settings_are_others_by_now(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    seen = settings_document(conf.document).revision
    outcomes = await asyncio.gather(
        *(conf.edit(merge_patch({key: False}, seen)) for key in ("hotReload", "mcpEnabled")), return_exceptions=True
    )
    assert sorted(type(outcome) for outcome in outcomes if outcome) == [Conflict]
    await conf.edit(merge_patch({"readyAnswers": []}, settings_document(conf.document).revision))


async def test_a_change_of_a_server_makes_the_settings_no_other_ones(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    seen = settings_document(conf.document).revision
    await conf.set_server("more", {"command": "x"})
    await conf.edit(merge_patch({"hotReload": False}, seen))
    assert "more" in on_disk(tmp_path)["mcpServers"]


@pytest.mark.parametrize(
    ("written", "changes", "message"),
    [
        ({"publish": "x"}, {"publish": {"naming": "always"}}, "publish: must be an object"),
        ({"activity": {"line": 0}}, {"activity": {"days": 3}}, "activity: line: must be true or false"),
        ({"publish": {"clients": {"c": {"mode": 1}}}}, {"publish": {"clients": {"c": {"mode": 2}}}}, "publish: clients.c.mode"),
        ({"publish": {"clients": {"c": {"reads": 1}}}}, {"publish": {"clients": {"c": {"mode": "lazy"}}}}, "publish: clients.c.reads"),
    ],
)
async def test_a_part_that_cannot_be_read_is_not_changed(
    tmp_path: Path, written: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    conf = await settings(tmp_path, **written)
    before = on_disk(tmp_path)
    with pytest.raises(TooltrayError, match=message):
        await conf.edit(merge_patch(changes, ""))
    assert on_disk(tmp_path) == before
    await conf.edit(merge_patch({"hotReload": False}, ""))
    assert on_disk(tmp_path) == before | {"hotReload": False}


async def test_a_part_that_cannot_be_read_can_be_replaced_and_corrected(tmp_path: Path) -> None:
    conf = await settings(tmp_path, activity={"line": 0}, approvals="on")
    await conf.edit(merge_patch({"activity": {"line": True}, "approvals": None}, ""))
    assert conf.problems == ()


async def test_what_is_nested_absurdly_deep_is_refused(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"x": deep}
    with pytest.raises(TooltrayError, match="too deeply"):
        await conf.edit(merge_patch({"hotReload": deep}, ""))
    assert on_disk(tmp_path) == WRITTEN


async def test_the_rest_interface_brings_http_with_it_and_leaves_it_when_it_goes(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    await conf.edit(api_access(True))
    assert on_disk(tmp_path)["publish"]["http"] == {"enabled": True, "api": {"enabled": True}}
    await conf.edit(api_access(False))
    assert on_disk(tmp_path)["publish"]["http"] == {"enabled": True, "api": {"enabled": False}}
    assert conf.settings.publish.http.api.enabled is False


async def test_what_an_older_version_wrote_of_trust_stays_until_a_person_has_answered(tmp_path: Path) -> None:
    conf = await settings(tmp_path, publish={"http": {"api": {"enabled": True, "trusted": True}}})
    await conf.edit(api_access(True))
    assert on_disk(tmp_path)["publish"]["http"]["api"]["trusted"] is True
    await conf.edit(api_access(True, forget_trust=True))
    assert on_disk(tmp_path)["publish"]["http"]["api"] == {"enabled": True}


async def test_the_rest_interface_is_not_switched_on_where_http_cannot_be(tmp_path: Path) -> None:
    conf = await settings(tmp_path, publish={"http": {"port": "x"}})
    with pytest.raises(TooltrayError, match="HTTP cannot be switched on"):
        await conf.edit(api_access(True))
    assert on_disk(tmp_path)["publish"] == {"http": {"port": "x"}}


async def test_of_the_npm_registry_only_what_is_given_changes(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    await conf.edit(npm_registry(custom="https://npm.test"))
    await conf.edit(npm_registry(is_auto_detect=False))
    assert on_disk(tmp_path) == WRITTEN | {"customNpmRegistry": "https://npm.test", "autoDetectNpmRegistry": False}
    await conf.edit(npm_registry(custom=""))
    assert on_disk(tmp_path) == WRITTEN | {"autoDetectNpmRegistry": False}


async def test_http_is_switched_and_what_stands_beside_it_stays(tmp_path: Path) -> None:
    conf = await settings(tmp_path)
    await conf.edit(http_access(True, 0))
    assert (conf.settings.publish.http.enabled, conf.settings.publish.http.port) == (True, 0)
    await conf.edit(http_access(False))
    assert on_disk(tmp_path) == WRITTEN | {"publish": WRITTEN["publish"] | {"http": {"enabled": False, "port": 0}}}
    for port in (-1, 65536):
        with pytest.raises(TooltrayError, match=f"Port {port} does not exist"):
            http_access(True, port)


async def test_http_is_not_said_to_be_on_where_something_else_of_it_cannot_be_used(tmp_path: Path) -> None:
    conf = await settings(tmp_path, publish={"http": {"port": "80"}})
    with pytest.raises(TooltrayError, match=r"HTTP cannot be switched on: publish: http: port: must be a whole number"):
        await conf.edit(http_access(True))
    await conf.edit(http_access(False))
    await conf.edit(http_access(True, 65535))
    assert on_disk(tmp_path)["publish"]["http"] == {"enabled": True, "port": 65535}


async def test_trust_of_an_older_version_goes_and_nothing_else_does(tmp_path: Path) -> None:
    http = {"enabled": True, "api": {"enabled": True, "trusted": True}}
    conf = await settings(tmp_path, publish={"http": http, "naming": "always"})
    await conf.edit(without_old_trust)
    assert on_disk(tmp_path)["publish"] == {"http": {"enabled": True, "api": {"enabled": True}}, "naming": "always"}


async def test_secrets_are_kept_in_one_of_the_places_that_there_are(tmp_path: Path) -> None:
    conf = await settings(tmp_path, secrets={"note": 1})
    await conf.edit(secret_backend("file"))
    assert on_disk(tmp_path)["secrets"] == {"note": 1, "backend": "file"}
    with pytest.raises(TooltrayError, match="keyring, file, memory"):
        secret_backend("plain")  # type: ignore[arg-type]
