"""URLs as the specifications compare and build them. Pure; knows nothing of what is fetched from them.

Above it: metadata, discovery, registrations, tokens.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

MAX_URL_CHARACTERS = 4096  # browsers and servers take more, but no endpoint needs it
RESOURCE_WELL_KNOWN = "/.well-known/oauth-protected-resource"  # RFC 9728, section 3
SERVER_WELL_KNOWN = "/.well-known/oauth-authorization-server"  # RFC 8414, section 3
OPENID_WELL_KNOWN = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0, section 4
_PORTS = {"http": 80, "https": 443}
_IN_PATHS = "/%:@!$&'()*+,;=~"  # what a path may have as it is, and what has been written in another way already


def read_url(text: object) -> SplitResult | None:
    """An absolute http or https URL; None for anything else, and for one with a user, a password or a fragment in it."""
    if not isinstance(text, str) or len(text) > MAX_URL_CHARACTERS or not text.isascii() or not text.isprintable():
        return None
    try:
        url = urlsplit(text)
        is_usable = url.scheme in _PORTS and bool(_looked_up(url.hostname or "")) and url.port != 0
    except ValueError:
        return None
    return url if is_usable and "@" not in url.netloc and not any(character in text for character in " #\\") else None


def is_safe(text: object, *, may_be_local: bool) -> bool:
    """Whether secrets may be sent to a URL: over https, or to a program on this machine.

    Args:
        may_be_local: whether it may lead to this machine, over plain http too. A server elsewhere must not be able to send us there.
    """
    url = read_url(text)
    host = (url.hostname or "") if url else ""
    if url is None or (not may_be_local and _leads_here(host)):
        return False
    return url.scheme == "https" or _is_local(host)


def is_local(text: str) -> bool:
    """Whether a URL leads to this machine, by its host alone."""
    url = read_url(text)
    return url is not None and _is_local(url.hostname or "")


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _leads_here(host: str) -> bool:
    """The same, as far as it can be told, in every way to write it: what is refused may be more than what is trusted."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.rstrip(".")
        return name == "localhost" or name.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def _looked_up(host: str) -> str:
    """A host as it is asked for.

    Raises:
        UnicodeError: it cannot be: a part of it is too long, or empty, or promises letters that it does not have.
    """
    return host.encode("idna").decode("idna")


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, the usual port left out: an issuer without a path, as RFC 8414 has it. Empty if it is no URL."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
        host = f"[{host}]" if ":" in host else host.encode("idna").decode()
    except ValueError:  # a port that is none, or (UnicodeError is one) a host that is none
        return ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None and port != _PORTS.get(parts.scheme) else "")


def resource_of(url: str) -> str:
    """A server's URL as it names what tokens are for (RFC 8707, section 2): without user, query and fragment, which may hold secrets.

    Empty if it is none.
    """
    origin = origin_of(url)
    return origin and origin + quote(_path_of(url), safe=_IN_PATHS).removesuffix("/" if _path_of(url) == "/" else "")


def _path_of(url: str) -> str:
    return urlsplit(url.strip()).path


def covers(resource: str, url: str) -> bool:
    """Whether what metadata are about is the server itself or a folder above it; a token for it is then meant for the server."""
    parts = read_url(resource)
    if not parts or origin_of(resource) != origin_of(url):
        return False
    above, path = parts.path.rstrip("/"), _path_of(resource_of(url)).rstrip("/")
    return path == above or path.startswith(f"{above}/")


def resource_metadata_urls(url: str) -> list[str]:
    """Where a server tells who its authorization servers are, in the order to look: below its own path, then at the root."""
    path = _path_of(resource_of(url)).rstrip("/")
    return list(dict.fromkeys(f"{origin_of(url)}{RESOURCE_WELL_KNOWN}{each}" for each in (path, "")))


def server_metadata_urls(issuer: str) -> list[str]:
    """Where an authorization server tells about itself, in the order of the MCP specification."""
    path, origin = urlsplit(issuer).path.rstrip("/"), origin_of(issuer)
    inserted = [f"{origin}{SERVER_WELL_KNOWN}{path}", f"{origin}{OPENID_WELL_KNOWN}{path}"]
    return inserted + ([f"{origin}{path}{OPENID_WELL_KNOWN}"] if path else [])


def is_same_issuer(told: str, asked: str) -> bool:
    """Character by character (RFC 8414, section 3.3), but for the slash that is a whole path: libraries for URLs add it unasked."""
    return told == asked or (_is_root(told) and _is_root(asked) and told.rstrip("/") == asked.rstrip("/"))


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def with_query(url: str, parameters: Iterable[tuple[str, str]]) -> str:
    """A URL with parameters behind those that it has; of the same name ours count."""
    ours = dict(parameters)
    parts = urlsplit(url)
    theirs: Mapping[str, str] = {name: value for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in ours}
    return urlunsplit(parts._replace(query=urlencode({**theirs, **ours})))
