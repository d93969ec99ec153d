"""Starts of servers and of the hub, as the presenter tells of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.offering import OfferingServer, prompt, resource, started_offers, template
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.foundation.snapshots.servers import ServerState

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
