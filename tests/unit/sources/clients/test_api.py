"""api.py: what gives a client something, or takes from it, needs a person."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.hub_parts import Shell, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Denied
from tooltray.sources.clients.api import AiClientsApi

CURSOR = ".cursor/mcp.json"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    made.write(CURSOR, "{}\n")
    yield made
    await made.close()


async def test_connecting_and_putting_back_need_the_user(home: ClientHome) -> None:
    api = AiClientsApi(client_scans=home, client_edits=home.edits(), client_imports=None)  # type: ignore[arg-type]
    (edit,) = await api.preview_connect(["cursor"])
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await api.apply_client_edits({edit.id: edit.revision})
    with asked_by(PERSON):
        await api.apply_client_edits({edit.id: edit.revision})
    with asked_by(UNATTENDED):
        (gone,) = await api.preview_disconnect(["cursor"])
        (change,) = await api.apply_client_edits({gone.id: gone.revision})
        with pytest.raises(Denied):
            await api.undo_client_change(change.id)
    assert (home.root / CURSOR).read_text() == "{}\n" or "tooltray" not in (home.root / CURSOR).read_text()
    with asked_by(PERSON):
        await api.undo_client_change(change.id)
    assert "tooltray" in (home.root / CURSOR).read_text()
    with asked_by(UNATTENDED):
        connected = (await api.get_client_changes())[-1]
        await api.undo_client_change(connected.id)
    assert (home.root / CURSOR).read_text() == "{}\n"


async def test_old_changes_are_swept_when_the_hub_starts(home: ClientHome) -> None:
    edits = home.edits()
    (edit,) = await edits.preview("connect", ["cursor"])
    await edits.apply({edit.id: edit.revision})
    edits.start()
    await home.slept_once()
    assert (home.home.client_changes / "days.json").exists()


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


async def test_what_takes_from_clients_or_puts_back_needs_the_user(tmp_path: Path) -> None:
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


async def test_the_skill_names_the_servers_of_the_settings(tmp_path: Path) -> None:
    servers = {"github": {"command": "program", "descriptions": "Issues"}, "off": {"command": "program", "disable": True}}
    async with hub_parts(tmp_path, servers=servers) as parts:
        text = await parts.ai_clients_api.get_own_skill()
    assert "\n- github: Issues\n\n" in text
    assert "- off" not in text
