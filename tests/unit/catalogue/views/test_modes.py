"""modes.py, known_clients.py, api.py"""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts, started_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.views.known_clients import MOST_SEEN
from tooltray.catalogue.views.modes import AUTOMATIC_TOKENS, MOST_VIEWS, ModesChanged
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, SessionListChanged, ToolListChanged
from tooltray.protocol.eras import ClientInfo
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin.hub_server import HubServer


def one(**publish: Any) -> dict[str, Any]:
    return {"servers": {"s": entry("x"), "t": entry("x", lazyLoad=False)}, "settings": {"publish": publish}}


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    async with hub_parts(tmp_path, **one()) as parts:
        yield parts


def large(count: int, size_bytes: int = 10) -> dict[str, Any]:
    """One server with so many tools of such a size, in the mode "automatic"."""
    program = ScriptedServer(*(tool(f"t{number}", description="x" * size_bytes) for number in range(count)))
    return {"servers": {"s": entry("x")}, "programs": {"x": program}, "settings": {"publish": {"mode": "automatic"}}}


def session(client: str = "", **fields: Any) -> SessionState:
    return SessionState("s1", client=client, **fields)


def lazy(parts: HubParts, state: SessionState) -> list[str]:
    return [server.name for server in parts.servers if parts.modes.is_lazy(state, server.config)]


# what counts


async def test_nothing_is_hidden_unasked(parts: HubParts) -> None:
    shown = parts.modes.shown(session("claude-code"))

    assert shown.mode == "everything"
    assert lazy(parts, session()) == []


@pytest.mark.parametrize("where", [{"lazyLoad": True}, {"options": {"lazyLoad": True}}])
async def test_where_nobody_chose_a_mode_the_servers_settings_count(tmp_path: Path, where: dict[str, Any]) -> None:
    servers = {"s": entry("x", **where), "t": entry("x")}
    async with hub_parts(tmp_path, servers=servers) as parts:
        shown = parts.modes.shown(session())

        assert (shown.mode, lazy(parts, session())) == ("lazy", ["s"])
        assert shown.reason.endswith("as set for: s")
        assert parts.modes.shown(session(server="t")).mode == "everything"


async def test_the_reason_names_a_few_servers(tmp_path: Path) -> None:
    servers = {name: entry("x") for name in "edcba"}
    async with hub_parts(tmp_path, servers=servers, settings={"publish": {"lazyLoad": True}}) as parts:
        assert parts.modes.shown(session()).reason.endswith("a, b, c and 2 more")


async def test_all_servers_are_lazy_by_default_but_those_that_say_otherwise_and_the_hub_itself(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one(lazyLoad=True), builtins={"hub": object()}) as parts:
        assert lazy(parts, session()) == ["s"]


@pytest.mark.parametrize(("mode", "hidden"), [("everything", []), ("lazy", ["s"]), ("search", [])])
async def test_a_chosen_mode_goes_before_what_the_servers_say(tmp_path: Path, mode: str, hidden: list[str]) -> None:
    settings = one(mode=mode, lazyLoad=True)
    async with hub_parts(tmp_path, **settings) as parts:
        shown = parts.modes.shown(session())

        assert (shown.mode, shown.reason, lazy(parts, session())) == (mode, "chosen for all AI clients", hidden)


@pytest.mark.parametrize("client", ["codex-mcp-client", "acme-cli-7", "windsurf-client"])
async def test_a_mode_of_its_own_goes_before_that_of_all(tmp_path: Path, client: str) -> None:
    clients = {"Windsurf": {"mode": "search"}, "acme-*": {"mode": "search"}, "codex-mcp-client": {"mode": "search"}}
    async with hub_parts(tmp_path, **one(mode="lazy", clients=clients)) as parts:
        shown = parts.modes.shown(session(client))

        assert (shown.mode, shown.reason) == ("search", "chosen for this AI client")
        assert parts.modes.shown(session("other")).mode == "lazy"


async def test_what_a_client_may_do_unasked_is_its_own_or_the_servers(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one(clients={"a": {"autoApprove": []}, "b": {}})) as parts:
        assert [parts.modes.auto_approve(session(name)) for name in ("a", "b", "c")] == [(), None, None]


