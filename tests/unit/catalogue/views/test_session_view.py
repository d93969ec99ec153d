"""modes.py, views.py: what modes and profiles make of what a session sees."""

from pathlib import Path

from msgspec import Raw
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
from tests.fakes.scripted_server import tool

from tooltray.protocol.sessions.session_state import SessionState


async def test_by_search_alone_the_hubs_own_tools_are_listed(tmp_path: Path) -> None:
    options = {**lazy(open=rich(tool("a"))), "settings": {"publish": {"mode": "search"}}}
    async with ready_parts(tmp_path, "open", **options) as parts:
        follower = Follower(parts)
        assert await names_of(parts, follower.client) == [*SEARCH, "run_steps"]
        assert (await answered(parts, "prompts/list", follower.client))["result"] == {"prompts": [PROMPT]}
        assert said(await called(parts, follower.client, "call_tool", name="a", arguments={"text": "x"})) == "x"
        assert await names_of(parts, follower.client) == [*SEARCH, "run_steps"]
        assert follower.take() == []
        assert not parts.notifications.concerns(follower.client, "open", TOOLS)
        assert parts.notifications.concerns(follower.client, "open", PROMPTS)


async def test_a_client_that_is_known_to_list_again_needs_no_search(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, "x", **lazy(x=six())) as parts:
        client = parts.client()
        client.state.obeys_changes = True
        assert await names_of(parts, client) == ["activate_x"]
        assert [parts.modes.view(SessionState("s", server=name)).lazy for name in ("x", "another")] == [("x",), ()]
        assert (await found(parts, client, "t1"))[0] == "t1"
        assert parts.notifications.concerns(client, "x", TOOLS)


async def test_a_profile_counts_for_everything(tmp_path: Path) -> None:
    profile = {"servers": ["x"], "tools": {"x": ["t1"]}}
    options = {**lazy(x=rich(tool("t1"), tool("t2")), open=rich(tool("b"))), "settings": {"profiles": {"p": profile}}}
    async with ready_parts(tmp_path, "x", "open", **options) as parts:
        client = parts.client()
        client.state.profile = "p"
        assert await names_of(parts, client) == ["activate_x", *SEARCH]
        assert "1 tool, " in await described(parts, client, "activate_x")
        assert (await activated(parts, client, "x"))[1] == ["t1"]
        assert await names_of(parts, client) == ["activate_x", "t1"]
        for name in ("t2", "b"):
            assert "Unknown tool" in (await answered(parts, "tools/call", client, name=name))["error"]["message"]
            assert name not in await found(parts, client, name)
        assert len((await answered(parts, "prompts/list", client))["result"]["prompts"]) == 1
        assert len((await answered(parts, "resources/list", client))["result"]["resources"]) == 1
        assert len((await answered(parts, "resources/templates/list", client))["result"]["resourceTemplates"]) == 1
        await parts.prompts.listing()
        owners = {name: await parts.prompts.target(name) for name in ("p", "open_p")}
        other = next(name for name, owner in owners.items() if owner and owner[0] == "open")
        assert "Unknown prompt" in (await answered(parts, "prompts/get", client, name=other))["error"]["message"]
        ref = {"type": "ref/prompt", "name": other}
        assert "error" in await answered(parts, "completion/complete", client, ref=ref, argument={"name": "a", "value": ""})
        foreign = parts.resources.published_uri("open", "x://1")
        assert "error" in await answered(parts, "resources/read", client, uri=foreign)
        assert "error" in await answered(parts, "resources/subscribe", client, uri=foreign)
        assert not parts.notifications.concerns(client, "open", TOOLS)
        assert not parts.notifications.reaches(client, "open")
        await parts.servers.stop("open")
        assert (await answered(parts, "tools/call", client, name="b"))["error"]["message"] == "Unknown tool: b"


async def test_a_session_whose_profile_lacks_its_one_server_has_nothing(tmp_path: Path) -> None:
    options = {**lazy(open=rich(tool("b"))), "settings": {"profiles": {"p": {"servers": []}}}}
    async with ready_parts(tmp_path, "open", **options) as parts:
        client = parts.client()
        client.state.profile, client.state.server = "p", "open"
        assert await names_of(parts, client) == []
        await parts.client_listens.to_resources(client, Raw(b"7"), ["x://1"], server="open")
        assert options["programs"]["open"].count("resources/subscribe") == 0
        assert (await answered(parts, "prompts/list", client))["result"] == {"prompts": []}
        assert "profile" in (await answered(parts, "prompts/get", client, name="p"))["error"]["message"]
