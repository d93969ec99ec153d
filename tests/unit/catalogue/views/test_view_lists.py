"""views.py, meta_tools.py: the lists of tools of sessions that do not see everything, and the names of the tools in them."""

import json
from pathlib import Path

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import BARELY, hub_parts
from tests.fakes.lazy_hub import (
    PROMPT,
    PROMPTS,
    SEARCH,
    TOOLS,
    Follower,
    activated,
    answered,
    called,
    described,
    found,
    lazy,
    names_of,
    ready_parts,
    rich,
    said,
    six,
)
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.tool_routes import ListTerms
from tooltray.catalogue.views.views import MOST_KEPT
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import ClientInfo
from tooltray.protocol.sessions.client_limits import SAFE_NAME

LIST = Envelope(method="tools/list")
ROOMY = "claude-code"  # has more room for names than a client that nothing is known of


async def test_a_lazy_server_shows_one_tool_that_says_what_it_will_load(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "serena", **lazy(serena=six())) as parts:
        client = parts.client()
        assert await names_of(parts, client) == ["activate_serena", *SEARCH]
        assert await described(parts, client, "activate_serena") == (
            "Activate Serena MCP server. Understands code: finds symbols and their uses, edits by symbol, remembers notes on a project. "
            "This will load 6 tools. Available: t0, t1, t2, t3, t4 and 1 more."
        )


async def test_nothing_is_hidden_unasked(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "open", **lazy(open=six())) as parts:
        assert await names_of(parts, parts.client()) == [f"t{number}" for number in range(6)]
        assert json.loads(parts.home.names.read_text())["names"].keys() == {"open"}


async def test_what_else_a_server_has_is_counted_and_hidden_too(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "open", **lazy(x=rich(tool("a")), open=rich(tool("b")))) as parts:
        client = parts.client()
        description = await described(parts, client, "activate_x")
        assert description == ("Activate X MCP server. This will load 1 tool, 1 prompt, 1 resource and 1 resource template. Available: a.")
        for method, member in (
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ):
            assert len((await answered(parts, method, client))["result"][member]) == 1
            await parts.conf.change_server("x", lazy_load=False)
            assert len((await answered(parts, method, client))["result"][member]) == 2
            await parts.conf.change_server("x", lazy_load=True)


async def test_counts_and_names_are_those_behind_the_filter(tmp_path: Path) -> None:
    options = lazy(serena=six())
    options["servers"]["serena"] |= {"disabledTools": ["t0", "t1"], "descriptions": "My words"}
    async with ready_parts(tmp_path, "serena", **options) as parts:
        client = parts.client()
        description = await described(parts, client, "activate_serena")
        assert description == "Activate Serena MCP server. My words. This will load 4 tools. Available: t2, t3, t4, t5."
        assert (await activated(parts, client))[1] == ["t2", "t3", "t4", "t5"]


async def test_of_a_server_that_was_never_listed_nothing_is_made_up(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **lazy(x=six())) as parts:
        client = parts.client()
        assert await described(parts, client, "activate_x") == "Activate X MCP server. It will be started, and its tools loaded."
        assert len((await activated(parts, client, "x"))[1]) == 6
        assert "6 tools" in await described(parts, client, "activate_x")


async def test_stopped_and_switched_off_servers_show_no_tool(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=six(), y=six("u"))) as parts:
        await parts.servers.stop("x")
        assert await names_of(parts, parts.client()) == ["activate_y", *SEARCH]


async def test_equal_views_are_one_list_and_a_change_makes_another(tmp_path: Path) -> None:
    program = six()
    async with ready_parts(tmp_path, "x", **lazy(x=program)) as parts:
        one, other = parts.client(), parts.client()
        first = await parts.views.listing(exchange_of(LIST, one))
        assert await parts.views.listing(exchange_of(LIST, other)) is first
        program.tools.append(tool("t6"))
        program.copy.notify(TOOLS)
        await parts.heard.wait(lambda event: parts.tools.tool_count("x") == 7)
        assert "7 tools" in await described(parts, one, "activate_x")
        await parts.conf.change_server("x", descriptions="Other words")
        assert "Other words. This" in await described(parts, one, "activate_x")


async def test_a_view_made_while_servers_start_is_not_kept(tmp_path: Path) -> None:
    slow = six()
    go_on = slow.hold("initialize")
    async with ready_parts(tmp_path, "x", **lazy(x=six(), open=slow), waits=BARELY) as parts:
        parts.servers.get("open").start()
        client = parts.client()
        assert await names_of(parts, client) == ["activate_x", *SEARCH]
        go_on.set()
        await parts.tools.listed(parts.servers.get("open")).wait()
        assert len(await names_of(parts, client)) == 1 + len(SEARCH) + 6


async def test_views_that_were_not_listed_for_long_are_made_again(tmp_path: Path) -> None:
    profiles = {f"p{number}": {"servers": ["x"]} for number in range(MOST_KEPT + 1)}
    options = {**lazy(x=six()), "settings": {"profiles": profiles}}
    async with ready_parts(tmp_path, "x", **options) as parts:
        client, made = parts.client(), []
        for name in [*profiles, "p0"]:
            client.state.profile = name
            made.append(await parts.views.listing(exchange_of(LIST, client)))
        assert made[0] is not made[-1]
        assert made[0] == made[-1]
        assert await parts.views.listing(exchange_of(LIST, client)) is made[-1]


# names


