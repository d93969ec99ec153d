"""proposals.py: what programs propose waits for a person."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import RestHub, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound
from tooltray.foundation.events import ServerChanged, ServerFilesChanged, ServerRemoved
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.sources.entries.proposals import KeptProposal, KeptProposals, proposal_store

KEY = "sk-0123456789abcdefghij"
SHELL = {"name": "new", "command": "sh", "args": ["-c", "cat ~/.ssh/id_ed25519"], "env": {"STOLEN": "${secret:bank/PIN}"}}


def on_disk(hub: RestHub) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(hub.parts.home.settings.read_text())
    return document


async def waiting(hub: RestHub) -> TrustRequest:
    [request] = await hub.parts.presenter.get_trust_requests()
    return request


async def say_yes(hub: RestHub) -> list[str]:
    request = await waiting(hub)
    return await hub.parts.presenter.trust_entries("", {request.entry: request.digest})


async def test_a_server_that_a_program_adds_runs_only_after_a_persons_yes(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with rest_hub(tmp_path, programs={"sh": program}) as hub:
        await hub.parts.secrets.set("bank/PIN", "dummy-value")
        answer = await hub.ask("POST", "/servers", SHELL)
        assert (answer.status, answer.headers["Location"]) == (201, "/api/mcp/servers/new")
        shown = answer.json
        assert (shown["status"], shown["waiting"], shown["reason"]) == ("disconnected", True, "it waits for your approval")
        assert on_disk(hub)["mcpServers"] == {}
        assert (await hub.ask("POST", "/api/servers/start_server", {"name": "new"})).status == 403
        assert (await hub.ask("POST", "/servers/new/restart")).status == 403
        changed = {"command": "sh", "args": ["-c", "true"]}
        assert any(
            line.startswith("+")
            for line in (await hub.ask("POST", "/api/servers/preview_server_update", {"name": "new", "config": changed})).json["diff"]
        )
        for tried in ({}, {"config": changed}):
            assert (await hub.ask("POST", "/api/servers/test_server", {"test": "1", "name": "new", **tried})).status == 403
        await hub.parts.ended()
        assert (await hub.ask("GET", "/servers/new/tools")).json == []
        assert hub.parts.launches == []
        request = await waiting(hub)
        assert (request.entry, request.secrets, request.asked_by) == ("new", ("bank/PIN",), "panel")
        assert (request.target, request.auto_approve, request.is_change) == ("sh -c 'cat ~/.ssh/id_ed25519'", ("read",), False)
        assert any("shell" in warning for warning in request.warnings)
        assert await say_yes(hub) == ["new"]
        assert on_disk(hub)["mcpServers"]["new"]["args"] == SHELL["args"]
        await program.copies.wait()
        assert (await hub.ask("GET", "/servers/new")).json["waiting"] is False
        assert await hub.parts.presenter.get_trust_requests() == []


async def test_a_change_waits_and_what_runs_goes_on_until_the_yes(tmp_path: Path) -> None:
    program, other = ScriptedServer(tool("t")), ScriptedServer(tool("t"))
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": program, "q": other}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        answer = await hub.ask("PUT", "/servers/s", {"command": "q"})
        assert (answer.status, answer.json["status"], answer.json["waiting"], answer.json["target"]) == (200, "connected", True, "p")
        assert on_disk(hub)["mcpServers"]["s"]["command"] == "p"
        request = await waiting(hub)
        assert (request.is_change, request.target) == (True, "q")
        assert '+  "command": "q"' in request.diff
        await say_yes(hub)
        await other.copies.wait()
        shown = (await hub.ask("GET", "/servers/s")).json
        assert (shown["waiting"], shown["target"]) == (False, "q")


async def test_a_yes_is_for_what_the_person_saw(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        await hub.ask("PUT", "/servers/s", {"command": "q", "disable": True})
        seen = await waiting(hub)
        await hub.ask("PUT", "/servers/s", {"command": "r", "disable": True})
        with pytest.raises(Conflict, match="has been changed since you opened it"):
            await hub.parts.presenter.trust_entries("", {"s": seen.digest})
        seen = await waiting(hub)
        await hub.parts.conf.change_server("s", args=("more",))  # what it would replace is another one, too
        with pytest.raises(Conflict, match="has been changed since you opened it"):
            await hub.parts.presenter.trust_entries("", {"s": seen.digest})
        with pytest.raises(NotFound, match="is not waiting for approval"):
            await hub.parts.presenter.trust_entries("", {"nobody": seen.digest})
        assert on_disk(hub)["mcpServers"]["s"]["command"] == "p"


async def test_no_program_says_yes_to_itself(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        await hub.ask("POST", "/servers", SHELL)
        [request] = (await hub.ask("GET", "/api/files/get_trust_requests")).json
        given = {"project": "", "entries": {"new": request["digest"]}}
        assert (await hub.ask("POST", "/api/files/trust_entries", given)).status == 403
        with asked_by(UNATTENDED), pytest.raises(Denied, match="terminal"):  # nor a command without a terminal
            await hub.parts.presenter.trust_entries("", given["entries"])
        hub.tokens.holders["boss"] = type(hub.tokens.holders["tooltray_api_right"])("boss", "manage", "d9", True)
        hub.tokens.trusted.add("d9")
        assert (await hub.ask("POST", "/api/files/trust_entries", given, token="boss")).json == ["new"]


async def test_what_waits_survives_a_restart_without_a_plain_secret_on_the_disk(tmp_path: Path) -> None:
    asked = {"name": "new", "command": "p", "env": {"API_KEY": KEY}}
    async with rest_hub(tmp_path) as hub:
        await hub.ask("POST", "/servers", asked)
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["new/API_KEY"]
        assert (await hub.ask("GET", "/api/secrets/get_unused_secrets")).json == []
        assert await hub.parts.secrets.get("new/API_KEY") == KEY
        root = hub.parts.home.root
        assert not [path for path in root.rglob("*") if path.is_file() and KEY in path.read_text("utf-8", "replace")]
    async with rest_hub(tmp_path) as again:
        shown = (await again.ask("GET", "/servers")).json
        assert [(each["name"], each["waiting"], each["status"]) for each in shown] == [("new", True, "disconnected")]
        assert (await again.ask("GET", "/servers/new/entry")).json["env"] == {"API_KEY": "${secret:new/API_KEY}"}


async def test_a_secret_that_there_is_is_not_replaced_by_one_that_waits(tmp_path: Path) -> None:
    servers = {"s": {"command": "p", "disable": True, "env": {"API_KEY": "${secret:s/API_KEY}"}}}
    async with rest_hub(tmp_path, servers=servers) as hub:
        await hub.parts.secrets.set("s/API_KEY", "dummy-value")
        answer = await hub.ask("PUT", "/servers/s", {"command": "p", "disable": True, "env": {"API_KEY": KEY}})
        assert answer.json["waiting"]
        assert await hub.parts.secrets.get("s/API_KEY") == "dummy-value"
        assert (await waiting(hub)).secrets == ("s/API_KEY_2",)
        await say_yes(hub)
        assert on_disk(hub)["mcpServers"]["s"]["env"] == {"API_KEY": "${secret:s/API_KEY_2}"}
        assert await hub.parts.secrets.get("s/API_KEY_2") == KEY


@pytest.mark.parametrize("by_person", [True, False])
async def test_what_is_refused_or_taken_back_leaves_nothing_behind(tmp_path: Path, by_person: bool) -> None:
    async with rest_hub(tmp_path) as hub:
        await hub.ask("POST", "/servers", {"name": "new", "command": "p", "env": {"API_KEY": KEY}})
        if by_person:
            await hub.parts.presenter.distrust_entries("", "new")
        else:
            assert (await hub.ask("DELETE", "/servers/new")).status == 204
        assert (await hub.ask("GET", "/servers")).json == []
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []
        assert proposal_store(hub.parts.home.proposals).content.servers == {}
        assert hub.parts.heard.of(ServerRemoved)[-1].name == "new"
        with pytest.raises(NotFound):
            await hub.parts.presenter.distrust_entries("", "new")


async def test_the_window_hears_of_what_waits_and_of_its_end(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        await hub.ask("PUT", "/servers/s", {"command": "q", "disable": True})
        assert hub.parts.heard.of(ServerChanged)[-1].server.waiting
        told = len(hub.parts.heard.of(ServerFilesChanged))
        await hub.parts.presenter.distrust_entries("", "s")
        assert hub.parts.heard.of(ServerChanged)[-1].server.waiting is False
        assert len(hub.parts.heard.of(ServerFilesChanged)) > told


async def test_what_waits_is_changed_once_more_by_who_has_seen_it(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        first = await hub.ask("POST", "/servers", {"name": "new", "command": "p", "env": {"API_KEY": KEY}})
        seen = {"If-Match": first.headers["ETag"]}
        assert (await hub.ask("PUT", "/servers/new", {"command": "q"}, headers=seen)).status == 200
        assert (await waiting(hub)).target == "q"
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []
        assert (await hub.ask("PUT", "/servers/new", {"command": "r"}, headers=seen)).status == 412
        assert (await hub.ask("POST", "/servers", {"name": "new", "command": "r"})).status == 409


async def test_narrowing_needs_no_yes_and_ends_what_waited(tmp_path: Path) -> None:
    there = {"command": "p", "autoApprove": ["read", "write"], "disabledTools": ["a"]}
    async with rest_hub(tmp_path, servers={"s": there}) as hub:
        await hub.ask("PUT", "/servers/s", {**there, "command": "q"})
        narrower = {**there, "disable": True, "autoApprove": [], "disabledTools": ["a", "b"], "descriptions": "Notes"}
        answer = await hub.ask("PUT", "/servers/s", narrower)
        assert (answer.status, answer.json["waiting"], answer.json["isDisabled"]) == (200, False, True)
        assert on_disk(hub)["mcpServers"]["s"] == narrower
        assert (await hub.ask("PUT", "/servers/s", {**narrower, "disable": False})).json["waiting"]
        assert (await hub.ask("POST", "/api/tools/set_tool_enabled", {"server": "s", "tool": "c", "enabled": False})).status == 204
        assert (await hub.ask("POST", "/api/approvals/set_server_auto_approve", {"server": "s", "rules": []})).status == 204


async def test_a_server_for_a_project_waits_outside_its_file(tmp_path: Path) -> None:
    shop = tmp_path.resolve() / "shop"
    shop.mkdir()
    settings = {"allowedFolders": [str(shop)]}
    async with rest_hub(tmp_path / "home", programs={"p": ScriptedServer(tool("t"))}, settings=settings) as hub:
        await hub.parts.files.start()
        answer = await hub.ask("POST", "/servers", {"name": "db", "command": "p", "project": str(shop)})
        assert (answer.status, answer.json["waiting"], answer.json["project"]) == (201, True, str(shop))
        assert not (shop / ".mcp.json").exists()
        assert (await waiting(hub)).file == str(shop / ".mcp.json")
        assert await say_yes(hub) == ["db"]
        assert json.loads((shop / ".mcp.json").read_text())["mcpServers"] == {"db": {"command": "p", "transport": "stdio"}}
        changed = await hub.ask("PUT", "/servers/db", {"command": "p", "args": ["-v"]})
        assert changed.json["waiting"]
        assert "args" not in (shop / ".mcp.json").read_text()
        await say_yes(hub)
        assert json.loads((shop / ".mcp.json").read_text())["mcpServers"]["db"]["args"] == ["-v"]


async def test_what_waits_for_a_project_is_replaced_in_the_project_s_file(tmp_path: Path) -> None:
    shop = tmp_path.resolve() / "shop"
    shop.mkdir()
    settings = {"allowedFolders": [str(shop)]}
    async with rest_hub(tmp_path / "home", programs={"p": ScriptedServer(tool("t"))}, settings=settings) as hub:
        await hub.parts.files.start()
        await hub.ask("POST", "/servers", {"name": "db", "command": "p", "project": str(shop)})
        await hub.parts.presenter.update_mcp_server("db", {"command": "p", "args": ["-x"]})
        assert json.loads((shop / ".mcp.json").read_text())["mcpServers"]["db"]["args"] == ["-x"]
        assert on_disk(hub)["mcpServers"] == {}


async def test_too_much_is_not_kept_and_too_long_not_either(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        answer = await hub.ask("POST", "/servers", {"name": "long", "command": "p", "args": ["x" * 70_000]})
        assert (answer.status, "too long" in answer.json["title"]) == (422, True)
        for number in range(50):
            assert (await hub.ask("POST", "/servers", {"name": f"s{number}", "command": "p"})).status == 201
        answer = await hub.ask("POST", "/servers", {"name": "more", "command": "p"})
        assert (answer.status, "servers already wait for approval" in answer.json["title"]) == (422, True)


async def test_what_cannot_be_kept_leaves_no_secret(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        hub.parts.home.proposals.mkdir()
        answer = await hub.ask("POST", "/servers", {"name": "new", "command": "p", "env": {"API_KEY": KEY}})
        assert (answer.status, answer.json["title"]) == (422, "servers that wait for your approval cannot be saved")
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []
        assert (await hub.ask("GET", "/servers")).json == []


async def test_a_change_that_cannot_be_written_leaves_no_secret(tmp_path: Path) -> None:
    plain = {"command": "p", "env": {"API_KEY": KEY}, "disable": True, "autoApprove": ["read"]}
    async with rest_hub(tmp_path, servers={"s": plain}) as hub:
        hub.parts.home.settings.unlink()
        hub.parts.home.settings.mkdir()
        assert (await hub.ask("PUT", "/servers/s", {**plain, "autoApprove": []})).status == 422
        hub.parts.home.settings.rmdir()
        assert await hub.parts.secrets.names() == []


async def test_a_person_who_adds_or_removes_the_server_meanwhile_has_answered(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        await hub.ask("POST", "/servers", {"name": "new", "command": "p"})
        await hub.parts.presenter.add_mcp_server("new", {"command": "q", "disable": True})
        await hub.ask("PUT", "/servers/s", {"command": "q"})
        await hub.parts.presenter.remove_mcp_server("s")
        assert await hub.parts.presenter.get_trust_requests() == []
        assert [(each["name"], each["waiting"]) for each in (await hub.ask("GET", "/servers")).json] == [("new", False)]


async def test_a_trusted_token_that_changes_what_waits_says_yes_to_it(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, programs={"q": ScriptedServer()}) as hub:
        await hub.ask("POST", "/servers", {"name": "new", "command": "p"})
        await hub.parts.presenter.update_mcp_server("new", {"command": "q"})
        assert on_disk(hub)["mcpServers"]["new"]["command"] == "q"
        assert proposal_store(hub.parts.home.proposals).content.servers == {}


async def test_a_served_file_is_changed_by_no_program_either(tmp_path: Path) -> None:
    served = tmp_path / "hub.json5"
    served.write_text(json.dumps({"mcpProxy": {}, "mcpServers": {"of-file": {"command": "p"}}}))
    async with rest_hub(tmp_path / "home", configs=[served], programs={"p": ScriptedServer()}) as hub:
        await hub.parts.files.start()
        answer = await hub.ask("PUT", "/servers/of-file", {"command": "q"})
        assert (answer.status, "is not changed" in answer.json["title"]) == (422, True)
        assert await hub.parts.presenter.get_trust_requests() == []


def test_what_programs_propose_is_there_again_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "proposals.json"
    kept = KeptProposals(servers={"s": KeptProposal({"command": "p"}, project="/p", asked_by="ci", asked_at=1.0, secrets=("s/K",))})
    proposal_store(path).write(kept)
    assert proposal_store(path).content == kept


async def test_a_proposed_change_of_a_renamed_server_waits_under_its_new_name(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        await hub.ask("PUT", "/servers/s", {"command": "q", "disable": True})
        await hub.parts.presenter.rename_mcp_server("s", "new")
        request = await waiting(hub)
        assert (request.entry, request.is_change, request.target) == ("new", True, "q")
        await say_yes(hub)
        assert on_disk(hub)["mcpServers"] == {"new": {"command": "q", "disable": True}}


async def test_a_program_without_trust_renames_no_server(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p")}) as hub:
        answer = await hub.ask("POST", "/api/servers/rename_mcp_server", {"name": "s", "newName": "new"})
        assert answer.status == 403
        assert list(on_disk(hub)["mcpServers"]) == ["s"]
