"""Chooses the proxy for a URL by the usual environment variables, which are arguments here.

The rules: lower case counts before upper case; `no_proxy` has hosts (each with its subdomains, a leading dot or not), addresses, networks
(10.0.0.0/8) and `*`, each with a port or not; this computer itself is never reached through a proxy.
"""

import ipaddress
from collections.abc import Mapping

from yarl import URL

from tooltray.foundation.loopback import address_of, is_loopback
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart


def proxy_for(url: URL, environ: Mapping[str, str]) -> URL | None:
    """Returns the proxy for a URL; None for a direct connection.

    Raises:
        CannotStart: the proxy's scheme is not supported, or its URL is invalid.
    """
    host = (url.host or "").lower().rstrip(".")
    value = _variable(environ, f"{url.scheme}_proxy") or _variable(environ, "all_proxy")
    if not value or is_loopback(host) or _is_excluded(host, url.port, _variable(environ, "no_proxy")):
        return None
    return _checked(value)


def _variable(environ: Mapping[str, str], name: str) -> str:
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def _checked(value: str) -> URL:
    hint = Phrase("Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY in your shell's profile, or name the server in NO_PROXY.")
    try:
        proxy = URL(value if "://" in value else f"http://{value}")
        has_host = bool(proxy.host and proxy.port)
    except ValueError:
        has_host = False
    if not has_host:
        raise CannotStart(Phrase("the proxy's URL cannot be read"), Phrase("it is set in a proxy variable of your login shell"), hint)
    if proxy.scheme not in ("http", "https"):
        title = Phrase("a {kind} proxy cannot be used", kind=proxy.scheme)
        raise CannotStart(title, Phrase("only http and https proxies are supported"), hint)
    return proxy


def _is_excluded(host: str, port: int | None, no_proxy: str) -> bool:
    return any(_matches(host, port, entry) for entry in no_proxy.lower().replace(",", " ").split())


def _matches(host: str, port: int | None, entry: str) -> bool:
    if entry == "*":
        return True
    name, colon, only_port = entry.rpartition(":")
    if colon and only_port.isdigit() and (":" not in name or name.endswith("]")):
        if int(only_port) != port:
            return False
        entry = name
    if address := address_of(host):
        return _is_in(address, entry.strip("[]"))
    bare = entry.removeprefix("*").lstrip(".").rstrip(".")
    return bool(bare) and (host == bare or host.endswith(f".{bare}"))


def _is_in(address: ipaddress.IPv4Address | ipaddress.IPv6Address, entry: str) -> bool:
    try:
        return address in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False