# automatic


async def test_automatically_everything_is_shown_that_fits(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **large(3)) as parts:
        await parts.tools.listing()
        shown = parts.modes.shown(session("codex-mcp-client"))

        assert shown.mode == "everything"
        assert shown.reason.startswith("3 tools cost about ")
        assert shown.reason.endswith(" tokens, so that all fit")
        assert lazy(parts, session("codex-mcp-client")) == []


@pytest.mark.parametrize(
    ("client", "mode"),
    [
        ("claude-code", "everything"),
        ("qwen-cli-mcp-client-hub", "everything"),
        ("codex-mcp-client", "search"),
        ("opencode", "search"),
        ("unheard-of", "search"),
    ],
)
@pytest.mark.parametrize("publish", [{}, {"mode": "automatic"}])
async def test_a_client_that_searches_itself_gets_all_tools_and_others_search_beyond_the_limit(
    tmp_path: Path, client: str, mode: str, publish: dict[str, Any]
) -> None:
    async with started_parts(tmp_path, **large(2, AUTOMATIC_TOKENS * 5) | {"settings": {"publish": publish}}) as parts:
        await parts.tools.listing()
        shown = parts.modes.shown(session(client))

        assert (shown.mode, parts.modes.may_hide(), lazy(parts, session(client))) == (mode, True, [])
        assert ("so they are searched" if mode == "search" else "searches tools itself") in shown.reason


@pytest.mark.parametrize("publish", [{"mode": "everything"}, {"lazyLoad": False}])
async def test_a_home_that_chose_keeps_it_whatever_the_tools_cost(tmp_path: Path, publish: dict[str, Any]) -> None:
    async with started_parts(tmp_path, **large(2, AUTOMATIC_TOKENS * 5) | {"settings": {"publish": publish}}) as parts:
        await parts.tools.listing()
        assert parts.modes.shown(session()).mode == "everything"
        assert not parts.modes.may_hide()


def small_and_large() -> dict[str, Any]:
    """A server whose one tool fits, and the one of `large` whose tools do not."""
    options = large(2, AUTOMATIC_TOKENS * 5)
    servers, programs = options["servers"] | {"a": entry("small")}, options["programs"] | {"small": ScriptedServer(tool("one"))}
    return options | {"servers": servers, "programs": programs}


async def test_a_session_keeps_what_was_decided_at_its_first_list_until_it_is_another_clients(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **small_and_large()) as parts:
        state = parts.states.connect("key")
        await parts.servers.start("a")
        await parts.tools.listing()
        parts.modes.keep(state)
        await parts.servers.start("s")
        await parts.tools.listing()
        parts.modes.keep(state)
        shown = parts.modes.shown(state)
        assert (shown.mode, parts.modes.shown(session()).mode) == ("everything", "search")
        assert "decided when it listed" in shown.reason
        parts.modes.named(state, ClientInfo("acme", "1"))
        assert parts.modes.shown(state).mode == "search"


@pytest.mark.parametrize("server", [None, "s"])
async def test_a_first_list_without_any_servers_tools_decides_nothing(tmp_path: Path, server: str | None) -> None:
    async with hub_parts(tmp_path, **small_and_large()) as parts:
        state = parts.states.connect("key", server=server)
        parts.modes.keep(state)
        await parts.servers.start("s")
        await parts.tools.listing()
        assert parts.modes.shown(state).mode == "search"
        parts.modes.keep(state)
        assert "decided when it listed" in parts.modes.shown(state).reason


async def test_the_hubs_own_tools_alone_decide_nothing(tmp_path: Path) -> None:
    bus = EventBus()
    own = HubServer(get_snapshot=lambda: parts.presenter.snapshot(), takes_reports=lambda: False, bus=bus)
    async with started_parts(tmp_path, "hub", **large(1), builtins={"hub": own}) as parts:
        await parts.tools.listing()
        state = parts.states.connect("key")
        parts.modes.keep(state)
        assert (parts.tools.size("hub")[0], state.listed_mode) == (2, "")


