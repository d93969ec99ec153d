"""How a tool call of a model ended, as a response that the model can read whatever happened.

Above it: McpPresenter. Below it: protocol and formats/contents. Knows no servers; the call itself is ToolManager's.
"""

import time
from typing import Any

from msgspec.structs import replace

from tooltray.calls.tool_call import is_error
from tooltray.formats.contents import failed
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse

UNREADABLE = "The tool's result is nested too deeply to be read."


class ModelCall:
    """One call, from its start; `add` takes ToolManager's record of it."""

    def __init__(self, call: MCPToolCall, *, client: str) -> None:
        self._call, self._client = call, client
        self._started_at = time.perf_counter()
        self._record: MCPToolResponse | None = None

    def add(self, record: MCPToolResponse) -> None:
        self._record = record

    def response(self, reply: Envelope) -> MCPToolResponse:
        """The record with the result in it; a call that went nowhere has no record, and is an error."""
        result = failed(error_message(reply)) if reply.error else result_of(reply)
        return replace(self._record or self._unrecorded(result), tool_call_id=self._call.id, result=result)

    def _unrecorded(self, result: dict[str, Any]) -> MCPToolResponse:
        duration_s = time.perf_counter() - self._started_at
        arguments_size, size = (len(bytes(dump(each))) for each in (dict(self._call.arguments), result))
        return MCPToolResponse(self._call.name, self._call.server, self._client, "error", duration_s, arguments_size, size)


def error_message(reply: Envelope) -> str:
    """What a reply that is an error says."""
    error = envelope.load(reply.error)
    return str(error.get("message", "")) if isinstance(error, dict) else str(error)


def result_of(reply: Envelope) -> dict[str, Any]:
    """The result object of a reply that is none; a result that is no object stands in one."""
    try:
        result = envelope.load(reply.result)
    except ValueError:
        return failed(UNREADABLE)
    return result if isinstance(result, dict) else {"content": [], "isError": is_error(reply), "structuredContent": result}
