"""What a person is told when something is refused."""

from collections.abc import Awaitable
from typing import Any

import pytest

from tooltray.foundation.errors import TooltrayError


async def refusal(work: Awaitable[Any]) -> str:
    """The whole text of the error with which `work` ends."""
    with pytest.raises(TooltrayError) as raised:
        await work
    return str(raised.value)
