"""The HTTP connections to one server, with the server's own headers, cookies, trusted certificates and proxy. It knows nothing of MCP.

The import of aiohttp takes a quarter of a second, so this module is imported when the first remote server is started (see transports).
Other clients of HTTP use the functions at the end.
"""

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
import msgspec
from aiohttp import ClientConnectorError, ConnectionTimeoutError
from multidict import CIMultiDict
from yarl import URL

from tooltray import __version__
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.launch.proxies import proxy_for
from tooltray.servers.transports.http.bodies import Delivery, RequestBody
from tooltray.servers.transports.http.http_failures import (
    MAX_ERROR_BODY_BYTES,
    ExchangeFailed,
    explain_error,
    failure_of,
    redacted_url,
    retry_after_s,
    status_failure,
)
from tooltray.servers.transports.transport import FORBIDDEN, HEADER, UNAUTHORIZED, Authorization, ConnectionFailure, NotAuthorized, Refusal

CONNECT_TIMEOUT_S = 30.0  # only for the connection; a response may take as long as the server needs
KEPT_ALIVE_S = 4.0  # common servers close an idle connection after 5 s; a request that meets this may be lost
STALE_CONNECTIONS = 3  # in a row for one request: when a server ends, all its idle connections are stale
LONGEST_RETRY_AFTER_S = 10.0  # in total for one request with `Retry-After`; a caller waits for the reply
MAX_REDIRECTS = 5
ERRORS_BEGIN, NOT_ALLOWED = 300, 405  # of HTTP's status codes; a redirection that was not followed is one, too
READ_BUFFER_BYTES = 2**20  # large results come in fewer pieces
MAX_HEADER_BYTES = 65536  # some servers answer with long cookies and policies
PROBED_AFTER_S, PROBED_EVERY_S, PROBES = 60, 20, 3  # TCP keep-alive: a silent end is noticed within two minutes
SESSION_END = "DELETE"  # ends a session that would expire anyway: not worth a token renewal, let alone a sign-in
_URL_CHARACTERS = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")  # RFC 3986, 2
_REDIRECTS = (301, 302, 303, 307, 308)
_PRESERVING = (307, 308)  # redirects that keep the method
_PORTS = {"http": 80, "https": 443}


