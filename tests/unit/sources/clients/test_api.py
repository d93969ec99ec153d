"""api.py: what gives a client something needs a person; what takes something away does not."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome

from tooltray.foundation.confirmation import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Denied
from tooltray.sources.clients.api import AiClientsApi

CURSOR = ".cursor/mcp.json"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    made.write(CURSOR, "{}\n")
    yield made
    await made.close()


async def test_connecting_and_putting_back_need_a_person(home: ClientHome) -> None:
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
    (edit,) = await edits.preview_connect(["cursor"])
    await edits.apply({edit.id: edit.revision})
    edits.start()
    await home.slept_once()
    assert (home.home.client_changes / "days.json").exists()