# in words


async def summary(parts: HubParts, client: str = "") -> str:
    return next(each.summary for each in await parts.presenter.get_client_modes() if each.client == client)


@pytest.mark.parametrize(
    ("size_bytes", "publish", "words"),
    [
        (10, {}, "AI clients get all tools (2, about 31 tokens)."),
        (50_000, {}, "AI clients search the tools (2, about 22,000 tokens); those that search themselves get all."),
        (10, {"mode": "search"}, "AI clients search the tools (2, about 31 tokens)."),
        (10, {"mode": "lazy"}, "AI clients get a compact list of the tools (2, about 31 tokens)."),
    ],
)
async def test_what_clients_get_is_described(tmp_path: Path, size_bytes: int, publish: dict[str, Any], words: str) -> None:
    async with hub_parts(tmp_path, **large(2, size_bytes) | {"settings": {"publish": publish}}) as parts:
        assert await summary(parts) == ""
        await parts.servers.start("s")
        await parts.tools.listing()
        assert await summary(parts) == words


async def test_the_description_is_of_one_kind_of_client(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **large(2, 50_000)) as parts:
        await parts.tools.listing()
        assert (await summary(parts, "claude-code")).startswith("AI clients get all tools")


async def test_automatically_more_tools_than_a_client_shows_are_hidden(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **large(41)) as parts:
        await parts.tools.listing()

        assert parts.modes.shown(session("cursor-vscode")).reason.startswith("Cursor shows at most 40 tools, there are 41,")
        assert parts.modes.shown(session("claude-code")).mode == "everything"


async def test_automatically_only_the_tools_of_a_session_s_profile_and_server_count(tmp_path: Path) -> None:
    options = large(2, AUTOMATIC_TOKENS * 5)
    options["settings"]["profiles"] = {"none": {"servers": []}, "half": {"servers": ["s"], "tools": {"s": ["t0"]}}}
    options["settings"]["publish"]["clients"] = {"b": {"profile": "none"}}
    options["servers"]["t"] = entry("y")
    async with started_parts(tmp_path, **options) as parts:
        await parts.tools.listing("s")

        modes = [parts.modes.shown(each).mode for each in (session("a"), session("b"), session(profile="none"), session(server="t"))]
        assert modes == ["search", "everything", "everything", "everything"]
        half, whole = parts.modes.shown(session(profile="half")).reason, parts.modes.shown(session("a")).reason
        assert ("1 tool" in half, "2 tools" in whole) == (True, True)


async def test_automatically_nothing_counts_that_models_do_not_get_and_what_the_person_says_in_its_place_does(tmp_path: Path) -> None:
    options = large(1)
    huge = "x" * AUTOMATIC_TOKENS * 5
    options["programs"]["x"] = ScriptedServer(tool("t", title=huge, outputSchema={"type": "object", "description": huge}))
    async with started_parts(tmp_path, **options) as parts:
        await parts.tools.listing()
        assert parts.modes.shown(session()).mode == "everything"

        await parts.profiles.set_override("s", "t", {"description": huge})
        await parts.tools.listing()
        assert parts.modes.shown(session()).mode == "search"


async def test_what_was_seen_of_a_client_goes_before_what_is_known(parts: HubParts) -> None:
    known = [parts.modes.obeys_changes(session(name)) for name in ("claude-code", "codex-mcp-client", "cursor-vscode", "x")]
    assert known == [True, False, None, None]
    assert parts.modes.obeys_changes(session("claude-code", obeys_changes=False)) is False


async def test_automatically_more_tools_are_news_to_those_whom_it_concerns(tmp_path: Path) -> None:
    heard: list[str] = []
    async with hub_parts(tmp_path, **large(2, AUTOMATIC_TOKENS * 5)) as parts:
        parts.bus.subscribe(ModesChanged, lambda event: heard.append("news"))
        assert parts.modes.shown(session()).mode == "everything"  # nothing is listed yet
        await parts.servers.start("s")
        await parts.tools.listing("s")

        assert parts.modes.shown(session()).mode == "search"
        assert heard == ["news"]
        parts.bus.publish(ToolListChanged("s"))
        assert heard == ["news"]


