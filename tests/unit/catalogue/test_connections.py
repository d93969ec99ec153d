"""connections.py"""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import entry, hub_parts, two_servers
from tests.fakes.lazy_hub import ready
from tests.fakes.offering import OfferingServer, prompt, resource
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.snapshots.servers import McpClientSnapshot
from tooltray.protocol.eras import Era


async def test_every_connection_is_told_with_what_the_server_says_of_itself(tmp_path: Path) -> None:
    first = OfferingServer(prompts=[prompt("greet"), prompt("only-one")], resources=[resource("x://same")])
    second = OfferingServer(prompts=[prompt("greet")], resources=[resource("x://same"), resource("y://2")])
    async with hub_parts(tmp_path, **two_servers(first, second)) as parts:
        await ready(parts, "a", "b")
        one, two = await parts.presenter.get_mcp_clients()
        assert one == McpClientSnapshot(
            server="a",
            era="legacy",
            protocol_version="2025-11-25",
            server_info={"name": "scripted", "version": "1"},
            capabilities=("prompts", "resources", "tools"),
            prompt_count=2,
            resource_count=1,
            pids=one.pids,
        )
        assert (two.server, two.prompt_count, two.resource_count, len(two.pids)) == ("b", 1, 2, 1)
        await parts.presenter.stop_server("a")
        assert [each.server for each in await parts.presenter.get_mcp_clients()] == ["b"]


async def test_a_server_has_a_connection_for_each_era_and_for_each_session(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), eras=("legacy", "modern"))
    async with hub_parts(tmp_path, servers={"s": entry("p", isolation="session")}, programs={"p": program}) as parts:
        server = parts.servers.get("s")
        await parts.presenter.start_server("s")
        await parts.listed()
        for session in (None, parts.client()):
            await server.running(Era.LEGACY, timeout_s=10, session=session)
        found = await parts.presenter.get_mcp_clients()
        assert [(each.era, each.is_of_one_session, each.tool_count) for each in found] == [
            ("modern", False, 1),
            ("legacy", False, 1),
            ("legacy", True, 1),
        ]
        assert (found[0].protocol_version, found[0].server_info) == ("2026-07-28", {})


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "m"}}}, {"name": "m"}),
        ({"_meta": "odd"}, {}),
        ({"serverInfo": "odd"}, {}),
        ({"serverInfo": None}, {}),
    ],
)
async def test_what_a_modern_server_calls_itself_is_read_where_it_says_so(tmp_path: Path, said: Any, shown: Any) -> None:
    program = ScriptedServer(eras=("modern",))
    discovered = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "prompts": None, "x": False}}
    program.handlers["server/discover"] = lambda copy, params: {**discovered, **said}
    async with hub_parts(tmp_path, servers={"s": entry("p")}, programs={"p": program}) as parts:
        await parts.presenter.start_server("s")
        [client] = await parts.presenter.get_mcp_clients()
        assert (client.server_info, client.capabilities) == (shown, ("tools",))
