"""tool_resolver.py, request_router.py: the calls of views go to their own servers."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.everything_server import answered
from tests.fakes.file_servers import SHOP, file_server, project
from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts, started
from tests.fakes.scripted_server import ScriptedServer, text, tool

from tooltray.catalogue.second_looks import LookPatience

MAY_BE = "may be a tool of"
NOTHING_SAYS = ", and the request does not name a view; the names in the tool list are unambiguous"


def viewed(name: str, **ui: Any) -> dict[str, Any]:
    return tool(name, _meta={"ui": {"resourceUri": "ui://v", **ui}})


def app_only(name: str) -> dict[str, Any]:
    return tool(name, _meta={"ui": {"visibility": ["app"]}})


def program(server: str, *tools: dict[str, Any]) -> ScriptedServer:
    """A server whose calls say whose they were."""
    made = ScriptedServer(*tools)
    made.calls = {each["name"]: lambda copy, params: text(f"{server}: {params['name']}") for each in tools}
    return made


def both(first: ScriptedServer, second: ScriptedServer) -> dict[str, Any]:
    return {"servers": {"a": entry("first"), "b": entry("second")}, "programs": {"first": first, "second": second}}


def app_host(parts: HubParts) -> Client:
    client = parts.client()
    client.state.shows_views = True
    return client


async def said(parts: HubParts, name: str, client: Client, **options: Any) -> str:
    """The text of a call, or why it cannot be."""
    reply = await answered(parts, "tools/call", client, name=name, **options)
    return str(reply["result"]["content"][0]["text"] if "result" in reply else reply["error"]["message"])


async def names(parts: HubParts, client: Client) -> list[str]:
    listed = await answered(parts, "tools/list", client)
    return [each["name"] for each in listed["result"]["tools"] if each["name"] != "list_servers"]


async def all_listed(parts: HubParts, *servers: str) -> None:
    await started(parts, *servers)
    for server in servers:
        await parts.tools.listed(parts.servers.get(server)).wait()


async def test_a_view_calls_the_tool_of_its_own_server_and_no_other(tmp_path: Path) -> None:
    servers = both(program("a", viewed("show"), app_only("refresh")), program("b", viewed("display"), app_only("refresh")))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a", "b")
        client, other = app_host(parts), app_host(parts)
        assert await names(parts, client) == ["a_refresh", "b_refresh", "display", "show"]
        assert await said(parts, "refresh", client) == f"'refresh' {MAY_BE} 'a', 'b'{NOTHING_SAYS}"
        assert await said(parts, "display", client) == "b: display"
        assert await said(parts, "refresh", client) == "b: refresh"
        assert await said(parts, "show", other) == "a: show"
        assert await said(parts, "refresh", other) == "a: refresh"


async def test_where_two_open_views_could_have_called_neither_server_is_reached(tmp_path: Path) -> None:
    first, second = program("a", viewed("show"), app_only("refresh")), program("b", viewed("display"), app_only("refresh"))
    async with hub_parts(tmp_path, **both(first, second)) as parts:
        await all_listed(parts, "a", "b")
        client = app_host(parts)
        await names(parts, client)
        assert [await said(parts, name, client) for name in ("show", "display")] == ["a: show", "b: display"]
        assert await said(parts, "refresh", client) == f"'refresh' {MAY_BE} 'b', 'a'{NOTHING_SAYS}"
        assert await said(parts, "a_refresh", client) == "a: refresh"
        assert [asked.params["name"] for asked in second.asked.all if asked.method == "tools/call"] == ["display"]


async def test_a_name_that_was_given_before_is_called_otherwise_by_models_where_a_view_calls_by_it(tmp_path: Path) -> None:
    servers = both(program("a", tool("search")), program("b", viewed("map"), tool("search")))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a")
        client, plain = app_host(parts), parts.client()
        assert await names(parts, client) == ["search"]
        assert await said(parts, "search", client) == "a: search"
        await all_listed(parts, "b")
        assert await said(parts, "search", client) == "a: search"  # as it stands in the list that the client has
        assert await names(parts, client) == ["a_search", "b_search", "map"]
        assert await names(parts, plain) == ["b_search", "map", "search"]
        assert await said(parts, "search", client) == f"'search' {MAY_BE} 'a', 'b'{NOTHING_SAYS}"
        assert await said(parts, "search", app_host(parts)) == f"'search' {MAY_BE} 'a', 'b'{NOTHING_SAYS}"
        assert await said(parts, "map", client) == "b: map"
        assert await said(parts, "search", client) == "b: search"
        assert await said(parts, "a_search", client) == "a: search"
        assert await said(parts, "search", plain) == "a: search"


async def test_a_view_that_was_only_read_counts_where_none_was_opened(tmp_path: Path) -> None:
    servers = both(program("a", viewed("show"), app_only("refresh")), program("b", viewed("display"), app_only("refresh")))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a", "b")
        client = app_host(parts)
        await names(parts, client)
        client.state.reads_view("a")
        assert await said(parts, "refresh", client) == "a: refresh"
        assert await said(parts, "display", client) == "b: display"
        assert await said(parts, "refresh", client) == "b: refresh"


async def test_a_name_that_only_its_server_knows_is_found_also_where_no_view_was_opened(tmp_path: Path) -> None:
    servers = both(program("a", viewed("get time")), program("b", tool("x")))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a", "b")
        client, plain = app_host(parts), parts.client()
        assert await names(parts, client) == ["get_time", "x"]
        assert await said(parts, "get time", client) == "a: get time"
        assert await said(parts, "get time", plain) == "Unknown tool: get time"


@pytest.mark.parametrize("ui", [{"visibility": ["model"]}, {"visibility": []}])
async def test_what_views_may_not_call_is_not_taken_for_a_call_of_a_view(tmp_path: Path, ui: dict[str, Any]) -> None:
    servers = both(program("a", tool("search")), program("b", viewed("map"), tool("search", _meta={"ui": ui})))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a")
        client = app_host(parts)
        assert await names(parts, client) == ["search"]
        await all_listed(parts, "b")
        assert "a_search" not in await names(parts, client)
        assert await said(parts, "map", client) == "b: map"
        assert await said(parts, "search", client) == "a: search"


async def test_a_session_of_one_server_calls_as_it_would_directly(tmp_path: Path) -> None:
    servers = both(program("a", viewed("show"), app_only("refresh")), program("b", viewed("show"), app_only("refresh")))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a", "b")
        client = app_host(parts)
        listed = await answered(parts, "tools/list", parts.client(), server="b")
        assert listed["result"]["tools"] == [viewed("show"), app_only("refresh")]
        client.state.opens_view("a")
        assert await said(parts, "refresh", client, server="b") == "b: refresh"


async def test_the_tools_that_find_others_are_never_a_views(tmp_path: Path) -> None:
    servers = both(program("a", viewed("show"), app_only("find_tools"), app_only("call_tool")), program("b", tool("x")))
    async with hub_parts(tmp_path, **servers, settings={"publish": {"mode": "search"}}) as parts:
        client = app_host(parts)
        await all_listed(parts, "b")
        assert await names(parts, client) == ["find_tools", "describe_tools", "call_tool", "run_steps"]
        await all_listed(parts, "a")
        assert await names(parts, client) == ["find_tools", "describe_tools", "call_tool", "run_steps"]
        assert await said(parts, "show", client) == "a: show"
        assert "show(" in await said(parts, "find_tools", client, arguments={"query": "show"})


# tools for views alone


async def test_a_tool_for_views_alone_is_listed_to_clients_that_show_views_and_found_by_no_model(tmp_path: Path) -> None:
    servers = both(program("a", viewed("show"), app_only("refresh")), program("b", tool("x")))
    async with hub_parts(tmp_path, **servers, settings={"publish": {"mode": "search"}}) as parts:
        await all_listed(parts, "a", "b")
        client = app_host(parts)
        assert "refresh" not in await said(parts, "find_tools", client, arguments={"query": "refresh"})
        refused = await said(parts, "call_tool", client, arguments={"name": "refresh"})
        assert refused == "refresh is only for the views of its server: find_tools finds the tools"
        assert await said(parts, "refresh", client) == "a: refresh"
    async with hub_parts(tmp_path / "lazy", **servers) as parts:
        await all_listed(parts, "a", "b")
        assert await names(parts, app_host(parts)) == ["refresh", "show", "x"]
        assert await names(parts, parts.client()) == ["show", "x"]
        assert parts.tools.size("a")[0] == 1
        kinds = {each.name: (each.has_view, each.is_for_views) for each in await parts.tools.snapshots()}
        assert (kinds["show"], kinds["refresh"], kinds["x"]) == ((True, False), (False, True), (False, False))
        costs = await parts.costs.costs(app_host(parts).state)
        assert [tool.name for server in costs.servers if server.server == "a" for tool in server.tools] == ["show"]


async def stopped(parts: HubParts) -> None:
    await parts.servers.stop("a")


async def without_the_tool(parts: HubParts) -> None:
    await parts.conf.change_server("a", disabled_tools=["refresh"])


@pytest.mark.parametrize("taken_away", [stopped, without_the_tool])
async def test_a_view_whose_own_server_does_not_offer_the_tool_any_more_reaches_no_other(tmp_path: Path, taken_away: Any) -> None:
    servers = both(program("a", viewed("show"), tool("refresh")), program("b", tool("refresh")))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "b")
        client, without_view, plain = app_host(parts), app_host(parts), parts.client()
        assert await names(parts, plain) == ["refresh"]
        await all_listed(parts, "a")
        assert await said(parts, "show", client) == "a: show"
        await taken_away(parts)
        assert "b_refresh" in await names(parts, client)
        assert "refresh" in await names(parts, plain)
        refusal = "'refresh' may be a tool of 'a', whose view is open, and is not offered now; the names in the tool list are unambiguous"
        assert await said(parts, "refresh", client) == refusal
        assert await said(parts, "b_refresh", client) == "b: refresh"
        assert await said(parts, "refresh", without_view) == "b: refresh"
        assert await said(parts, "refresh", plain) == "b: refresh"


async def test_a_whole_name_that_a_view_would_take_for_its_own_servers_is_given_to_nobody_who_shows_views(tmp_path: Path) -> None:
    long = "y" * 60
    servers = both(program("a", tool(long)), program("b", viewed("show"), tool(long)))
    async with hub_parts(tmp_path, **servers) as parts:
        await all_listed(parts, "a")
        client, plain = app_host(parts), parts.client()
        client.state.client = plain.state.client = "claude-code"  # has room for it
        assert await names(parts, plain) == [long]
        await all_listed(parts, "b")
        assert await names(parts, plain) == [f"b_{long}", "show", long]
        (short,) = [name for name in await names(parts, client) if name.startswith("a_") or name[:30] == long[:30]]
        assert len(short) < len(long)
        assert await said(parts, "show", client) == "b: show"
        assert [await said(parts, name, client) for name in (short, long)] == [f"a: {long}", f"b: {long}"]


async def test_a_tool_that_a_client_knows_by_heart_is_found_when_the_file_of_its_project_is_read(tmp_path: Path) -> None:
    async def read_file(session: Client) -> None:
        parts.conf.set_file_servers({"db": file_server("db", folder=str(tmp_path))})

    db = program("db", tool("query"))
    waits = {"look_at_project": read_file, "look_patience": LookPatience(within_s=0.0)}
    async with hub_parts(tmp_path, programs={"db": db}, waits=waits) as parts:
        own, outsider = parts.client(), parts.client()
        own.state.projects["folder"] = project(SHOP)
        assert await said(parts, "query", outsider) == "Unknown tool: query"
        assert db.count("tools/list") == 0
        assert await said(parts, "query", own) == "db: query"
