"""client_scanner.py: what a look at all clients says."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import BRIDGE, put

from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.sources.clients.client_connection import OwnEntry
from tooltray.sources.clients.client_scanner import ClientScanner

OWN = OwnEntry((sys.executable, "-I"), "http://127.0.0.1:7717")
RIGHT = {"command": sys.executable, "args": ["-I", "-m", "tooltray_bridge"]}


def scan(home: Path, *projects: str) -> ClientScan:
    return ClientScanner(platform="linux").scan(own=OWN, environ={"HOME": str(home)}, projects=projects)


def client(found: ClientScan, id: str) -> AiClient:
    return next(each for each in found.clients if each.id == id)


def test_on_an_empty_home_every_client_is_named_and_none_is_there(tmp_path: Path) -> None:
    found = scan(tmp_path)
    assert not any(each.is_installed for each in found.clients)
    assert [each.name.lower() for each in found.clients] == sorted(each.name.lower() for each in found.clients)
    assert (found.servers, found.different_servers, found.plain_secrets) == (0, 0, 0)


def test_installed_clients_stand_first_with_their_servers(tmp_path: Path) -> None:
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


def test_the_best_file_for_all_projects_says_how_a_client_is_connected(tmp_path: Path) -> None:
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
def test_a_client_that_cannot_be_connected_says_why(tmp_path: Path, id: str, content: Any, why_not: str) -> None:
    if content is not None:
        put(tmp_path / ".cursor/mcp.json", content)
    found = client(scan(tmp_path), id)
    assert (found.why_not, found.can_connect) == (why_not, not why_not)


def test_a_bad_file_is_shown_with_its_line(tmp_path: Path) -> None:
    put(tmp_path / ".cursor/mcp.json", '{\n"a": x}')
    [file] = client(scan(tmp_path), "cursor").files
    assert file.problem
    assert (file.line, file.servers) == (2, ())
