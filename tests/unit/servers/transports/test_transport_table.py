"""transport_table.py"""

import json
import shlex
import subprocess
import sys
import threading
from collections import deque
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
from tooltray.servers.transports.transport import RefusedRequests, TransportOrder
from tooltray.servers.transports.transport_table import TRANSPORTS, is_remote, leads_back, make_transport, refusal, url_leads_back

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
            resolved=ResolvedServer(command=command, args=args, env={}, cwd=None, url=url, headers={}, secret_names=(), oauth=None),
            environ={},
            own_url=OWN_URL,
            mask=str,
            tool_schema=lambda tool: None,
            prepare_launch=self.prepare_launch,
            start_process=self.start_process,
            authorize=self.authorize,
            refused=RefusedRequests(),
            log=deque(),
            packages=None,
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
    with pytest.raises(TooltrayError, match="'thing' connects Tooltray to itself"):
        await make_transport(given.order(**entry))
    assert given.asked == []


async def test_a_type_that_is_not_in_the_table_is_refused(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.servers.transports.transport_table.TRANSPORTS", {})
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


async def test_the_http_library_is_imported_while_the_hub_goes_on(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    imports: list[tuple[str, bool]] = []

    def import_module(name: str) -> Any:
        imports.append((name, threading.current_thread() is threading.main_thread()))
        return sys.modules[name]

    monkeypatch.setattr("importlib.import_module", import_module)
    await make_transport(given.order(url="http://127.0.0.1:1/mcp"))
    assert (HttpTransport.__module__, False) in imports
    assert not any(is_main for _, is_main in imports)


def split(line: str) -> tuple[str, list[str]]:
    command, *args = shlex.split(line)
    return command, args


@pytest.mark.parametrize(
    "line",
    [
        "tooltray serve --stdio",
        "tooltray-bridge",
        "tooltray_bridge",
        "/home/me/.local/bin/tooltray-bridge --server x",
        "tooltray-bridge.exe",
        "npx -y tooltray",
        "npx tooltray@latest",
        "uvx tooltray",
        "/usr/bin/uvx tooltray==1.2",
        "uvx --from tooltray tooltray-bridge",
        "uv tool run tooltray",
        "uv run tooltray serve",
        "pipx run tooltray",
        "npm exec tooltray",
        "python3 -m tooltray serve",
        "/opt/venv/bin/python3.11 -I -m tooltray_bridge",
        "python -m tooltray.cli",
        "uv run python -m tooltray_bridge",
        "/usr/bin/python3 -I -S /opt/tooltray/desktop/tooltray_bridge/__main__.py",
        "python3 -I -S tooltray_bridge/hot.py",
        "env tooltray serve",
        "env HOME=/tmp A=b -i tooltray",
        "env A=b python3 -m tooltray",
        "/usr/bin/env -u PYTHONPATH -C /tmp A=b tooltray",
        'sh -c "tooltray serve --stdio"',
        "bash -c 'exec tooltray-bridge'",
        "/bin/zsh -l -c 'python3 -m tooltray_bridge'",
    ],
)
def test_an_entry_that_starts_our_bridge_or_a_hub_is_recognised(line: str) -> None:
    assert leads_back(*split(line))


@pytest.mark.parametrize(
    "line",
    [
        "npx -y @modelcontextprotocol/server-filesystem /home/me/tooltray",
        "npx -y tooltray-notes",
        "npx -y @someone/tooltray",
        "npx",
        "uvx mcp-server-git --repository /src/tooltray",
        "uvx",
        "node /home/me/tooltray/server.js",
        "/home/me/tooltray/run.sh",
        "python3 /src/tooltray/tools/__main__.py",
        "python3 -m http.server",
        "python3 -m tooltrays",
        "python3 hot.py",
        "env",
        "env A=b",
        "env -u tooltray node server.js",
        "env node server.js --name=tooltray",
        "env node server.js tooltray",
        "sh -c 'node server.js'",
        "sh -c ''",
        "sh -c exec",
        "sh tooltray",
        "docker run tooltray",
        "cat tooltray",
        "mytooltray",
        "",
    ],
)
def test_an_entry_that_merely_carries_our_name_is_not(line: str) -> None:
    command, *args = shlex.split(line) or [""]
    assert not leads_back(command, args)


def test_a_script_that_no_shell_could_read_is_not() -> None:
    assert not leads_back("sh", ["-c", "tooltray 'unfinished"])


def test_the_refusal_says_what_to_do() -> None:
    assert str(refusal("me")) == "'me' connects Tooltray to itself. Tooltray would wait for itself. Remove this entry"


@pytest.mark.parametrize(
    ("url", "own", "is_ours"),
    [
        ("http://127.0.0.1:7717/mcp", "http://127.0.0.1:7717", True),
        ("http://localhost:7717/servers/x/mcp", "http://127.0.0.1:7717", True),
        ("http://[::1]:7717/mcp", "http://127.0.0.1:7717", True),
        ("http://box.lan:7717/mcp", "http://box.lan:7717", True),
        ("http://127.0.0.1:7718/mcp", "http://127.0.0.1:7717", False),
        ("http://example.com:7717/mcp", "http://127.0.0.1:7717", False),
        ("http://127.0.0.1/mcp", "http://127.0.0.1:7717", False),
        ("http://127.0.0.1/mcp", None, False),
        ("http://127.0.0.1:port/mcp", "http://127.0.0.1:7717", False),
    ],
)
def test_a_url_of_the_hubs_own_endpoints_is_recognised(url: str, own: str | None, is_ours: bool) -> None:
    assert url_leads_back(url, own) is is_ours
