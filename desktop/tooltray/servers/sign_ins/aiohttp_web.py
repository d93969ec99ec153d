"""Sends the HTTP requests of a sign-in with aiohttp, through the user's proxies and with their certificate authorities. Knows nothing of
OAuth except that responses are small and come soon."""

import asyncio
import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp.abc import ResolveResult
from yarl import URL

from tooltray import __version__
from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.proxies import proxy_for
from tooltray.servers.sign_ins.addresses import NEARER, Reach, host_reach, reach_of, read_address
from tooltray.servers.sign_ins.web_requests import Answer, NoResponse
from tooltray.servers.transports.http.http_connections import is_same_origin, read_up_to, redirection
from tooltray.servers.transports.http.http_failures import explain_error

TIMEOUT_S = 20.0  # for a whole exchange; the user waits
MAX_ANSWER_BYTES = 2**20  # metadata have a few kilobytes, tokens at most a few dozen
MAX_REDIRECTS = 3
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": f"tooltray/{__version__}"}


class AiohttpWebClient:
    """A sender of requests to authorization servers. Belongs to no event loop: each request has its own connection."""

    def __init__(self, *, environ: Mapping[str, str], trust: ssl.SSLContext, within: Reach, own_host: str) -> None:
        """
        Args:
            within: how near the addresses of hosts may be. A proxy resolves them itself, and they are not checked then.
            own_host: of the MCP server, whose addresses may be as near as they are; other hosts may then be as near on the network.
        """
        self._environ, self._trust, self._within, self._own_host = environ, trust, within, own_host

    async def get(self, url: str) -> Answer:
        """Fetches a document and follows redirects within the same origin.

        Raises:
            NoResponse: there was no response within 20 s.
        """
        target = _read(url)
        for _ in range(MAX_REDIRECTS):
            answer, location = await self._exchange("GET", target, _HEADERS)
            if not location or not is_same_origin(target, location):
                return answer
            target = location
        raise NoResponse("it redirects in a circle")

    async def post(
        self, url: str, *, form: Mapping[str, str] | None = None, document: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Sends a form, or a document as JSON. Follows no redirect.

        Raises:
            NoResponse: there was no response within 20 s.
        """
        kind, body = (
            ("application/x-www-form-urlencoded", urlencode(form)) if form is not None else ("application/json", json.dumps(document))
        )
        answer, _ = await self._exchange("POST", _read(url), {**_HEADERS, "Content-Type": kind, **(headers or {})}, body.encode())
        return answer

    async def _exchange(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None = None) -> tuple[Answer, URL | None]:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._send(method, url, headers, body)
        except TimeoutError:
            raise NoResponse(f"no answer from {url.host} within {TIMEOUT_S:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise NoResponse(explain_error(error, url.origin()).reason) from None  # a path may be a secret
        except TooltrayError as error:  # of the proxy
            raise NoResponse(str(error)) from None

    async def _send(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> tuple[Answer, URL | None]:
        resolver = NearnessResolver(self._within, self._own_host)
        if url.host and host_reach(url.host) > self._within and url.host != self._own_host:
            raise NoResponse(f"{url.host} is {NEARER}")
        connector = aiohttp.TCPConnector(ssl=self._trust, force_close=True, resolver=resolver)
        jar, timeout = aiohttp.DummyCookieJar(), aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(connector=connector, cookie_jar=jar, timeout=timeout, auto_decompress=False) as session,
            session.request(
                method, url, headers=headers, data=body, allow_redirects=False, proxy=proxy_for(url, self._environ)
            ) as response,
        ):
            return Answer(response.status, await _read_bounded(response)), redirection(response)


class NearnessResolver(aiohttp.ThreadedResolver):
    """A resolver that leaves out addresses that are nearer than the MCP server's."""

    def __init__(self, within: Reach, own_host: str) -> None:
        super().__init__()
        self._within, self._own_host = within, own_host

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        """Resolves a name.

        Raises:
            NoResponse: all addresses are nearer than is allowed.
            OSError: the name has no address.
        """
        found = await super().resolve(host, port, family)
        if host == self._own_host or self._within is Reach.COMPUTER:
            return found
        within = max(self._within, await self._own_reach())
        allowed = [each for each in found if (address := read_address(each["host"])) is not None and reach_of(address) <= within]
        if not allowed:
            raise NoResponse(f"{host} is {NEARER}")
        return allowed

    async def _own_reach(self) -> Reach:
        """Returns how near the MCP server is, at most a private network: a name that leads to this computer proves nothing."""
        try:
            found = await super().resolve(self._own_host) if self._own_host else []
        except OSError:
            return Reach.INTERNET
        addresses = [address for each in found if (address := read_address(each["host"])) is not None]
        return Reach.NETWORK if addresses and all(reach_of(each) is Reach.NETWORK for each in addresses) else Reach.INTERNET


def _read(url: str) -> URL:
    """Parses a URL.

    Raises:
        NoResponse: it is not a valid URL.
    """
    try:
        target = URL(url)
        is_usable = target.absolute and bool((target.raw_host or "").encode("idna").decode("idna"))
    except ValueError:
        is_usable = False
    if not is_usable:
        raise NoResponse("a URL in the metadata cannot be used")
    return target


async def _read_bounded(response: aiohttp.ClientResponse) -> bytes:
    body = await read_up_to(response, MAX_ANSWER_BYTES)
    if len(body) > MAX_ANSWER_BYTES:
        raise NoResponse(f"the answer of {response.url.host} is larger than {MAX_ANSWER_BYTES // 2**20} MiB")
    return body
