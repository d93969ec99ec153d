"""The runtime that github-copilot-sdk talks to, as far as a session needs one that calls tools. Test code.

It listens on loopback, keeps what a session was created with, and asks for tools as the real one does when a model wants them.
"""

import asyncio
import json
import uuid
from typing import Any

from copilot._sdk_protocol_version import get_sdk_protocol_version

BOUND_S = 30.0  # for every wait of a test


class CopilotRuntime:
    """Use as an async context manager.

    Attributes:
        created: what `session.create` was called with.
        results: what came back for each call, by its request id.
    """

    def __init__(self) -> None:
        self.created: dict[str, Any] = {}
        self.results: dict[str, dict[str, Any]] = {}
        self._has_news = asyncio.Condition()
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> "CopilotRuntime":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        if self._writer:
            self._writer.close()
        await self._server.wait_closed()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def call_tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """What the model gets for a call of a tool."""
        id = uuid.uuid4().hex
        data = {"requestId": id, "sessionId": self.created["sessionId"], "toolCallId": "call-1", "toolName": name, "arguments": arguments}
        about = {"id": str(uuid.uuid4()), "timestamp": "2026-01-01T00:00:00Z", "parentId": None, "type": "external_tool.requested"}
        self._send({"method": "session.event", "params": {"sessionId": self.created["sessionId"], "event": {**about, "data": data}}})
        async with asyncio.timeout(BOUND_S), self._has_news:
            await self._has_news.wait_for(lambda: id in self.results)
        return self.results[id]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        try:
            while header := await reader.readuntil(b"\r\n\r\n"):
                request = json.loads(await reader.readexactly(int(header.partition(b":")[2])))
                if "id" in request:
                    self._send({"id": request["id"], "result": await self._answer(request["method"], request.get("params") or {})})
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "connect" | "ping":
                return {"ok": True, "message": "", "timestamp": 0, "protocolVersion": get_sdk_protocol_version(), "version": "1.0.0"}
            case "session.create":
                self.created = {"sessionId": "s1", **params}
                return {"sessionId": self.created["sessionId"]}
            case "session.tools.handlePendingToolCall":
                async with self._has_news:
                    self.results[params["requestId"]] = params
                    self._has_news.notify_all()
                return {"success": True}
        return {"success": True}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._writer
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
