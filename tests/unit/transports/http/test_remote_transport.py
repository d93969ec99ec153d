"""The transport of a server that is reached by a URL."""

import json
import subprocess
import sys

import pytest
from tests.fakes.http_server import Connected, serving

from tooltray.launch.program_launch import CannotStart
from tooltray.transports.http.http_transport import HttpTransport
from tooltray.transports.http.remote_transport import make_remote_transport
from tooltray.transports.http.sse_transport import SseTransport


async def made(kind: str, url: str, **headers: str) -> HttpTransport | SseTransport:
    transport = await make_remote_transport(
        name="far", kind=kind, url=url, headers=headers, environ={}, mask=str, tool_schema=lambda tool: None
    )
    assert isinstance(transport, HttpTransport | SseTransport)
    return transport


async def test_each_kind_gets_its_own_transport() -> None:
    assert isinstance(await made("sse", "http://far/"), SseTransport)
    assert isinstance(await made("http", "http://far/"), HttpTransport)


async def test_it_is_ready_to_be_opened() -> None:
    async with serving() as server:
        client = Connected(await made("http", server.url, Authorization="Bearer key"))
        await client.transport.open(client.dispatcher)
        await client.initialize()
        await client.dispatcher.close("over")
        await client.transport.close()
        assert server.of("initialize")[0].headers["Authorization"] == "Bearer key"


async def test_what_cannot_be_used_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(CannotStart):
        await made("http", "nonsense")


def test_a_hub_without_such_servers_does_not_import_the_http_library() -> None:
    check = (
        "import json, sys, tooltray.engine; print(json.dumps([name for name in ('aiohttp', 'truststore', 'yarl') if name in sys.modules]))"
    )
    found = subprocess.run([sys.executable, "-c", check], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, check=True)
    assert json.loads(found.stdout) == []
