"""client_scans.py and api.py: looks of a hub."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from tests.fakes.client_files import KINDS, put

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.bridge_entry import bridge_entry
from tooltray.sources.clients.api import AiClientsApi
from tooltray.sources.clients.client_edits import ClientEdits
from tooltray.sources.clients.client_imports import ClientImports
from tooltray.sources.clients.client_scans import ClientScans

NO_EDITS, NO_IMPORTS = cast(ClientEdits, None), cast(ClientImports, None)  # nothing is changed here


class Looks:
    """Looks at a made-up home."""

    def __init__(self, home: Home, bus: EventBus) -> None:
        self.address: str | None = None
        self.projects: list[str] = []
        self.environ = {"HOME": str(home.root.parent)}
        config = McpConfHelper(home.settings, bus)
        self.scans = ClientScans(
            home=home, config=config, environ=self._environ, own_url=lambda: self.address, known_projects=lambda: self.projects
        )

    async def _environ(self) -> Mapping[str, str]:
        return self.environ


@pytest.fixture
def looks(hub_home: Home) -> Looks:
    return Looks(hub_home, EventBus())


async def test_known_projects_and_those_that_are_named_are_looked_at(looks: Looks, tmp_path: Path) -> None:
    for name in ("known", "named"):
        put(tmp_path / name / ".cursor/mcp.json", {"mcpServers": {name: {"command": "x"}}})
    looks.projects = [str(tmp_path / "known")]
    found = await AiClientsApi(client_scans=looks.scans, client_edits=NO_EDITS, client_imports=NO_IMPORTS).scan_ai_clients(
        [str(tmp_path / "named")]
    )
    cursor = next(each for each in found.clients if each.id == "cursor")
    assert [server.name for file in cursor.files for server in file.servers] == ["named", "known"]


async def test_the_entry_that_people_paste_is_the_right_one(looks: Looks, hub_home: Home, home: Path) -> None:
    put(home / ".cursor/mcp.json", json.dumps(bridge_entry(hub_home)))
    found = await looks.scans.scan()
    assert next(each for each in found.clients if each.id == "cursor").connection == "connected"


async def test_an_entry_over_http_is_right_while_the_hub_listens(looks: Looks, home: Path) -> None:
    put(home / ".cursor/mcp.json", {"mcpServers": {"t": {"url": "http://127.0.0.1:7717/mcp"}, "u": {"url": "http://127.0.0.1:8000/mcp"}}})

    async def connections() -> tuple[str, int]:
        found = await looks.scans.scan()
        return next(each for each in found.clients if each.id == "cursor").connection, found.servers

    assert await connections() == ("broken", 1)
    looks.address = "http://127.0.0.1:8000"
    assert await connections() == ("connected", 1)


async def test_the_files_themselves_can_be_asked_for(looks: Looks, home: Path) -> None:
    put(home / ".cursor/mcp.json", {"mcpServers": {"a": {"command": "x"}}})
    look = await looks.scans.look()
    assert [entry.name for file in look.files(KINDS["cursor"]) for entry in file.entries] == ["a"]
