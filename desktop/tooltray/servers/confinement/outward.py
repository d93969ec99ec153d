"""Opens the connection to a host that a confined server may reach: directly, or through the proxy that the user's environment names.

The connection is made to the address that was checked. The user's own proxy asks DNS itself. The result there cannot be checked here; only
the result on this computer is checked.
"""

import asyncio
import base64
import contextlib
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.servers.confinement.destinations import Address, Destination, HostList, as_address
from tooltray.servers.confinement.proxy_requests import MAX_HEAD_BYTES, ProxyRequest, written

if TYPE_CHECKING:
    from yarl import URL

_EMBEDDING_IPV4 = (  # with the number of bits after the IPv4 address
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64, RFC 6052
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4, RFC 3056
)
_LOCAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),  # RFC 6598, 6890, 7526, 2544
        *("64:ff9b:1::/48", "2001::/23", "fec0::/10"),  # local NAT64, Teredo and similar ones, site-local
    )
)

Resolve = Callable[[str, int], Awaitable[list[Address]]]
"""Gives the addresses of a name, for a port; raises OSError if there are none, or UnicodeError if there can be none."""
DNS_S = 10.0  # a resolver gives up on one server after 5 s, and asks the next
CONNECT_S = 10.0  # for one address; the next is tried then
_MADE = lazy_pattern(rb"HTTP/1\.[01] 2[0-9][0-9][ \r]")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def resolve(name: str, port: int) -> list[Address]:
    """Returns the addresses of a name, in the order in which to try them.

    Raises:
        OSError: it has none, or DNS does not answer.
        UnicodeError: it cannot be a name.
    """
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(address for each in found if (address := as_address(str(each[4][0])))))


def is_public(address: Address) -> bool:
    """Reports whether an address is one of the internet, and not one of this computer's own."""
    for network, behind in _EMBEDDING_IPV4:
        if address in network:
            return is_public(ipaddress.IPv4Address(int(address) >> behind & 0xFFFFFFFF))
    is_special = address.is_private or address.is_multicast or address.is_reserved or any(address in network for network in _LOCAL)
    return not is_special and not is_own(address)


def is_own(address: Address) -> bool:
    """Reports whether this computer has the address: a socket can be bound only to its own addresses."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


class HostRefused(Exception):
    """A destination that the server may not reach; `destination` is the one that the user would have to list."""

    def __init__(self, destination: Destination) -> None:
        super().__init__()
        self.destination = destination


class Opened(msgspec.Struct, frozen=True, eq=False):
    """An opened connection.

    Attributes:
        head: the bytes to send before all others; empty for a tunnel.
    """

    streams: Streams
    head: bytes = b""


class Outward:
    """Opens connections for confined servers. Belongs to the engine's loop."""

    def __init__(self, environ: Callable[[], Awaitable[Mapping[str, str]]], *, resolve: Resolve = resolve) -> None:
        """
        Args:
            environ: returns the user's environment.
        """
        self._environ, self._resolve = environ, resolve

    async def open(self, request: ProxyRequest, hosts: HostList) -> Opened:
        """Opens the connection for a request.

        Args:
            hosts: the server's hosts, which allow the destination by its name.

        Raises:
            HostRefused: the name resolves only to addresses that are neither listed nor on the internet.
            OSError, TooltrayError, UnicodeError, EOFError, ValueError: it cannot be reached.
        """
        from yarl import URL  # with the HTTP library, which a hub imports when it is needed

        from tooltray.servers.launch.proxies import proxy_for

        destination = request.destination
        scheme = "https" if request.is_tunnel else "http"
        url = URL.build(scheme=scheme, host=destination.host, port=destination.port)
        if proxy := proxy_for(url, await self._environ()):
            with contextlib.suppress(OSError, UnicodeError):  # in a network in which only the proxy can resolve names of the internet
                await self._addresses(destination, hosts)
            return await _through(proxy, request)
        streams = await _connect(await self._addresses(destination, hosts), destination.port)
        return Opened(streams, b"" if request.is_tunnel else request.head_for_next())

    async def _addresses(self, destination: Destination, hosts: HostList) -> list[Address]:
        if address := destination.address:  # it is listed as such
            return [address]
        async with asyncio.timeout(DNS_S):
            found = await self._resolve(destination.host, destination.port)
        listed = [(each, Destination(str(each), destination.port)) for each in found]
        allowed = [address for address, itself in listed if is_public(address) or hosts.allows(itself)]
        if not allowed:
            raise HostRefused(next((itself for _, itself in listed), destination))
        return allowed


async def _connect(addresses: list[Address], port: int) -> Streams:
    """Connects to the first address that answers.

    Raises:
        OSError: no address answers.
    """
    for address in addresses:
        with contextlib.suppress(OSError):
            async with asyncio.timeout(CONNECT_S):
                return await asyncio.open_connection(str(address), port, limit=MAX_HEAD_BYTES)
    raise ConnectionError


async def _through(proxy: "URL", request: ProxyRequest) -> Opened:
    """Connects through the user's proxy.

    Raises:
        OSError, EOFError, ValueError: the proxy does not answer, or refuses.
    """
    authorization = _authorization(proxy)
    context = await asyncio.to_thread(ssl.create_default_context) if proxy.scheme == "https" else None
    async with asyncio.timeout(CONNECT_S):
        reader, writer = await asyncio.open_connection(proxy.host, proxy.port, ssl=context, limit=MAX_HEAD_BYTES)
    if not request.is_tunnel:
        return Opened((reader, writer), request.head_for_next(proxy_authorization=authorization))
    try:
        async with asyncio.timeout(CONNECT_S):
            await _ask_for_tunnel(reader, writer, request.destination, authorization)
    except BaseException:
        writer.transport.abort()
        raise
    return Opened((reader, writer))


async def _ask_for_tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, destination: Destination, authorization: str) -> None:
    headers = [("Host", str(destination)), *([("Proxy-Authorization", authorization)] if authorization else [])]
    writer.write(f"CONNECT {destination} HTTP/1.1\r\n".encode() + written(headers))
    try:
        answer = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise ValueError("the proxy's answer is too long") from None
    if not _MADE.match(answer):
        raise ConnectionRefusedError


def _authorization(proxy: "URL") -> str:
    if proxy.user is None:
        return ""
    return "Basic " + base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
