"""The whole set-up as one thing: taken out, taken over from elsewhere, and put back to what comes with Tooltray.

Above it: McpPresenter. Below it: the settings.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.events import SetupChange


class Setup:
    """Belongs to the engine's loop."""

    async def exported(self) -> dict[str, Any]:
        return {}

    async def preview_import(self, setup: Mapping[str, Any], *, replace: bool) -> list[SetupChange]:
        return []

    async def take_over(self, setup: Mapping[str, Any], *, replace: bool) -> list[SetupChange]:
        return []

    async def preview_reset(self) -> list[SetupChange]:
        return []

    async def reset(self) -> list[SetupChange]:
        return []
