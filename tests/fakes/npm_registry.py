"""npm registries on the loopback, good ones and bad ones; and what stands in for all of them where a test is about something else.

Each registry is an HTTP server with a port of its own that keeps what it was asked. `Registries` runs in the test's event loop;
`registries_in_thread` is for tests of real programs.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from tests.fakes.heard import Record

from tooltray.servers.launch.npm_config import Answer, NpmConfiguration, Registry

SDK = "@modelcontextprotocol/sdk"
Handler = Callable[[web.BaseRequest, str], Awaitable[web.StreamResponse]]


class NoRegistries:
    """npm that is not installed, and no network."""

    async def read(self, environ: Mapping[str, str], folder: str) -> NpmConfiguration:
        return NpmConfiguration()

    async def measure(self, registries: Sequence[Registry], packages: tuple[str, ...], **_: Any) -> list[Answer]:
        return [Answer(each, problem="there is no network") for each in registries]


@dataclass
class Asked:
    """One request."""

    path: str  # with what is escaped as it came
    headers: Mapping[str, str]


@dataclass
class FakeRegistry:
    """One registry. It has the SDK and whatever else it is given, unless `on_package` does something else.

    Attributes:
        packages: the newest version of each package.
        held: answers wait for this.
        on_package: what is done for a package, by its name.
    """

    packages: dict[str, str] = field(default_factory=lambda: {SDK: "1.2.3"})
    held: asyncio.Event | None = None
    on_package: Handler | None = None
    asked: Record[Asked] = field(default_factory=Record)
    url: str = ""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.add(Asked(request.raw_path, request.headers))
        if self.held:
            await self.held.wait()
        path = request.path.removeprefix("/").removeprefix("npm/")
        if path.startswith("simple/"):
            return web.Response(text='<a href="x">mcp-1.0.tar.gz</a>', content_type="text/html")
        if self.on_package:
            return await self.on_package(request, path)
        if path not in self.packages:
            return web.json_response({"error": "Not found"}, status=404)
        return web.json_response(document(path, self.packages[path]))


def document(name: str, version: str) -> dict[str, Any]:
    """What a registry says of a package, in the short form."""
    return {"name": name, "dist-tags": {"latest": version}, "versions": {version: {"name": name, "version": version}}}


def answers_html(status: int = 200) -> Handler:
    async def handle(request: web.BaseRequest, name: str) -> web.StreamResponse:
        return web.Response(text="<!doctype html><title>Sign in</title>", content_type="text/html", status=status)

    return handle


def answers(body: Any, *, status: int = 200) -> Handler:
    async def handle(request: web.BaseRequest, name: str) -> web.StreamResponse:
        return web.json_response(body, status=status)

    return handle


def answers_bytes(body: bytes) -> Handler:
    async def handle(request: web.BaseRequest, name: str) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    return handle


def redirects(target: Callable[[str], str]) -> Handler:
    """To another place, made from the package's name."""

    async def handle(request: web.BaseRequest, name: str) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": target(name)})

    return handle


def cut_off(*, says_length: bool) -> Handler:
    """Half of the document; with the length of the whole, or as if that were all."""

    async def handle(request: web.BaseRequest, name: str) -> web.StreamResponse:
        body = json.dumps(document(name, "1.2.3")).encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(body))} if says_length else {})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        if says_length and request.transport:
            request.transport.close()
        return response

    return handle


def quick_headers(then: asyncio.Event) -> Handler:
    """Headers at once, and the document when `then` is set: a registry that lies about its speed."""

    async def handle(request: web.BaseRequest, name: str) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await then.wait()
        await response.write(json.dumps(document(name, "1.2.3")).encode())
        return response

    return handle


@contextlib.asynccontextmanager
async def listening(*registries: FakeRegistry, path: str = "/") -> AsyncIterator[None]:
    """Opens registries on ports of their own."""
    runners = []
    try:
        for registry in registries:
            server = web.Server(registry.handle, access_log=None)  # without routes, which know nothing of what a proxy is asked
            runners.append(runner := web.ServerRunner(server, shutdown_timeout=0.1))
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            registry.url = f"http://127.0.0.1:{runner.addresses[0][1]}{path}"
        yield
    finally:
        for registry in registries:
            if registry.held:
                registry.held.set()
        for runner in runners:
            await runner.cleanup()


@contextlib.contextmanager
def registries_in_thread(*registries: FakeRegistry) -> Iterator[None]:
    """The same for a test without an event loop."""
    is_open, ends = threading.Event(), []

    async def serve() -> None:
        ends.append((asyncio.get_running_loop(), end := asyncio.Event()))
        async with listening(*registries):
            is_open.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="registries")
    thread.start()
    try:
        assert is_open.wait(20)
        yield
    finally:
        loop, end = ends[0]
        loop.call_soon_threadsafe(end.set)
        thread.join()
