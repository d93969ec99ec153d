"""entry_edits.py, and the verbs of ServersApi that go with it"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.sources.entries.entry_edits import entry_diff, preview_edit

KEY = "ghp_0123456789abcdefABCDEF"
OTHER_KEY = "ghp_9876543210fedcbaFEDCBA"


def test_a_diff_shows_what_changes_and_no_secret() -> None:
    before, after = {"command": "p", "env": {"TOKEN": KEY}, "args": ["a"]}, {"command": "q", "env": {"TOKEN": OTHER_KEY}, "args": ["a"]}
    lines = entry_diff("s", before, after)
    assert '-  "command": "p",' in lines
    assert '+  "command": "q",' in lines
    assert '-    "TOKEN": "••••••"' in lines
    assert '+    "TOKEN": "•••••• (another value)"' in lines
    assert not any(key in line for line in lines for key in (KEY, OTHER_KEY))


def test_a_secret_that_stays_is_no_change() -> None:
    lines = entry_diff("s", {"command": "p", "env": {"TOKEN": KEY}}, {"command": "q", "env": {"TOKEN": KEY}})
    assert [line for line in lines if line[0] in "+-"] == ['-  "command": "p",', '+  "command": "q",']
    assert entry_diff("s", {"a": 1}, {"a": 1}) == ()


def test_changes_far_apart_have_a_gap_between() -> None:
    before = {"command": "p", **{f"x{number}": number for number in range(20)}, "note": "a"}
    assert " …" in entry_diff("s", before, {**before, "command": "q", "note": "b"})


async def config_of(tmp_path: Path, **servers: Any) -> McpConfHelper:
    (tmp_path / "settings.json").write_text(json.dumps({"mcpServers": servers}))
    config = McpConfHelper(tmp_path / "settings.json", EventBus())
    await config.load()
    return config


async def test_a_preview_says_where_it_goes_and_whether_the_server_is_restarted(tmp_path: Path) -> None:
    config = await config_of(tmp_path, s={"command": "p"})
    changed = preview_edit(config, "s", {"command": "q"})
    assert (changed.file, changed.is_restarted, changed.problem, changed.slips) == (str(config.path), True, None, ())
    assert changed.revision == config.revision("s")
    assert not preview_edit(config, "s", {"command": "p", "label": "work"}).is_restarted


async def test_a_preview_of_what_cannot_be_used_says_where_it_is_wrong(tmp_path: Path) -> None:
    config = await config_of(tmp_path, s={"command": "p"})
    changed = preview_edit(config, "s", {"command": "p", "args": "x"})
    assert [slip.path for slip in changed.slips] == [("args",)]
    assert not changed.is_restarted


async def test_a_file_that_is_served_is_not_written_and_nothing_of_a_project_runs_inside(tmp_path: Path) -> None:
    config = await config_of(tmp_path)
    config.set_file_servers({"f": file_server("f", project=SHOP), "g": file_server("g", origin="served")})
    assert preview_edit(config, "f", {"command": "x"}).problem is None
    inside = preview_edit(config, "f", {"type": "inmemory", "command": "x"}).problem
    assert inside is not None
    assert "inside Tooltray" in inside.title
    served = preview_edit(config, "g", {"command": "x"}).problem
    assert served is not None
    assert served.title == "'g' is not changed"


def hub(tmp_path: Path, **servers: Any) -> Any:
    return hub_parts(tmp_path / "home", servers=servers, default=("s",), programs={"p": ScriptedServer(tool("t"))})


async def test_a_copy_has_the_same_entry_and_rules_and_starts_when_it_is_used(tmp_path: Path) -> None:
    parts: HubParts
    async with hub(tmp_path, s={"command": "p", "label": "work", "x": 1}) as parts:
        assert await parts.presenter.duplicate_mcp_server("s", "s-2") == "s-2"
        assert parts.conf.entries["s-2"] == {"command": "p", "label": "work", "x": 1, "autoApprove": ["read"]}
        assert "s-2" not in parts.conf.settings.default_servers
        with pytest.raises(Conflict):
            await parts.presenter.duplicate_mcp_server("s", "s-2")
        with pytest.raises(NotFound):
            await parts.presenter.duplicate_mcp_server("gone", "x")


async def test_a_preview_over_the_api_changes_nothing(tmp_path: Path) -> None:
    async with hub(tmp_path, s=entry("p")) as parts:
        before = parts.home.settings.read_bytes()
        assert (await parts.presenter.preview_server_update("s", {"command": "q"})).diff
        assert parts.home.settings.read_bytes() == before
        with pytest.raises(TooltrayError):
            await parts.presenter.preview_server_update("gone", {"command": "q"})
