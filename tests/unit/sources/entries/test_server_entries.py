"""server_entries.py: a server and its secrets come in together or not at all, and its tools ask before they change something."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.unconfirmed import Program

from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.confirmation import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, SecretsUnreachable, TooltrayError
from tooltray.foundation.remote import JsonObject
from tooltray.sources.entries.pasted import parse_pasted
from tooltray.sources.entries.server_entries import ORIGIN, free_name

ENTRY = {
    "command": "program",
    "args": ["--key", "${secret:git/KEY}"],
    "env": {"KEY": "${secret:git/KEY}"},
    "disable": True,
    ORIGIN: {"kind": "link"},
}
KEY = {"git/KEY": "dummy-value"}
THERE = {"git": {"command": "other", "disable": True}}


async def add_typed(parts: HubParts) -> None:
    await parts.servers_api.add_mcp_server("new", {"command": "program", "disable": True})


async def add_pasted(parts: HubParts) -> None:
    [pasted] = parse_pasted('{"new": {"command": "program", "disable": true}}')
    entry, secrets = pasted.stored_as("new", {})
    await parts.servers_api.add_mcp_server("new", entry, secrets=secrets)


async def add_link(parts: HubParts) -> None:
    [pasted] = parse_pasted("vscode:mcp/install?%7B%22name%22%3A%22new%22%2C%22command%22%3A%22program%22%7D")
    entry, _ = pasted.stored_as("new", {})
    await parts.servers_api.add_mcp_server("new", {**entry, "disable": True})


async def add_with_a_program(parts: HubParts) -> None:
    with asked_by(Program()):
        await parts.servers_api.add_mcp_server("new", {"command": "program", "disable": True})
    [request] = await parts.proposals.requests()
    await parts.proposals.trust({"new": request.digest})


WAYS: Mapping[str, Callable[[HubParts], Awaitable[None]]] = {
    "a command line": add_typed,
    "a paste": add_pasted,
    "a link": add_link,
    "a program's proposal": add_with_a_program,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_is_added_asks_before_it_changes_something(tmp_path: Path, way: str) -> None:
    async with hub_parts(tmp_path) as parts:
        await WAYS[way](parts)
        assert parts.config.settings.mcp_servers["new"].auto_approve == ("read",)
        assert parts.config.entries["new"]["autoApprove"] == ["read"]  # in the file, too, where a person looks for it


async def test_a_server_of_a_project_asks_and_its_file_says_nothing_of_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with hub_parts(tmp_path) as parts:
        await parts.folders.allow(str(project))
        name = await parts.servers_api.add_mcp_server("new", {"command": "program", "disable": True}, project=str(project))
        assert parts.config.settings.mcp_servers[name].auto_approve == ("read",)
        assert "autoApprove" not in (project / ".mcp.json").read_text()


async def test_what_an_entry_says_itself_counts_and_entries_that_are_there_stay(tmp_path: Path) -> None:
    here: JsonObject = {"old": {"command": "p", "autoApprove": ["all"], "disable": True}, "hand": {"command": "p", "disable": True}}
    async with hub_parts(tmp_path, servers=here) as parts:
        await parts.servers_api.add_mcp_server("new", {"command": "program", "autoApprove": ["all"], "disable": True})
        assert parts.config.entries == {**here, "new": {"command": "program", "autoApprove": ["all"], "disable": True}}


async def test_a_command_that_adds_a_server_which_runs_everything_needs_a_person(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with asked_by(UNATTENDED):
            await parts.servers_api.add_mcp_server("one", {"command": "program", "disable": True})
            with pytest.raises(Denied, match="Allowing tool calls"):
                await parts.servers_api.add_mcp_server("two", {"command": "program", "autoApprove": ["all"], "disable": True})
        assert list(parts.config.entries) == ["one"]


# with its secrets


async def test_a_server_is_added_with_its_secrets_and_keeps_where_it_is_from(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        assert await parts.servers_api.add_mcp_server("git", ENTRY, secrets=KEY) == "git"
        assert await parts.secrets.get("git/KEY") == "dummy-value"
        assert parts.config.entries["git"] == {"autoApprove": ["read"], **ENTRY}


REFUSED: Mapping[str, tuple[str, Any, type[TooltrayError]]] = {
    "its name is taken": ("git", ENTRY, Conflict),
    "its name cannot be used": ("a/b", ENTRY, TooltrayError),
    "its entry cannot be used": ("new", {"command": 3}, TooltrayError),
    "its folder is none": ("new", {"command": "program"}, TooltrayError),
}


@pytest.mark.parametrize("why", REFUSED)
async def test_of_a_server_that_is_refused_no_secret_stays_and_others_are_what_they_were(tmp_path: Path, why: str) -> None:
    name, entry, error = REFUSED[why]
    async with hub_parts(tmp_path, servers=THERE) as parts:
        await parts.secrets.set("git/OLD", "dummy-before")
        with pytest.raises(error):
            await parts.servers_api.add_mcp_server(
                name,
                entry,
                project=str(tmp_path / "none") if "folder" in why else "",
                secrets={**KEY, "git/OLD": "dummy-after"},
            )
        assert await parts.secrets.names() == ["git/OLD"]
        assert await parts.secrets.get("git/OLD") == "dummy-before"
        assert parts.config.entries == THERE


async def test_where_settings_cannot_be_written_the_secrets_are_what_they_were(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=THERE) as parts:
        await parts.secrets.set("git/OLD", "dummy-before")
        secrets = {**KEY, "git/OLD": "dummy-after"}
        parts.home.settings.unlink()
        parts.home.settings.mkdir()  # so that it cannot be written
        with pytest.raises(TooltrayError):
            await parts.servers_api.add_mcp_server("new", ENTRY, secrets=secrets)
        with pytest.raises(TooltrayError):
            await parts.servers_api.update_mcp_server("git", ENTRY, secrets=secrets)
        assert (await parts.secrets.names(), await parts.secrets.get("git/OLD")) == (["git/OLD"], "dummy-before")
        parts.home.settings.rmdir()


async def test_where_a_secret_cannot_be_stored_no_server_is_added_and_those_before_it_are_gone(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with pytest.raises(TooltrayError):
            await parts.servers_api.add_mcp_server("git", ENTRY, secrets={**KEY, "git/\n": "dummy-value"})
        assert (parts.config.entries, await parts.secrets.names()) == ({}, [])


async def test_where_secrets_are_locked_nothing_is_added(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        parts.secrets.use("file")
        with pytest.raises(SecretsUnreachable):
            await parts.servers_api.add_mcp_server("git", ENTRY, secrets=KEY)
        assert parts.config.entries == {}


async def test_a_new_entry_and_its_new_secrets_count_together(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=THERE) as parts:
        await parts.servers_api.update_mcp_server("git", ENTRY, secrets=KEY)
        assert (parts.config.entries["git"], await parts.secrets.get("git/KEY")) == (ENTRY, "dummy-value")


async def test_what_a_program_adds_waits_for_consent_and_its_secrets_are_in_no_file(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with asked_by(Program()):
            assert await parts.servers_api.add_mcp_server("git", ENTRY, secrets=KEY) == "git"
        assert "git" not in parts.config.entries
        assert parts.proposals.waits("git")
        assert {await parts.secrets.get(name) for name in await parts.secrets.names()} == {"dummy-value"}
        assert "dummy-value" not in str(parts.proposals.entries)


async def test_what_a_program_changes_waits_with_its_secrets(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=THERE) as parts:
        with asked_by(Program()):
            await parts.servers_api.update_mcp_server("git", ENTRY, secrets=KEY)
        assert parts.config.entries == THERE
        assert {await parts.secrets.get(name) for name in await parts.secrets.names()} == {"dummy-value"}


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert [free_name(name, ["git", "git-2"]) for name in ("git", "wiki", "hub")] == ["git-3", "wiki", "hub-2"]


def test_an_entry_that_is_written_by_hand_asks_before_changes_too() -> None:
    assert read_entry("hand", {"command": "program"}).auto_approve == ("read",)
