"""A server on the loopback that publishes a list of releases, or answers in other ways."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from tests.fakes.mcp_registry import Handler, answers


def release(version: str, *changes: str, withdrawn: str | None = None, files: tuple[str, ...] = ()) -> dict[str, Any]:
    """An entry of the list, as packaging/release.py writes it."""
    listed = [{"name": name, "size": 7, "sha256": "0" * 64} for name in files]
    return {"version": version, "date": "2026-12-01", "changes": list(changes), "withdrawn": withdrawn, "files": listed}


def listed(*releases: Any) -> dict[str, Any]:
    return {"releases": list(releases)}


@dataclass
class FakeReleaseList:
    """
    Attributes:
        on_request: how each path is answered; any other has an empty list.
        asked: the headers of each request.
    """

    on_request: dict[str, Handler] = field(default_factory=dict)
    asked: list[Mapping[str, str]] = field(default_factory=list)
    address: str = ""

    def publish(self, *releases: Any) -> None:
        self.on_request["/releases.json"] = answers(listed(*releases))

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(dict(request.headers))
        return await self.on_request.get(request.path, answers(listed()))(request)


@contextlib.asynccontextmanager
async def listening_list(served: FakeReleaseList) -> AsyncIterator[FakeReleaseList]:
    runner = web.ServerRunner(web.Server(served.handle), shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        served.address = f"http://127.0.0.1:{runner.addresses[0][1]}/releases.json"
        yield served
    finally:
        await runner.cleanup()
