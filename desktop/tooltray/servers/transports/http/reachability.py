"""Tests the route to a URL: the proxy, the host name, the connection, the certificate. Sends no request.

The doctor imports this module only for the first remote server, since it imports an HTTP library.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping

import msgspec
from yarl import URL

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.proxies import proxy_for

LIMIT_S = 5.0  # the user waits; a slower connection is a finding, too


class Reach(msgspec.Struct, frozen=True):
    """The result of the test.

    Attributes:
        proxy: the URL of the proxy in use, without user name and password; empty if no proxy is used.
        words: the finding, in one sentence without a full stop.
        is_open: whether a connection could be opened and its certificate is trusted.
    """

    proxy: str
    words: str
    is_open: bool


async def reach(url: str, *, environ: Mapping[str, str], trust: ssl.SSLContext, limit_s: float = LIMIT_S) -> Reach:
    """Connects to the server, or to the proxy before it, and closes the connection again.

    Args:
        environ: the user's login-shell environment, for proxies.
        trust: the TLS context with the trusted certificates.
        limit_s: seconds for the whole test.
    """
    try:
        target = URL(url)
        proxy = proxy_for(target, environ)
    except (ValueError, TooltrayError) as error:
        return Reach("", f"the way to it cannot be found: {error}", False)
    shown = f"{proxy.scheme}://{proxy.host}:{proxy.port}" if proxy else ""
    first = proxy or target
    place = f"{'the proxy ' if proxy else ''}{first.host}:{first.port}"
    secure = trust if first.scheme == "https" else None
    try:
        async with asyncio.timeout(limit_s):
            _, writer = await asyncio.open_connection(first.host, first.port, ssl=secure)
    except TimeoutError:
        return Reach(shown, f"{place} does not answer within {limit_s:g} s", False)
    except OSError as error:
        return Reach(shown, _in_words(error, place), False)
    words = f"{place} answers" + (f", {writer.get_extra_info('ssl_object').version()}, its certificate is trusted" if secure else "")
    writer.transport.abort()  # nothing was sent that could be lost
    return Reach(shown, words, True)


def _in_words(error: OSError, place: str) -> str:
    match error:
        case socket.gaierror():
            return f"the name in {place} cannot be resolved"
        case ssl.SSLCertVerificationError():
            return f"the certificate of {place} is not trusted: {error.verify_message.rstrip('.')}"
        case ssl.SSLError():
            return f"{place} speaks no TLS that can be used ({error.reason or 'no reason given'})"
        case ConnectionRefusedError():
            return f"nothing answers at {place} (connection refused)"
    return f"{place} cannot be reached: {error.strerror or type(error).__name__}"