# sessions and clients


async def test_a_client_that_says_who_it_is_is_seen(parts: HubParts) -> None:
    state = parts.states.connect("key", folder="f", profile="p")
    parts.modes.named(state, ClientInfo("acme", "1"))
    parts.modes.named(state, ClientInfo("acme", "1"))
    state.activated |= {"b", "a"}

    (found,) = await parts.views_api.get_sessions()
    assert (found.client, found.version, found.profile, found.mode, found.activated) == ("acme", "1", "p", "everything", ("a", "b"))
    assert found.is_connected
    assert found.kind == "acme"
    assert 0 <= time.time() - found.connected_at < 3600
    assert [each.is_seen for each in await parts.views_api.get_client_modes() if each.client == "acme"] == [True]
    parts.states.disconnect("key")
    assert not (await parts.views_api.get_sessions())[0].is_connected


async def test_another_client_in_the_same_session_is_judged_anew(parts: HubParts) -> None:
    state = session("a", obeys_changes=True, version="1")
    parts.modes.named(state, ClientInfo("a", "2"))
    assert state.obeys_changes is True
    parts.modes.named(state, ClientInfo("b", "2"))
    assert (state.client, state.obeys_changes) == ("b", None)


async def test_a_client_s_rules_on_arguments_are_told_in_words_and_so_is_its_flow_guard(tmp_path: Path) -> None:
    clients = {"a": {"callRules": [{"tool": "ls"}], "flowGuard": False}, "b": {"callRules": []}, "c": {"mode": "lazy"}}
    async with hub_parts(tmp_path, **one(clients=clients)) as parts:
        found = {
            each.client: (each.call_rules, each.flow_guard) for each in await parts.views_api.get_client_modes() if each.client in clients
        }
        assert found == {"a": (("ls: without arguments",), False), "b": ((), None), "c": (None, None)}


async def test_clients_are_those_that_are_known_seen_or_have_settings(tmp_path: Path) -> None:
    clients = {"zed-*": {"mode": "search"}, "claude-code": {"mode": "lazy", "profile": "p", "autoApprove": ["read"]}}
    async with hub_parts(tmp_path, **one(clients=clients)) as parts:
        parts.modes.named(session(), ClientInfo("qwen-cli-mcp-client-files"))
        parts.modes.named(session(), ClientInfo("acme"))
        found = {each.client: each for each in await parts.views_api.get_client_modes()}

        claude, qwen = found["claude-code"], found["qwen-cli-mcp-client-*"]
        assert (claude.title, claude.mode, claude.shown_mode, claude.profile) == ("Claude Code", "lazy", "lazy", "p")
        assert (claude.auto_approve, claude.is_seen) == (("read",), False)
        assert (qwen.title, qwen.mode, qwen.is_seen, qwen.auto_approve) == ("Qwen Code", "", True, None)
        assert "qwen-cli-mcp-client-files" not in found
        assert (found["acme"].title, found["acme"].is_seen, found["zed-*"].shown_mode) == ("acme", True, "search")


async def test_the_reason_names_no_server_that_there_is_not_for_the_session(tmp_path: Path) -> None:
    servers = {"a": entry("a", lazyLoad=True, disable=True), "b": entry("b", lazyLoad=True), "c": entry("c")}
    async with hub_parts(tmp_path, servers=servers, settings={"profiles": {"p": {"servers": ["c"]}}}) as parts:
        state = session()
        assert parts.modes.shown(state).reason.endswith("as set for: b")
        state.profile = "p"
        assert parts.modes.shown(state).mode == "everything"


async def test_every_other_client_has_an_entry_which_says_what_is_chosen_for_all(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one(clients={"codex": {"mode": "search"}})) as parts:
        others = next(each for each in await parts.views_api.get_client_modes() if not each.client)
        assert (others.title, others.mode, others.shown_mode, others.is_seen) == ("Every other AI client", "", "everything", True)
        await parts.views_api.set_client_mode("", "lazy")
        others = next(each for each in await parts.views_api.get_client_modes() if not each.client)
        assert (others.mode, others.shown_mode, others.reason) == ("lazy", "lazy", "chosen for all AI clients")


