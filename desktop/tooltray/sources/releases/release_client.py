"""Fetches the list of releases over HTTP: no cookies, no version, one bounded answer. Imported on demand: the HTTP library is large."""

import asyncio
import ssl
from collections.abc import Mapping

import aiohttp
from yarl import URL

from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.launch.proxies import proxy_for
from tooltray.servers.transports.http.http_connections import is_same_origin, read_up_to, redirection
from tooltray.servers.transports.http.http_failures import explain_error
from tooltray.sources.releases.release_list import unreadable

MOST_BYTES = 256 * 1024  # fifty releases have 60 kB
MOST_REDIRECTS = 3
OK = 200
HEADERS = {"User-Agent": "tooltray", "Accept": "application/json", "Accept-Encoding": "identity"}  # packed answers could grow


async def fetch_releases(address: str, *, environ: Mapping[str, str], trust: ssl.SSLContext, within_s: float) -> bytes:
    """Returns the list as it was answered.

    Args:
        environ: the user's login-shell environment, for proxies.
        trust: the trusted certificates.
        within_s: seconds for the whole answer.

    Raises:
        TooltrayError: no list was answered; the error has the reason.
    """
    url = URL(address)
    try:
        async with asyncio.timeout(within_s), _session(trust) as session:
            return await _follow(session, url, environ)
    except TimeoutError:
        raise unreadable(Phrase("no whole answer within {seconds} s", seconds=f"{within_s:g}")) from None
    except CannotStart as error:  # the proxy
        raise unreadable(error.problem.title) from None
    except (aiohttp.ClientError, OSError) as error:
        raise unreadable(explain_error(error, url.origin()).reason) from None


def _session(trust: ssl.SSLContext) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trust),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=HEADERS,
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
    )


async def _follow(session: aiohttp.ClientSession, url: URL, environ: Mapping[str, str]) -> bytes:
    for _ in range(MOST_REDIRECTS):
        async with session.get(url, proxy=proxy_for(url, environ), allow_redirects=False) as response:
            target = redirection(response)
            if target is None:
                return await _body(response)
        if target.scheme != "https" and not is_same_origin(url, target):
            raise unreadable(Phrase("it redirects to an address that does not begin with https://"))
        url = target
    raise unreadable(Phrase("it redirects in a circle"))


async def _body(response: aiohttp.ClientResponse) -> bytes:
    if response.status != OK:
        raise unreadable(Phrase("it answered with HTTP {status}", status=response.status))
    body = await read_up_to(response, MOST_BYTES)
    if len(body) > MOST_BYTES:
        raise unreadable(Phrase("its answer is larger than {size} KiB", size=MOST_BYTES // 1024))
    return body
