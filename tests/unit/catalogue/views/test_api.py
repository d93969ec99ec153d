"""api.py, through McpPresenter's verbs; what each of them does is shown beside the module that does it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.scripted_server import ScriptedServer

from tooltray.catalogue.views.api import ViewsApi
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, TooltrayError


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