async def test_a_request_that_nobody_can_tie_to_another_is_no_session_that_people_see(parts: HubParts) -> None:
    passing = parts.states.connect(1, is_lasting=False, is_passing=True)
    parts.modes.named(passing, ClientInfo("acme"))
    parts.states.disconnect(1, is_lasting=False)
    assert await parts.views_api.get_sessions() == []
    assert not any(isinstance(event, SessionListChanged) for event in parts.heard.all)
    parts.states.connect(2)
    assert len(await parts.views_api.get_sessions()) == 1


async def test_clients_that_always_name_themselves_anew_fill_no_list(parts: HubParts) -> None:
    few = len(await parts.views_api.get_client_modes())
    for number in range(max(MOST_SEEN, MOST_VIEWS) + 1):
        parts.modes.named(state := session(), ClientInfo(f"c{number}"))
        assert parts.modes.shown(state).mode == "everything"
    assert len(await parts.views_api.get_client_modes()) == few + MOST_SEEN


# changes


async def test_a_mode_that_is_chosen_counts_at_once_and_is_news(parts: HubParts) -> None:
    for client in ("a", "one that is seen later"):
        assert parts.modes.shown(session(client)).mode == "everything"
    news = len(parts.heard.of(SessionListChanged))
    await parts.views_api.set_client_mode("a", "search")
    assert parts.modes.shown(session("a")).mode == "search"
    assert len(parts.heard.of(SessionListChanged)) == news + 1
    await parts.views_api.set_client_mode("b", "lazy")
    assert len(parts.heard.of(SessionListChanged)) == news + 1  # nobody asked what b sees
    await parts.views_api.set_client_mode("", "lazy")
    await parts.views_api.set_client_mode("a", "")
    assert parts.modes.shown(session("a")).mode == "lazy"


async def test_servers_are_made_lazy(parts: HubParts) -> None:
    await parts.views_api.set_lazy_load(True, "s")
    assert lazy(parts, session()) == ["s"]
    await parts.views_api.set_lazy_load(None, "s")
    assert lazy(parts, session()) == []
    await parts.views_api.set_lazy_load(True, None)
    assert lazy(parts, session()) == ["s"]


async def test_profiles_and_approvals_of_a_client_are_chosen(tmp_path: Path) -> None:
    options = one()
    options["settings"]["profiles"] = {"p": {}}
    async with hub_parts(tmp_path, **options) as parts:
        await parts.views_api.set_client_profile("a", "p")
        await parts.views_api.set_client_auto_approve("a", ["all"])
        assert parts.profiles.of(session("a")) == "p"
        assert parts.modes.auto_approve(session("a")) == ("all",)
        await parts.views_api.set_client_auto_approve("a", None)
        assert parts.modes.auto_approve(session("a")) is None


async def test_the_reason_speaks_of_the_profile_where_there_is_one(tmp_path: Path) -> None:
    settings = one(clients={"c": {"profile": "work"}})
    settings["settings"]["profiles"] = {"work": {"servers": ["t"]}}
    async with hub_parts(tmp_path, **settings) as parts:
        assert parts.modes.shown(session("c")).reason == "everything in the profile 'work'"
        assert parts.modes.shown(session(profile="work")).reason == "everything in the profile 'work'"
        gone = parts.modes.shown(session(profile="gone"))
        assert (gone.mode, gone.reason) == ("everything", "profile 'gone' not found, so nothing is shown")
    async with hub_parts(tmp_path / "odd", **one(clients={"c": {"flowGuard": "yes"}})) as parts:
        assert parts.modes.shown(session("c")).reason == "its settings cannot be read, so nothing is shown"


async def test_a_rule_that_means_nothing_is_refused(parts: HubParts) -> None:
    with pytest.raises(TooltrayError, match="means nothing"):
        await parts.views_api.set_client_auto_approve("a", ["hint:loud"])
