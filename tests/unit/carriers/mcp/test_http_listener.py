"""http_listener.py: the endpoints follow the settings while the hub runs."""

import asyncio
import contextlib
import errno
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import Raw
from tests.fakes.heard import Heard, Record
from tests.fakes.http_hub import HttpHub as Client
from tests.fakes.http_hub import OpenResponse, ScriptedClients, modern, request
from tests.fakes.ports import free_port

from tooltray.carriers.mcp.http_listener import EndpointTokens, HttpListener
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import api_access, http_access
from tooltray.consent.tokens.api_tokens import ApiToken, ApiTokens, TrustedTokens
from tooltray.consent.tokens.client_tokens import ClientTokens
from tooltray.foundation.events import EventBus, HttpAddressChanged, ProblemReported, ServerStarted
from tooltray.foundation.home.home import Home
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.records.audit_trail import AuditTrail


class Presenter:
    @property
    def session_servers(self) -> "Presenter":
        return self

    def has_server(self, name: str) -> bool:
        return name == "files"

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        return None


@dataclass
class Listening:
    """A listener on settings of its own, and a client of it."""

    config: McpConfHelper
    tokens: ClientTokens
    api_token: ApiToken
    bus: EventBus
    listener: HttpListener
    clients: ScriptedClients
    heard: Heard
    http: aiohttp.ClientSession
    changes: Record[str | None] = field(default_factory=Record)

    async def switch_api(self, enabled: bool) -> None:
        await self.config.edit(api_access(enabled))

    async def events(self, **headers: str) -> OpenResponse:
        """The stream of events, as a program opens it that has the token."""
        authorization = {"Authorization": f"Bearer {self.api_token.value()}"}
        return await self.client().open("GET", "/api/events", headers={**authorization, **headers})

    def client(self) -> Client:
        parts: Any = None
        return Client(parts, self.clients, parts, int(self.listener.status.url.rsplit(":", 1)[1].split("/")[0]), self.http)


@contextlib.asynccontextmanager
async def listening(folder: Path, **http: Any) -> AsyncIterator[Listening]:
    path = folder / "settings.json"
    settings = {"enabled": True, "port": 0, "requireToken": False, **http}
    path.write_text(json.dumps({"version": 1, "publish": {"http": settings}}))
    bus, keeper, clients = EventBus(), TaskKeeper(), ScriptedClients()
    config, tokens, api_token = McpConfHelper(path, bus), ClientTokens(folder / "clients.json"), ApiToken(folder / "http-token")
    presenter: Any = Presenter()
    await config.load()
    async with aiohttp.ClientSession() as session:
        listener = HttpListener(
            config=config,
            tokens=EndpointTokens(
                tokens,
                ApiTokens(api_token, folder / "api-tokens.json"),
                TrustedTokens(SecretStore(Home(folder), "memory")),
                AuditTrail(folder / "audit.jsonl"),
            ),
            sessions=clients,
            presenter=presenter,
            bus=bus,
            deadlines=DeadlineWheel(),
            spawn=keeper.spawn,
        )
        bus.subscribe(HttpAddressChanged, lambda event: parts.changes.add(listener.address))
        parts = Listening(config, tokens, api_token, bus, listener, clients, Heard(bus), session)
        try:
            yield parts
        finally:
            await listener.close()
            await keeper.close()


async def test_nothing_is_open_until_it_is_switched_on(tmp_path: Path) -> None:
    async with listening(tmp_path, enabled=False) as parts:
        await parts.listener.follow()
        assert (parts.listener.status.is_enabled, parts.listener.status.is_open, parts.listener.address) == (False, False, None)
        await parts.listener.stop_taking()
        await parts.listener.forget_client("a")
        assert parts.changes.all == []


async def test_what_the_settings_switch_on_is_open_and_what_they_switch_off_is_not(tmp_path: Path) -> None:
    async with listening(tmp_path) as parts:
        await parts.listener.follow()
        await parts.listener.follow()
        client = parts.client()
        assert parts.listener.status.url == f"{client.url}/mcp"
        assert (await client.post(request("initialize", protocolVersion="2025-11-25"))).status == 200
        await parts.config.edit(http_access(False))
        await parts.changes.until(lambda: parts.changes.all[-1] is None)
        assert parts.changes.all == [client.url, None]
        with pytest.raises(aiohttp.ClientConnectionError):
            await client.post(request("x"))
        assert parts.clients.dispatchers[0].closed.is_set()


