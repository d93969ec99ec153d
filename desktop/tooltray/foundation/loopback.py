"""Recognises hosts that mean this machine by their spelling; resolves no names."""

import ipaddress

NAMES = {"localhost", "localhost.localdomain", "ip6-localhost"}


def is_loopback(host: str) -> bool:
    """Returns whether a host name or address, in lower case, means this machine."""
    address = address_of(host)
    return address.is_loopback if address else host in NAMES or host.endswith(".localhost")


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Returns the IP address that a host of a URL is, with brackets or not; None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
