"""profiles.py, api.py: profiles, and tools under other names and descriptions"""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import HubParts, entry, hub_parts, started_parts
from tests.fakes.scripted_server import ScriptedServer, text, tool

from tooltray.catalogue.skill import Skill
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, ToolListChanged
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin.hub_server import HubServer

WORK = {"servers": ["a"], "tools": {"a": ["read"]}}


def world(*, profiles: Any = None, a: Any = None, **publish: Any) -> dict[str, Any]:
    """Server `a` with `read` and `write`, server `b` with `read`."""
    first, second = ScriptedServer(tool("read", description="Reads"), tool("write")), ScriptedServer(tool("read"))
    for program in (first, second):
        program.handlers["tools/call"] = lambda copy, params: text(f"called {params['name']}")
    return {
        "servers": {"a": entry("first", **(a or {})), "b": entry("second")},
        "programs": {"first": first, "second": second},
        "settings": {"profiles": profiles or {}, "publish": publish},
    }


async def run(parts: HubParts) -> None:
    for name in ("a", "b"):
        await parts.servers.start(name)
    await parts.tools.listing()


def notices(parts: HubParts) -> list[str]:
    return [str(problem) for problem in parts.presenter.snapshot().notices]


async def names_for(parts: HubParts, state: SessionState) -> list[str]:
    """What a session is shown."""
    return sorted(each["name"] for each in json.loads(bytes(await parts.views.at_start(state)))["tools"])


# profiles


async def test_without_profiles_all_is_included(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        assert parts.profiles.includes(SessionState("s"), "a", "write")
        assert parts.profiles.snapshots() == []


@pytest.mark.parametrize(
    ("server", "tool", "is_in"), [("a", None, True), ("a", "read", True), ("a", "write", False), ("b", None, False), ("b", "read", False)]
)
async def test_a_profile_has_its_servers_and_of_those_its_tools(tmp_path: Path, server: str, tool: str | None, is_in: bool) -> None:
    async with hub_parts(tmp_path, **world(profiles={"work": WORK})) as parts:
        assert parts.profiles.includes(SessionState("s", profile="work"), server, tool) is is_in
        assert parts.profiles.includes(SessionState("s"), server, tool)
        assert [parts.profiles.names_tools(*each) for each in (("work", "a"), ("work", "b"), ("gone", "a"))] == [True, False, False]


async def test_a_profile_without_a_server_has_none_of_its_skills(tmp_path: Path) -> None:
    skill = Skill("skill://x/SKILL.md", "x", "", None, "", Raw(b"{}"))
    async with hub_parts(tmp_path, **world(profiles={"work": WORK})) as parts:
        state = SessionState("s", profile="work")
        assert (parts.profiles.includes_skill(state, "a", skill), parts.profiles.includes_skill(state, "b", skill)) == (True, False)


@pytest.mark.parametrize(("named", "is_in"), [(["x"], True), (["skill://x/SKILL.md"], True), (["y"], False), ([], False)])
async def test_a_profile_has_those_of_a_server_s_skills_that_it_names(tmp_path: Path, named: list[str], is_in: bool) -> None:
    skill = Skill("skill://x/SKILL.md", "x", "", None, "", Raw(b"{}"))
    async with hub_parts(tmp_path, **world(profiles={"work": {"skills": {"a": named}}})) as parts:
        state = SessionState("s", profile="work")
        assert [parts.profiles.includes_skill(state, server, skill) for server in ("a", "b")] == [is_in, True]


async def test_a_profile_that_names_no_servers_has_all(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(profiles={"reading": {"tools": {"a": ["read"]}}})) as parts:
        state = SessionState("s", profile="reading")
        assert [parts.profiles.includes(state, server, "write") for server in ("a", "b")] == [False, True]


@pytest.mark.parametrize(
    ("profile", "own"),
    [
        ({"servers": ["a"], "tools": {"a": ["write"]}}, ["list_servers", "server_status"]),
        ({"servers": []}, ["list_servers", "server_status"]),
        ({"servers": [], "tools": {"hub": ["list_servers"]}}, ["list_servers"]),
        ({"servers": ["hub"], "tools": {"hub": []}}, []),
    ],
)
async def test_the_hub_s_own_tools_stay_in_every_profile_that_does_not_name_them(tmp_path: Path, profile: Any, own: list[str]) -> None:
    bus = EventBus()
    server = HubServer(get_snapshot=lambda: parts.presenter.snapshot(), takes_reports=lambda: False, bus=bus)
    async with hub_parts(tmp_path, **world(profiles={"p": profile}), builtins={"hub": server}) as parts:
        await run(parts)
        await parts.servers.start("hub")
        of_a = ["write"] if "a" in profile["servers"] else []
        assert await names_for(parts, SessionState("s", profile="p")) == sorted((*own, *of_a))
        assert await names_for(parts, SessionState("s", profile="gone")) == []
        assert parts.profiles.snapshots()[0].tool_count == len(of_a)  # of the user's servers
        state = SessionState("s", profile="p")
        assert [name for name in ("list_servers", "server_status") if parts.profiles.includes(state, "hub", name)] == own


async def test_what_a_session_asks_for_goes_before_what_its_client_gets(tmp_path: Path) -> None:
    profiles = {"work": WORK, "other": {"servers": ["b"]}}
    async with hub_parts(tmp_path, **world(profiles=profiles, clients={"c": {"profile": "other"}})) as parts:
        assert parts.profiles.of(SessionState("s", client="c")) == "other"
        assert parts.profiles.of(SessionState("s", client="c", profile="work")) == "work"
        assert parts.profiles.of(SessionState("s", client="d")) == ""


async def test_a_profile_that_there_is_not_includes_nothing_and_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(clients={"c": {"profile": "gone"}})) as parts:
        assert not parts.profiles.includes(SessionState("s", profile="gone"), "a")
        assert not parts.profiles.includes(SessionState("s", client="c"), "a")
        assert "no profile 'gone'" in parts.profiles.refusal("gone")
        assert parts.profiles.refusal("") == ""
        assert any("The profile of AI client 'c' does not exist" in notice for notice in notices(parts))


