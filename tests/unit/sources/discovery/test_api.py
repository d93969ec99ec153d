"""api.py with the parts of a hub: a server is found, shown, added and brought to its next version."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.mcp_registry import FakeMcpRegistry, listening_registry, npm, server
from tests.fakes.scripted_server import ScriptedServer
from tests.fakes.unconfirmed import Program

from tooltray.config.settings.given_entries import check_name, read_entry
from tooltray.foundation.confirm_widening import asked_by
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.programs import resource
from tooltray.foundation.snapshots.entries import NewServer
from tooltray.sources.discovery.api import DiscoveryApi, Starter, Starters
from tooltray.sources.discovery.server_forms import made_of

NAME = "io.github.owner/notes-mcp"
KEYS = [{"name": "KEY", "isSecret": True, "isRequired": True}, {"name": "MODE", "default": "fast"}]
SECRET = "dummy-of-a-test"


def published(version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    package = npm("notes-mcp", version, environmentVariables=KEYS)
    return server(NAME, version, title="Notes", packages=[package], remotes=[{"type": "sse", "url": "https://x.example/sse"}], **members)


@asynccontextmanager
async def hub_with_registry(folder: Path) -> AsyncIterator[tuple[HubParts, FakeMcpRegistry]]:
    registry = FakeMcpRegistry()
    registry.put(published())
    registry.put(server("a/other"))
    programs = {"npx": ScriptedServer(), "uvx": ScriptedServer()}
    async with listening_registry(registry):
        settings = {"discovery": {"registry": registry.url}, "mcpEnabled": False}
        async with hub_parts(folder, servers={}, settings=settings, programs=programs) as parts:
            await parts.discovery_api.refresh_registry()
            yield parts, registry


async def test_a_server_is_found_shown_and_added_with_its_secret_among_the_secrets(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, _):
        api = parts.discovery_api
        found = await api.search_registry("not")
        assert [hit.name for hit in found.hits] == [NAME]
        assert (found.total, found.status.servers, found.hits[0].here) == (1, 2, "")
        assert (await api.search_registry("", limit=-3)).hits == ()
        shown = await api.get_registry_server(NAME)
        assert (shown.title, [option.id for option in shown.options], shown.is_deprecated) == ("Notes", ["npm-1", "remote-1"], False)
        preview = await api.preview_registry_server(NAME, "", "", {"KEY": SECRET})
        assert (preview.name, preview.command) == ("notes", ("npx", "-y", "notes-mcp@1.0.0"))
        assert (preview.secrets, preview.origin) == (("KEY",), f"{NAME} 1.0.0 (npm: notes-mcp@1.0.0)")
        assert SECRET not in str(preview)
        assert parts.config.entries == {}
        assert await api.add_registry_server(NAME, "1.0.0", "npm-1", {"KEY": SECRET}) == "notes"
        entry = parts.config.entries["notes"]
        assert entry == {"autoApprove": ["read"], **preview.entry}
        assert (entry["env"], entry["confinement"]) == ({"KEY": "${secret:notes/KEY}", "MODE": "fast"}, {"files": "own"})
        assert await parts.secrets.get("notes/KEY") == SECRET
        assert (await api.search_registry("notes")).hits[0].here == "notes"
        assert SECRET not in parts.home.settings.read_text()


async def test_a_server_elsewhere_is_shown_with_its_address(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, _):
        preview = await parts.discovery_api.preview_registry_server(NAME, "1.0.0", "remote-1", {})
        assert (preview.command, preview.url, preview.entry["type"]) == ((), "https://x.example/sse", "sse")


async def test_what_a_program_adds_waits_for_a_yes(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, _):
        with asked_by(Program()):
            assert await parts.discovery_api.add_registry_server(NAME, "", "", {"KEY": SECRET}, "mine") == "mine"
            assert await parts.discovery_api.add_starter_server("time", {}) == "time"
        assert parts.config.entries == {}
        assert parts.proposals.waits("mine")
        assert parts.proposals.waits("time")


async def test_a_name_that_is_taken_is_refused_and_a_proposed_one_is_free(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, _):
        for expected in ("notes", "notes-2"):
            assert await parts.discovery_api.add_registry_server(NAME, "", "", {"KEY": SECRET}) == expected
        with pytest.raises(Conflict):
            await parts.discovery_api.add_registry_server(NAME, "", "", {"KEY": SECRET}, "notes")
        assert await parts.secrets.names() == ["notes-2/KEY", "notes/KEY"]


async def test_what_cannot_be_added_leaves_nothing(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, _):
        for name, option, values, kind in (
            (NAME, "", {}, TooltrayError),
            (NAME, "oci-7", {"KEY": SECRET}, TooltrayError),
            ("a/none", "", {}, NotFound),
        ):
            with pytest.raises(kind):
                await parts.discovery_api.add_registry_server(name, "", option, values)
        assert (parts.config.entries, await parts.secrets.names()) == ({}, [])


async def test_a_newer_version_is_offered_and_pinned_with_what_was_given_before(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, registry):
        api = parts.discovery_api
        await api.add_registry_server(NAME, "", "npm-1", {"KEY": SECRET, "MODE": "slow"})
        assert await api.get_registry_updates() == []
        registry.put(published("1.1.0"))
        assert (await api.refresh_registry()).problem is None
        (update,) = await api.get_registry_updates()
        assert (update.server, update.version, update.newest) == ("notes", "1.0.0", "1.1.0")
        await api.update_registry_server("notes")
        entry = parts.config.entries["notes"]
        assert entry["args"] == ["-y", "notes-mcp@1.1.0"]
        assert entry["env"] == {"KEY": "${secret:notes/KEY}", "MODE": "slow"}
        assert await api.get_registry_updates() == []


async def test_the_update_that_a_program_asks_for_waits_for_a_yes(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, registry):
        await parts.discovery_api.add_registry_server(NAME, "", "npm-1", {"KEY": SECRET})
        registry.put(published("1.1.0"))
        await parts.discovery_api.refresh_registry()
        with asked_by(Program()):
            await parts.discovery_api.update_registry_server("notes")
        assert parts.config.entries["notes"]["args"] == ["-y", "notes-mcp@1.0.0"]
        assert parts.proposals.waits("notes")


async def test_well_known_servers_are_added_by_their_id(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, _):
        api = parts.discovery_api
        assert await api.add_starter_server("filesystem", {"folders": ["/a", "/b"]}) == "filesystem"
        assert parts.config.entries["filesystem"]["args"][-2:] == ["/a", "/b"]
        assert parts.config.entries["filesystem"]["confinement"] == {"files": "own"}
        assert await api.add_starter_server("brave-search", {"BRAVE_API_KEY": SECRET}, "brave") == "brave"
        assert await parts.secrets.get("brave/BRAVE_API_KEY") == SECRET
        here = {each.id: each.here for each in await api.get_starter_servers() if each.here}
        assert here == {"filesystem": "filesystem", "brave-search": "brave"}
        with pytest.raises(NotFound):
            await api.add_starter_server("none", {})


class Bundles:
    """What installs bundles."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def preview_bundle(self, *given: Any) -> NewServer:
        self.asked.append(given)
        return NewServer("notes", {})

    async def install_bundle(self, *given: Any) -> str:
        self.asked.append(given)
        return "notes"


