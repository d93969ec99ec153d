"""The built-in server `hub`: lets a model see which servers there are and how they do.

Above it: the engine, which hands it to ServerManager and gives it the snapshot. Below it: wire. It speaks the legacy
era, as most servers do; the hub joins the eras.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from tooltray import __version__
from tooltray.events import HubSnapshot, ServerSnapshot
from tooltray.wire import envelope
from tooltray.wire.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, failure, success
from tooltray.wire.protocol import HANDSHAKE_VERSIONS

NAME = "hub"
_READS = {"readOnlyHint": True, "openWorldHint": False}
_LIST_SERVERS = {
    "name": "list_servers",
    "title": "List servers",
    "description": "Lists the MCP servers of this Tooltray with state, transport and number of tools.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    "annotations": _READS,
}
_SERVER_STATUS = {
    "name": "server_status",
    "title": "Server status",
    "description": "Tells how one MCP server of this Tooltray does: its state, and if it does not run, why and what can be done.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The server's name, as list_servers gives it"}},
        "required": ["name"],
        "additionalProperties": False,
    },
    "annotations": _READS,
}


class HubServer:
    """Satisfies MemoryServer."""

    def __init__(self, *, get_snapshot: Callable[[], HubSnapshot]) -> None:
        self._get_snapshot = get_snapshot

    async def answer(self, request: Envelope) -> Envelope:
        params = envelope.load(request.params) or {}
        if not isinstance(params, dict):
            return failure(INVALID_PARAMS, "Invalid request parameters")
        match request.method:
            case "initialize":
                return success(_greeting(params))
            case "ping":
                return success({})
            case "tools/list":
                return success({"tools": [_LIST_SERVERS, _SERVER_STATUS]})
            case "tools/call":
                return self._call(params)
        return failure(METHOD_NOT_FOUND, "Method not found")

    def _call(self, params: dict[str, Any]) -> Envelope:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if name == _LIST_SERVERS["name"]:
            return _result({"servers": [_brief(server) for server in self._get_snapshot().servers]})
        if name == _SERVER_STATUS["name"]:
            wanted = arguments.get("name") if isinstance(arguments, dict) else None
            found = next((server for server in self._get_snapshot().servers if server.name == wanted), None)
            if found is None:
                return _result({"error": f"there is no server {wanted!r}; list_servers tells which there are"}, is_error=True)
            return _result(_full(found))
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")


def _greeting(params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": NAME, "version": __version__},
    }


def _brief(server: ServerSnapshot) -> dict[str, Any]:
    return {"name": server.name, "state": server.state.value, "transport": server.transport, "tools": server.tool_count}


def _full(server: ServerSnapshot) -> dict[str, Any]:
    status = _brief(server) | {"startsWithHub": server.is_default, "disabled": server.is_disabled}
    if server.description:
        status["description"] = server.description
    if server.problem:
        status["problem"] = {"title": server.problem.title, "message": server.problem.message, "hint": server.problem.hint}
    return status


def _result(value: dict[str, Any], *, is_error: bool = False) -> Envelope:
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return success({"content": [{"type": "text", "text": text}], "structuredContent": value, "isError": is_error})
