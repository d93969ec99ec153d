"""Prompts and resources, asked for by name."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.offering import OfferingServer, prompt, resource, template
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, error, raw, tool

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
    servers = {"one": entry("one"), "two": entry("two")}
    async with hub_parts(tmp_path / "home", servers=servers, programs={"one": one, "two": two}) as parts:
        for name in servers:
            await parts.servers.start(name)
            await parts.offers.listed(parts.servers.get(name)).wait()
        yield parts


@pytest.fixture
def presenter(parts: HubParts) -> McpPresenter:
    return parts.presenter


# prompts


async def test_prompts_are_listed_by_the_names_that_clients_see_of_all_servers_or_of_one(presenter: McpPresenter) -> None:
    assert [each["name"] for each in await presenter.get_all_prompts()] == ["one_greet", "only-one", "two_greet"]
    assert [each["name"] for each in await presenter.get_all_prompts("two")] == ["two_greet"]
    assert (await refusal(presenter.get_all_prompts("gone"))).startswith("server 'gone' not found")


async def test_a_prompt_is_got_from_the_server_whose_it_is(presenter: McpPresenter, one: OfferingServer) -> None:
    assert await presenter.get_prompt("one_greet", {"who": "you"}) == {"messages": [], "description": '["greet", {"who": "you"}]'}
    assert await presenter.get_prompt("only-one") == {"messages": [], "description": '["only-one", {}]'}
    assert one.count("prompts/get") == 2


async def test_a_prompt_that_cannot_be_got_says_why(parts: HubParts, presenter: McpPresenter, one: OfferingServer) -> None:
    assert await refusal(presenter.get_prompt("gone")) == "the prompt 'gone' could not be fetched. Unknown prompt: gone"
    one.handlers["prompts/get"] = lambda copy, params: error(-32602, "who is missing")
    assert await refusal(presenter.get_prompt("only-one")) == "the prompt 'only-one' could not be fetched: who is missing"
    one.handlers["prompts/get"] = lambda copy, params: raw(b"[1]")
    assert (
        await refusal(presenter.get_prompt("only-one"))
        == "the prompt 'only-one' could not be fetched: server 'one' sent a reply that cannot be read: its result is not an object: [1]"
    )
    await presenter.set_mcp_enabled(False)
    assert "Tooltray is paused" in await refusal(presenter.get_prompt("only-one"))


async def test_an_error_that_is_no_object_is_quoted(presenter: McpPresenter, one: OfferingServer) -> None:
    one.handlers["prompts/get"] = lambda copy, params: error_of(b'"odd"')
    said = await refusal(presenter.get_prompt("only-one"))
    assert said.endswith("server 'one' sent a reply that cannot be read: its error has no code or no message: \"odd\"")


def error_of(json_text: bytes) -> Any:
    reply = raw(json_text)
    reply.error, reply.result = reply.result, reply.error
    return reply


# resources


async def test_resources_are_listed_by_the_uris_that_clients_see(presenter: McpPresenter) -> None:
    assert [each["uri"] for each in await presenter.get_all_resources()] == [*PUBLISHED.values(), "y://2"]
    assert [each["uri"] for each in await presenter.get_all_resources("one")] == [PUBLISHED["one"]]
    assert (await refusal(presenter.get_all_resources("gone"))).startswith("server 'gone' not found")


async def test_templates_are_listed_as_clients_see_them(presenter: McpPresenter) -> None:
    both = [each["uriTemplate"] for each in await presenter.get_all_resource_templates()]
    assert len(set(both)) == 2
    assert [each["uriTemplate"] for each in await presenter.get_all_resource_templates("two")] == [both[1]]
    assert both[1].startswith("tooltray://two/")
    assert (await refusal(presenter.get_all_resource_templates("gone"))).startswith("server 'gone' not found")


async def test_a_resource_is_read_by_the_uri_that_clients_see(presenter: McpPresenter) -> None:
    for server, uri in PUBLISHED.items():
        assert await presenter.read_resource(uri) == {"contents": [{"uri": uri, "text": f"{server}: x://same"}]}


async def test_a_resource_that_nobody_has_is_an_error(presenter: McpPresenter) -> None:
    assert await refusal(presenter.read_resource("z://9")) == "the resource 'z://9' could not be read: two has no z://9"


async def test_an_on_demand_server_is_started_for_its_prompt(parts: HubParts, presenter: McpPresenter) -> None:
    await presenter.get_all_prompts()
    await parts.servers.get("one").stop(then=ServerState.ON_DEMAND)
    assert (await presenter.get_prompt("only-one"))["messages"] == []
    assert await presenter.is_server_running("one")


# what the other verbs of lists and starts say


async def test_definitions_of_a_server_that_is_not_there_are_refused(presenter: McpPresenter) -> None:
    assert (await refusal(presenter.get_all_tool_definitions("gone"))).startswith("server 'gone' not found")


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
