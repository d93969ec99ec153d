"""AI clients that connect over HTTP."""

from collections.abc import AsyncIterator

import pytest
from tests.fakes.http_hub import HttpHub, http_hub


@pytest.fixture
async def hub() -> AsyncIterator[HttpHub]:
    async with http_hub() as hub:
        yield hub
