"""The built-in server `hub`: lets a model list the servers and see their state, and report to the user.

It speaks the legacy era, as most servers do; Tooltray translates. `collect_feedback` is only listed here: it depends on the client, so
ToolCalls sends its calls to feedback; calls of the other tools come through SeenServers, which knows which servers a client may see.
"""

from collections.abc import Callable

import msgspec

from tooltray import __version__
from tooltray.foundation.events import ConfigChanged, EventBus
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, failure, success
from tooltray.protocol.eras import HANDSHAKE_VERSIONS

NAME = "hub"
COLLECT_FEEDBACK = "collect_feedback"
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
    "description": "Shows the status of one MCP server: its state and, if it is not running, the reason and what to do.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The server's name, as list_servers gives it"}},
        "required": ["name"],
        "additionalProperties": False,
    },
    "annotations": _READS,
}
_COLLECT_FEEDBACK = {
    "name": COLLECT_FEEDBACK,
    "title": "Collect feedback",
    "description": (
        "Shows the user a report of your work and waits for the answer: text, pictures and files. Call it when a step is done, before "
        "a decision that the user should make, and before you end. Give project_path, the absolute path of the project's folder: "
        "servers that wait for a project start for it, and the result names their tools. If the call was interrupted, call it again: an "
        "answer given meanwhile is returned at once."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "work_summary": {"type": "string", "description": "What you have done and what you want to know, in Markdown"},
            "project_name": {"type": "string", "description": "The project's name; default: its folder's"},
            "project_path": {"type": "string", "description": "The absolute path of the project's folder"},
            "timeout_s": {"type": "number", "description": "How long to wait, in seconds, at least 600; default: as long as you wait"},
        },
        "required": ["work_summary"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
ABOUT_SERVERS: tuple[str, ...] = ("list_servers", "server_status")
_TOOLS_CHANGED = "notifications/tools/list_changed"


class HubServer:
    """The server `hub`. Satisfies MemoryServer and NotifyingServer."""

    def __init__(self, *, get_snapshot: Callable[[], HubSnapshot], takes_reports: Callable[[], bool], bus: EventBus) -> None:
        """
        Args:
            takes_reports: whether the present settings let models report to the user.
        """
        self._get_snapshot, self._takes_reports = get_snapshot, takes_reports
        self._did_take = takes_reports()
        self._listeners: set[Callable[[str], None]] = set()
        bus.subscribe(ConfigChanged, self._on_config_changed)

    def listen(self, tell: Callable[[str], None]) -> Callable[[], None]:
        """Calls `tell` when the list of tools has changed; returns a function that ends that."""
        self._listeners.add(tell)
        return lambda: self._listeners.discard(tell)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        if self._takes_reports() != self._did_take:
            self._did_take = not self._did_take
            for tell in tuple(self._listeners):
                tell(_TOOLS_CHANGED)

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
                return success({"tools": [*([_COLLECT_FEEDBACK] if self._takes_reports() else []), _LIST_SERVERS, _SERVER_STATUS]})
            case "tools/call":
                return self.call(params.get("name"), params.get("arguments") or {})
        return failure(METHOD_NOT_FOUND, "Method not found")

    def call(self, name: object, arguments: object, *, sees: Callable[[str], bool] = lambda server: True) -> Envelope:
        """Answers a call of a tool in ABOUT_SERVERS. `sees`: whether the client may see the server of this name."""
        servers = [server for server in self._get_snapshot().servers if sees(server.name)]
        if name == _LIST_SERVERS["name"]:
            return _result({"servers": [_brief(server) for server in servers]})
        if name == _SERVER_STATUS["name"]:
            wanted = arguments.get("name") if isinstance(arguments, dict) else None
            found = next((server for server in servers if server.name == wanted), None)
            if found is None:
                return _result({"error": f"server {wanted!r} not found; list_servers lists the servers"}, is_error=True)
            return _result(_full(found))
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")


def _greeting(params: dict[str, object]) -> dict[str, object]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": NAME, "version": __version__},
    }


def _brief(server: ServerSnapshot) -> dict[str, object]:
    return {
        "name": server.name,
        "state": server.state.value,
        "transport": server.transport,
        "tools": server.tool_count if server.is_listed else None,
    }


def _full(server: ServerSnapshot) -> dict[str, object]:
    status = {**_brief(server), "startsWithHub": server.is_default, "disabled": server.is_disabled}
    if server.description:
        status["description"] = server.description
    if server.problem:
        title, message, hint = server.problem.title, server.problem.message, server.problem.hint
        status["problem"] = {"title": str(title), "message": str(message), "hint": str(hint)}  # they may be phrases
    return status


def _result(value: dict[str, object], *, is_error: bool = False) -> Envelope:
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return success({"content": [{"type": "text", "text": text}], "structuredContent": value, "isError": is_error})
