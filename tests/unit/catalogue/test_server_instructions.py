"""catalogue/server_instructions.py: what servers say of themselves, also while they do not run."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts, one_server
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.settings.server_config import MCPServerConfig


def saying(instructions: Any, *, eras: tuple[str, ...] = ("legacy",)) -> ScriptedServer:
    """A server that greets with these `instructions`, in whatever era it is opened."""
    program = ScriptedServer(tool("a"), eras=eras)
    greeting = {"capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}, "instructions": instructions}
    program.handlers["initialize"] = lambda copy, params: {"protocolVersion": "2025-11-25", **greeting}
    if "modern" in eras:
        program.handlers["server/discover"] = lambda copy, params: {"supportedVersions": ["2026-07-28"], **greeting}
    return program


async def said_of(parts: HubParts, server: str = "s") -> str:
    await parts.ended()
    return parts.instructions.of(parts.servers.get(server))


@pytest.mark.parametrize("eras", [("legacy",), ("modern",)])
async def test_a_hub_that_has_just_started_knows_what_a_server_said_in_an_earlier_one(tmp_path: Path, eras: tuple[str, ...]) -> None:
    async with hub_parts(tmp_path, **one_server(saying("Reads files.", eras=eras))) as parts:
        assert parts.instructions.of(parts.servers.get("s")) == ""
        await parts.servers.start("s")
        assert parts.instructions.of(parts.servers.get("s")) == "Reads files."
        await parts.ended()
    async with hub_parts(tmp_path, programs={"program": ScriptedServer()}) as parts:
        assert parts.instructions.of(parts.servers.get("s")) == "Reads files."


@pytest.mark.parametrize("nothing", [None, 5, "", " \n"])
async def test_a_server_that_says_nothing_any_more_is_believed(tmp_path: Path, nothing: Any) -> None:
    async with hub_parts(tmp_path, **one_server(saying("Reads files."))) as parts:
        await parts.servers.start("s")
        await parts.ended()
    async with hub_parts(tmp_path, programs={"program": saying(nothing)}) as parts:
        await parts.servers.start("s")
        assert await said_of(parts) == ""
    async with hub_parts(tmp_path, programs={"program": ScriptedServer()}) as parts:
        assert await said_of(parts) == ""


async def test_what_another_program_said_under_the_name_does_not_count(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(saying("Reads files."))) as parts:
        await parts.servers.start("s")
        await parts.ended()
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), args=["--other"])) as parts:
        assert await said_of(parts) == ""


async def test_with_a_server_goes_what_it_said(tmp_path: Path) -> None:
    programs = {"program": saying("Reads files.")}
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs=programs) as parts:
        await parts.servers.start("s")
        await parts.conf.remove_server("s")
        await parts.ended()
        await parts.conf.set_server("s", MCPServerConfig(command="program"))
        assert parts.instructions.of(parts.servers.get("s")) == ""
        await parts.servers.start("s")
        await parts.ended()
    async with hub_parts(tmp_path, programs=programs) as parts:
        assert await said_of(parts) == "Reads files."


async def test_a_secret_in_it_is_masked_before_it_is_kept(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(saying("Log in with hunter2."))) as parts:
        await parts.servers.start("s")
        assert await said_of(parts) == "Log in with ***."
    kept = b"".join(path.read_bytes() for path in (tmp_path / "catalogue").iterdir())
    assert b"Log in with" in kept
    assert b"hunter2" not in kept


async def test_a_text_without_measure_is_cut(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(saying("word " * 200_000))) as parts:
        await parts.servers.start("s")
        assert len((await said_of(parts)).encode()) <= 8192


async def test_a_copy_for_one_session_does_not_speak_for_all(tmp_path: Path) -> None:
    program = saying("For all.")
    async with hub_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        await parts.servers.start("s")
        program.handlers["initialize"] = saying("For one.").handlers["initialize"]
        await parts.call("a", parts.client())
        assert len(program.copies.all) == 2
        assert await said_of(parts) == "For all."
