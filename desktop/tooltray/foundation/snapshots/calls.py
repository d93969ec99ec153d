"""Tool calls: a model's request, the result of one, and recent calls."""

from collections.abc import Mapping
from typing import Any

import msgspec


class MCPToolCall(msgspec.Struct, frozen=True):
    """A tool call of a model, in the format of any provider."""

    id: str  # the provider's own, or one that was made up where a format has none
    name: str  # the tool, as AI clients see it
    arguments: Mapping[str, Any]
    server: str = ""  # whose tool it is, where that is known


class MCPToolResponse(msgspec.Struct, frozen=True):
    """The result of one tool call.

    As an event it has no arguments and no result: only the caller gets these.
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
