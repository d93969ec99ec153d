"""The destinations of a confined server: names and addresses in the settings and in requests, in one spelling. Nothing here asks DNS.

- A name is written in lower case, in ASCII, without the dot at its end. `*.example.org` covers the names below `example.org`, not itself.
- A listed address covers only itself, in each of its spellings (`2130706433`, `0x7f.1`, `::ffff:127.0.0.1`); patterns cover no address.
- Without a port an entry means 443 and 80, with one only that port.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

DEFAULT_PORTS = frozenset({443, 80})
MAX_NAME_LENGTH = 253  # of a name in DNS
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_AUTHORITY = lazy_pattern(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_LABEL = lazy_pattern(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = lazy_pattern(r"0x[0-9a-f]*|[0-9]+")  # a host with this as its last part is an address


class Destination(msgspec.Struct, frozen=True):
    """A host and a port.

    Attributes:
        host: a name or an address, in its one spelling.
        port: 1 to 65535.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def address(self) -> Address | None:
        """Returns the address that the host is; None: it is a name."""
        return as_address(self.host)


def as_address(host: str) -> Address | None:
    """Returns the address that a host is, in its usual spelling; an IPv4-mapped IPv6 address becomes the IPv4 address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def read_destination(authority: str, port: int | None = None) -> Destination:
    """Reads a destination.

    Args:
        authority: `host:port`, as in a request: ASCII, an IPv6 address in brackets.
        port: the port if the authority names none.

    Raises:
        ValueError: it is not valid; also for a user, a space, a percent sign or anything else beside host and port.
    """
    found = _AUTHORITY.fullmatch(authority)
    number = int(found["port"]) if found and found["port"] else port
    if not found or number is None or not 0 < number < 65536:
        raise ValueError("no host and port")
    return Destination(_host(found["host"]), number)


def _host(text: str) -> str:
    """Returns a host in its one spelling.

    Raises:
        ValueError: the text cannot be a host.
    """
    bare = text.strip("[]").lower().removesuffix(".")
    if text.startswith("["):
        return str(as_address(bare) or ipaddress.IPv6Address(bare))
    if address := as_address(bare):
        return str(address)
    labels = bare.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return socket.inet_ntoa(socket.inet_aton(bare))
        except OSError:
            raise ValueError("neither a name nor an address") from None
    if len(bare) > MAX_NAME_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("not a host name")
    return bare


class HostPattern(msgspec.Struct, frozen=True):
    """An entry of `hosts`, read.

    Attributes:
        host: a name or an address.
        is_below: whether the entry covers all names below the name, and not the name itself.
    """

    host: str
    ports: frozenset[int]
    is_below: bool

    def covers(self, destination: Destination) -> bool:
        if destination.port not in self.ports:
            return False
        return destination.host.endswith(f".{self.host}") if self.is_below else destination.host == self.host


def read_pattern(text: str) -> HostPattern:
    """Reads an entry of `hosts`.

    Raises:
        TooltrayError: it is not valid.
    """
    is_below = text.startswith("*.")
    try:
        host, ports = _split(text[2:] if is_below else text)
        if is_below and as_address(host):
            raise ValueError("no name")
    except ValueError:
        title = Phrase("'{host}' is not a host", host=text)
        raise TooltrayError(title, hint=Phrase("Write example.org, *.example.org, or example.org:8443")) from None
    return HostPattern(host, ports, is_below)


def _split(text: str) -> tuple[str, frozenset[int]]:
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"
    if not text.isascii():
        name, colon, port = text.partition(":")
        from yarl import URL  # part of the HTTP library, which a hub does not import before it is needed

        text = f"{URL.build(scheme='http', host=name).raw_host}{colon}{port}"
    destination = read_destination(text, 443)
    return destination.host, frozenset({destination.port}) if re.search(r":[0-9]+$", text) else DEFAULT_PORTS


class HostList:
    """The hosts of one server. An invalid entry allows nothing."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._patterns = tuple(pattern for host in hosts if (pattern := _pattern(host)))

    def allows(self, destination: Destination) -> bool:
        return any(pattern.covers(destination) for pattern in self._patterns)


def _pattern(text: str) -> HostPattern | None:
    try:
        return read_pattern(text)
    except TooltrayError:
        return None


def entry_for(destination: Destination) -> str:
    """Returns the entry of `hosts` that allows a destination and nothing else of that host."""
    return str(destination).removesuffix(f":{destination.port}") if destination.port in DEFAULT_PORTS else str(destination)
