"""How near an address is: on the internet, on a private network, or on this computer. A server may not direct a sign-in nearer than it is.
Otherwise a server on the internet could have Tooltray send requests to programs of this computer and its network that trust Tooltray's
address."""

import ipaddress
import socket
from enum import IntEnum

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052, section 2.1: the last 32 bits are an IPv4 address
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # RFC 8215: its prefix does not show where the IPv4 address is
_COMPATIBLE = ipaddress.IPv6Network("::/96")  # RFC 4291, section 2.5.5.1, deprecated; some systems still route it


NEARER = "on this computer or its network, and the server is not"


class Reach(IntEnum):
    INTERNET = 0
    NETWORK = 1  # private, link-local, shared and reserved addresses
    COMPUTER = 2


def reach_of(address: IPAddress) -> Reach:
    """Returns how near an address is. An IPv6 address that holds an IPv4 address is as near as that."""
    if isinstance(address, ipaddress.IPv6Address) and (inner := _ipv4_in(address)) is not None:
        return reach_of(inner)
    if address.is_loopback or address.is_unspecified:
        return Reach.COMPUTER
    is_far = address.is_global and not address.is_multicast and address not in _LOCAL_NAT64
    return Reach.INTERNET if is_far else Reach.NETWORK


def _ipv4_in(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):  # 0 and 1 are the unspecified address and the loopback
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.teredo[1] if address.teredo else None


def host_reach(host: str) -> Reach:
    """Returns how near the host of a URL is by its text: an address in any spelling, or a name of this computer."""
    if (address := read_address(host)) is not None:
        return reach_of(address)
    name = host.rstrip(".").lower()
    return Reach.COMPUTER if name == "localhost" or name.endswith(".localhost") else Reach.INTERNET


def read_address(host: str) -> IPAddress | None:
    """Parses an address in each spelling that resolvers take, such as `127.1`, `0x7f.1` and `2130706433`; None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
    except (OSError, UnicodeError, ValueError):
        return None
