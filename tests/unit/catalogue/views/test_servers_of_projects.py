"""views.py, modes.py, profiles.py: of servers that stand in a project's own file, sessions of the project see all, and others nothing."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, TOOLS_FOLDER, file_server, project
from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts
from tests.fakes.lazy_hub import PROMPTS, RESOURCES, TOOLS, Follower, activated, answered, called, found, names_of, ready, rich, said
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerRemoved
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import OwnCaller

UNKNOWN = "Unknown tool: query"


async def nothing_read(session: Client) -> None:
    """In the place of what reads projects' files: the tests name their servers themselves."""


@contextlib.asynccontextmanager
async def shop(
    root: Path, *, settings: dict[str, Any] | None = None, look: Callable[[Client], Awaitable[None]] = nothing_read, **db: Any
) -> AsyncIterator[HubParts]:
    """`db` is of the shop, `lint` of the tools, `open` of the settings; all have been listed."""
    programs = {
        "db": rich(tool("query", description="Asks the database")),
        "lint": ScriptedServer(tool("check")),
        "open": ScriptedServer(tool("read")),
    }
    waits = {"look_at_project": look}
    async with hub_parts(root, servers={"open": entry("open")}, programs=programs, settings=settings, waits=waits) as parts:
        files = {"db": file_server("db", folder=str(root), **db), "lint": file_server("lint", project=TOOLS_FOLDER, folder=str(root))}
        parts.conf.set_file_servers(files)
        await ready(parts, "open", "db", "lint")
        yield parts


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    async with shop(tmp_path) as parts:
        yield parts


def works_on(client: Client, folder: str | None) -> Client:
    if folder:
        client.state.projects["folder"] = project(folder)
    else:
        client.state.projects.clear()
    return client


def outsider(parts: HubParts) -> Client:
    return works_on(parts.client(), TOOLS_FOLDER)


async def listed(parts: HubParts, client: Client, method: str) -> list[Any]:
    (member,) = (value for value in (await answered(parts, method, client))["result"].values() if isinstance(value, list))
    return [each.get("uri") or each.get("uriTemplate") or each["name"] for each in member]


# what is listed


@pytest.mark.parametrize(
    ("folder", "tools"), [(SHOP, ["query", "read"]), (TOOLS_FOLDER, ["check", "read"]), ("/elsewhere", ["read"]), (None, ["read"])]
)
async def test_a_session_has_the_tools_of_its_project_and_of_the_settings(parts: HubParts, folder: str | None, tools: list[str]) -> None:
    assert await names_of(parts, works_on(parts.client(), folder)) == tools


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
@pytest.mark.parametrize("server", [None, "db"])
async def test_so_it_is_with_prompts_and_resources(parts: HubParts, method: str, server: str | None) -> None:
    own, other = works_on(parts.client(), SHOP), outsider(parts)
    own.state.server = other.state.server = server
    assert len(await listed(parts, own, method)) == 1
    assert await listed(parts, other, method) == []


async def test_a_session_that_has_one_server_alone_has_none_of_another_project(parts: HubParts) -> None:
    client = parts.client()
    client.state.server = "db"
    assert await names_of(parts, client) == []
    assert await names_of(parts, works_on(client, SHOP)) == ["query"]
    assert not parts.session_servers.has_server("db")
    assert parts.session_servers.has_server("open")
    nowhere = parts.client()
    assert [await parts.session_servers.finds_server(nowhere, name) for name in ("open", "db", "gone")] == [True, False, False]


async def test_a_list_that_is_being_made_gets_nothing_of_a_project_that_comes_meanwhile(tmp_path: Path) -> None:
    slow, db = ScriptedServer(tool("read")), ScriptedServer(tool("query"))
    go_on = slow.hold("tools/list")
    async with hub_parts(tmp_path, servers={"open": entry("open")}, programs={"open": slow, "db": db}) as parts:
        parts.servers.get("open").start()
        listing = parts.keeper.spawn(names_of(parts, parts.client()), name="list")
        await slow.request("tools/list")
        parts.conf.set_file_servers({"db": file_server("db", folder=str(tmp_path))})
        await ready(parts, "db")
        go_on.set()
        assert await listing == ["read"]


# what is called