async def test_another_port_moves_the_endpoints_and_other_settings_do_not(tmp_path: Path) -> None:
    async with listening(tmp_path) as parts:
        await parts.listener.follow()
        await parts.config.set_enabled(False)
        port = free_port()
        await parts.config.edit(http_access(True, port))
        await parts.changes.until(lambda: parts.listener.address == f"http://127.0.0.1:{port}")
        assert len(parts.changes.all) == 2


async def test_a_taken_port_is_a_problem_with_a_remedy_and_is_tried_again_when_asked(tmp_path: Path) -> None:
    port = free_port()
    taken = socket.create_server(("127.0.0.1", port))
    async with listening(tmp_path, port=port) as parts:
        with taken:
            await parts.listener.follow()
            problem = parts.listener.status.problem
            assert problem
            assert f"port {port}" in problem.message
            assert "--port" in problem.hint
            assert parts.heard.of(ProblemReported)[0].problem == problem
            assert not parts.listener.status.is_open
            await parts.listener.follow()
            assert len(parts.heard.of(ProblemReported)) == 1
        await parts.listener.follow(is_retry=True)
        assert parts.listener.status.problem is None
        assert parts.listener.status.is_open


async def test_a_port_of_the_system_is_a_problem_that_names_those_that_anybody_may_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **options: Any) -> socket.socket:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    async with listening(tmp_path, port=80) as parts:
        await parts.listener.follow()
        problem = parts.listener.status.problem
        assert problem
        assert problem.message == "you are not allowed to open port 80"
        assert "from 1024 on" in problem.hint


async def test_a_host_that_there_is_not_is_a_problem(tmp_path: Path) -> None:
    async with listening(tmp_path, host="192.0.2.1", requireToken=True) as parts:
        await parts.listener.follow()
        assert parts.listener.status.problem


async def test_without_a_token_nobody_but_this_machine_is_served(tmp_path: Path) -> None:
    async with listening(tmp_path, host="0.0.0.0") as parts:
        await parts.listener.follow()
        problem = parts.listener.status.problem
        assert problem
        assert "requireToken" in problem.hint
        assert not parts.listener.status.is_open


@pytest.mark.parametrize(("host", "address"), [("0.0.0.0", "http://localhost:"), ("localhost", "http://localhost:")])
async def test_with_a_token_other_machines_may_be_served(tmp_path: Path, host: str, address: str) -> None:
    async with listening(tmp_path, host=host, requireToken=True) as parts:
        await parts.listener.follow()
        assert (parts.listener.address or "").startswith(address)
        assert (await parts.client().post(request("x"))).status == 401


async def test_a_token_that_is_removed_ends_what_it_opened(tmp_path: Path) -> None:
    async with listening(tmp_path, requireToken=True) as parts:
        await parts.listener.follow()
        client = parts.client()
        tokens = {name: parts.tokens.create(name) for name in ("a", "b")}
        headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}
        session = await client.initialize(headers=headers["a"])
        message, own = modern("hang")
        asking = asyncio.ensure_future(client.post(message, headers={**own, **headers["a"]}))
        await parts.clients.answering.wait(count=2)
        await parts.listener.forget_client("a")
        assert "token was removed" in (await asking).json["error"]["message"]
        assert (await client.post(request("echo"), session=session, headers=headers["a"])).status == 404
        message, own = modern("echo")
        for _ in range(2):
            assert (await client.post(message, headers={**own, **headers["b"]})).status == 200
        assert parts.clients.opened[-1][2] is parts.clients.opened[-2][2]


