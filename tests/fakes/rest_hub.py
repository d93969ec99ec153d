"""The REST interface on a loopback port, in front of the parts of a hub, and a program that uses it."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_hub import Answer, ScriptedClients
from tests.fakes.hub_parts import HubParts, hub_parts

from tooltray.publish.http_app import HttpApp
from tooltray.publish.http_guard import Guard
from tooltray.publish.http_modern import ModernHttp
from tooltray.publish.http_sessions import HttpSessions
from tooltray.publish.http_sse import SseHttp
from tooltray.publish.rest.app import RestApi
from tooltray.publish.streamable_http import StreamableHttp
from tooltray.wire.deadlines import DeadlineWheel

TOKEN = "tooltray_api_right"


class FakeToken:
    def is_right(self, token: str) -> bool:
        return token == TOKEN


async def one_event(request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"event: Told\ndata: {}\n\n", content_type="text/event-stream")


@dataclass
class RestHub:
    parts: HubParts
    port: int
    http: aiohttp.ClientSession

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ask(self, method: str, path: str, content: Any = None, *, token: str | None = TOKEN, **options: Any) -> Answer:
        """
        Args:
            path: below `/api/mcp`, or the whole one if it begins with `/api`.
            content: the body's JSON.
            token: None: none is shown.
        """
        headers = CIMultiDict(options.pop("headers", {}))
        if token:
            headers.setdefault("Authorization", f"Bearer {token}")
        if content is not None:
            options["data"] = json.dumps(content)
            headers.setdefault("Content-Type", "application/json")
        where = self.url + (path if path.startswith("/api") else f"/api/mcp{path}")
        async with asyncio.timeout(PATIENCE_S), self.http.request(method, where, headers=headers, **options) as response:
            return Answer(response.status, response.headers, await response.read())


@contextlib.asynccontextmanager
async def rest_hub(root: Path, *, is_on: bool = True, is_trusted: bool = False, **options: Any) -> AsyncIterator[RestHub]:
    """
    Args:
        is_on, is_trusted: what the settings say of the interface.
        options: of `hub_parts`.
    """
    settings = dict(options.pop("settings", {}))
    settings["publish"] = {**settings.get("publish", {}), "http": {"api": {"enabled": is_on, "trusted": is_trusted}}}
    place = socket.create_server(("127.0.0.1", 0))
    place.setblocking(False)
    port = place.getsockname()[1]
    clients, deadlines = ScriptedClients(), DeadlineWheel(tick_s=0.01)
    async with hub_parts(root, settings=settings, **{"servers": {}, **options}) as parts:
        api = RestApi(presenter=parts.presenter, config=parts.conf, token=FakeToken(), events=one_event, spawn=parts.keeper.spawn)
        app = HttpApp(
            guard=Guard(host="127.0.0.1", port=port, requires_token=True, owner_of={"a client's": "one"}.get),
            has_server=parts.presenter.has_server,
            streamable=StreamableHttp(HttpSessions(clients, deadlines=deadlines)),
            modern=ModernHttp(clients, held_calls_of=lambda owner: None, tool_schema=lambda name, server: None),  # type: ignore[arg-type, return-value]
            sse=SseHttp(clients),
            api=api.answer,
        )
        await app.open(place)
        async with aiohttp.ClientSession() as http:
            try:
                yield RestHub(parts, port, http)
            finally:
                await app.close()
