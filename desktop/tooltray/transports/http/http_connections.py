"""HTTP to one server: its own headers, cookies, trust and proxy, opened and closed with it.

Above it: HttpTransport and SseTransport. Below it: aiohttp, which is imported with this module and takes a quarter of a second; so this
module is imported when the first server over HTTP is started (see remote_transport). Knows nothing of MCP.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
from aiohttp import ClientConnectorError, ConnectionTimeoutError
from multidict import CIMultiDict
from yarl import URL

from tooltray import __version__
from tooltray.launch.program_launch import CannotStart
from tooltray.phrases import Phrase
from tooltray.transports.authorization import FORBIDDEN, HEADER, UNAUTHORIZED, Authorization, NotLetIn, Refusal
from tooltray.transports.http.http_failures import (
    MAX_ERROR_BODY_BYTES,
    ExchangeFailed,
    failed,
    failure_of,
    retry_after_s,
    shown,
    status_failure,
)
from tooltray.transports.http.proxies import proxy_for
from tooltray.transports.http.request_body import Delivery, RequestBody
from tooltray.transports.http.response_parts import read_up_to, redirection
from tooltray.transports.transport import ConnectionFailure

CONNECT_TIMEOUT_S = 30.0  # an answer may take as long as it likes, a connection may not
KEPT_ALIVE_S = 4.0  # common servers close an idle connection after 5 s; a request that meets this may be lost
STALE_CONNECTIONS = 3  # that a request may meet in a row: those kept since the last one, when a server goes
LONGEST_RETRY_AFTER_S = 10.0  # in all, for a server that says when to come again: somebody waits
MAX_REDIRECTS = 5
ERRORS_BEGIN, NOT_ALLOWED = 300, 405  # of HTTP's status codes; a redirection that was not followed is one, too
READ_BUFFER_BYTES = 2**20  # large results come in fewer pieces
MAX_HEADER_BYTES = 65536  # some servers answer with long cookies and policies
PROBED_AFTER_S, PROBED_EVERY_S, PROBES = 60, 20, 3  # an idle connection, so that a silent end is noticed within two minutes
GOODBYE = "DELETE"  # ends a session that ends anyway: not worth a renewed sign-in, let alone a person's
_PRESERVING = (307, 308)  # redirects that keep the method
_PORTS = {"http": 80, "https": 443}


class HttpConnection:
    """One server's HTTP. Belongs to one event loop; `close` may be called without `open`, and twice."""

    def __init__(
        self,
        *,
        server: str,
        url: str,
        headers: Mapping[str, str],
        environ: Mapping[str, str],
        trust: ssl.SSLContext,
        mask: Callable[[str], str] = str,
        authorization: Authorization | None = None,
    ) -> None:
        """
        Args:
            server: its name, for errors.
            headers: sent with every request, unless the protocol itself needs another value there.
            environ: the person's login-shell environment, for proxies.
            trust: whose certificates are trusted.
            mask: takes secrets out of what is said about an exchange: the server may repeat them, and a path may be one.
            authorization: what lets requests in; None where `headers` or the URL do, or nothing is to.

        Raises:
            CannotStart: the URL, a header or the proxy cannot be used; says which and why.
        """
        self.url, self.mask, self._authorization = _read_url(server, url), mask, authorization
        self._headers = _checked_headers(server, headers)
        self._proxy, self._trust = proxy_for(self.url, environ), trust
        if any(name.lower() == "authorization" for name in headers):
            self.url = self.url.with_user(None)  # the library takes one of both
        self._session: aiohttp.ClientSession | None = None
        self.failure: ConnectionFailure | None = None  # of the last exchange

    def open(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_ALIVE_S, ssl=self._trust, socket_factory=_new_socket),
            cookie_jar=aiohttp.CookieJar(unsafe=True),  # "unsafe": of hosts that are addresses, too
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_TIMEOUT_S),
            read_bufsize=READ_BUFFER_BYTES,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            proxy=self._proxy,
        )

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    @asynccontextmanager
    async def exchange(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", *, url: URL | None = None, delivery: Delivery | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A request and its answer, whose body may be read inside.

        Args:
            url: where to, if not to the server's own URL.
            delivery: told whether the server can have the request.

        Raises:
            ExchangeFailed: at once or while the body is read.
        """
        target = url or self.url
        try:
            response = await self._taken(_Request(method, headers, body, delivery or Delivery()), target)
            self._note_status(method, response.status)
            async with response:
                yield response
        except NotLetIn as error:
            self.failure = None  # whoever wants a sign-in says it in its own way
            raise ExchangeFailed(self.mask(error.reason), is_unreachable=error.is_temporary, is_not_let_in=not error.is_temporary) from None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._masked(failed(error, target)) from None
        except ExchangeFailed as error:
            raise self._masked(error) from None

    def _note_status(self, method: str, status: int) -> None:
        """A GET says little: any web page answers it, and a server need not have a standing stream."""
        if status >= ERRORS_BEGIN and (method, status) != ("GET", NOT_ALLOWED):
            self.failure = status_failure(status, self.url)
        elif method != "GET":
            self.failure = None

    def _masked(self, error: ExchangeFailed) -> ExchangeFailed:
        masked = ExchangeFailed(
            self.mask(error.reason),
            is_unreachable=error.is_unreachable,
            is_undelivered=error.is_undelivered,
            title=error.title,
            hint=error.hint,
        )
        self.failure = failure_of(masked)
        return masked

    async def _taken(self, request: "_Request", url: URL) -> aiohttp.ClientResponse:
        """The answer to a request, which is made again where the server wants that soon."""
        waited_s = 0.0
        while True:
            response = await self._admitted(request, url)
            pause_s = retry_after_s(response.status, response.headers)
            if pause_s is None or waited_s + pause_s > LONGEST_RETRY_AFTER_S:
                return response
            response.close()
            request.delivery.again()
            waited_s += pause_s
            await asyncio.sleep(pause_s)

    async def _admitted(self, request: "_Request", url: URL) -> aiohttp.ClientResponse:
        """The answer to a request with what lets it in; that is renewed where it has ended."""
        access = self._authorization
        if access is None or request.method == GOODBYE:
            return await self._answered(request, url, access.held if access else None)
        sent = await access.header()
        response = await self._answered(request, url, sent)
        if await self._is_to_be_repeated(access, response, sent):
            request.delivery.again()
            response = await self._answered(request, url, sent := access.held)
            await self._is_to_be_repeated(access, response, sent, is_second=True)
        return response

    async def _is_to_be_repeated(
        self, access: Authorization, response: aiohttp.ClientResponse, sent: str | None, *, is_second: bool = False
    ) -> bool:
        """A response that nobody will read any more is closed."""
        if response.status not in (UNAUTHORIZED, FORBIDDEN):
            return False
        challenge = ", ".join(response.headers.getall("WWW-Authenticate", ()))
        is_kept = False
        try:
            is_kept = not await access.renew(Refusal(response.status, challenge, sent, is_second))
        finally:
            if not is_kept:
                response.close()
        return not is_kept

    async def _answered(self, request: "_Request", url: URL, authorization: str | None) -> aiohttp.ClientResponse:
        headers = _with(request.headers, authorization)
        for _ in range(MAX_REDIRECTS):
            response = await self._sent(request, url, headers)
            if not (target := redirection(response)):
                return response
            response.close()
            if not is_same_origin(url, target) or not (request.method == "GET" or response.status in _PRESERVING):
                raise ExchangeFailed(Phrase("it redirects to {url}; use that URL if it is the right server", url=shown(target)))
            url = as_ours(url, target)
        raise ExchangeFailed(Phrase("it redirects in a circle"))

    async def _sent(self, request: "_Request", url: URL, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        """The answer to a request, which is sent once more for each connection that has ended without taking it."""
        assert self._session
        delivery, stale = request.delivery, 0
        while True:
            delivery.again()
            data = RequestBody(request.body, delivery) if request.body else None
            try:
                return await self._session.request(request.method, url, headers=headers, data=data, allow_redirects=False)
            except (ClientConnectorError, ConnectionTimeoutError):
                raise
            except (aiohttp.ClientConnectionError, OSError) as error:
                if data is None or delivery.is_whole:
                    raise
                stale += 1
                if delivery.has_begun or delivery.is_given_up or stale > STALE_CONNECTIONS:
                    raise ExchangeFailed(failed(error, url).reason, is_undelivered=True) from None


class _Request(NamedTuple):
    method: str
    headers: Mapping[str, str]
    body: bytes
    delivery: Delivery


def _with(headers: Mapping[str, str], authorization: str | None) -> Mapping[str, str]:
    return {**headers, HEADER: authorization} if authorization else headers


def is_same_origin(url: URL, target: URL) -> bool:
    """Whether what is meant for one may be sent to the other; from http to https of the same host it may."""
    is_upgrade = (url.scheme, target.scheme) == ("http", "https") and all(_PORTS[each.scheme] == each.port for each in (url, target))
    return url.host == target.host and (is_upgrade or (url.scheme, url.port) == (target.scheme, target.port))


def as_ours(url: URL, target: URL) -> URL:
    """An address that the server at a URL named, with the user and password of that URL: who we are is not for the server to say."""
    return target.with_user(url.user).with_password(url.password)


async def read_start(response: aiohttp.ClientResponse) -> bytes:
    """The body of an error, as far as anybody looks at it."""
    return await read_up_to(response, MAX_ERROR_BODY_BYTES)


def _read_url(server: str, text: str) -> URL:
    hint = Phrase("Correct the URL in the server's settings.")
    try:
        url = URL(text.strip())
        is_usable = url.scheme in _PORTS and bool((url.raw_host or "").encode("idna").decode("idna")) and url.port is not None
    except ValueError:
        is_usable = False
    if not is_usable:
        title = Phrase("the URL of '{name}' cannot be used", name=server)
        raise CannotStart(title, Phrase("it must be http://host/path or https://host/path"), hint)
    return url.with_fragment(None)


def _checked_headers(server: str, headers: Mapping[str, str]) -> CIMultiDict[str]:
    for name, value in headers.items():
        if not value.isprintable() or not name.isascii() or not name.isprintable() or " " in name or ":" in name:
            title = Phrase("a header of '{name}' cannot be sent", name=server)
            message = Phrase(
                "the header {name} or its value has a line break or another character that headers cannot have", name=repr(name)
            )
            raise CannotStart(title, message, Phrase("Correct it, or store its secret again without the line break."))
    every = CIMultiDict({"User-Agent": f"tooltray/{__version__}"})
    every.update(headers)
    every["Accept-Encoding"] = "identity"
    return every


def _new_socket(address: Any) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a request of two packets takes 40 ms; asyncio leaves this socket be
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", PROBED_AFTER_S), ("TCP_KEEPINTVL", PROBED_EVERY_S), ("TCP_KEEPCNT", PROBES)):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made
