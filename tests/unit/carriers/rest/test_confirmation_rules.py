"""What only a person may allow, and settings and secrets over REST."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.rest_hub import rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool


@pytest.mark.parametrize(
    "changes",
    [
        {"allowedFolders": ["/"]},
        {"fileServers": {}},
        {"publish": {"http": {"host": "0.0.0.0"}}},
        {"publish": {"clients": {"c": {"autoApprove": ["all"]}}}},
        {"publish": {"clients": {"c": None}}},
        {"publish": {"clients": None}},
        {"publish": None},
        {"publish": "x"},
        {"publish": {"clients": {"known": {"profile": None}}}},
        {"profiles": {"few": {"servers": None}}},
        {"customNpmRegistry": "http://127.0.0.1:9/"},
        {"npmRegistries": [{"url": "http://127.0.0.1:9/"}]},
        {"autoDetectNpmRegistry": True},
        {"secrets": {"backend": "file"}},
    ],
)
async def test_settings_that_let_more_happen_unasked_are_for_trusted_programs(tmp_path: Path, changes: dict[str, Any]) -> None:
    settings = {"profiles": {"few": {"servers": []}}, "autoDetectNpmRegistry": False}
    settings |= {"publish": {"clients": {"known": {"profile": "few"}}}}
    async with rest_hub(tmp_path, settings=settings) as hub:
        before = hub.parts.home.settings.read_bytes()
        assert (await hub.ask("POST", "/api/settings/change_settings", {"changes": changes})).status == 403
        assert hub.parts.home.settings.read_bytes() == before


@pytest.mark.parametrize("http", [{"api": {"trusted": True}}, {"api": None}, None, "x"])
async def test_no_program_changes_what_programs_may_do(tmp_path: Path, http: Any) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        answer = await hub.ask("POST", "/api/settings/change_settings", {"changes": {"publish": {"http": http}}})
        assert (answer.status, answer.json["hint"]) == (403, "See `tooltray http api`.")
        for path in ("/http/api", "/api/token", "/http/token"):
            assert (await hub.ask("GET", path)).status == 404


async def test_other_settings_are_changed_by_what_is_to_be_different(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, settings={"mine": {"a": 1}}) as hub:
        seen = await hub.ask("GET", "/api/settings/get_settings")
        assert (seen.json["settings"]["mine"], seen.headers["ETag"]) == ({"a": 1}, f'"{seen.json["revision"]}"')
        merge = {"Content-Type": "application/merge-patch+json", "If-Match": seen.headers["ETag"]}
        changed = await hub.ask(
            "POST",
            "/api/settings/change_settings",
            {"changes": {"publish": {"feedback": False, "clients": {"c": {"mode": "lazy"}}}}},
            headers=merge,
        )
        assert changed.json["settings"]["publish"]["feedback"] is False
        again = await hub.ask("POST", "/api/settings/change_settings", {"changes": {"publish": {"feedback": True}}}, headers=merge)
        assert (again.status, again.json["type"]) == (412, "urn:tooltray:problem:changed-meanwhile")
        assert json.loads(hub.parts.home.settings.read_text())["publish"]["feedback"] is False


async def test_a_folder_in_one_that_a_person_allowed_is_allowed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "src" / "shop", tmp_path / "other"
    inside.mkdir(parents=True)
    outside.mkdir()
    async with rest_hub(tmp_path / "home", settings={"allowedFolders": [str(tmp_path / "src")]}) as hub:
        assert (await hub.ask("POST", "/api/projects/allow_folder", {"path": str(inside)})).status == 200
        assert (await hub.ask("POST", "/api/projects/allow_folder", {"path": str(outside)})).status == 403
        assert (await hub.ask("GET", "/api/projects/get_allowed_folders")).json[0] == str(tmp_path / "src")


async def test_what_no_path_can_be_is_refused_like_any_other(tmp_path: Path) -> None:
    async with rest_hub(tmp_path / "home") as hub:
        for odd in ("/a\0b", "/\ud800"):
            assert (await hub.ask("POST", "/api/projects/allow_folder", {"path": odd})).status == 422
        assert (await hub.ask("GET", "/servers?project=%00")).status in (400, 422)


async def test_rules_beside_all_are_nothing_more(tmp_path: Path) -> None:
    servers = {"s": {"command": "p", "disable": True, "autoApprove": ["all"]}}
    async with rest_hub(tmp_path, servers=servers) as hub:
        answer = await hub.ask("PUT", "/servers/s", {"command": "p", "disable": True, "autoApprove": ["write", "all"]})
        assert answer.status == 200


async def test_an_entry_with_two_ways_to_be_reached_says_which_by_transport(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": {"command": "p", "disable": True}}) as hub:
        both = {"command": "p", "url": "http://127.0.0.1:9/", "transport": "stdio", "disable": True}
        assert (await hub.ask("PUT", "/servers/s", both)).json["transport"] == "stdio"
        assert (await hub.ask("PUT", "/servers/s", {**both, "autoApprove": "all"})).status == 422


async def test_secrets_are_named_and_never_shown(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        assert (await hub.ask("POST", "/api/secrets/set_secret", {"name": "s/KEY", "value": "hunter2"})).status == 204
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["s/KEY"]
        assert (await hub.ask("POST", "/api/secrets/remove_secret", {"name": "s/KEY"})).status == 204
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []


OTHERS = ({"command": "q"}, {"args": ["more"]}, {"env": {"NODE_OPTIONS": "-r x"}}, {"command": None, "url": "http://127.0.0.1:9/"})


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("rules", [["all"], ["read"]])
async def test_another_program_waits_whatever_was_allowed_to_the_one_before(
    tmp_path: Path, other: dict[str, Any], rules: list[str]
) -> None:
    there = {"command": "p", "env": {"API_KEY": "${secret:s/API_KEY}"}, "disable": True, "autoApprove": rules}
    given = {key: value for key, value in {**there, **other}.items() if value is not None}
    async with rest_hub(tmp_path, servers={"s": there}) as hub:
        answer = await hub.ask("PUT", "/servers/s", given)
        assert (answer.status, answer.json["waiting"]) == (200, True)
        assert (await hub.ask("GET", "/servers/s/entry")).json == there
    async with rest_hub(tmp_path / "trusted", servers={"s": there}, is_trusted=True) as hub:
        answer = await hub.ask("PUT", "/servers/s", given)
        assert (answer.status, answer.json["waiting"]) == (200, False)


async def test_the_same_program_keeps_what_was_allowed_also_where_its_key_is_put_away(tmp_path: Path) -> None:
    there = {"command": "p", "env": {"API_KEY": "sk-ant-dummy0123456789abcdefghijklmnop"}, "disable": True, "autoApprove": ["all"]}
    async with rest_hub(tmp_path, servers={"s": there}) as hub:
        entry = (await hub.ask("GET", "/servers/s/entry")).json
        assert entry["env"] == {"API_KEY": "${secret:s/API_KEY}"}
        assert (await hub.ask("PUT", "/servers/s", {**entry, "descriptions": "Notes"})).status == 200


async def test_another_program_in_a_projects_file_does_not_get_what_a_person_chose_for_the_one_there(tmp_path: Path) -> None:
    async with rest_hub(tmp_path / "home", programs={"p": ScriptedServer(tool("t"))}) as hub:
        folder = tmp_path.resolve() / "shop"
        folder.mkdir()
        presenter = hub.parts.presenter
        await presenter.allow_folder(str(folder))
        name = await presenter.add_mcp_server("db", {"command": "p"}, project=str(folder))
        await presenter.set_server_auto_approve(name, ["all"])
        for body in ({"command": "q"}, {"command": "q", "autoApprove": ["read"]}):
            assert (await hub.ask("PUT", f"/servers/{name}", body)).json["waiting"]
        assert "q" not in (folder / ".mcp.json").read_text().split('"')
        assert (await hub.ask("PUT", f"/servers/{name}", {"command": "p", "descriptions": "Data"})).status == 200