async def test_tools_that_are_called_as_the_hubs_own_keep_apart_from_them(tmp_path: Path) -> None:
    program = ScriptedServer(tool("activate_x"), tool("find_tools"), tool("call_tool"))
    async with ready_parts(tmp_path, "x", **lazy(x=program)) as parts:
        client = parts.client()
        own = await names_of(parts, client)
        assert own == ["hub_activate_x", "hub_find_tools", "describe_tools", "hub_call_tool"]
        assert said(await called(parts, client, "activate_x", text="the tool's own")) == "the tool's own"
        assert len((await activated(parts, client, name="hub_activate_x"))[1]) == 3
        assert await found(parts, client, "find", "hub_find_tools") == ["find_tools"]


@pytest.mark.parametrize("is_listed_before", [True, False])
async def test_also_for_a_session_that_has_this_server_alone(tmp_path: Path, is_listed_before: bool) -> None:
    program = ScriptedServer(tool("a"))
    async with ready_parts(tmp_path, "x", **lazy(x=program)) as parts:
        client = parts.client()
        client.state.server = "x"
        if is_listed_before:
            assert await names_of(parts, client) == ["activate_x", *SEARCH]
        program.tools = [tool("activate_x"), tool("find_tools"), tool("hub_call_tool")]
        program.copy.notify(TOOLS)
        await parts.heard.wait(lambda event: parts.tools.tool_count("x") == 3)
        assert await names_of(parts, client) == ["hub_activate_x", "hub_find_tools", "describe_tools", "call_tool"]
        assert said(await called(parts, client, "activate_x", text="own")) == "own"
        assert said(await called(parts, client, "call_tool", name="find_tools", arguments={"text": "own"})) == "own"
        client.state.activated.clear()
        assert len((await activated(parts, client, name="hub_activate_x"))[1]) == 3
        assert await found(parts, client, "find", "hub_find_tools") == ["find_tools"]


async def test_a_session_with_one_server_alone_is_lazy_too(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", "y", **lazy(x=rich(tool("read.file")), y=six("u"))) as parts:
        client = parts.client()
        client.state.server = "x"
        assert await names_of(parts, client) == ["activate_x", *SEARCH]
        assert (await answered(parts, "prompts/list", client))["result"] == {"prompts": []}
        assert (await answered(parts, "resources/list", client, is_modern=True))["result"]["resources"] == []
        assert "not available in this session" in said(await called(parts, client, "activate_y"))
        head = "x is activated: 1 tool, 1 prompt, 1 resource, 1 template."
        assert await activated(parts, client, "x") == (head, ["read.file"])
        assert await names_of(parts, client) == ["activate_x", "read.file"]
        assert (await answered(parts, "prompts/list", client))["result"] == {"prompts": [PROMPT]}


async def test_names_that_were_forgotten_are_given_again(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        client = parts.client()
        await names_of(parts, client)
        await parts.presenter.reset_tool_names()
        assert await names_of(parts, client) == ["activate_x", *SEARCH]
        assert len((await activated(parts, client, "x"))[1]) == 6


# names for clients with room for them


async def test_a_client_sees_names_as_long_as_it_takes_and_may_call_by_both(tmp_path: Path) -> None:
    fits, long = "t" * SAFE_NAME, "u" * 60
    async with ready_parts(tmp_path, "open", **lazy(open=ScriptedServer(tool(fits), tool(long), tool("v")))) as parts:
        client, other = parts.client(), parts.client()
        other.state.client = ROOMY
        short = parts.names.publish([("open", fits), ("open", long)])
        assert await names_of(parts, client) == [fits, short["open", long], "v"]
        assert await names_of(parts, other) == [fits, long, "v"]
        assert {name for name, _ in await parts.tools.published()} == {short["open", fits], short["open", long], "v"}
        for name in (long, short["open", long]):
            assert said(await called(parts, client, name, text="hi")) == "hi"
        assert await parts.views.listing(exchange_of(LIST, other)) is await parts.views.listing(exchange_of(LIST, other))


async def test_clients_with_room_for_the_same_names_share_a_list_and_so_does_who_has_room_for_none(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "open", **lazy(open=ScriptedServer(tool("t" * 60)))) as parts:
        assert await parts.tools.listing(terms=ListTerms(59)) is await parts.tools.listing()
        whole = await parts.tools.listing(terms=ListTerms(60))
        assert whole is await parts.tools.listing(terms=ListTerms(61))
        assert whole is not await parts.tools.listing()


async def test_what_is_found_or_activated_has_whole_names_too(tmp_path: Path) -> None:
    name = "t" * SAFE_NAME
    async with ready_parts(tmp_path, "x", **lazy(x=rich(tool(name)))) as parts:
        client = parts.client()
        assert await found(parts, client, "") == [name]
        assert (await activated(parts, client, "x"))[1] == [name]


async def test_a_session_whose_client_calls_itself_something_else_is_told_and_lists_the_truth(tmp_path: Path) -> None:
    name = "t" * 60
    async with ready_parts(tmp_path, "open", **lazy(open=ScriptedServer(tool(name)))) as parts:
        follower = Follower(parts)
        parts.session_clients.name_client(follower.client.state, ClientInfo("first"))
        assert await names_of(parts, follower.client) != [name]
        parts.session_clients.name_client(follower.client.state, ClientInfo("second"))
        assert follower.take() == []
        parts.session_clients.name_client(follower.client.state, ClientInfo(ROOMY))
        assert follower.take() == [TOOLS, PROMPTS]
        assert await names_of(parts, follower.client) == [name]
        parts.session_clients.name_client(parts.client().state, ClientInfo(ROOMY))  # nobody follows it
