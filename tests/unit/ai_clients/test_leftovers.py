"""ai_clients/leftovers.py: what of Tooltray stands in clients' files."""

from pathlib import Path

import pytest
from tests.fakes.client_files import BRIDGE, KINDS, put
from tooltray.foreign_configs.client_entries import ClientEntry

from tooltray.ai_clients.client_look import ClientLook
from tooltray.ai_clients.client_places import ClientPlaces
from tooltray.ai_clients.leftovers import leftovers


def found(home: Path) -> list[ClientEntry]:
    return list(leftovers(ClientLook(ClientPlaces({"HOME": str(home)}, "linux")), KINDS.values()))


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
    assert found(tmp_path) == [
        ClientEntry("Claude Code", claude, ("mcpServers", "hub")),
        ClientEntry("Claude Code", claude, ("projects", "/p", "mcpServers", "t")),
        ClientEntry("VS Code", code, ("servers", "x")),
        ClientEntry("Codex", codex),
    ]


@pytest.mark.parametrize(("content", "count"), [('{"mcpServers": {"t": "tooltray_bridge"}', 1), ("[mcp] # tooltray-bridge", 1), ("{", 0)])
def test_a_config_that_names_us_and_cannot_be_read_is_for_the_person(tmp_path: Path, content: str, count: int) -> None:
    file = put(tmp_path / ".cursor/mcp.json", content)
    assert found(tmp_path) == [ClientEntry("Cursor", file)] * count


def test_what_cannot_be_opened_names_nobody(tmp_path: Path) -> None:
    (tmp_path / ".cursor/mcp.json").mkdir(parents=True)
    assert found(tmp_path) == []
