"""leftovers.py: what of Tooltray stands in clients' files."""

from pathlib import Path

import pytest
from tests.fakes.client_files import BRIDGE, KINDS, put

from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.client_places import ClientPlaces
from tooltray.sources.clients.leftovers import leftovers, unreadable


def look(home: Path) -> ClientLook:
    return ClientLook(ClientPlaces({"HOME": str(home)}, "linux"))


def test_entries_are_found_by_what_they_start_whatever_they_are_called(tmp_path: Path) -> None:
    claude = put(
        tmp_path / ".claude.json",
        {
            "mcpServers": {"hub": BRIDGE, "tooltray": {"command": "other"}},
            "projects": {"/p": {"mcpServers": {"t": BRIDGE}}, "/q": 1},
            "history": ["tooltray_bridge"],
        },
    )
    code = put(tmp_path / ".config/Code/User/mcp.json", {"servers": {"x": {"command": "tooltray-bridge"}}})
    codex = put(tmp_path / ".codex/config.toml", "# tooltray_bridge\n[mcp_servers.x]\ncommand = 'tooltray-bridge'\n")
    found = [(edit.kind.name, edit.path, [change.place for change in edit.changes]) for edit in leftovers(look(tmp_path), KINDS.values())]
    assert found == [
        ("Claude Code", claude, [("mcpServers", "hub"), ("projects", "/p", "mcpServers", "t")]),
        ("VS Code", code, [("servers", "x")]),
        ("Codex", codex, [("mcp_servers", "x")]),
    ]


@pytest.mark.parametrize(("content", "count"), [('{"mcpServers": {"t": "tooltray_bridge"}', 1), ("[mcp] # tooltray-bridge", 1), ("{", 0)])
def test_a_config_that_names_us_and_cannot_be_read_is_for_the_person(tmp_path: Path, content: str, count: int) -> None:
    file = put(tmp_path / ".cursor/mcp.json", content)
    assert [(kind.name, path) for kind, path in unreadable(look(tmp_path), KINDS.values())] == [("Cursor", file)] * count
    assert list(leftovers(look(tmp_path), KINDS.values())) == []


def test_what_cannot_be_opened_names_nobody(tmp_path: Path) -> None:
    (tmp_path / ".cursor/mcp.json").mkdir(parents=True)
    assert list(unreadable(look(tmp_path), KINDS.values())) == []