@pytest.mark.expected_warnings("http endpoints")
async def test_a_bug_while_opening_leaves_no_socket(tmp_path: Path) -> None:
    nothing: Any = None
    keeper = TaskKeeper()
    config = McpConfHelper(tmp_path / "settings.json", EventBus())
    await config.load()
    await config.edit(http_access(True, 0))
    listener = HttpListener(
        config=config,
        tokens=EndpointTokens(nothing, ApiTokens(ApiToken(tmp_path / "http-token"), tmp_path / "api-tokens.json"), nothing, nothing),
        sessions=nothing,
        presenter=nothing,
        bus=EventBus(),
        deadlines=nothing,
        spawn=keeper.spawn,
    )
    with pytest.raises(AttributeError):
        await listener.follow()
    assert not listener.status.is_open


async def test_an_end_of_the_hub_is_final(tmp_path: Path) -> None:
    async with listening(tmp_path) as parts:
        await parts.listener.follow()
        await parts.listener.stop_taking()
        await parts.listener.close()
        await parts.listener.close()
        await parts.config.edit(http_access(True, 0))
        await parts.listener.follow(is_retry=True)
        assert not parts.listener.status.is_open


# the REST interface


async def test_the_rest_interface_comes_and_goes_without_a_change_of_the_address(tmp_path: Path) -> None:
    async with listening(tmp_path) as parts:
        await parts.listener.follow()
        client = parts.client()
        session = await client.initialize()
        assert (parts.listener.status.is_api_enabled, parts.listener.status.api_url) == (False, "")
        await parts.switch_api(True)
        status = parts.listener.status
        assert (status.is_api_enabled, status.is_api_trusted, status.api_url) == (True, False, f"{client.url}/api/mcp")
        await parts.listener.follow()
        await parts.switch_api(False)
        await parts.listener.follow(is_retry=True)
        assert parts.listener.status.api_url == ""
        assert parts.changes.all == [client.url]
        assert (await client.post(request("echo"), session=session)).status == 200


async def test_the_rest_interface_brings_http_with_it(tmp_path: Path) -> None:
    async with listening(tmp_path, enabled=False) as parts:
        await parts.switch_api(True)
        await parts.changes.wait()
        assert parts.listener.status.is_open
        assert parts.listener.status.api_url


async def test_events_are_told_to_programs_until_the_rest_interface_is_switched_off(tmp_path: Path) -> None:
    async with listening(tmp_path, api={"enabled": True}) as parts:
        await parts.listener.follow()
        stream = await parts.events()
        start = await stream.event()
        parts.bus.publish(ServerStarted("files"))
        event = await stream.event()
        assert (event.type, json.loads(event.data)) == ("ServerStarted", {"serverName": "files"})
        await parts.switch_api(False)
        await stream.end()
        assert (await parts.client().ask("GET", "/api/events")).status == 404
        assert not [kind for kind in (ServerStarted,) if parts.bus.is_heard(kind) and len(parts.heard.of(kind)) != 1]
        await parts.switch_api(True)
        again = await parts.events(**{"Last-Event-ID": start.id or ""})
        await again.event()
        assert (await again.event()).type == "reset"
        again.close()


async def test_another_token_ends_what_the_one_before_has_opened_and_nothing_of_ai_clients(tmp_path: Path) -> None:
    async with listening(tmp_path, api={"enabled": True}) as parts:
        parts.listener.forget_programs()
        await parts.listener.follow()
        session = await parts.client().initialize()
        stream = await parts.events()
        await stream.event()
        parts.api_token.rotate()
        parts.listener.forget_programs()
        await stream.end()
        assert (await parts.client().post(request("echo"), session=session)).status == 200
        (await parts.events()).close()


async def test_a_stream_of_events_goes_on_where_it_was_when_the_address_moves(tmp_path: Path) -> None:
    async with listening(tmp_path, api={"enabled": True}) as parts:
        await parts.listener.follow()
        stream = await parts.events()
        start = await stream.event()
        await parts.config.edit(http_access(True, free_port()))
        await stream.end()
        await parts.changes.wait(count=2)
        parts.bus.publish(ServerStarted("files"))
        again = await parts.events(**{"Last-Event-ID": start.id or ""})
        seen = [(await again.event()).type for _ in range(3)]
        assert "ServerStarted" in seen
        assert "reset" not in seen
        again.close()
