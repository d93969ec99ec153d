"""api.py, through McpPresenter's verbs; what each of them does is shown beside the module that does it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.lazy_hub import lazy, ready_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.views.api import ViewsApi
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.snapshots.tools import FoundTool, FoundTools


async def test_how_much_of_a_result_is_given_at_once_is_chosen_for_a_server_a_tool_or_a_client(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": {"command": "program"}}, programs={"program": ScriptedServer()}) as parts:
        choose, written = parts.presenter.set_result_limit, lambda: parts.settings_on_disk["mcpServers"]["s"]
        await choose(700, "s")
        await choose(800, "s", "t")
        await choose(900, client="Cursor")
        assert (written()["resultLimit"], written()["toolOverrides"]) == (700, {"t": {"resultLimit": 800}})
        assert [each.result_limit for each in await parts.presenter.get_client_modes() if each.client == "Cursor"] == [900]
        await parts.presenter.set_tool_override("s", "t", name="x")
        assert written()["toolOverrides"] == {"t": {"name": "x", "resultLimit": 800}}
        await choose(None, "s", "t")
        assert written()["toolOverrides"] == {"t": {"name": "x"}}
        await parts.presenter.set_tool_override("s", "t")
        await choose(800, "s", "t")
        for of in ({"server": "s"}, {"server": "s", "tool": "t"}, {"client": "Cursor"}):
            await choose(None, **of)
        assert written() == {"command": "program"}


@pytest.mark.parametrize(
    "given",
    [
        {"tokens": 700},
        {"tokens": 700, "tool": "t"},
        {"tokens": 700, "server": "s", "client": "c"},
        {"tokens": 7, "client": "c"},
        {"tokens": 700, "server": "x"},
    ],
)
async def test_a_limit_that_means_nothing_is_refused(parts: HubParts, given: dict[str, Any]) -> None:
    with pytest.raises(TooltrayError, match="Invalid limit for results.* must be 500 or more" if given["tokens"] == 7 else None):
        await parts.presenter.set_result_limit(**given)


@pytest.mark.parametrize(
    "change",
    [
        lambda api: api.set_tool_override("s", "t", description="Harmless."),
        lambda api: api.set_client_auto_approve("c", ["all"]),
    ],
)
async def test_what_may_mislead_a_model_or_runs_without_asking_is_confirmed(
    parts: HubParts, change: Callable[[ViewsApi], Awaitable[None]]
) -> None:
    before = parts.settings_on_disk
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await change(parts.views_api)
    assert parts.settings_on_disk == before


async def test_programs_search_and_describe_tools_as_models_do(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    read = tool("read_file", description="Reads a file. And more.", inputSchema=schema)
    async with ready_parts(tmp_path, "x", **lazy(x=ScriptedServer(read, tool("run")))) as parts:
        found = await parts.presenter.find_tools(["read a file", "拍照"], limit=1)
        assert found == [
            FoundTools("read a file", (FoundTool("read_file", "x", "read_file(path: str) - Reads a file", "name: file"),)),
            FoundTools("拍照", ()),
        ]
        assert await parts.presenter.describe_tools(["read_file"]) == [read]
        with pytest.raises(NotFound, match="Similar names: read_file"):
            await parts.presenter.describe_tools(["run", "readFile"])
        with pytest.raises(NotFound, match="Tool '拍照' not found"):
            await parts.presenter.describe_tools(["拍照"])


@pytest.mark.parametrize(("queries", "limit"), [([], 5), (["a"] * 11, 5), (["a"], 0), (["a"], 51)])
async def test_a_search_of_a_program_is_bounded(parts: HubParts, queries: list[str], limit: int) -> None:
    with pytest.raises(TooltrayError, match="Give 1 to 10 queries and a limit of 1 to 50"):
        await parts.presenter.find_tools(queries, limit)


@pytest.mark.parametrize("names", [[], ["a"] * 21])
async def test_a_program_describes_a_bounded_number_of_tools(parts: HubParts, names: list[str]) -> None:
    with pytest.raises(TooltrayError, match="Give 1 to 20 names"):
        await parts.presenter.describe_tools(names)
