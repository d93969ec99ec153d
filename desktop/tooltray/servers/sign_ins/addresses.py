"""URLs as the OAuth specifications require them: parsed, compared and built; fetches nothing. Also computes how near an address is: a
server may not direct a sign-in nearer than it is itself. Otherwise a server on the internet could have Tooltray send requests to programs
of this computer and its network that trust Tooltray's address."""

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from enum import IntEnum
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052, section 2.1: the last 32 bits are an IPv4 address
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # RFC 8215: its prefix does not show where the IPv4 address is
_COMPATIBLE = ipaddress.IPv6Network("::/96")  # RFC 4291, section 2.5.5.1, deprecated; some systems still route it


NEARER = "on this computer or its network, and the server is not"
MAX_URL_CHARACTERS = 4096  # browsers and servers take more, but no endpoint needs it
RESOURCE_WELL_KNOWN = "/.well-known/oauth-protected-resource"  # RFC 9728, section 3
SERVER_WELL_KNOWN = "/.well-known/oauth-authorization-server"  # RFC 8414, section 3
OPENID_WELL_KNOWN = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0, section 4
_PORTS = {"http": 80, "https": 443}
_IN_PATHS = "/%:@!$&'()*+,;=~"  # characters that need no quoting in a path, and "%" of those already quoted


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


def read_url(text: object) -> SplitResult | None:
    """Parses an absolute http or https URL; returns None for anything else, and for a URL with a user, a password or a fragment."""
    if not isinstance(text, str) or len(text) > MAX_URL_CHARACTERS or not text.isascii() or not text.isprintable():
        return None
    try:
        url = urlsplit(text)
        is_usable = url.scheme in _PORTS and bool(_resolvable_host(url.hostname or "")) and url.port != 0
    except ValueError:
        return None
    return url if is_usable and "@" not in url.netloc and not any(character in text for character in " #\\") else None


def is_safe(text: object, *, within: Reach) -> bool:
    """Returns whether secrets may be sent to a URL: over https, or to a program on this computer.

    Args:
        within: how near the URL may lead by its text; what its name resolves to is checked when it is connected to.
    """
    url = read_url(text)
    host = (url.hostname or "") if url else ""
    return url is not None and host_reach(host) <= within and (url.scheme == "https" or _is_local(host))


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _resolvable_host(host: str) -> str:
    """Returns a host name in the form in which it is resolved.

    Raises:
        UnicodeError: the name cannot be resolved: a label is too long, empty, or invalid punycode.
    """
    return host.encode("idna").decode("idna")


def origin_of(url: str) -> str:
    """Returns scheme, host and port of a URL without the default port, like an RFC 8414 issuer without a path; empty for an invalid URL."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
        host = f"[{host}]" if ":" in host else host.encode("idna").decode()
    except ValueError:  # an invalid port or (UnicodeError) an invalid host
        return ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None and port != _PORTS.get(parts.scheme) else "")


def resource_of(url: str) -> str:
    """Returns the resource indicator of a server's URL (RFC 8707, section 2): without user, query and fragment, which may hold secrets.

    Empty for an invalid URL.
    """
    origin = origin_of(url)
    return origin and origin + quote(_path_of(url), safe=_IN_PATHS).removesuffix("/" if _path_of(url) == "/" else "")


def _path_of(url: str) -> str:
    return urlsplit(url.strip()).path


def covers(resource: str, url: str) -> bool:
    """Returns whether a resource of metadata is the server's URL or a parent of it; a token for it is then meant for the server."""
    parts = read_url(resource)
    if not parts or origin_of(resource) != origin_of(url):
        return False
    above, path = parts.path.rstrip("/"), _path_of(resource_of(url)).rstrip("/")
    return path == above or path.startswith(f"{above}/")


def resource_metadata_urls(url: str) -> list[str]:
    """Returns the URLs of a server's protected resource metadata, in the order to try: for its own path, then for the root."""
    path = _path_of(resource_of(url)).rstrip("/")
    return list(dict.fromkeys(f"{origin_of(url)}{RESOURCE_WELL_KNOWN}{each}" for each in (path, "")))


def server_metadata_urls(issuer: str) -> list[str]:
    """Returns the URLs of an authorization server's metadata, in the order of the MCP specification."""
    path, origin = urlsplit(issuer).path.rstrip("/"), origin_of(issuer)
    inserted = [f"{origin}{SERVER_WELL_KNOWN}{path}", f"{origin}{OPENID_WELL_KNOWN}{path}"]
    return inserted + ([f"{origin}{path}{OPENID_WELL_KNOWN}"] if path else [])


def is_same_issuer(received: str, expected: str) -> bool:
    """Compares issuers character by character (RFC 8414, section 3.3), except for a path of only a slash, which URL libraries add."""
    return received == expected or (_is_root(received) and _is_root(expected) and received.rstrip("/") == expected.rstrip("/"))


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def with_query(url: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Returns a URL with parameters appended to its query; they replace parameters of the same name."""
    ours = dict(parameters)
    parts = urlsplit(url)
    theirs: Mapping[str, str] = {name: value for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in ours}
    return urlunsplit(parts._replace(query=urlencode({**theirs, **ours})))
