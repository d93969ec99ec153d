"""Servers whose launcher is left out, from their settings to what a person sees of it."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts
from tests.fakes.npm_cache import SPEC, install_node, unpack
from tests.fakes.scripted_server import ScriptedServer


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, Any]:
    """Options of hub_parts: a server by npx whose package is unpacked."""
    node = install_node(tmp_path / "node") / "node"
    unpack(tmp_path / "me" / ".npm")
    programs = {"npx": ScriptedServer(), str(node): ScriptedServer()}
    return {"programs": programs, "shell": Shell(PATH=str(node.parent), HOME=str(tmp_path / "me"))}


def servers(**fields: Any) -> dict[str, Any]:
    return {"s": entry("npx", args=["-y", SPEC], **fields)}


def saved(parts: HubParts) -> int:
    [server] = [server for server in parts.presenter.snapshot().servers if server.name == "s"]
    return server.saved_processes


async def test_a_server_whose_package_is_unpacked_runs_without_npx_and_says_so(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(), **machine) as parts:
        assert saved(parts) == 0
        await parts.servers.start("s")
        assert [Path(launch.command).name for launch in parts.launches] == ["node"]
        assert saved(parts) == parts.launches[0].saved_processes * len(parts.servers.get("s").pids) > 0
        await parts.servers.stop("s")
        assert saved(parts) == 0


async def test_a_person_may_have_it_started_by_npx_all_the_same(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(directStart=False), **machine) as parts:
        await parts.servers.start("s")
        assert [launch.command for launch in parts.launches] == ["npx"]
        assert saved(parts) == 0


async def test_a_server_that_does_not_run_without_npx_is_started_by_npx_the_next_time(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(), **machine) as parts:
        await parts.servers.start("s")
        silent_end = parts.launches[0].on_silent_end
        assert silent_end is not None
        silent_end()
        await parts.servers.restart("s")
        assert [Path(launch.command).name for launch in parts.launches] == ["node", "npx"]
        assert saved(parts) == 0


async def test_the_doctor_names_the_command_that_a_person_wrote(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(), **machine) as parts:
        [found] = await parts.presenter.diagnose("s")
        assert found.resolved_command == str(tmp_path / "node" / "bin" / "npx")
