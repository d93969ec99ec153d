"""outward.py: through the proxy that a person's own environment names."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.certificates import Authority
from tests.fakes.proxied import Proxied, authorized, connected, listening, proxied, rest, said, status, tunnelled

from tooltray.servers.confinement.outward import is_own, is_public, resolve


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "2002:5db8:d822::1"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"),
        *("198.18.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%2", "fc00::1", "ff02::1", "fec0::1", "2001::1"),
        *("64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2002:c0a8:101::1"),
    ],
)
def test_all_others_are_not(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


def test_an_address_of_this_computer_is_its_own() -> None:
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("93.184.216.34"))


async def test_a_name_is_resolved_by_the_system() -> None:
    assert ipaddress.ip_address("127.0.0.1") in await resolve("localhost", 80)


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Proxied]:
    async with proxied(tmp_path) as made:
        yield made


class PersonsProxy:
    """Answers what it is told to, and keeps what it heard."""

    def __init__(self, answer: bytes) -> None:
        self.answer, self.heard = answer, b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard = await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)


@pytest.mark.parametrize("dns", [{}, {"example.org": ["93.184.216.34"]}])
async def test_a_tunnel_is_asked_for_with_the_persons_own_credentials(hub: Proxied, dns: dict[str, list[str]]) -> None:
    hub.dns, proxy = dns, PersonsProxy(b"HTTP/1.1 200 OK\r\n\r\nhello")
    async with listening(proxy.serve) as port:
        hub.environ = {"HTTPS_PROXY": f"http://me:my%20word@127.0.0.1:{port}"}
        assert (await tunnelled(await hub.door("example.org"), "example.org:443")).endswith(b"\r\n\r\nhello")
        head = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n"
        assert proxy.heard == head + b"Proxy-Authorization: Basic bWU6bXkgd29yZA==\r\n\r\n"
        hub.environ = {"HTTPS_PROXY": f"http://127.0.0.1:{port}"}
        await tunnelled(await hub.door("example.org"), "example.org:443")
        assert proxy.heard == head + b"\r\n"


async def test_a_plain_request_goes_to_it_whole(hub: Proxied) -> None:
    proxy = PersonsProxy(b"HTTP/1.1 200 OK\r\n\r\nhello")
    async with listening(proxy.serve) as port:
        hub.environ = {"http_proxy": f"127.0.0.1:{port}"}
        door = await hub.door("example.org")
        request = f"GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\n{authorized(door)}\r\n"
        assert (await said(door, request.encode())).endswith(b"hello")
    assert proxy.heard == b"GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 407 No\r\n\r\n", b"HTTP/1.1 200 OK", b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n", b"hello\r\n\r\n"]
)
async def test_where_it_refuses_the_host_cannot_be_reached(hub: Proxied, answer: bytes) -> None:
    async with listening(PersonsProxy(answer).serve) as port:
        hub.environ = {"HTTPS_PROXY": f"http://127.0.0.1:{port}"}
        assert status(await tunnelled(await hub.door("example.org"), "example.org:443")) == 502


async def test_it_may_speak_tls(hub: Proxied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, proxy = Authority(tmp_path), PersonsProxy(b"HTTP/1.1 200 OK\r\n\r\nhello")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    async with listening(proxy.serve, tls=authority.server_context()) as port:
        hub.environ = {"HTTPS_PROXY": f"https://127.0.0.1:{port}"}
        door = await hub.door("example.org")
        async with connected(door.port) as (reader, writer):
            writer.write(f"CONNECT example.org:443 HTTP/1.1\r\n{authorized(door)}\r\n".encode())
            writer.write_eof()
            assert (await rest(reader)).startswith(b"HTTP/1.1 200 ")


async def test_a_name_that_means_this_computer_does_not_go_to_it(hub: Proxied) -> None:
    hub.dns["example.org"] = ["127.0.0.1"]
    hub.environ = {"HTTPS_PROXY": "http://127.0.0.1:9"}
    assert status(await tunnelled(await hub.door("example.org"), "example.org:443")) == 403


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "https://127.0.0.1:9"])
async def test_one_that_cannot_be_used_is_said_not_to_reach_it(hub: Proxied, proxy: str) -> None:
    hub.environ = {"HTTPS_PROXY": proxy}
    assert status(await tunnelled(await hub.door("example.org"), "example.org:443")) == 502