async def test_what_is_of_another_project_is_unknown_to_a_session_that_calls_it_by_name(parts: HubParts) -> None:
    own, other = works_on(parts.client(), SHOP), outsider(parts)
    assert said(await called(parts, own, "query", text="hi")) == "hi"
    assert (await answered(parts, "tools/call", other, name="query", arguments={}))["error"]["message"] == UNKNOWN
    for method, params in (
        ("prompts/get", {"name": "p"}),
        ("resources/read", {"uri": "x://1"}),
        ("resources/subscribe", {"uri": "x://1"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
    ):
        assert "result" in await answered(parts, method, own, **params), method
        assert "error" in await answered(parts, method, other, **params), method


async def test_not_even_that_its_server_has_failed_is_told(parts: HubParts) -> None:
    own = works_on(parts.client(), SHOP)
    await names_of(parts, own)
    await parts.servers.stop("db")
    assert "is stopped" in (await answered(parts, "tools/call", own, name="query"))["error"]["message"]
    assert (await answered(parts, "tools/call", outsider(parts), name="query"))["error"]["message"] == UNKNOWN


async def test_tools_of_another_project_are_neither_found_nor_called_by_search(tmp_path: Path) -> None:
    async with shop(tmp_path, settings={"publish": {"mode": "search"}}) as parts:
        own, other = works_on(parts.client(), SHOP), outsider(parts)
        assert said(await called(parts, own, "call_tool", name="query", arguments={"text": "hi"})) == "hi"
        for client, count in ((own, 1), (other, 0)):
            assert (await found(parts, client, "database")).count("query") == count
        refused = await answered(parts, "tools/call", other, name="call_tool", arguments={"name": "query", "arguments": {}})
        assert said(refused["result"]).splitlines()[0] == UNKNOWN


async def test_a_lazy_server_of_another_project_cannot_be_activated(tmp_path: Path) -> None:
    async with shop(tmp_path, lazyLoad=True) as parts:
        own, other = works_on(parts.client(), SHOP), outsider(parts)
        assert "activate_db" in await names_of(parts, own)
        assert [name for name in await names_of(parts, other) if "activate" in name] == []
        assert len((await activated(parts, own, "db"))[1]) == 1
        assert (await called(parts, other, "activate_db"))["isError"]
        assert await parts.views_api.get_sessions() == []
        assert [parts.modes.shown(client.state).mode for client in (own, other)] == ["lazy", "everything"]


@pytest.mark.parametrize(("folder", "count"), [(SHOP, 6), (TOOLS_FOLDER, 6), (None, 5)])
async def test_how_much_there_is_for_a_session_is_counted_without_other_projects(tmp_path: Path, folder: str | None, count: int) -> None:
    async with shop(tmp_path, settings={"publish": {"mode": "automatic"}}) as parts:
        client = works_on(parts.client(), folder)
        others = len([route for route in parts.tools.all_routes() if route.server not in ("db", "lint")])
        assert f"{others + count - 5} tools" in parts.modes.shown(client.state).reason
        costs = await parts.costs.costs(client.state)
        assert sum(len(server.tools) for server in costs.servers) == others + count - 5


async def test_a_profile_and_a_project_both_have_to_have_a_server(tmp_path: Path) -> None:
    async with shop(tmp_path, settings={"profiles": {"small": {"servers": ["db"]}}}) as parts:
        for folder, tools in ((SHOP, ["query"]), (TOOLS_FOLDER, [])):
            client = works_on(parts.client(), folder)
            client.state.profile = "small"
            assert await names_of(parts, client) == tools


# the person


async def test_the_person_has_the_servers_of_all_projects_or_of_the_one_that_they_name(parts: HubParts) -> None:
    assert (await parts.presenter.call_tool("query", {"text": "hi"}))["content"][0]["text"] == "hi"
    assert {each.server for each in await parts.presenter.get_tools()} == {"open", "db", "lint"}
    caller = OwnCaller().in_project(project(TOOLS_FOLDER))
    seen = [name for name in ("open", "db", "lint") if parts.visibility.sees(caller.state, name)]
    assert seen == ["open", "lint"]


# news


async def test_a_session_that_moves_to_another_project_is_told_of_each_list_that_is_another_one(parts: HubParts) -> None:
    moving, other = Follower(parts), Follower(parts)
    for follower in (moving, other):
        await names_of(parts, follower.client)
    works_on(moving.client, SHOP)
    parts.views.moved(moving.client.state)
    assert sorted(moving.take()) == sorted([TOOLS, PROMPTS, RESOURCES])
    works_on(moving.client, TOOLS_FOLDER)
    parts.views.moved(moving.client.state)
    assert sorted(moving.take()) == sorted([TOOLS, PROMPTS, RESOURCES])
    works_on(moving.client, None)
    parts.views.moved(moving.client.state)
    assert moving.take() == [TOOLS]
    assert other.take() == []


async def test_a_session_that_has_not_listed_yet_is_told_nothing(parts: HubParts) -> None:
    follower = Follower(parts)
    works_on(follower.client, SHOP)
    parts.views.moved(follower.client.state)
    assert follower.take() == []
    assert await names_of(parts, follower.client) == ["query", "read"]
    follower.end()
    parts.views.moved(works_on(follower.client, None).state)
    follower.end = parts.notifications.follow_lists(follower.client, follower.news.append)
    parts.views.moved(works_on(follower.client, SHOP).state)
    assert follower.take() == []


async def test_a_session_whose_project_has_no_servers_of_its_own_is_not_told_that_it_moved(parts: HubParts) -> None:
    follower = Follower(parts)
    await names_of(parts, follower.client)
    parts.views.moved(works_on(follower.client, "/elsewhere").state)
    assert follower.take() == []
    parts.views.invalidate()
    assert follower.take() == []


async def test_that_a_projects_server_comes_and_goes_concerns_its_own_sessions_alone(parts: HubParts, tmp_path: Path) -> None:
    own, other = Follower(parts), Follower(parts)
    works_on(own.client, SHOP)
    for follower in (own, other):
        await names_of(parts, follower.client)
    assert [parts.notifications.concerns(each.client, "db", TOOLS) for each in (own, other)] == [True, False]
    parts.conf.set_file_servers({})
    await parts.heard.event(ServerRemoved, name="db")
    assert [parts.notifications.concerns(each.client, "db", TOOLS) for each in (own, other)] == [True, False]
    assert await names_of(parts, own.client) == ["read"]
    parts.conf.set_file_servers({"db": file_server("db", folder=str(tmp_path))})
    assert own.take() == other.take() == []  # when its tools are known they are told, as of any server


async def test_what_a_projects_server_says_is_for_its_own_sessions(parts: HubParts) -> None:
    connection = parts.servers.get("db").client_for(Era.LEGACY)
    assert connection is not None
    own, other = works_on(parts.client(), SHOP), outsider(parts)
    assert [parts.session_servers.serves(connection, client) for client in (own, other)] == [True, False]
    assert [client.name for client in parts.servers.clients_for(other)] == ["open", "lint"]
    assert [parts.notifications.reaches(client, "db") for client in (own, other)] == [True, False]


async def test_only_while_there_are_servers_of_projects_is_a_call_looked_at_twice(parts: HubParts, tmp_path: Path) -> None:
    assert not parts.views.is_plain(parts.client().state)
    parts.conf.set_file_servers({"db": file_server("db", project="", folder=str(tmp_path))})
    assert parts.views.is_plain(parts.client().state)


# what a person chooses for it here


async def test_how_a_server_of_a_file_is_shown_is_kept_beside_its_entry(tmp_path: Path) -> None:
    async with shop(tmp_path, toolOverrides={"query": {"description": "As the file says"}}) as parts:
        p = parts.presenter

        def chosen() -> Any:
            return parts.conf.document.get("fileServers", {}).get("db")

        await p.set_lazy_load(True, "db")
        assert chosen() == {"lazyLoad": True}
        await p.set_lazy_load(None, "db")
        await p.set_tool_override("db", "query", name="ask")
        assert chosen() == {"toolOverrides": {"query": {"name": "ask"}}}
        await p.set_result_limit(700, "db", "query")
        await p.set_tool_override("db", "query")
        await p.set_csv_tables(True, "db", "query")
        await p.set_tool_override("db", "query")
        assert chosen() == {"toolOverrides": {"query": {"resultLimit": 700, "csvTables": True}}}
        await p.set_csv_tables(None, "db", "query")
        assert chosen() == {"toolOverrides": {"query": {"resultLimit": 700}}}
        await p.set_tool_override("db", "query", name="ask")
        await p.set_result_limit(None, "db", "query")
        assert chosen() == {"toolOverrides": {"query": {"name": "ask"}}}
        await p.set_tool_override("db", "query")
        await p.set_result_limit(700, "db", "query")
        await p.set_result_limit(None, "db", "query")
        assert chosen() == {"toolOverrides": {}}
        await p.set_tool_override("db", "query", description="As the file says")
        await p.set_tool_override("db", "query", name="ask")
        assert "ask" in await names_of(parts, works_on(parts.client(), SHOP))
        await p.set_tool_override("db", "query")
        assert chosen() == {"toolOverrides": {}}
        await p.set_tool_override("db", "query", description="As the file says")
        assert chosen() is None
        await p.set_tool_enabled("db", "query", False)
        assert chosen() == {"disabledTools": ["query"]}
        assert parts.conf.document["mcpServers"].keys() == {"open"}


async def test_what_only_its_file_can_say_is_refused_and_the_file_named(parts: HubParts) -> None:
    with pytest.raises(TooltrayError, match=r"its entry is in .*\.mcp\.json.*Change deferredStartup, .* there"):
        await parts.presenter.set_deferred("db", True)
