"""A hub with the REST interface."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.rest_hub import RestHub, rest_hub


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[RestHub]:
    async with rest_hub(tmp_path) as hub:
        yield hub
