"""greetings.py: what a session that has all servers is told of them when it connects."""

from pathlib import Path
from typing import Any

from tests.fakes.hub_parts import HubParts, entry, hub_parts, started_parts
from tests.fakes.lazy_hub import lazy, names_of, ready_parts, rich, six
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.protocol.sessions.session_state import SessionState

HEAD = "Tools of several MCP servers, published by Tooltray."
ABOUT = "list_servers and server_status show what runs."


def saying(instructions: str) -> ScriptedServer:
    program = ScriptedServer(tool("a"))
    greeting = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": instructions}
    program.handlers["initialize"] = lambda copy, params: greeting
    return program


def told(parts: HubParts, **members: Any) -> list[str]:
    """The lines that a session is told."""
    return parts.session_clients.instructions(SessionState("s1", **members)).splitlines()


def two(**fields: Any) -> dict[str, Any]:
    programs = {"git": saying("Commits."), "fs": saying("Reads files.")}
    return {"servers": {name: entry(name) for name in programs}, "programs": programs, **fields}


async def test_servers_are_told_by_name_with_what_they_say_of_themselves(tmp_path: Path) -> None:
    async with started_parts(tmp_path, "git", **two()) as parts:
        await parts.servers.start("fs")
        assert told(parts) == [HEAD, ABOUT, "- fs: Reads files.", "- git: Commits."]


async def test_a_server_that_was_never_started_is_told_by_its_name(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two()) as parts:
        assert told(parts) == [HEAD, ABOUT, "- fs", "- git"]


async def test_a_server_that_is_stopped_or_switched_off_is_not_told(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two()) as parts:
        await parts.servers.stop("fs")
        await parts.conf.change_server("git", disable=True)
        await parts.ended()
        assert told(parts) == [HEAD, ABOUT]


async def test_a_profile_and_its_tools_count(tmp_path: Path) -> None:
    profiles = {
        "p": {"servers": ["fs"]},
        "q": {"servers": ["git"], "tools": {"hub": ["server_status"]}},
        "r": {"servers": ["git"], "tools": {"hub": []}},
    }
    async with hub_parts(tmp_path, **two(settings={"profiles": profiles})) as parts:
        assert told(parts, profile="p") == [HEAD, ABOUT, "- fs"]
        assert told(parts, profile="q") == [HEAD, "server_status shows what runs.", "- git"]
        assert told(parts, profile="r") == [HEAD, "- git"]
        assert told(parts, profile="gone") == [HEAD]


async def test_lazy_servers_are_told_with_the_tool_that_loads_them(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(open=six("o"), serena=rich(tool("a")))) as parts:
        lines = told(parts)
        assert "- open" in lines
        assert any(line.startswith("- serena*: Understands code") for line in lines)
        assert "Not all tools are listed: find_tools finds them, call_tool calls them." in lines


async def test_where_a_client_is_shown_search_alone_it_is_told_so(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **two(settings={"publish": {"clients": {"t": {"mode": "search"}}}})) as parts:
        line = "The servers' tools are not listed: find_tools finds them, call_tool calls them."
        assert line in told(parts, client="t")
        assert line not in told(parts, client="u")


async def test_the_hubs_tools_are_called_as_they_are_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("find_tools"), tool("activate_serena"))
    async with ready_parts(tmp_path, "open", **lazy(open=program, serena=rich(tool("a")))) as parts:
        names = await names_of(parts, parts.client())
        assert "hub_find_tools" in names
        assert any("serena* (hub_activate_serena)" in line for line in told(parts))
        assert any("hub_find_tools finds them" in line for line in told(parts))
