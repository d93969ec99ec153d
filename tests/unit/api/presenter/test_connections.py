"""Connections, and starts, as the presenter tells of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.offering import OfferingServer, prompt, resource, started_offers, template
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.foundation.snapshots.servers import McpClientSnapshot, ServerState
from tooltray.protocol.eras import Era

PUBLISHED = {"one": "tooltray://one/x%3A%2F%2Fsame", "two": "tooltray://two/x%3A%2F%2Fsame"}


@pytest.fixture
def one() -> OfferingServer:
    """It has everything in common with the other."""
    return OfferingServer(prompts=[prompt("greet"), prompt("only-one")], resources=[resource("x://same")], templates=[template("t://{id}")])


@pytest.fixture
async def parts(tmp_path: Path, one: OfferingServer) -> AsyncIterator[HubParts]:
    """Two servers that run and offer the same, but for a prompt and a resource."""
    two = OfferingServer(prompts=[prompt("greet")], resources=[resource("x://same"), resource("y://2")], templates=[template("t://{id}")])
    async with started_offers(tmp_path / "home", {"one": one, "two": two}) as offering:
        yield offering.parts


@pytest.fixture
def presenter(parts: HubParts) -> McpPresenter:
    return parts.presenter


# connections


async def test_every_connection_is_told_with_what_the_server_says_of_itself(presenter: McpPresenter) -> None:
    one, two = await presenter.get_mcp_clients()
    assert one == McpClientSnapshot(
        server="one",
        era="legacy",
        protocol_version="2025-11-25",
        server_info={"name": "scripted", "version": "1"},
        capabilities=("prompts", "resources", "tools"),
        prompt_count=2,
        resource_count=1,
        pids=one.pids,
    )
    assert (two.server, two.prompt_count, two.resource_count, len(two.pids)) == ("two", 1, 2, 1)
    await presenter.stop_server("one")
    assert [each.server for each in await presenter.get_mcp_clients()] == ["two"]


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


# what the other verbs of lists and starts say


async def test_whether_a_server_runs_can_be_asked(presenter: McpPresenter) -> None:
    assert await presenter.is_server_running("one")
    await presenter.stop_server("one")
    assert not await presenter.is_server_running("one")
    assert (await refusal(presenter.is_server_running("gone"))).startswith("server 'gone' not found")


async def test_starting_the_hub_twice_is_starting_it_once(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, servers={"s": entry("p")}, default=("s",), programs={"p": program}) as parts:
        for _ in range(2):
            await parts.presenter.initialize()
        await parts.heard.state("s", ServerState.RUNNING)
        await parts.presenter.initialize()
        assert await parts.listed() == ["t"]
        assert len(program.copies.all) == 1


async def test_idle_stop_of_a_server_that_starts_with_the_hub_is_a_notice(tmp_path: Path) -> None:
    servers = {"up": entry("p", idleStop=60), "lazy": entry("p", idleStop=60)}
    async with hub_parts(tmp_path, servers=servers, default=("up",)) as parts:
        hub = parts.presenter.snapshot()
        [notice] = hub.notices
        assert notice.title == "'up' is not stopped when it is idle"
        assert notice.hint == "Let it start when used, or remove idleStop from its settings."
        assert [server.idle_stop_s for server in hub.servers] == [60.0, 60.0]
