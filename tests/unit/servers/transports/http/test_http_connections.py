"""http_connections.py, certificate_trust.py, http_failures.py: HTTP to one server: URLs, headers, trust, proxies, and errors in words."""

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.certificates import Authority
from tests.fakes.heard import Record
from tests.fakes.http_server import VERSION, Hit, answering, connected, message_of, result_of, serving
from tests.fakes.ports import free_port
from yarl import URL

from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.http.bodies import Delivery
from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import HttpConnection, Reach, is_same_origin, reach, read_up_to
from tooltray.servers.transports.http.http_failures import ExchangeFailed
from tooltray.servers.transports.transport import Refusal

TRUST = tls_context({})


def connection(url: str = "http://127.0.0.1/mcp", **headers: str) -> HttpConnection:
    return HttpConnection(server="far", url=url, headers=headers, environ={}, trust=TRUST)


@pytest.mark.parametrize("url", ["", "far", "ftp://far/", "http://", "http://far:port/", "http://[::1/"])
def test_a_url_that_leads_nowhere_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(CannotStart, match="the URL of 'far' cannot be used") as refused:
        connection(url)
    assert not url or f" {url} " not in str(refused.value)


@pytest.mark.parametrize(("name", "value"), [("X-Key", "hidden\n"), ("X Key", "a"), ("X:Key", "a"), ("Kéy", "a"), ("X\r", "a")])
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(name: str, value: str) -> None:
    with pytest.raises(CannotStart, match="a header of 'far' cannot be sent") as refused:
        connection(**{name: value})
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "target", "is_same"),
    [
        ("http://far/a", "http://far/b?c", True),
        ("http://far/", "http://far:80/", True),
        ("http://far/", "https://far/", True),
        ("https://far/", "http://far/", False),
        ("http://far:8080/", "https://far:8080/", False),
        ("http://far/", "http://near/", False),
        ("http://far/", "http://far:81/", False),
    ],
)
def test_an_origin_is_scheme_host_and_port_and_http_may_become_https(url: str, target: str, is_same: bool) -> None:
    assert is_same_origin(URL(url), URL(target)) is is_same


class Brief:
    """A server that answers one request on each connection and then closes it, although it has promised to keep it."""

    def __init__(self) -> None:
        self.connections: list[asyncio.StreamWriter] = []
        self.requests: Record[str] = Record()
        self.is_closing_at_once = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self.requests.add((await reader.readexactly(length)).decode())
                if self.is_closing_at_once:
                    break
                writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")
        writer.close()


@asynccontextmanager
async def brief() -> AsyncIterator[tuple[Brief, HttpConnection]]:
    server = Brief()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    far = connection(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp")
    far.open()
    try:
        yield server, far
    finally:
        await far.close()
        for writer in server.connections:
            writer.close()
        listening.close()
        await listening.wait_closed()


async def posted(far: HttpConnection, body: bytes, delivery: Delivery | None = None) -> int:
    async with far.exchange("POST", {}, body, delivery=delivery) as response:
        return response.status


async def test_a_kept_connection_that_the_server_closes_in_the_moment_of_the_next_request_fails_nothing() -> None:
    async with brief() as (server, far):
        assert await posted(far, b"first") == 202
        server.connections[0].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        assert await posted(far, b"second") == 202
        assert server.requests.all == ["first", "second"]
        assert len(server.connections) == 2


async def test_a_request_that_the_server_may_have_read_is_not_sent_again() -> None:
    async with brief() as (server, far):
        server.is_closing_at_once = True
        delivery = Delivery()
        with pytest.raises(ExchangeFailed, match="closed the connection without an answer") as failed:
            await posted(far, b"once", delivery)
        assert delivery.is_whole
        assert not failed.value.is_undelivered
        assert server.requests.all == ["once"]


async def test_a_request_that_is_given_up_before_it_is_written_never_leaves() -> None:
    async with brief() as (server, far):
        delivery = Delivery()
        delivery.is_given_up = True
        with pytest.raises(ExchangeFailed) as failed:
            await posted(far, b"never", delivery)
        assert failed.value.is_undelivered
        assert not failed.value.is_unreachable
        assert server.requests.all == []


async def test_a_server_that_takes_half_of_a_large_request_has_not_got_it() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1000)
        writer.transport.abort()

    listening = await asyncio.start_server(leave, "127.0.0.1", 0)
    far = connection(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp")
    far.open()
    try:
        delivery = Delivery()
        with pytest.raises(ExchangeFailed) as failed:
            await posted(far, b"x" * 50_000_000, delivery)
        assert failed.value.is_undelivered
        assert not delivery.is_whole
    finally:
        await far.close()
        listening.close()
        await listening.wait_closed()


async def test_closing_without_opening_is_nothing() -> None:
    await connection().close()


async def test_user_and_password_of_a_url_sign_in_unless_a_header_does() -> None:
    async with serving() as server:
        url = server.url.replace("http://", "http://ann:word@")
        async with connected(url) as client:
            await client.initialize()
            assert (await server.hit("initialize")).headers["Authorization"] == "Basic YW5uOndvcmQ="
        async with connected(url, headers={"authorization": "Bearer key"}) as client:
            await client.initialize()
            assert (await server.hit("initialize", count=2)).headers["Authorization"] == "Bearer key"


async def test_no_user_password_or_query_of_a_url_is_shown() -> None:
    async with serving() as server:
        url = server.url.replace("http://", "http://ann:word@") + "?key=hidden"
    async with connected(url) as client:
        message = message_of(await client.call("initialize"))
        assert server.url in message
        assert not [secret for secret in ("ann", "word", "hidden") if secret in message.replace("cannot", "")]


# trust


async def test_a_body_is_read_until_it_is_larger_than_it_may_be() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"abc", b"de", b"f", b"g"):
            yield piece

    response: Any = SimpleNamespace(content=SimpleNamespace(iter_any=pieces))
    assert [await read_up_to(response, limit) for limit in (5, 6, 7)] == [b"abcdef", b"abcdefg", b"abcdefg"]


