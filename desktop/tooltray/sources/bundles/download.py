"""Downloads a bundle, through the user's proxies and with their certificate authorities.

Only https is allowed, or http from this computer itself. Each redirection has to follow the same rule, and must not lead from another host
to this computer, where programs trust local users.
"""

import asyncio
from collections.abc import Callable, Mapping

import aiohttp
from yarl import URL

from tooltray import __version__
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.loopback import is_loopback
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.launch.proxies import proxy_for
from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import redirection
from tooltray.servers.transports.http.http_failures import explain_error

TIMEOUT_S = 1800.0  # for the whole download: 300 MB over a slow line
SILENT_S = 60.0  # without a byte
MAX_REDIRECTS = 5  # a release on a code host needs two
_CHUNK_BYTES = 256 * 1024
_HEADERS = {
    "Accept": "application/zip, application/octet-stream, */*",
    "Accept-Encoding": "identity",
    "User-Agent": f"tooltray/{__version__}",
}


async def download(url: str, into: Callable[[bytes], None], *, environ: Mapping[str, str], most_bytes: int) -> None:
    """Downloads the content of an address, piece by piece.

    Args:
        into: takes each piece, in a thread; an error that it raises ends the download.
        environ: the user's.

    Raises:
        TooltrayError: it cannot be downloaded.
    """
    target = checked_address(url, None)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await _follow(target, into, environ, most_bytes)
    except TimeoutError:
        raise _failed(target, Phrase("no answer within {seconds} s", seconds=f"{SILENT_S:g}")) from None
    except aiohttp.ClientError as error:
        raise _failed(target, explain_error(error, target.origin()).reason) from None  # a path may be a secret


async def _follow(target: URL, into: Callable[[bytes], None], environ: Mapping[str, str], most_bytes: int) -> None:
    connector = aiohttp.TCPConnector(ssl=await asyncio.to_thread(tls_context, environ), force_close=True)
    timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENT_S, sock_connect=SILENT_S)
    async with aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout, auto_decompress=False
    ) as session:
        for _ in range(MAX_REDIRECTS + 1):
            async with session.get(target, headers=_HEADERS, allow_redirects=False, proxy=proxy_for(target, environ)) as response:
                location = redirection(response)
                if location is None:
                    return await _take(response, into, most_bytes)
                target = checked_address(str(location), target)
    raise _failed(target, Phrase("it redirects in a circle"))


async def _take(response: aiohttp.ClientResponse, into: Callable[[bytes], None], most_bytes: int) -> None:
    if response.status != 200:
        raise _failed(response.url, Phrase("the answer is {status}", status=response.status))
    if (response.content_length or 0) > most_bytes:
        raise _failed(response.url, Phrase("it has more than {most} MiB", most=most_bytes // 2**20))
    async for data in response.content.iter_chunked(_CHUNK_BYTES):
        await finish_in_thread(into, data)


def checked_address(url: str, before: URL | None) -> URL:
    """Returns an address that bundles may be downloaded from.

    Args:
        before: the address that redirects there; None: the user gave it.

    Raises:
        TooltrayError: the address is not allowed; the error has the reason.
    """
    try:
        target = URL(url)
        host = (target.host or "").lower()
    except ValueError:
        target, host = URL(), ""
    is_here = is_loopback(host)
    if not host or target.scheme not in ("https", "http"):
        raise TooltrayError(Phrase("This bundle cannot be downloaded"), Phrase("its address cannot be used"))
    if target.scheme == "http" and not is_here:
        hint = Phrase("Download it yourself if you trust it, and add the file.")
        raise TooltrayError(Phrase("This bundle cannot be downloaded"), Phrase("over http, anyone in between could replace it"), hint)
    if before is not None and is_here and not is_loopback((before.host or "").lower()):
        raise TooltrayError(Phrase("This bundle cannot be downloaded"), Phrase("its address leads to this computer"))
    return target


def _failed(url: URL, reason: str) -> TooltrayError:
    return TooltrayError(
        Phrase("This bundle cannot be downloaded"), f"{url.host}: {reason}", Phrase("Try again later, or add it as a file.")
    )
