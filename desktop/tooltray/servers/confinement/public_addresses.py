"""Which addresses a name of the internet may resolve to: none of this computer or of the network around it.

A name that a user listed may be made to point at `127.0.0.1` or at the router by the owner of its DNS zone (DNS rebinding), so each answer
is checked, and the connection is made to the address that was checked.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

from tooltray.servers.confinement.destinations import Address, as_address

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


async def resolve(name: str, port: int) -> list[Address]:
    """Returns the addresses of a name, in the order in which they are to be tried.

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
