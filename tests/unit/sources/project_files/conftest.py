"""A hub with servers of projects' files."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.file_hub import FileHub, file_hub


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[FileHub]:
    async with file_hub(tmp_path) as hub:
        yield hub
