"""entries/files_api.py, through McpPresenter's verbs; see also server_files/ and test_proposals.py"""

from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts

from tooltray.errors import NotFound


async def test_a_yes_that_nobody_said_cannot_be_taken_back(parts: HubParts, tmp_path: Path) -> None:
    for project in (str(tmp_path), ""):
        with pytest.raises(NotFound):
            await parts.presenter.distrust_entries(project, "gone")
    assert await parts.presenter.get_trusted_entries() == []