async def test_of_a_client_whose_settings_cannot_be_read_only_that_is_told(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(clients={"c": {"flowGuard": "yes"}})) as parts:
        assert not parts.profiles.includes(SessionState("s", client="c"), "a")
        told = [notice for notice in notices(parts) if "'c'" in notice]
        assert ["The settings of AI client 'c' cannot be used" in notice for notice in told] == [True]


async def test_profiles_are_set_shown_with_their_tools_and_removed(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        await parts.views_api.set_profile("work", {**WORK, "description": "Reads"})
        await parts.views_api.set_profile("all", {})
        found = {each.name: each for each in parts.profiles.snapshots()}
        assert (found["work"].servers, found["work"].tools, found["work"].tool_count) == (("a",), {"a": ("read",)}, 1)
        assert (found["all"].servers, found["all"].tool_count, found["work"].description) == (None, 3, "Reads")
        assert parts.profiles.refusal("work") == ""

        await parts.views_api.remove_profile("all")
        assert [each.name for each in parts.profiles.snapshots()] == ["work"]
        with pytest.raises(TooltrayError, match="Profile 'all' not found"):
            await parts.views_api.remove_profile("all")


async def test_what_a_profile_names_and_there_is_not_is_told(tmp_path: Path) -> None:
    profiles = {"odd": {"servers": ["a", "gone"], "tools": {"a": ["red"], "b": ["whatever"], "lost": ["x"]}}, "work": WORK}
    async with started_parts(tmp_path, "a", **world(profiles=profiles, clients={"c": {"profile": "work"}})) as parts:
        await parts.tools.listing("a")
        (told,) = [notice for notice in notices(parts) if "profile" in notice]
        assert "server 'gone' not found; server 'lost' not found; 'a' has no tool 'red'" in told
        assert "whatever" not in told  # nobody knows yet what b has


async def test_sessions_hear_at_once_that_their_profile_is_another_one(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(profiles={"work": WORK, "other": WORK})) as parts:
        heard: list[str] = []
        state = SessionState("s", profile="work")
        end = parts.views.follow(state, heard.append)
        await parts.views_api.set_profile("other", {})
        assert heard == []
        await parts.views_api.set_profile("work", {**WORK, "tools": {"a": ["read", "write"]}})
        assert "notifications/tools/list_changed" in heard
        end()


# overrides


async def listed(parts: HubParts, server: str | None = None) -> dict[str, str]:
    """The descriptions, by name."""
    tools = json.loads(bytes(await parts.tools.listing(server)))["tools"]
    return {each["name"]: each.get("description", "") for each in tools}


@pytest.mark.parametrize("server", [None, "a"])
async def test_a_tool_is_shown_and_called_under_its_chosen_name(tmp_path: Path, server: str | None) -> None:
    async with hub_parts(tmp_path, **world(a={"toolOverrides": {"read": {"name": "look", "description": "Looks"}}})) as parts:
        await run(parts)
        assert (await listed(parts, server))["look"] == "Looks"
        reply = await parts.call("look", server=server)
        assert reply["result"]["content"][0]["text"] == "called read"
        snapshot = next(each for each in await parts.tools.snapshots("a") if each.original_name == "read")
        assert (snapshot.name, snapshot.description) == ("look", "Looks")
        assert parts.tools.published_schema("look", server)


async def test_for_a_client_of_all_servers_and_the_formats_it_is_the_same(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(a={"toolOverrides": {"read": {"name": "look", "description": "Looks"}}})) as parts:
        await run(parts)
        definitions = await parts.presenter.get_all_tool_definitions()
        formats = await parts.presenter.mcp_tools_to_openai_tools()
        assert {each["name"]: each.get("description") for each in definitions}["look"] == "Looks"
        assert "look" in json.dumps(formats)


async def test_an_override_is_news_and_can_be_taken_back(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        before = await listed(parts)
        news = len(parts.heard.of(ToolListChanged))
        await parts.profiles.set_override("a", "write", {"name": "jot", "description": "Jots"})
        assert (await listed(parts))["jot"] == "Jots"
        assert len(parts.heard.of(ToolListChanged)) == news + 1
        await parts.profiles.set_override("a", "write", {})
        assert await listed(parts) == before
        assert (await parts.call("jot"))["result"]["content"][0]["text"] == "called write"  # who has the name by heart is served


async def test_a_chosen_name_that_meets_another_is_told_apart_as_always(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        assert set(await listed(parts)) == {"a_read", "b_read", "write"}
        await parts.profiles.set_override("b", "read", {"name": "write"})
        assert set(await listed(parts)) == {"a_read", "b_write", "write"}
        assert (await parts.call("write"))["result"]["content"][0]["text"] == "called write"
        assert (await parts.call("b_write"))["result"]["content"][0]["text"] == "called read"


async def test_a_name_that_only_all_servers_together_can_show_is_still_news(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        await listed(parts)
        await parts.profiles.set_override("a", "read", {"name": "Write"})
        assert "a_Write" in await listed(parts)
        assert set(await listed(parts, "a")) == {"read", "write"}


async def test_what_is_decided_of_a_tool_goes_by_its_own_name(tmp_path: Path) -> None:
    a = {"toolOverrides": {"read": {"name": "look"}, "write": {"name": "jot"}}, "autoApprove": ["write"], "disabledTools": ["read"]}
    async with hub_parts(tmp_path, **world(a=a)) as parts:
        await run(parts)
        assert set(await listed(parts, "a")) == {"jot"}
        assert "result" in await parts.call("jot")
        assert "is disabled" in (await parts.call("look", server="a"))["error"]["message"]


@pytest.mark.parametrize(
    ("name", "said"), [("", "''"), ("a b", "'a b'"), ("größe", "'größe'"), ("a\x1b[1m", r"'a\\x1b\[1m'"), ("x" * 41, "x")]
)
async def test_a_name_that_clients_cannot_bear_is_refused(tmp_path: Path, name: str, said: str) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        with pytest.raises(TooltrayError, match=f"{said}.* cannot be the name of a tool: a name has 1 to 40 of the letters a to z"):
            await parts.profiles.set_override("a", "read", {"name": name})


async def test_overrides_of_the_settings_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(a={"toolOverrides": {"read": {"name": "no name"}, "gone": {"name": "x"}}})) as parts:
        await run(parts)
        assert "read" in await listed(parts, "a")
        assert sum("'no name'" in notice or "'gone'" in notice for notice in notices(parts)) == 2
