"""Parses, compares and builds URLs as the OAuth specifications require; fetches nothing."""

import ipaddress
from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from tooltray.servers.sign_ins.oauth.reach import Reach, host_reach

MAX_URL_CHARACTERS = 4096  # browsers and servers take more, but no endpoint needs it
RESOURCE_WELL_KNOWN = "/.well-known/oauth-protected-resource"  # RFC 9728, section 3
SERVER_WELL_KNOWN = "/.well-known/oauth-authorization-server"  # RFC 8414, section 3
OPENID_WELL_KNOWN = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0, section 4
_PORTS = {"http": 80, "https": 443}
_IN_PATHS = "/%:@!$&'()*+,;=~"  # characters that need no quoting in a path, and "%" of those already quoted


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