class HttpConnection:
    """The connections that carry requests to one server. Belongs to one event loop; `close` may be called without `open`, and twice."""

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
            server: the server's name, for errors.
            headers: sent with every request, unless the protocol itself sets the same header.
            environ: the user's login-shell environment, for proxies.
            trust: the TLS context with the trusted certificates.
            mask: masks secrets in error messages: a server may repeat them, and a path may be one.
            authorization: supplies the `Authorization` header; None if `headers` or the URL do, or if no header is needed.

        Raises:
            CannotStart: the URL, a header or the proxy cannot be used; the error gives the reason.
        """
        self.url, self.mask, self._authorization = _read_url(server, url), mask, authorization
        self._headers = _checked_headers(server, headers)
        self._proxy, self._trust = proxy_for(self.url, environ), trust
        if any(name.lower() == "authorization" for name in headers):
            self.url = self.url.with_user(None)  # aiohttp accepts only one of the two
        self._session: aiohttp.ClientSession | None = None
        self.failure: ConnectionFailure | None = None  # of the last exchange

    def open(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_ALIVE_S, ssl=self._trust, socket_factory=_new_socket),
            cookie_jar=aiohttp.CookieJar(unsafe=True),  # "unsafe": also cookies of hosts given as IP addresses
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
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        url: URL | None = None,
        delivery: Delivery | None = None,
        is_optional: bool = False,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Sends a request and yields the response, whose body may be read inside the context.

        Args:
            url: the target, if it is not the server's own URL.
            delivery: records whether the server may have received the request.
            is_optional: a refusal concerns this request only, and calls for no sign-in.

        Raises:
            ExchangeFailed: on entering the context, or while the body is read.
        """
        target = url or self.url
        try:
            response = await self._send_with_retry(_Request(method, headers, body, delivery or Delivery(), is_optional), target)
            if not is_optional:
                self._note_status(method, response.status)
            async with response:
                yield response
        except NotAuthorized as error:
            self.failure = None  # the sign-in is reported by its own event
            raise ExchangeFailed(
                self.mask(error.reason), is_unreachable=error.is_temporary, is_unauthorized=not error.is_temporary
            ) from None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._masked(explain_error(error, target)) from None
        except ExchangeFailed as error:
            raise self._masked(error) from None

    def _note_status(self, method: str, status: int) -> None:
        """Records or clears the failure. A GET proves little: any web page answers it, and a standing stream is optional."""
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

    async def _send_with_retry(self, request: "_Request", url: URL) -> aiohttp.ClientResponse:
        """Sends a request and repeats it as long as the server asks for a retry within `LONGEST_RETRY_AFTER_S` in total."""
        waited_s = 0.0
        while True:
            response = await self._send_authorized(request, url)
            pause_s = retry_after_s(response.status, response.headers)
            if pause_s is None or waited_s + pause_s > LONGEST_RETRY_AFTER_S:
                return response
            response.close()
            request.delivery.restart()
            waited_s += pause_s
            await asyncio.sleep(pause_s)

    async def _send_authorized(self, request: "_Request", url: URL) -> aiohttp.ClientResponse:
        """Sends a request with its `Authorization` header; when refused, renews the token and sends the request once more."""
        access = self._authorization
        if access is None or request.method == SESSION_END:
            return await self._send_redirected(request, url, access.held if access else None)
        if request.is_optional:
            return await self._send_redirected(request, url, await access.header())
        sent = await access.header()
        response = await self._send_redirected(request, url, sent)
        if await self._renew_authorization(access, response, sent):
            request.delivery.restart()
            response = await self._send_redirected(request, url, sent := access.held)
            await self._renew_authorization(access, response, sent, is_second=True)
        return response

    async def _renew_authorization(
        self, access: Authorization, response: aiohttp.ClientResponse, sent: str | None, *, is_second: bool = False
    ) -> bool:
        """Returns whether a refused request should be repeated; the response is then closed, as it will not be read."""
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

    async def _send_redirected(self, request: "_Request", url: URL, authorization: str | None) -> aiohttp.ClientResponse:
        """Sends a request and follows redirects within the same origin."""
        headers = _with_authorization(request.headers, authorization)
        for _ in range(MAX_REDIRECTS):
            response = await self._send_on_live_connection(request, url, headers)
            if not (target := redirection(response)):
                return response
            response.close()
            if not is_same_origin(url, target) or not (request.method == "GET" or response.status in _PRESERVING):
                raise ExchangeFailed(Phrase("it redirects to {url}; use that URL if it is the right server", url=redacted_url(target)))
            url = as_ours(url, target)
        raise ExchangeFailed(Phrase("it redirects in a circle"))

    async def _send_on_live_connection(self, request: "_Request", url: URL, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        """Sends a request, again for each stale connection that the server has closed without receiving it."""
        assert self._session
        delivery, stale = request.delivery, 0
        while True:
            delivery.restart()
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
                    raise ExchangeFailed(explain_error(error, url).reason, is_undelivered=True) from None


class _Request(NamedTuple):
    method: str
    headers: Mapping[str, str]
    body: bytes
    delivery: Delivery
    is_optional: bool


def _with_authorization(headers: Mapping[str, str], authorization: str | None) -> Mapping[str, str]:
    return {**headers, HEADER: authorization} if authorization else headers


def is_same_origin(url: URL, target: URL) -> bool:
    """Returns whether a request for one URL may be sent to the other; an upgrade from http to https on the same host is allowed."""
    is_upgrade = (url.scheme, target.scheme) == ("http", "https") and all(_PORTS[each.scheme] == each.port for each in (url, target))
    return url.host == target.host and (is_upgrade or (url.scheme, url.port) == (target.scheme, target.port))


def as_ours(url: URL, target: URL) -> URL:
    """Returns a URL named by the server, with the user and password of our URL: the server must not choose our credentials."""
    return target.with_user(url.user).with_password(url.password)


def as_written(text: str) -> URL:
    """Reads a URL from a server so that it is sent as received: %2F stays %2F. Characters that no request could carry are quoted.

    Raises:
        ValueError: the text is not a URL.
    """
    return URL(text, encoded=_URL_CHARACTERS.fullmatch(text) is not None)


def redirection(response: aiohttp.ClientResponse) -> URL | None:
    """Returns the target of a redirect without following it; None if the response does not redirect or has no valid `Location`."""
    location = response.headers.get("Location") if response.status in _REDIRECTS else None
    try:
        return response.url.join(as_written(location)) if location else None
    except ValueError:
        return None


async def read_up_to(response: aiohttp.ClientResponse, limit_bytes: int) -> bytes:
    """Returns the body; if it is larger than the limit, only a beginning that is slightly larger than the limit."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit_bytes:
            break
    return bytes(body)


async def read_error_body(response: aiohttp.ClientResponse) -> bytes:
    """Returns the first `MAX_ERROR_BODY_BYTES` or a little more of an error response."""
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


def _new_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a request of two packets takes 40 ms; asyncio does not set it here
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", PROBED_AFTER_S), ("TCP_KEEPINTVL", PROBED_EVERY_S), ("TCP_KEEPCNT", PROBES)):
        with contextlib.suppress(AttributeError, OSError):  # not every system has these, and connections do without
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


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
        return Reach("", f"its proxy cannot be determined: {error}", False)
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
            return f"{place} has no usable TLS ({error.reason or 'no reason given'})"
        case ConnectionRefusedError():
            return f"nothing answers at {place} (connection refused)"
    return f"{place} cannot be reached: {error.strerror or type(error).__name__}"
