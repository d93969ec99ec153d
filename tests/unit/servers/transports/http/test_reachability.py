"""reachability.py: how far the way to a URL goes."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from tests.fakes.certificates import Authority
from tests.fakes.ports import free_port

from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import Reach, reach

LIMIT_S = 30.0  # never waited for


@contextlib.asynccontextmanager
async def listening(context: ssl.SSLContext | None = None, says: bytes = b"") -> AsyncIterator[int]:
    def on_connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(says)
        if says:
            writer.close()
        else:
            writer.transport.abort()

    server = await asyncio.start_server(on_connected, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


async def way(url: str, *, environ: Mapping[str, str] | None = None, limit_s: float = LIMIT_S) -> Reach:
    environ = environ or {}
    return await reach(url, environ=environ, trust=tls_context(environ), limit_s=limit_s)


async def test_a_server_that_listens_is_reached() -> None:
    async with listening() as port:
        assert await way(f"http://127.0.0.1:{port}/mcp") == Reach("", f"127.0.0.1:{port} answers", True)


@pytest.mark.posix  # Wine 8 takes no authorities but its own
async def test_a_certificate_that_is_trusted_is_said_to_be(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with listening(authority.server_context()) as port:
        found = await way(f"https://127.0.0.1:{port}/", environ={"SSL_CERT_FILE": str(authority.file)})
    assert found.is_open
    assert found.words == f"127.0.0.1:{port} answers, TLSv1.3, its certificate is trusted"


async def test_a_certificate_of_a_stranger_is_not_trusted(tmp_path: Path) -> None:
    async with listening(Authority(tmp_path).server_context()) as port:
        found = await way(f"https://127.0.0.1:{port}/")
    assert not found.is_open
    assert found.words.startswith(f"the certificate of 127.0.0.1:{port} is not trusted: ")


async def test_what_speaks_no_tls_is_told_apart() -> None:
    async with listening(says=b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        found = await way(f"https://127.0.0.1:{port}/")
    assert (found.is_open, found.words.startswith(f"127.0.0.1:{port} speaks no TLS that can be used")) == (False, True)


async def test_what_hangs_up_is_told() -> None:
    async with listening() as port:
        found = await way(f"https://127.0.0.1:{port}/")
    assert (found.is_open, found.words.startswith(f"127.0.0.1:{port} cannot be reached: ")) == (False, True)


async def test_a_port_where_nothing_listens_refuses() -> None:
    port = free_port()
    assert (await way(f"http://127.0.0.1:{port}/")).words == f"nothing answers at 127.0.0.1:{port} (connection refused)"


async def test_a_name_that_is_none_cannot_be_resolved() -> None:
    assert (await way("http://no-such-host.invalid:80/")).words == "the name in no-such-host.invalid:80 cannot be resolved"


async def test_the_way_leads_through_the_proxy_whose_login_is_not_shown() -> None:
    async with listening() as port:
        found = await way("http://far.invalid/mcp", environ={"http_proxy": f"http://me:hunter2@127.0.0.1:{port}"})
    assert found == Reach(f"http://127.0.0.1:{port}", f"the proxy 127.0.0.1:{port} answers", True)


@pytest.mark.parametrize(("url", "environ"), [("http://far.invalid/", {"http_proxy": "socks5://127.0.0.1:1"}), ("http://[", {})])
async def test_a_way_that_cannot_be_found_is_said_so(url: str, environ: dict[str, str]) -> None:
    found = await way(url, environ=environ)
    assert (found.is_open, found.words.startswith("the way to it cannot be found")) == (False, True)


async def test_what_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        found = await way(f"https://127.0.0.1:{port}/", limit_s=0.0)
    assert (found.is_open, found.words) == (False, f"127.0.0.1:{port} does not answer within 0 s")
