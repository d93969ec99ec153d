"""A hub whose server starts for projects."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.project_hub import ProjectHub, project_hub


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[ProjectHub]:
    async with project_hub(tmp_path) as hub:
        yield hub
