"""tool_costs.py, api.py"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.lazy_hub import SEARCH
from tests.fakes.nesting import TOO_DEEP
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.views import tool_costs
from tooltray.catalogue.views.tool_costs import ToolCosting
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts
from tooltray.protocol.sessions.session_state import SessionState

ANY = SessionState("")


def world(**fields: Any) -> dict[str, Any]:
    first = ScriptedServer(tool("one", description="costs five tokens or so"), tool("two", title="not counted at all"))
    return {
        "servers": {"a": entry("first", **fields), "b": entry("second")},
        "programs": {"first": first, "second": ScriptedServer(tool("three", description="costs three words"))},
    }


async def run(parts: HubParts) -> None:
    for name in ("a", "b"):
        await parts.servers.start(name)
    await parts.tools.listing()


def costing(parts: HubParts, count: Any, listing: Any = None) -> ToolCosting:
    async def none(state: SessionState) -> tuple[dict[str, Raw], list[Raw]]:
        return {}, []

    async def no_tools(state: SessionState) -> list[Raw]:
        return []

    at_start = listing or parts.views.at_start
    return ToolCosting(tools=parts.tools, listing=at_start, sees=parts.visibility.sees, if_compact=none, if_full=no_tools, count=count)


def server(costs: ToolCosts, name: str) -> ServerCost:
    return next(each for each in costs.servers if each.server == name)


async def test_each_tool_each_server_and_all_together_are_counted(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        costs = await parts.presenter.get_tool_costs()

        assert [(tool.name, tool.tokens, tool.is_shown) for tool in server(costs, "a").tools] == [("one", 5, True), ("two", 1, True)]
        assert (server(costs, "a").tokens, server(costs, "b").tokens) == (6, 3)
        assert (costs.tokens, costs.shown_tokens, costs.tokenizer, costs.client) == (9, 9, "o200k_base", "")


async def test_what_is_counted_is_the_name_the_description_and_the_input_schema(tmp_path: Path) -> None:
    texts: list[str] = []
    async with hub_parts(tmp_path, **world(toolOverrides={"two": {"name": "zwei", "description": "zählt"}})) as parts:
        await run(parts)
        await costing(parts, lambda new: texts.extend(new) or [1] * len(new)).costs(ANY)

        assert '{"name":"zwei","inputSchema":{"type":"object"},"description":"zählt"}' in texts


async def test_a_lazy_server_costs_at_the_start_what_its_one_tool_costs(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(lazyLoad=True)) as parts:
        await run(parts)
        costs = await parts.presenter.get_tool_costs()
        a = server(costs, "a")

        assert a.tokens == 6
        assert [tool.is_shown for tool in a.tools] == [False, False]
        assert a.shown_tokens > 0
        assert server(costs, "b").shown_tokens == 3
        hub = server(costs, "hub")  # what finds and calls tools
        assert [(tool.name, tool.is_shown) for tool in hub.tools] == [(name, True) for name in SEARCH]
        assert (hub.tokens, costs.tokens) == (0, 9)  # a full listing lacks them
        assert hub.shown_tokens == sum(tool.tokens for tool in hub.tools) > 0


async def test_what_a_compact_listing_would_save_is_what_it_saves(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        before = await parts.presenter.get_tool_costs()
        await parts.presenter.set_lazy_load(True, "a")
        first = await parts.presenter.get_tool_costs()
        await parts.presenter.set_lazy_load(True, "b")
        second = await parts.presenter.get_tool_costs()

        a, b = server(before, "a"), server(before, "b")
        assert a.compact_tokens is not None
        assert b.compact_tokens is not None
        assert first.shown_tokens == before.shown_tokens - a.shown_tokens + a.compact_tokens + before.search_tokens
        assert second.shown_tokens == first.shown_tokens - b.shown_tokens + b.compact_tokens
        assert (before.search_tokens > 0, first.search_tokens) == (True, 0)
        assert server(first, "a").compact_tokens == server(first, "a").shown_tokens


@pytest.mark.parametrize("mode", ["everything", "search", "automatic"])
async def test_where_the_listing_of_all_servers_was_chosen_none_of_them_would_save_anything(tmp_path: Path, mode: str) -> None:
    async with hub_parts(tmp_path, **world(), settings={"publish": {"mode": mode}}) as parts:
        await run(parts)
        costs = await parts.presenter.get_tool_costs()

        assert {each.compact_tokens for each in costs.servers} == {None}


async def test_each_kind_of_client_has_its_own_start(tmp_path: Path) -> None:
    options = world() | {"settings": {"publish": {"clients": {"codex": {"mode": "search"}}}}}
    async with hub_parts(tmp_path, **options) as parts:
        await run(parts)
        codex, other = [await parts.presenter.get_tool_costs(client) for client in ("codex", "other")]

        assert (codex.client, server(codex, "a").shown_tokens, server(other, "a").shown_tokens) == ("codex", 0, 6)


async def test_a_full_listing_costs_the_same_whoever_asks(tmp_path: Path) -> None:
    """Tools that Tooltray lists only where others are hidden are no part of it; those that it lists in any case are."""
    clients = {"claude-code": {"mode": "everything"}, "stepper": {"mode": "everything", "steps": True}, "stepping": {"steps": True}}
    options = world() | {"settings": {"publish": {"mode": "search", "clients": clients}}}
    async with hub_parts(tmp_path, **options) as parts:
        await run(parts)
        claude, other, stepper, stepping = [
            await parts.presenter.get_tool_costs(client) for client in ("claude-code", None, "stepper", "stepping")
        ]

        assert claude.shown_tokens == claude.tokens == other.tokens == 9
        assert 0 < server(other, "hub").shown_tokens == other.shown_tokens
        assert stepper.shown_tokens == stepper.tokens == stepping.tokens > 9


async def test_a_session_costs_what_it_sees_now(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world(lazyLoad=True)) as parts:
        await run(parts)
        session, alone = parts.states.connect("all"), parts.states.connect("alone", server="a")
        session.client = "acme"
        before = await parts.presenter.get_tool_costs(session=session.id)
        session.activated.add("a")
        after = await parts.presenter.get_tool_costs("other", session.id)

        assert (before.client, after.client) == ("acme", "acme")
        assert [tool.is_shown for tool in server(before, "a").tools] == [False, False]
        assert [tool.is_shown for tool in server(after, "a").tools] == [True, True]
        assert server(after, "a").shown_tokens == server(before, "a").shown_tokens + 6  # the tool that activates it stays
        of_one = await parts.presenter.get_tool_costs(session=alone.id)
        assert ([each.server for each in of_one.servers], server(of_one, "a").tokens) == (["a", "hub"], 6)
        assert server(of_one, "a").shown_tokens > 0
        with pytest.raises(TooltrayError, match="session 'gone' not found"):
            await parts.presenter.get_tool_costs(session="gone\x1b")


async def test_what_was_counted_once_is_not_counted_again(tmp_path: Path) -> None:
    counted: list[Sequence[str]] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.append(list(texts))
        return [1 for _ in texts]

    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        costs = costing(parts, count)
        one, other = await asyncio.gather(costs.costs(ANY), costs.costs(SessionState("", client="x")))
        assert one.servers == other.servers
        assert [len(texts) for texts in counted] == [3, 0]
        await parts.profiles.set_override("b", "three", {"description": "another one"})
        assert (await costs.costs(ANY)).tokens == 3
        assert [len(texts) for texts in counted] == [3, 0, 1]


async def test_the_oldest_counts_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_costs, "MOST_KEPT", 2)
    counted: list[int] = []
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        costs = costing(parts, lambda texts: counted.append(len(texts)) or [1] * len(texts))
        assert [(await costs.costs(ANY)).tokens for _ in range(2)] == [3, 3]
        assert counted == [3, 1]


async def test_without_a_tokenizer_costs_are_estimated(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **world()) as parts:
        await run(parts)
        costs = await costing(parts, lambda texts: None).costs(ANY)

        assert costs.tokenizer == "estimate"
        assert 20 < costs.tokens < 100


async def test_a_definition_that_python_cannot_hold_is_counted_as_it_stands(tmp_path: Path) -> None:
    deep = Raw(b'{"name":"deep","inputSchema":' + b"[" * TOO_DEEP + b"]" * TOO_DEEP + b"}")
    texts: list[str] = []

    async def listing(state: object) -> Raw:
        return Raw(b'{"tools":[' + bytes(deep) + b"]}")

    async with hub_parts(tmp_path, servers={}) as parts:
        costs = costing(parts, lambda new: texts.extend(new) or [1] * len(new), listing)
        assert [each.server for each in (await costs.costs(ANY)).servers] == ["hub"]
        assert texts == [bytes(deep).decode()]
