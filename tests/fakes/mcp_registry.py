"""A registry of MCP servers on the loopback that speaks the published API v0.1; and the ways in which one can go wrong.

`listening_registry` runs it in the test's event loop, `registry_in_thread` for tests of real programs.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

OFFICIAL = "io.modelcontextprotocol.registry/official"
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def server(name: str, version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    """A `server.json` of 2025-12-11."""
    schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    return {"$schema": schema, "name": name, "description": f"About {name.rpartition('/')[2]}", "version": version, **members}


def npm(identifier: str, version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    return {"registryType": "npm", "identifier": identifier, "version": version, "transport": {"type": "stdio"}, **members}


@dataclass
class FakeMcpRegistry:
    """One registry.

    Attributes:
        servers: by name, the versions of each, the latest last; with the moment of the last change.
        page: entries of a page.
        asked: path and query of each request, as it came, and its headers.
        on_list: what is done for a list in the place of it; taken away one by one.
        on_version: what is done for one version.
        has_etags: whether it says what a list's answer is, and that nothing has changed.
    """

    servers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    updated: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    page: int = 2
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    on_list: list[Handler | None] = field(default_factory=list)
    on_version: Handler | None = None
    has_etags: bool = True
    url: str = ""
    _clock: int = 0

    def put(self, entry: dict[str, Any], *, status: str = "active") -> None:
        """Publishes a version, or changes a server's status."""
        self._clock += 1
        name = entry["name"]
        self.servers.setdefault(name, []).append(entry)
        self.statuses[name] = status
        self.updated[name] = f"2026-01-01T00:00:{self._clock:02}.000000Z"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append((request.raw_path, dict(request.headers)))
        parts = request.raw_path.partition("?")[0].split("/")
        if parts[1:3] != ["v0.1", "servers"]:
            return web.json_response({"title": "Not Found"}, status=404)
        if len(parts) == 3:
            handler = self.on_list.pop(0) if self.on_list else None
            return await (handler(request) if handler else self._list(request))
        if self.on_version:
            return await self.on_version(request)
        name, version = parts[3].replace("%2F", "/"), parts[5]
        found = next((each for each in self.servers.get(name, []) if each["version"] == version), None)
        return web.json_response(self._item(found) if found else {"title": "Not Found"}, status=200 if found else 404)

    async def _list(self, request: web.BaseRequest) -> web.StreamResponse:
        since = request.query.get("updated_since", "")
        names = sorted(name for name in self.servers if self.updated[name] >= since)
        begin = int(request.query.get("cursor") or 0)
        items = [self._item(self.servers[name][-1]) for name in names[begin : begin + self.page]]
        metadata: dict[str, Any] = {"count": len(items)}
        if begin + self.page < len(names):
            metadata["nextCursor"] = str(begin + self.page)
        text = json.dumps({"servers": items, "metadata": metadata})
        etag = f'"{hash(text)}"'
        if self.has_etags and request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(text=text, content_type="application/json", headers={"ETag": etag} if self.has_etags else {})

    def _item(self, entry: dict[str, Any]) -> dict[str, Any]:
        name = entry["name"]
        official = {"status": self.statuses[name], "updatedAt": self.updated[name], "isLatest": True}
        return {"server": entry, "_meta": {OFFICIAL: official}}


def answers(body: Any, *, status: int = 200) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(body, status=status)

    return handle


def answers_text(text: str) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=text, content_type="application/json")

    return handle


def redirects(target: str) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": target})

    return handle


def cut_off() -> Handler:
    """Says a length, and hangs up before it is reached."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"servers": [')
        assert request.transport
        request.transport.close()
        return response

    return handle


def never_ends(event: asyncio.Event) -> Handler:
    """A body that comes to a halt."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"servers": [')
        await event.wait()
        return response

    return handle


@contextlib.asynccontextmanager
async def listening_registry(registry: FakeMcpRegistry) -> AsyncIterator[FakeMcpRegistry]:
    runner = web.ServerRunner(web.Server(registry.handle), shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port: int = runner.addresses[0][1]
        registry.url = f"http://127.0.0.1:{port}"
        yield registry
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def registry_in_thread(registry: FakeMcpRegistry) -> Iterator[FakeMcpRegistry]:
    """For programs in other processes."""
    ready, loop, ended = threading.Event(), asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        async with listening_registry(registry):
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield registry
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
