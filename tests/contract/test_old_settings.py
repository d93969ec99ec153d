"""Settings files of earlier days, kept as they were written, are still understood."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.document import CURRENT_VERSION
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus

SETTINGS = Path(__file__).parent / "settings"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


async def load(path: Path, name: str) -> McpConfHelper:
    shutil.copy(SETTINGS / name, path)
    conf = McpConfHelper(path, EventBus())
    await conf.load()
    return conf


async def test_a_file_without_a_version_is_migrated_with_a_copy_and_loses_nothing(path: Path) -> None:
    await load(path, "version-0.json")
    original = SETTINGS / "version-0.json"
    assert read(path) == {"version": CURRENT_VERSION} | read(original)
    assert {entry.name for entry in path.parent.iterdir()} == {"settings.json", "settings.json.v0.bak"}
    assert path.with_name("settings.json.v0.bak").read_bytes() == original.read_bytes()


async def test_its_entries_mean_what_they_meant(path: Path) -> None:
    settings = (await load(path, "version-0.json")).settings
    servers = settings.mcp_servers
    assert {name: server.transport for name, server in servers.items()} == {
        "filesystem": "stdio",
        "search": "stdio",
        "remote": "sse",
        "pasted": "http",
        "artifacts": "inmemory",
    }
    assert servers["filesystem"].target == "npx -y @modelcontextprotocol/server-filesystem /tmp"
    assert (servers["search"].args[-1], servers["search"].env["RETRIES"], servers["search"].auto_approve) == ("8080", "3", ("all",))
    assert (servers["pasted"].base_url, servers["pasted"].auto_approve) == ("https://mcp.example/mcp", ("read",))
    assert (servers["artifacts"].disable, servers["search"].disable) == (True, False)
    assert (settings.default_servers, settings.mcp_enabled) == (("filesystem", "remote"), False)


async def test_its_bad_entry_is_told_and_stays_in_the_file_after_a_change(path: Path) -> None:
    conf = await load(path, "version-0.json")
    assert [problem.title for problem in conf.problems] == ["The entry of server 'half' cannot be used"]
    await conf.set_enabled(True)
    before = read(SETTINGS / "version-0.json")
    assert read(path) == {"version": CURRENT_VERSION} | before | {"mcpEnabled": True}


async def test_a_setting_that_is_gone_is_ignored_without_a_problem_and_stays(path: Path) -> None:
    entry = {"command": "x", "shareReads": True}
    path.write_text(json.dumps({"version": CURRENT_VERSION, "mcpServers": {"old": entry}}))
    conf = McpConfHelper(path, EventBus())
    await conf.load()
    assert (conf.problems, list(conf.settings.mcp_servers)) == ((), ["old"])
    await conf.set_enabled(True)
    assert read(path)["mcpServers"] == {"old": entry}
