"""Tool calls: of a model, how one ended, and the last ones."""

from collections.abc import Mapping
from typing import Any

import msgspec


class MCPToolCall(msgspec.Struct, frozen=True):
    """A tool call of a model, whichever provider's format it came in."""

    id: str  # the provider's own, or one that was made up where a format has none
    name: str  # the tool, as AI clients see it
    arguments: Mapping[str, Any]
    server: str = ""  # whose tool it is, where that is known


class MCPToolResponse(msgspec.Struct, frozen=True):
    """How one tool call ended.

    As an event it has no arguments and no result: these go to whoever called and to nobody else.
    """

    tool: str  # as the AI client called it
    server: str
    client: str
    outcome: str  # "ok", "error", "refused" or "cancelled"
    duration_s: float
    argument_bytes: int
    result_bytes: int
    tool_call_id: str = ""  # of the MCPToolCall that this answers; of any other call one that the hub has made
    result: Mapping[str, Any] | None = None  # the CallToolResult; None in events


class RecentCall(msgspec.Struct, frozen=True):
    """One tool call that was carried out or refused."""

    id: int  # they count up
    at: float  # unix seconds at which it ended
    tool: str  # as the AI client called it
    server: str
    client: str
    outcome: str  # as in MCPToolResponse
    duration_s: float
    argument_bytes: int
    result_bytes: int
