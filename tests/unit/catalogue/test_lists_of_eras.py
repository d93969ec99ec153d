"""tool_copies.py, tool_manager.py, tool_routes.py: what clients of all servers see of a server that offers different things in each era."""

from pathlib import Path
from typing import Any

from tests.fakes.hub_parts import HubParts, hub_parts, one_server, settled
from tests.fakes.lazy_hub import answered, lazy, names_of, ready, ready_parts
from tests.fakes.offering import OfferingServer, prompt, resource
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.tool_routes import ListTerms
from tooltray.protocol.eras import Era


def in_both_eras(*, legacy: list[Any], modern: list[Any]) -> OfferingServer:
    """Lists other tools, and a resource of another name, in each era."""
    program = OfferingServer(prompts=[], resources=[], eras=("modern", "legacy"))
    program.tools = [*legacy, *modern]
    program.handlers["tools/list"] = lambda copy, params: {"tools": modern if "_meta" in params else legacy}
    program.handlers["prompts/list"] = lambda copy, params: {"prompts": [prompt("modern" if "_meta" in params else "legacy")]}
    program.handlers["resources/list"] = lambda copy, params: {"resources": [resource("x://modern" if "_meta" in params else "x://legacy")]}
    return program


async def names(parts: HubParts, *, is_modern: bool = False) -> list[str]:
    reply = await answered(parts, "tools/list", parts.client(), is_modern=is_modern)
    return [each["name"] for each in reply["result"]["tools"]]


async def opened_for_legacy(parts: HubParts) -> None:
    """A legacy client calls a tool: from now on there is a copy for its era."""
    await ready(parts, "s")
    await parts.tools.listing()
    await parts.call("both")


async def test_each_era_sees_the_tools_that_it_can_call(tmp_path: Path) -> None:
    program = in_both_eras(legacy=[tool("both"), tool("old"), tool("t" * 45)], modern=[tool("both"), tool("new")])
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await opened_for_legacy(parts)
        assert await names(parts) == ["both", "old", "t" * 45]
        assert await names(parts, is_modern=True) == ["both", "new"]
        assert "result" in await parts.call("old")


async def test_a_copy_that_announces_other_tools_is_listed_again(tmp_path: Path) -> None:
    program = in_both_eras(legacy=[tool("both"), tool("old")], modern=[tool("both")])
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await opened_for_legacy(parts)
        assert await names(parts) == ["both", "old"]
        program.handlers["tools/list"] = lambda copy, params: {"tools": [tool("later")]}
        program.copies.all[-1].notify("notifications/tools/list_changed")
        await settled()
        assert await names(parts) == ["later"]


async def test_of_clients_that_show_views_too_and_names_stay_told_apart(tmp_path: Path) -> None:
    shown = tool("show", _meta={"ui": {"resourceUri": "ui://s/view"}})
    of_views = tool("of_views", _meta={"ui": {"visibility": ["app"]}})
    program = in_both_eras(legacy=[tool("both"), shown, tool("search"), of_views], modern=[tool("both")])
    other = ScriptedServer(tool("search"))
    async with ready_parts(tmp_path, "other", **lazy(s=program, other=other)) as parts:
        await opened_for_legacy(parts)
        entries = await parts.tools.entries(terms=ListTerms(with_views=True), era=Era.LEGACY)
        assert {(entry.name, entry.route.server) for entry in entries if entry.route.definition.name != "both"} == {
            *(("show", "s"), ("s_search", "s"), ("other_search", "other"), ("of_views", "s"))
        }
        plain = await parts.tools.entries(era=Era.LEGACY)
        assert {entry.name for entry in plain if entry.route.server == "s"} == {"both", "show", "s_search"}


async def test_a_server_that_offers_the_same_in_both_eras_has_one_list(tmp_path: Path) -> None:
    program = in_both_eras(legacy=[tool("both")], modern=[tool("both")])
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await opened_for_legacy(parts)
        await names(parts)
        asked = program.count("tools/list")
        assert await names(parts) == await names(parts, is_modern=True) == ["both"]
        assert program.count("tools/list") == asked


async def test_a_copy_that_does_not_list_is_taken_for_the_first_one(tmp_path: Path) -> None:
    program = in_both_eras(legacy=[tool("old")], modern=[tool("both")])
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await opened_for_legacy(parts)
        program.handlers["tools/list"] = lambda copy, params: "nonsense"
        assert await names(parts) == ["both"]


async def test_lists_of_lazy_servers_go_by_the_era_too(tmp_path: Path) -> None:
    program = in_both_eras(legacy=[tool("both"), tool("old")], modern=[tool("both"), tool("new")])
    async with hub_parts(tmp_path, **lazy(s=program)) as parts:
        await opened_for_legacy(parts)
        client = parts.client()
        client.state.activated.add("s")
        assert await names_of(parts, client) == ["activate_s", "both", "old"]


async def test_resources_and_prompts_are_those_of_the_era(tmp_path: Path) -> None:
    program = in_both_eras(legacy=[tool("both")], modern=[tool("both")])
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await opened_for_legacy(parts)
        for is_modern, uri in ((False, "x://legacy"), (True, "x://modern")):
            reply = await answered(parts, "resources/list", parts.client(), is_modern=is_modern)
            assert [each["uri"] for each in reply["result"]["resources"]] == [uri]
            reply = await answered(parts, "prompts/list", parts.client(), is_modern=is_modern)
            assert [each["name"] for each in reply["result"]["prompts"]] == [uri.removeprefix("x://")]
        assert "result" in await answered(parts, "prompts/get", parts.client(), name="legacy")
