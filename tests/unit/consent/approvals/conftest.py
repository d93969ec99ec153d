from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.approval_desk import Desk, desk


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Desk]:
    """A hub with a window."""
    async with desk(tmp_path) as made:
        yield made


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Desk]:
    """A hub without a window."""
    async with desk(tmp_path, has_window=False) as made:
        yield made


@pytest.fixture
def a_person_answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits: however quick an answer is, a person may have given it."""
    monkeypatch.setattr("tooltray.protocol.sessions.elicitation_form.AT_ONCE_S", 0.0)