async def test_a_bundle_is_handed_over_with_the_sha256_that_the_registry_says(tmp_path: Path) -> None:
    async with hub_with_registry(tmp_path) as (parts, registry):
        url = "https://x.example/" + "n" * 90 + ".mcpb"
        registry.put(server("a/bundle", packages=[{"registryType": "mcpb", "identifier": url, "fileSha256": "a" * 64}]))
        await parts.discovery_api.refresh_registry()
        given: Any = {"config": parts.config, "registry_copy": parts.registry_copy, "registry_updates": parts.registry_updates}
        given["new_access"] = parts.new_access
        api = DiscoveryApi(**given, starters=parts.starters, servers_api=parts.servers_api, bundles_api=(bundles := Bundles()))
        (option,) = (await api.get_registry_server("a/bundle")).options
        assert (option.kind, option.label, option.problem) == ("mcpb", url, None)
        assert (await api.preview_registry_server("a/bundle", "", "", {"A": "x"})).name == "notes"
        assert await api.add_registry_server("a/bundle", "", "mcpb-1", {"A": "x"}, "mine") == "notes"
        assert bundles.asked == [(url, "a" * 64, {"A": "x"}), (url, "a" * 64, {"A": "x"}, "mine", None)]


@pytest.mark.parametrize(("name", "here"), [("a/mcp", "mcp"), ("a/server", "server"), ("io.github.x/weather-mcp-server", "weather")])
async def test_short_names_are_proposed(tmp_path: Path, name: str, here: str) -> None:
    async with hub_with_registry(tmp_path) as (parts, registry):
        registry.put(server(name, packages=[npm("x")]))
        await parts.discovery_api.refresh_registry()
        assert (await parts.discovery_api.preview_registry_server(name, "", "", {})).name == here


STARTERS = Starters(resource("starter-servers.json"))


@pytest.mark.parametrize("starter", STARTERS.all(), ids=lambda each: each.id)
def test_each_server_of_the_list_can_be_added(starter: Starter) -> None:
    choice = starter.choice
    assert choice.option.problem is None
    values = {field.key: field.choices[0] if field.choices else "/x" for field in choice.option.fields if field.is_required}
    made = made_of(choice, values, server=starter.id)
    read_entry(starter.id, made.entry)
    check_name(starter.id, ())
    assert starter.good_for.endswith(".")
    assert len(starter.good_for) <= 90
    assert (starter.package is None) != (starter.remote is None)
    assert {field.key for field in choice.option.fields if field.is_required} <= (starter.trial or values).keys()


def test_the_list_has_some_forty_servers_each_once() -> None:
    assert 35 <= len(STARTERS.all()) <= 60
    targets = [each.target for each in STARTERS.snapshots({})]
    assert len(set(targets)) == len(targets)


def test_it_says_what_would_run_and_which_are_here() -> None:
    entries = {
        "mine": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@1.0.0", 3]},
        "search": {"command": "x", "origin": {"kind": "starter", "id": "duckduckgo"}},
        "lin": {"url": "https://mcp.linear.app/mcp"},
        "pinned": {"command": "uvx", "args": ["mcp-server-time==1.0"]},
        "odd": {"command": "x", "args": "words"},
    }
    found = {each.id: each for each in STARTERS.snapshots(entries)}
    assert found["filesystem"].target == "npx -y @modelcontextprotocol/server-filesystem '<folders>'"
    assert found["excel"].target == "uvx excel-mcp-server stdio"
    assert found["motherduck"].target == "uvx mcp-server-motherduck"
    assert found["linear"].target == "https://mcp.linear.app/mcp"
    assert {each.id: each.here for each in found.values() if each.here} == {
        "memory": "mine",
        "duckduckgo": "search",
        "linear": "lin",
        "time": "pinned",
    }
    assert [field.key for field in found["filesystem"].fields] == ["folders"]


def test_a_server_that_is_not_in_the_list_is_not_found() -> None:
    with pytest.raises(NotFound):
        STARTERS.get("none")
