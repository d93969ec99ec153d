"""transports.py: which type of server gets which transport."""

import json
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.http_server import Connected, serving

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.program_launch import CannotStart, Launch
from tooltray.servers.transports.http.http_transport import HttpTransport
from tooltray.servers.transports.http.sse_transport import SseTransport
from tooltray.servers.transports.transport import TransportOrder
from tooltray.servers.transports.transports import TRANSPORTS, is_remote, make_transport

OWN_URL = "http://127.0.0.1:7717"
LAUNCH = Launch("/bin/server", ("a",), {"A": "1"}, "/")
PROCESS: Any = object()


class Given:
    """What a hub hands in, and what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def prepare_launch(self) -> Launch:
        self.asked.append("launch")
        return LAUNCH

    def start_process(self, launch: Launch) -> Any:
        self.asked.append(launch)
        return PROCESS

    async def authorize(self) -> None:
        self.asked.append("authorization")

    def order(self, *, command: str | None = None, args: tuple[str, ...] = (), url: str | None = None, **entry: Any) -> TransportOrder:
        return TransportOrder(
            name="thing",
            config=MCPServerConfig.model_validate({"command": command, "args": args, "url": url, **entry}),
            resolved=ResolvedServer(command=command, args=args, env={}, cwd=None, url=url, headers={}, secret_names=()),
            environ={},
            own_url=OWN_URL,
            mask=str,
            tool_schema=lambda tool: None,
            prepare_launch=self.prepare_launch,
            start_process=self.start_process,
            authorize=self.authorize,
        )


@pytest.fixture
def given() -> Given:
    return Given()


async def test_a_command_becomes_a_process(given: Given) -> None:
    assert await make_transport(given.order(command="server")) is PROCESS
    assert given.asked == ["launch", LAUNCH]


@pytest.mark.parametrize(("type", "transport"), [("http", HttpTransport), ("sse", SseTransport), (None, HttpTransport)])
async def test_a_url_becomes_a_connection_that_is_let_in(given: Given, type: str | None, transport: Any) -> None:
    assert isinstance(await make_transport(given.order(url="http://127.0.0.1:1/mcp", type=type)), transport)
    assert given.asked == ["authorization"]


@pytest.mark.parametrize("entry", [{"command": "tooltray-bridge"}, {"command": "npx", "args": ("tooltray",)}, {"url": OWN_URL + "/mcp"}])
async def test_what_leads_back_to_the_hub_is_refused_before_anything_is_done(given: Given, entry: dict[str, Any]) -> None:
    with pytest.raises(TooltrayError, match="'thing' leads back to Tooltray itself"):
        await make_transport(given.order(**entry))
    assert given.asked == []


async def test_a_type_that_is_not_in_the_table_is_refused(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.servers.transports.transports.TRANSPORTS", {})
    with pytest.raises(CannotStart, match="its type is stdio"):
        await make_transport(given.order(command="server"))


def test_what_is_reached_by_a_url_runs_elsewhere() -> None:
    assert {type: is_remote(type) for type in TRANSPORTS} == {"stdio": False, "http": True, "sse": True, "inmemory": False}


async def test_a_connection_is_ready_to_be_opened(given: Given) -> None:
    async with serving() as server:
        order = given.order(url=server.url)
        transport = await make_transport(replace(order, resolved=replace(order.resolved, headers={"Authorization": "Bearer key"})))
        assert isinstance(transport, HttpTransport)
        client = Connected(transport)
        await client.transport.open(client.dispatcher)
        await client.initialize()
        await client.dispatcher.close("over")
        await client.transport.close()
        assert server.of("initialize")[0].headers["Authorization"] == "Bearer key"


async def test_a_url_that_cannot_be_used_is_refused_before_anything_is_opened(given: Given) -> None:
    order = given.order(url="http://127.0.0.1:1/mcp")
    with pytest.raises(CannotStart):
        await make_transport(replace(order, resolved=replace(order.resolved, url="nonsense")))


def test_a_hub_without_such_servers_imports_neither_the_http_library_nor_the_sdk() -> None:
    absent = ("aiohttp", "truststore", "yarl", "mcp", "mcp_types")
    check = f"import json, sys, tooltray.app.engine; print(json.dumps([name for name in {absent} if name in sys.modules]))"
    found = subprocess.run([sys.executable, "-c", check], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, check=True)
    assert json.loads(found.stdout) == []
