"""import_api.py: whose yes an import needs, and that it leaves the clients' files alone unless it is told not to."""

import json
from pathlib import Path

import pytest
from tests.fakes.hub_parts import Shell, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.confirmation import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied

TEXT = json.dumps({"mcpServers": {"git": {"command": "git-server"}}})


def cursor(root: Path) -> Path:
    file = root / "person/.cursor/mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    return file


async def test_an_import_leaves_the_files_of_clients_as_they_are(tmp_path: Path) -> None:
    file = cursor(tmp_path)
    program = ScriptedServer(tool("commit"))
    async with hub_parts(tmp_path, servers={}, shell=Shell(HOME=str(tmp_path / "person")), programs={"git-server": program}) as parts:
        plan = await parts.ai_clients_api.preview_client_import(["cursor"])
        (done,) = await parts.ai_clients_api.import_servers([plan.candidates[0].id])
        assert (done.state, done.removed_from) == ("listed", ())
        assert file.read_text() == TEXT


async def test_what_takes_from_clients_or_puts_back_needs_a_person(tmp_path: Path) -> None:
    cursor(tmp_path)
    async with hub_parts(tmp_path, servers={}, shell=Shell(HOME=str(tmp_path / "person"))) as parts:
        api = parts.ai_clients_api
        plan = await api.preview_client_import(["cursor"])
        of_text = await api.preview_client_import(text=TEXT)
        with asked_by(UNATTENDED):
            with pytest.raises(Denied):
                await api.import_servers([plan.candidates[0].id])
            with pytest.raises(Denied):
                await api.import_servers([of_text.candidates[0].id], text=TEXT, tidy=True)
            with pytest.raises(Denied):
                await api.put_back_moved_servers()
        assert parts.config.entries == {}
