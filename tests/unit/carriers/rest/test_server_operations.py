"""server_operations.py: servers listed, added, changed, removed and restarted over REST."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import RestHub, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import SecretsChanged
from tooltray.foundation.snapshots.servers import ServerState

KEY = "sk-0123456789abcdefghij"


def on_disk(hub: RestHub) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(hub.parts.home.settings.read_text())
    return document


async def test_each_server_is_listed_with_how_it_is_and_its_tools(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read"), tool("write"))
    async with rest_hub(tmp_path, servers={"fs": entry("p"), "off": entry("p", disable=True)}, programs={"p": program}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "fs"})
        listed = (await hub.ask("GET", "/servers")).json
        fs, off = listed
        assert (fs["name"], fs["transport"], fs["status"], fs["state"], fs["reason"]) == ("fs", "stdio", "connected", "running", "")
        assert (fs["toolCount"], [each["originalName"] for each in fs["tools"]]) == (2, ["read", "write"])
        assert (off["status"], off["reason"]) == ("disconnected", "it is disabled in its settings")
        assert (await hub.ask("GET", "/servers/fs")).json == fs
        assert (await hub.ask("GET", "/servers/fs/tools")).json == fs["tools"]
        assert (await hub.ask("GET", "/servers/nobody/tools")).status != 200
        assert (await hub.ask("GET", "/servers/nobody")).status == 404


async def test_a_server_that_is_added_starts_and_stands_in_the_settings(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read"))
    async with rest_hub(tmp_path, programs={"node": program}, is_trusted=True) as hub:
        asked = {"name": "new-server", "command": "node", "args": ["server.js"], "transport": "stdio"}
        answer = await hub.ask("POST", "/servers", asked)
        assert (answer.status, answer.headers["Location"]) == (201, "/api/mcp/servers/new-server")
        assert answer.json["name"] == "new-server"
        assert on_disk(hub)["mcpServers"] == {
            "new-server": {"command": "node", "args": ["server.js"], "type": "stdio", "autoApprove": ["read"]}
        }
        await program.copies.wait()
        assert (await hub.ask("GET", answer.headers["Location"])).json["target"] == "node server.js"
        again = await hub.ask("POST", "/servers", asked)
        assert (again.status, again.json["type"]) == (409, "urn:tooltray:problem:conflict")


async def test_a_trusted_program_adds_servers_as_a_person_does(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, programs={"p": ScriptedServer()}, is_trusted=True) as hub:
        await hub.ask("POST", "/servers", {"name": "a", "command": "p"})
        assert on_disk(hub)["mcpServers"]["a"]["autoApprove"] == ["read"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"command": "p"}, "name: must be a string"),
        ({"name": 1, "command": "p"}, "name: must be a string"),
        ({"name": "a", "command": "p", "project": 1}, "project: must be a string"),
        ({"name": "a"}, "neither a command nor a URL"),
        ({"name": "a", "command": "p", "colour": "red"}, "unknown field 'colour'"),
        ({"name": "a", "command": "p", "args": "x"}, "args"),
        ({"name": "a/b", "command": "p"}, "a name has"),
        ({"name": "hub", "command": "p"}, "comes with Tooltray"),
        ({"name": "a", "command": "p", "type": "stdio", "transport": "http"}, "type and transport differ"),
        ([], "Expected `object`"),
    ],
)
async def test_an_entry_that_cannot_be_used_is_told_and_leaves_nothing_behind(hub: RestHub, asked: Any, said: str) -> None:
    answer = await hub.ask("POST", "/servers", asked)
    assert answer.status == 422
    assert said in answer.json["detail"]
    assert "settings.json" not in answer.json["hint"]  # a program edits no file
    assert on_disk(hub)["mcpServers"] == {}
    assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []


async def test_plain_secrets_go_to_where_secrets_are_and_are_never_shown(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, programs={"p": ScriptedServer()}, is_trusted=True) as hub:
        await hub.ask("POST", "/servers", {"name": "s", "command": "p", "env": {"API_KEY": KEY, "MODE": "fast"}})
        await hub.ask("POST", "/servers", {"name": "web", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": f"Bearer {KEY}"}})
        entries = on_disk(hub)["mcpServers"]
        assert entries["s"]["env"] == {"API_KEY": "${secret:s/API_KEY}", "MODE": "fast"}
        assert entries["web"]["headers"] == {"Authorization": "Bearer ${secret:web/Authorization}"}
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["s/API_KEY", "web/Authorization"]
        assert await hub.parts.secrets.get("s/API_KEY") == KEY
        for path in ("/servers", "/entries", "/servers/s/entry", "/hub", "/setup", "/settings", "/files"):
            assert KEY.encode() not in (await hub.ask("GET", path)).body


async def test_secrets_of_a_server_that_could_not_be_added_are_taken_back(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        hub.parts.home.settings.unlink()
        hub.parts.home.settings.mkdir()  # so that it cannot be written
        answer = await hub.ask("POST", "/servers", {"name": "s", "command": "p", "env": {"API_KEY": KEY}})
        assert answer.status == 422
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []
        hub.parts.home.settings.rmdir()


async def test_a_server_that_somebody_else_has_added_meanwhile_keeps_its_secret(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        there = {"new": {"command": "p", "disable": True, "env": {"A": "${secret:new/API_KEY}"}}}

        def somebody_saves() -> None:
            hub.parts.conf.path.write_text(json.dumps({"version": 1, "mcpServers": there}))

        hub.parts.bus.subscribe(SecretsChanged, lambda event: somebody_saves())
        answer = await hub.ask("POST", "/servers", {"name": "new", "command": "p", "env": {"API_KEY": KEY, "B_KEY": KEY}})
        assert answer.status == 409
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["new/API_KEY"]


async def test_an_entry_comes_without_its_plain_secrets_and_may_go_back_as_it_came(tmp_path: Path) -> None:
    servers = {"s": {"command": "p", "disable": True, "env": {"API_KEY": KEY}}}
    async with rest_hub(tmp_path, servers=servers, is_trusted=True) as hub:
        shown = await hub.ask("GET", "/servers/s/entry")
        assert shown.json == {"command": "p", "disable": True, "env": {"API_KEY": "${secret:s/API_KEY}"}}
        etag = {"If-Match": shown.headers["ETag"]}
        changed = await hub.ask("PUT", "/servers/s", {**shown.json, "args": ["-v"]}, headers=etag)
        assert changed.status == 200
        assert await hub.parts.secrets.get("s/API_KEY") == KEY
        assert on_disk(hub)["mcpServers"]["s"]["args"] == ["-v"]
        assert (await hub.ask("GET", "/servers/nobody/entry")).status == 404


async def test_who_has_seen_an_earlier_entry_changes_and_removes_nothing(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": {"command": "p", "disable": True}}, is_trusted=True) as hub:
        seen = (await hub.ask("GET", "/servers/s")).headers["ETag"]
        assert (await hub.ask("PUT", "/servers/s", {"command": "q", "disable": True}, headers={"If-Match": seen})).status == 200
        for method, content in (("PUT", {"command": "r", "env": {"API_KEY": KEY}}), ("DELETE", None)):
            for given in (seen, 'W/"x"', "nonsense"):
                answer = await hub.ask(method, "/servers/s", content, headers={"If-Match": given})
                assert (answer.status, answer.json["type"]) == (412, "urn:tooltray:problem:changed-meanwhile")
        assert on_disk(hub)["mcpServers"]["s"]["command"] == "q"
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []
        assert (await hub.ask("DELETE", "/servers/s", headers={"If-Match": "*"})).status == 204


async def test_calls_that_go_unasked_become_fewer_by_a_program_and_more_only_by_a_persons_yes(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": {"command": "p", "disable": True, "autoApprove": ["read", "write"]}}) as hub:
        for rules, waits in ((["read"], False), (["read", "write"], True), ([], False), (["all"], True), (["read"], True)):
            answer = await hub.ask("PUT", "/servers/s", {"command": "p", "disable": True, "autoApprove": rules})
            assert (answer.status, answer.json["waiting"]) == (200, waits), rules
        assert (await hub.ask("PUT", "/servers/s", {"command": "p", "disable": True})).json["waiting"]  # without rules reads go unasked
        assert on_disk(hub)["mcpServers"]["s"]["autoApprove"] == []


async def test_a_server_is_removed(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with rest_hub(tmp_path, servers={"old-server": entry("p")}, programs={"p": program}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "old-server"})
        answer = await hub.ask("DELETE", "/servers/old-server")
        assert (answer.status, answer.body) == (204, b"")
        assert on_disk(hub)["mcpServers"] == {}
        await program.closing.wait()
        assert (await hub.ask("DELETE", "/servers/old-server")).status == 404


async def test_a_restart_is_answered_before_it_is_done(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with rest_hub(tmp_path, servers={"s": entry("p"), "off": entry("p", disable=True)}, programs={"p": program}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        program.may_end.clear()
        answer = await hub.ask("POST", "/servers/s/restart")
        assert (answer.status, answer.json) == (202, {"state": "restarting"})
        shown = (await hub.ask("GET", "/servers/s")).json
        assert (shown["state"], shown["status"], shown["reason"]) == ("restarting", "disconnected", "it is being restarted")
        go_on = program.hold("initialize")
        program.may_end.set()
        await program.copies.wait(count=2)
        assert (await hub.ask("GET", "/servers/s")).json["state"] == "restarting"
        go_on.set()
        await hub.parts.heard.until(lambda: hub.parts.servers.get("s").state is ServerState.RUNNING)
        shown = (await hub.ask("GET", "/servers/s")).json
        assert (shown["state"], shown["status"]) == ("running", "connected")
        assert (await hub.ask("POST", "/servers/nobody/restart")).status == 404
        assert (await hub.ask("POST", "/servers/off/restart")).status == 409


async def test_a_restart_that_fails_shows_in_the_servers_state(tmp_path: Path) -> None:
    program = ScriptedServer()
    program.fails_to_open = TooltrayError("it will not")
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": program}) as hub:
        assert (await hub.ask("POST", "/servers/s/restart")).status == 202
        await hub.parts.heard.until(lambda: hub.parts.servers.get("s").state is ServerState.ERROR)
        shown = (await hub.ask("GET", "/servers/s")).json
        assert (shown["status"], "it will not" in shown["reason"]) == ("error", True)


async def test_a_server_is_started_and_stopped_and_shown_as_it_is_then(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": ScriptedServer()}) as hub:
        assert (await hub.ask("POST", "/api/servers/start_server", {"name": "s"})).status == 204
        assert (await hub.ask("GET", "/servers/s")).json["status"] == "connected"
        assert (await hub.ask("GET", "/api/servers/is_server_running?name=s")).json is True
        assert (await hub.ask("POST", "/api/servers/stop_server", {"name": "s"})).status == 204
        assert (await hub.ask("GET", "/servers/s")).json["state"] == "stopped"


async def test_one_tool_is_switched_off_and_another_is_called_otherwise(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a/b"), tool("c"))
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": program}, is_trusted=True) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        assert (await hub.ask("POST", "/api/tools/set_tool_enabled", {"server": "s", "tool": "a/b", "enabled": False})).status == 204
        assert on_disk(hub)["mcpServers"]["s"]["disabledTools"] == ["a/b"]
        assert (await hub.ask("POST", "/api/views/set_tool_override", {"server": "s", "tool": "c", "name": "sea"})).status == 204
        assert on_disk(hub)["mcpServers"]["s"]["toolOverrides"] == {"c": {"name": "sea"}}


async def test_servers_of_one_project_are_those_that_its_sessions_have(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        assert [each["name"] for each in (await hub.ask("GET", "/servers?project=/nowhere")).json] == ["s"]


async def test_a_server_of_a_project_goes_into_its_file_and_is_there_at_once_though_nobody_works_on_it(tmp_path: Path) -> None:
    shop = tmp_path.resolve() / "shop"
    shop.mkdir()
    settings = {"allowedFolders": [str(shop)]}
    async with rest_hub(tmp_path / "home", programs={"p": ScriptedServer(tool("read"))}, settings=settings, is_trusted=True) as hub:
        await hub.parts.files.start()
        answer = await hub.ask("POST", "/servers", {"name": "a", "command": "p", "env": {"API_KEY": KEY}, "project": str(shop)})
        assert (answer.status, answer.headers["Location"]) == (201, "/api/mcp/servers/a")
        assert (answer.json["project"], answer.json["file"]) == (str(shop), str(shop / ".mcp.json"))
        written = json.loads((shop / ".mcp.json").read_text())["mcpServers"]
        assert written == {"a": {"command": "p", "env": {"API_KEY": "${secret:a/API_KEY}"}, "transport": "stdio"}}
        assert (await hub.ask("GET", "/servers/a")).json["autoApprove"] == ["read"]
        assert on_disk(hub)["mcpServers"] == {}
        assert (await hub.ask("GET", "/servers/a")).json == (await hub.ask("GET", f"/servers?project={shop}")).json[0]
        assert len((await hub.ask("GET", f"/servers?project={shop}/../shop")).json) == 1  # by whatever path it is reached
        shown = (await hub.ask("GET", "/servers/a/entry")).headers["ETag"]
        changed = await hub.ask("PUT", "/servers/a", {"command": "p", "descriptions": "new"}, headers={"If-Match": shown})
        assert changed.status == 200, changed.body
        assert json.loads((shop / ".mcp.json").read_text())["mcpServers"]["a"]["descriptions"] == "new"
        assert (await hub.ask("PUT", "/servers/a", {"command": "q"}, headers={"If-Match": shown})).status == 412
        again = await hub.ask("POST", "/servers", {"name": "a", "command": "p", "project": str(shop)})
        assert again.status == 409
        assert (await hub.ask("DELETE", "/servers/a")).status == 204
        assert json.loads((shop / ".mcp.json").read_text()) == {"mcpServers": {}}


async def test_a_server_goes_into_no_folder_that_nobody_has_allowed(tmp_path: Path) -> None:
    async with rest_hub(tmp_path / "home") as hub:
        for project in (tmp_path, tmp_path / "nowhere", "relative"):
            answer = await hub.ask("POST", "/servers", {"name": "a", "command": "p", "env": {"API_KEY": KEY}, "project": str(project)})
            assert 400 <= answer.status < 500
        assert not (tmp_path / ".mcp.json").exists()
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []


async def test_of_programs_that_add_one_name_at_once_the_first_has_it_with_its_own_secret(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, programs={"p": ScriptedServer()}) as hub:
        keys = [f"{KEY}{number}" for number in range(4)]
        asked = ({"name": "new", "command": "p", "env": {"API_KEY": key}} for key in keys)
        answers = await asyncio.gather(*(hub.ask("POST", "/servers", each) for each in asked))
        assert sorted(answer.status for answer in answers) == [201, 409, 409, 409]
        first = [answer.status for answer in answers].index(201)
        assert await hub.parts.secrets.get("new/API_KEY") == keys[first]


async def test_of_programs_that_change_what_they_have_seen_at_once_one_does_and_its_secret_counts(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": ScriptedServer()}, is_trusted=True) as hub:
        seen = (await hub.ask("GET", "/servers/s")).headers["ETag"]
        keys = [f"{KEY}{number}" for number in range(4)]
        asked = ({"command": "p", "autoApprove": ["read"], "env": {"API_KEY": key}} for key in keys)
        answers = await asyncio.gather(*(hub.ask("PUT", "/servers/s", each, headers={"If-Match": seen}) for each in asked))
        assert sorted(answer.status for answer in answers) == [200, 412, 412, 412]
        first = [answer.status for answer in answers].index(200)
        assert await hub.parts.secrets.get("s/API_KEY") == keys[first]


async def test_a_deleted_servers_own_secrets_go_with_it_and_what_is_unused_can_be_asked_for(tmp_path: Path) -> None:
    servers = {"s": {"command": "p", "disable": True, "env": {"A": "${secret:s/A}", "B": "${secret:team}"}}}
    servers["t"] = {"command": "p", "disable": True, "env": {"B": "${secret:team}"}}
    async with rest_hub(tmp_path, servers=servers) as hub:
        for name in ("s/A", "team", "odd"):
            await hub.parts.presenter.set_secret(name, "dummy-value")
        said = (await hub.ask("GET", "/api/secrets/preview_removal?name=s")).json
        assert (said["secrets"], said["shared"]) == (["s/A"], [{"name": "team", "users": ["t"]}])
        assert (await hub.ask("DELETE", "/servers/s")).status == 204
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["odd", "team"]
        assert (await hub.ask("DELETE", "/servers/t?keepSecrets=true")).status == 204
        assert (await hub.ask("GET", "/api/secrets/get_unused_secrets")).json == ["odd", "team"]
        assert (await hub.ask("POST", "/api/secrets/remove_unused_secrets", {"names": ["team", "none"]})).json == ["team"]
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["odd"]
