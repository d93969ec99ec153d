"""The tools that AI clients see, in the formats of model providers, and their calls and results on the way back.

Above it: McpPresenter. Below it: ToolManager, and one module per format in tools/formats.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.events import MCPToolCall, MCPToolResponse


class ToolFormats:
    """Belongs to the engine's loop."""

    async def tools(self, format: str, server: str | None) -> list[dict[str, Any]]:
        return []

    async def call(self, format: str, call: Mapping[str, Any]) -> MCPToolCall:
        return MCPToolCall("", "", {})

    async def response(self, format: str, response: MCPToolResponse) -> dict[str, Any]:
        return {}
