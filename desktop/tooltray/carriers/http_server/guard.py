"""Checks the headers of requests to the HTTP endpoints before a body is read: Host, Origin, token, content types.

The module knows headers as text, no HTTP library and no MCP. A web page in a browser can reach every port of its machine. It is kept out
because it cannot choose `Host` and `Origin` (though its host name may resolve to 127.0.0.1, DNS rebinding), and because it has no token.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from msgspec import Raw

from tooltray.foundation.loopback import address_of
from tooltray.protocol.envelope import INVALID_REQUEST, NOTHING, Envelope, failure
from tooltray.protocol.routing_headers import Headers

OWN_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
HTTP_PORT, HTTPS_PORT = 80, 443  # default ports, which clients leave out
BAD_REQUEST, FORBIDDEN, UNAUTHORIZED = 400, 403, 401
STAND_ONCE = (
    "Host",
    "Origin",
    "Authorization",
    "Sec-Fetch-Site",
)  # if repeated, programs disagree on which one is valid
OWN_PAGES = frozenset({"same-origin", "none"})
"""Allowed values of `Sec-Fetch-Site`, which browsers send: our own page, or a person who typed the address."""
JSON_TYPE, EVENTS_TYPE = "application/json", "text/event-stream"


class Refused(Exception):
    """A refused request, with the HTTP status and the JSON-RPC error for the response's body."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: int = INVALID_REQUEST,
        reply: Envelope | None = None,
        id: Raw = NOTHING,
        ids: Sequence[Raw] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            ids: of a batch of requests: the body is an array with the error for each; empty: it is one error, for `id`.
        """
        super().__init__(message)
        self.status, self.id, self.ids, self.headers = status, id, ids, dict(headers or {})
        self.reply = reply or failure(code, message)


class Guard:
    """The checks of one open address.

    Attributes:
        welcome: called with the connection of a request that may be answered: its peer is not a stranger any more.
    """

    def __init__(self, *, host: str, port: int, requires_token: bool, owner_of: Callable[[str], str | None]) -> None:
        """
        Args:
            host: the host in the settings.
            port: the port that is actually open.
            owner_of: returns the name of the client that owns a token; None for an invalid token.
        """
        self._names = OWN_NAMES | {host.lower().strip("[]")}
        self._is_everywhere = is_everywhere(host)
        self._usual = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))  # fast path for nearly every request
        self.welcome: Callable[[Any], object] = lambda connection: None
        self._port, self._requires_token, self._owner_of = port, requires_token, owner_of

    @property
    def own_host(self) -> str:
        """A valid value of `Host`."""
        return f"localhost:{self._port}"

    def check(self, headers: Headers, *, host: str | None = None) -> None:
        """Checks a request's headers, before its token.

        Args:
            host: replaces the `Host` header; None to use the header.

        Raises:
            Refused: a header is repeated, the request is for another host, or it comes from a foreign web page.
        """
        check_browser(headers)
        self.check_place(headers.get("Host") if host is None else host, headers.get("Origin"))

    def check_place(self, host: str | None, origin: str | None) -> None:
        """Checks the values of `Host` and `Origin`.

        Raises:
            Refused: the request is for another host, or comes from a foreign web page.
        """
        if host not in self._usual and not self._is_our_host(host or ""):
            raise Refused(FORBIDDEN, "the Host header does not name this endpoint")
        if origin is not None:
            page = _split(origin)
            if not (page and self._is_ours(page) and _port_of(page) == self._port):
                raise Refused(FORBIDDEN, "pages of other sites may not use this endpoint (Origin header)")

    def owner(self, authorization: str | None) -> str:
        """Returns the name of the client that owns the token; empty if none was sent and none is required.

        Raises:
            Refused: a token is required, and it is missing or invalid.
        """
        scheme, _, token = (authorization or "").partition(" ")
        owner = self._owner_of(token.strip()) if scheme.lower() == "bearer" else None
        if owner is None and self._requires_token:
            raise Refused(
                UNAUTHORIZED,
                "a client token is required: make one with `tooltray clients token NAME`, and send it as `Authorization: Bearer TOKEN`",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return owner or ""

    def _is_our_host(self, host: str) -> bool:
        place = _split(f"//{host}") if host else None
        return place is not None and self._is_ours(place) and (place.port or HTTP_PORT) == self._port

    def _is_ours(self, place: SplitResult) -> bool:
        name = (place.hostname or "").lower()
        return name in self._names or (self._is_everywhere and address_of(name) is not None)


def check_browser(headers: Headers) -> None:
    """Checks the headers that only browsers send, and that no security header is repeated.

    Raises:
        Refused: a header is repeated, or `Sec-Fetch-Site` names a foreign web page.
    """
    for name in STAND_ONCE:
        if len(headers.getall(name, ())) > 1:
            raise Refused(BAD_REQUEST, f"the {name} header appears more than once")
    site = headers.get("Sec-Fetch-Site")
    if site is not None and site not in OWN_PAGES:
        raise Refused(FORBIDDEN, "pages of other sites may not use this endpoint (Sec-Fetch-Site header)")


def is_loopback(host: str) -> bool:
    """Reports whether only programs on this machine can connect to a host."""
    address = address_of(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def is_everywhere(host: str) -> bool:
    """Reports whether a host means all addresses of this machine; `Host` may then be any IP address, but no foreign name."""
    address = address_of(host)
    return address is not None and address.is_unspecified


def accepted(header: str | None) -> tuple[bool, bool]:
    """Returns whether an `Accept` header includes JSON, and whether it includes event streams."""
    kinds = {kind.partition(";")[0].strip().lower() for kind in (header or "").split(",")}
    return bool(kinds & {JSON_TYPE, "application/*", "*/*"}), bool(kinds & {EVENTS_TYPE, "text/*", "*/*"})


def is_json(content_type: str | None) -> bool:
    return (content_type or "").partition(";")[0].strip().lower() == JSON_TYPE


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    return None if parts.username is not None or parts.path not in ("", "/") else parts


def _port_of(page: SplitResult) -> int | None:
    return page.port or {"http": HTTP_PORT, "https": HTTPS_PORT}.get(page.scheme)
