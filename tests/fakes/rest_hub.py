"""The REST interface on a loopback port, in front of the parts of a hub, and a program that uses it."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_hub import Answer, ScriptedClients
from tests.fakes.hub_parts import HubParts, hub_parts

from tooltray.carriers.http_server.guard import Guard
from tooltray.carriers.mcp.http_app import HttpApp, McpEndpoints
from tooltray.carriers.mcp.http_sessions import HttpSessions
from tooltray.carriers.rest.responses import Deliveries
from tooltray.carriers.rest.rest_api import ProgramAsker, RestApi
from tooltray.consent.tokens.api_tokens import TokenHolder
from tooltray.protocol.deadlines import DeadlineWheel

TOKEN, READ_TOKEN, CALL_TOKEN = "tooltray_api_right", "tooltray_api_read", "tooltray_api_call"


class FakeTokens:
    """Programs by their tokens; those whose digest is among the trusted ones say yes in a person's place."""

    is_saved = True

    def __init__(self, holders: Mapping[str, TokenHolder], trusted: Collection[str] = ()) -> None:
        self.holders, self.trusted, self.saved = dict(holders), set(trusted), 0

    def holder(self, token: str) -> TokenHolder | None:
        return self.holders.get(token)

    def is_current(self, holder: TokenHolder) -> bool:
        return holder in self.holders.values()

    def save(self) -> None:
        self.saved += 1
        self.is_saved = True

    async def has(self, digest: str) -> bool:
        return digest in self.trusted


async def one_event(request: web.Request, may_read: Callable[[], bool]) -> web.StreamResponse:
    return web.Response(body=b"event: Told\ndata: {}\n\n", content_type="text/event-stream")


@dataclass
class RestHub:
    parts: HubParts
    port: int
    http: aiohttp.ClientSession
    tokens: FakeTokens

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
        is_on: what the settings say of the interface.
        is_trusted: the token is one that says yes in a person's place.
        options: of `hub_parts`.
    """
    settings = dict(options.pop("settings", {}))
    settings["publish"] = {**settings.get("publish", {}), "http": {"api": {"enabled": is_on}}}
    place = socket.create_server(("127.0.0.1", 0))
    place.setblocking(False)
    port = place.getsockname()[1]
    clients, deadlines = ScriptedClients(), DeadlineWheel(tick_s=0.01)
    async with hub_parts(root, settings=settings, **{"servers": {}, **options}) as parts:
        holders = {TOKEN: TokenHolder("panel", "manage", "d1", is_trusted)}
        holders |= {READ_TOKEN: TokenHolder("watcher", "read", "d2"), CALL_TOKEN: TokenHolder("caller", "call", "d3")}
        tokens = FakeTokens(holders, {"d1"} if is_trusted else set())
        api = RestApi(
            presenter=parts.presenter,
            config=parts.conf,
            tokens=tokens,
            asker_of=partial(ProgramAsker, trust=tokens, trail=parts.trail),
            deliveries=Deliveries(deadlines.unsent),
            events=one_event,
            spawn=parts.keeper.spawn,
        )
        app = HttpApp(
            guard=Guard(host="127.0.0.1", port=port, requires_token=True, owner_of={"a client's": "one"}.get),
            has_server=parts.session_servers.has_server,
            endpoints=McpEndpoints(
                clients,
                HttpSessions(clients, deadlines=deadlines),
                deadlines=deadlines,
                spawn=parts.keeper.spawn,
                tool_schema=lambda name, server: None,
            ),
            note_refusal=lambda id, refusal: None,
            api=api.answer,
        )
        await app.open(place)
        async with aiohttp.ClientSession() as http:
            try:
                yield RestHub(parts, port, http, tokens)
            finally:
                await app.close()