async def test_cookies_are_kept_for_the_connection() -> None:
    async def initialize(hit: Hit) -> web.StreamResponse:
        response = hit.result({"protocolVersion": VERSION, "capabilities": {}})
        response.set_cookie("node", "seven")
        return response

    async with serving() as server, connected(server.url) as client:
        server.on["initialize"] = initialize
        await client.initialize()
        assert (await server.hit("notifications/initialized")).headers["Cookie"] == "node=seven"


async def test_a_certificate_of_an_unknown_authority_is_refused_with_the_remedy(tmp_path: Path) -> None:
    async with serving(ssl=Authority(tmp_path).server_context()) as server, connected(server.url) as client:
        message = message_of(await client.call("initialize"))
        assert "the certificate of 127.0.0.1 is not trusted: " in message
        assert "SSL_CERT_FILE" in message
        assert client.dispatcher.closed.is_set()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"])
@pytest.mark.posix  # Wine 8 takes no authorities but its own
async def test_an_authority_that_the_environment_names_is_trusted(tmp_path: Path, variable: str) -> None:
    authority = Authority(tmp_path)
    environ = {variable: str(authority.file)}
    async with serving(ssl=authority.server_context()) as server, connected(server.url, environ=environ) as client:
        assert (await client.initialize()).result


@pytest.mark.posix  # Wine 8 takes no authorities but its own
async def test_a_folder_of_authorities_is_trusted(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    folder = tmp_path / "authorities"
    folder.mkdir()
    (folder / authority.hashed_name).write_bytes(authority.file.read_bytes())
    environ = {"SSL_CERT_DIR": os.pathsep.join(["/nonexistent", str(folder)])}
    async with serving(ssl=authority.server_context()) as server, connected(server.url, environ=environ) as client:
        assert (await client.initialize()).result


@pytest.mark.posix  # Wine 8 takes no authorities but its own
async def test_a_certificate_that_has_expired_or_is_another_host_s_is_refused_for_that(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    environ = {"SSL_CERT_FILE": str(authority.file)}
    async with serving(ssl=authority.server_context(is_expired=True)) as server, connected(server.url, environ=environ) as client:
        assert "renew" in message_of(await client.call("initialize"))
    async with serving(ssl=authority.server_context(address="127.0.0.9")) as server, connected(server.url, environ=environ) as client:
        assert "check the host in the URL" in message_of(await client.call("initialize"))


async def test_plain_http_where_tls_is_expected_is_said() -> None:
    async with serving() as server, connected(server.url.replace("http://", "https://")) as client:
        assert "no encrypted connection to https://127.0.0.1" in message_of(await client.call("initialize"))


def test_a_file_of_authorities_that_cannot_be_read_is_left_out_and_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    odd = tmp_path / "odd.pem"
    odd.write_text("no certificate")
    with caplog.at_level(logging.INFO):
        tls_context({"SSL_CERT_FILE": str(odd), "NODE_EXTRA_CA_CERTS": str(tmp_path / "missing.pem")})
    assert [record.args[0] for record in caplog.records if record.args] == [str(tmp_path / "missing.pem"), str(odd)]


def test_a_context_is_made_once_for_an_environment_until_a_file_changes(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    environ = {"SSL_CERT_FILE": str(authority.file)}
    first = tls_context(environ)
    assert tls_context(environ) is first
    os.utime(authority.file, (1, 1))
    assert tls_context(environ) is not first


# names and proxies


async def test_a_host_that_does_not_exist_is_named() -> None:
    async with connected("http://far.invalid/mcp") as client:
        async with asyncio.timeout(20):
            message = message_of(await client.call("initialize"))
        assert "far.invalid" in message
        assert client.dispatcher.closed.is_set()


async def test_why_a_server_cannot_be_reached_is_known_until_it_answers_again() -> None:
    async with serving() as server:
        url = server.url
        async with connected(url) as client:
            assert client.transport.failure is None
            server.on["initialize"] = answering(404)
            await client.call("initialize")
            assert client.transport.failure.problem.title == f"127.0.0.1:{server.port} has no MCP at this address (HTTP 404)"
            del server.on["initialize"]
            await client.call("tools/list", {})
            assert client.transport.failure is None
    for is_sse in (False, True):
        async with connected(url, is_sse=is_sse) as gone:
            await gone.call("initialize")
            await gone.dispatcher.closed.wait()
            assert gone.transport.failure.problem.title == f"nothing answers at 127.0.0.1:{server.port}"


async def test_requests_go_through_the_proxy_of_the_environment() -> None:
    async with serving() as proxy, connected("http://far.invalid/mcp", environ={"http_proxy": proxy.url}) as client:
        assert result_of(await client.call("tools/list", {})) == {"echo": {}}
        assert (await proxy.hit("tools/list")).headers["Host"] == "far.invalid"


async def test_a_proxy_that_is_not_there_is_named() -> None:
    async with serving() as proxy:
        environ, port = {"http_proxy": proxy.url}, proxy.port
    async with connected("http://far.invalid/mcp", environ=environ) as client:
        assert f"the proxy 127.0.0.1:{port} cannot be reached" in message_of(await client.call("initialize"))


async def test_a_proxy_that_refuses_is_named_with_its_status() -> None:
    async with serving() as proxy, connected("https://far.invalid/mcp", environ={"https_proxy": proxy.url}) as client:
        message = message_of(await client.call("initialize"))
        assert "the proxy refused to connect to far.invalid (HTTP " in message


# what lets requests in


class LetIn:
    """Satisfies Authorization: one token for ever."""

    held = "Bearer key"

    async def header(self) -> str:
        return self.held

    async def renew(self, refusal: Refusal) -> bool:
        return False


@pytest.mark.parametrize(("location", "sent"), [("/to%2Fme?s=a%2Fb", "/to%2Fme?s=a%2Fb"), ("/to me", "/to%20me")])
async def test_a_redirect_is_followed_as_it_was_written_and_quoted_where_it_must_be(location: str, sent: str) -> None:
    async def redirect(hit: Hit) -> web.StreamResponse:
        if hit.http.path == "/mcp":
            return web.Response(status=307, headers={"Location": location})
        return hit.result({"path": hit.http.raw_path})

    async with serving() as server, connected(server.url) as client:
        server.on["tools/list"] = redirect
        assert result_of(await client.call("tools/list")) == {"path": sent}


class Renewed(LetIn):
    """Notes what it was to be renewed for."""

    def __init__(self) -> None:
        self.refusals: list[Refusal] = []

    async def renew(self, refusal: Refusal) -> bool:
        self.refusals.append(refusal)
        return False


@pytest.mark.parametrize("status", [401, 403])
async def test_a_standing_stream_that_is_refused_while_requests_are_answered_calls_for_no_sign_in(status: int) -> None:
    access = Renewed()
    async with serving() as server, connected(server.url, authorization=access) as client:
        server.on_get = answering(status)
        await client.initialize()
        assert (await server.hit(method="GET")).headers["Authorization"] == access.held
        assert (await client.call("tools/list")).result
        assert not access.refusals
        assert client.transport.failure is None


async def test_a_user_in_a_redirect_is_not_ours_and_does_not_lose_the_call() -> None:
    async def redirect(hit: Hit) -> web.StreamResponse:
        if hit.http.path == "/mcp":
            return web.Response(status=307, headers={"Location": server.url.replace("http://", "http://ann:word@") + "/"})
        return hit.result({"sent": hit.headers.get("Authorization")})

    async with serving() as server:
        for let_in in (LetIn(), None):
            server.on["tools/list"] = redirect
            async with connected(server.url, authorization=let_in) as client:
                assert result_of(await client.call("tools/list")) == {"sent": let_in.held if let_in else None}


def test_a_host_whose_name_cannot_be_looked_up_is_refused() -> None:
    for host in ("a" * 64, "a..example", "xn--"):
        with pytest.raises(CannotStart, match="the URL of 'far' cannot be used"):
            connection(f"https://{host}/mcp")


class Broken(LetIn):
    async def header(self) -> str:
        raise ZeroDivisionError


@pytest.mark.expected_warnings("a request to 'far' failed")
async def test_a_bug_in_what_lets_in_is_logged_and_nobody_waits_for_ever() -> None:
    async with serving() as server, connected(server.url, authorization=Broken()) as client:
        assert "was not reached: an internal error" in message_of(await client.call("tools/list"))


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
    assert (found.is_open, found.words.startswith(f"127.0.0.1:{port} has no usable TLS")) == (False, True)


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
    assert (found.is_open, found.words.startswith("its proxy cannot be determined")) == (False, True)


async def test_what_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        found = await way(f"https://127.0.0.1:{port}/", limit_s=0.0)
    assert (found.is_open, found.words) == (False, f"127.0.0.1:{port} does not answer within 0 s")
