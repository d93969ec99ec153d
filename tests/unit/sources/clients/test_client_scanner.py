"""client_scanner.py and client_scans.py: what there is on this computer, without a secret."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fakes.client_files import BRIDGE, KINDS, put

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installations import bridge_entry
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.sources.clients.api import AiClientsApi
from tooltray.sources.clients.bridge_entries import OwnEntry
from tooltray.sources.clients.client_edits import ClientEdits, ClientScans
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.client_places import ClientPlaces
from tooltray.sources.clients.client_scanner import MAX_TARGET, plain_secrets_of, target_of
from tooltray.sources.clients.client_scanner import scan as scanned
from tooltray.sources.clients.found_entries import Entry
from tooltray.sources.clients.imports import ClientImports

OWN = OwnEntry((sys.executable, "-I"), "http://127.0.0.1:7717")
RIGHT = {"command": sys.executable, "args": ["-I", "-m", "tooltray_bridge"]}


def scan(home: Path, *projects: str) -> ClientScan:
    return scanned(ClientLook(ClientPlaces({"HOME": str(home)}, "linux"), own=OWN, projects=projects), KINDS.values())


def client(found: ClientScan, id: str) -> AiClient:
    return next(each for each in found.clients if each.id == id)


def test_on_an_empty_home_every_client_is_named_and_none_is_there(tmp_path: Path) -> None:
    found = scan(tmp_path)
    assert not any(each.is_installed for each in found.clients)
    assert [each.name.lower() for each in found.clients] == sorted(each.name.lower() for each in found.clients)
    assert (found.servers, found.different_servers, found.plain_secrets) == (0, 0, 0)


def test_installed_clients_come_first_with_their_servers(tmp_path: Path) -> None:
    file = put(
        tmp_path / ".cursor/mcp.json",
        {"mcpServers": {"a": {"command": "npx", "args": ["-y", "p"], "env": {"API_KEY": "not-real"}, "disabled": True}, "t": RIGHT}},
    )
    found = scan(tmp_path)
    assert found.clients[0] == client(found, "cursor")
    [shown] = found.clients[0].files
    assert (found.clients[0].connection, shown.path, shown.connection, shown.exists) == ("connected", str(file), "connected", True)
    [server, bridge] = shown.servers
    assert (server.name, server.place, server.target, server.state, server.secrets, server.line) == (
        *("a", ("mcpServers", "a"), "npx -y p", "off"),
        *(("API_KEY",), 3),
    )
    assert bridge.kind == "bridge"
    assert (found.servers, found.plain_secrets) == (1, 1)
    assert "not-real" not in str(as_json(found))


def test_the_best_file_for_all_projects_decides_how_a_client_is_connected(tmp_path: Path) -> None:
    put(tmp_path / ".claude.json", {"mcpServers": {"t": BRIDGE}, "projects": {"/p": {"mcpServers": {"t": RIGHT, "a": {"command": "x"}}}}})
    claude = client(scan(tmp_path), "claude-code")
    assert [(file.project, file.connection, len(file.servers)) for file in claude.files] == [("", "broken", 1), ("/p", "connected", 2)]
    assert (claude.connection, claude.way) == ("broken", "command")


def test_the_same_server_in_several_clients_counts_once_as_a_different_one(tmp_path: Path) -> None:
    put(
        tmp_path / ".cursor/mcp.json",
        {"mcpServers": {"a": {"command": "npx", "args": ["-y", "p@latest"]}, "u": {"url": "https://X/mcp/?k=1"}}},
    )
    put(
        tmp_path / ".codex/config.toml", "[mcp_servers.b]\ncommand = '/usr/bin/npx'\nargs = ['p']\n[mcp_servers.u]\nurl = 'https://x/mcp'\n"
    )
    put(tmp_path / ".factory/mcp.json", {"mcpServers": {"c": {"command": "cmd", "args": ["/c", "npx.cmd", "p"]}, "d": {}, "e": {}}})
    put(tmp_path / ".kiro/settings/mcp.json", {"mcpServers": {"f": {"command": "npx", "args": ["q"]}, "t": BRIDGE}})
    found = scan(tmp_path)
    assert (found.servers, found.different_servers) == (8, 5)


def test_files_of_projects_are_shown_with_their_folder_and_their_work_tree(tmp_path: Path) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": {"command": "x", "env": {"A_TOKEN": "not-real"}}}})
    (tmp_path / "p/.git").mkdir()
    found = scan(tmp_path, str(tmp_path / "p"))
    claude = client(found, "claude-code")
    assert [(file.project, file.is_version_controlled) for file in claude.files] == [("", False), (str(tmp_path / "p"), True)]
    assert claude.files[1].servers[0].state == "waits"
    assert (claude.is_installed, claude.connection) == (False, "none")
    assert (found.servers, found.plain_secrets) == (1, 1)


@pytest.mark.parametrize(
    ("id", "content", "why_not"),
    [
        ("cursor", None, ""),
        ("cursor", {}, ""),
        ("cursor", "{", "its file cannot be changed as it is"),
        ("cherry-studio", None, ""),
        ("trae", None, "its file is not there yet, and it is not certain where it has to be: start Trae once"),
        ("jetbrains-ai", None, "it keeps its servers in the IDE: paste the entry in Settings, Tools, AI Assistant, MCP"),
    ],
)
def test_a_client_that_cannot_be_connected_has_a_reason(tmp_path: Path, id: str, content: Any, why_not: str) -> None:
    if content is not None:
        put(tmp_path / ".cursor/mcp.json", content)
    found = client(scan(tmp_path), id)
    assert (found.why_not, found.can_connect) == (why_not, not why_not)


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


async def test_known_projects_and_those_that_are_named_are_read(looks: Looks, tmp_path: Path) -> None:
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


KEY = "sk-not-a-real-key-0123456789"
TOKEN = "ghp_notarealtoken0123456789"


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ({"command": "x", "env": {"API_KEY": "abc", "LOG": "debug", "OTHER": KEY}}, ("API_KEY", "OTHER")),
        ({"cmd": "x", "envs": {"MY_TOKEN": "abc"}}, ("MY_TOKEN",)),
        ({"command": ["x"], "environment": {"MY_TOKEN": "abc"}}, ("MY_TOKEN",)),
        ({"url": "https://x/mcp?api_key=abc&q=1"}, ("api_key",)),
        (
            {"uri": "https://x", "headers": {"Authorization": "Bearer abc", "X-Api-Key": "abc", "Accept": "json"}},
            ("Authorization", "X-Api-Key"),
        ),
        ({"url": "https://x", "http_headers": {"Authorization": "Bearer abc"}}, ("Authorization",)),
        ({"url": "https://x", "auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "abc", "scopes": []}}, ("CLIENT_SECRET",)),
        ({"command": "x", "args": ["--api-key", "abc", "--log", "y"]}, ("--api-key",)),
        ({"command": "x", "args": ["--token=abc", "--log=y"]}, ("--token",)),
        ({"command": "docker", "args": ["run", "-e", "GITHUB_TOKEN=abc"]}, ("GITHUB_TOKEN",)),
        ({"command": "npx", "args": ["mcp-remote", "https://x", "--header", "Authorization: Bearer abc"]}, ("Authorization",)),
        ({"command": "npx", "args": ["mcp-remote", "https://x?key=abc"]}, ("key",)),
        ({"command": "x", "args": ["postgresql://me:abc@host/db"]}, ("password",)),
        ({"command": "x", "args": ["a", TOKEN]}, ("#2",)),
        ({"command": "x", "env": {"A_KEY": KEY}, "args": ["--a-key", KEY, KEY]}, ("A_KEY", "--a-key", "#3")),
    ],
)
def test_what_looks_secret_is_named_and_left_out(entry: Entry, names: tuple[str, ...]) -> None:
    assert plain_secrets_of(entry) == names
    shown = target_of(entry)
    assert "abc" not in shown
    assert KEY not in shown
    assert TOKEN not in shown


REFERENCES = ("${API}", "Bearer ${API}", "${env:API}", "$API", "{env:API}", "${input:api}", "{file:~/key}", "${{ secrets.API }}", "%API%")


@pytest.mark.parametrize("value", [*REFERENCES, "YOUR_API_KEY", "<key>", ""])
def test_what_only_names_a_secret_is_none(value: str) -> None:
    entry: Entry = {
        "command": "x",
        "env": {"API_KEY": value},
        "headers": {"X-Api-Key": value},
        "oauth": {"client_secret": value},
        "args": ["--api-key", value, f"--token={value}", "--header", f"Authorization: {value}"],
    }
    assert plain_secrets_of(entry) == ()


@pytest.mark.parametrize(
    ("entry", "target"),
    [
        ({"command": "npx", "args": ["-y", "@scope/server", "/my folder"]}, "npx -y @scope/server '/my folder'"),
        (
            {"command": "x", "args": ["--token", TOKEN, "--header", f"X-Token: {TOKEN}", "-H", "Accept: a", "b:c"]},
            "x --token … --header 'X-Token: …' -H 'Accept: a' b:c",
        ),
        ({"command": "x", "args": ["https://x/a?b=1", "https://me:pw@x/a?b=1", "--a=1"]}, "x 'https://x/a?b=1' https://x/a --a=1"),
        ({"url": "https://me:pw@x/mcp?key=1#f"}, "https://x/mcp"),
        ({"command": "a\nb"}, "'a b'"),
        ({}, ""),
    ],
)
def test_an_entry_is_shown_in_one_line(entry: Entry, target: str) -> None:
    assert target_of(entry) == target


def test_a_line_has_an_end() -> None:
    assert len(target_of({"command": "x", "args": ["y"] * 1000})) == MAX_TARGET


def test_a_url_whose_key_is_elsewhere_holds_none() -> None:
    assert plain_secrets_of({"command": "x", "env": {"URL": "https://${USER}:${PASSWORD}@host"}}) == ()
