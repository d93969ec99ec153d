"""The registration of this client at an authorization server: configured, reused, or made by dynamic registration (RFC 7591). Tokens
contain the registration that they were issued to."""

import base64
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote_plus, urlsplit

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.servers.sign_ins.discovery import ServerMetadata
from tooltray.servers.sign_ins.failures import (
    AuthorizationRefused,
    AuthorizationUnreachable,
    NoAuthorizationServer,
    error_text,
    sanitized,
)
from tooltray.servers.sign_ins.web_requests import NoResponse, WebClient

PRODUCT = "Tooltray"  # the client name on the authorization server's page
NONE, BASIC, POST = "none", "client_secret_basic", "client_secret_post"
_METHODS = (NONE, BASIC, POST)
_SECRET_METHODS = (BASIC, POST)
BY_HAND = "Register a client there by hand, and name it in the server's settings: oauth with clientId, and clientSecret if it has one."


class Registration(HidesFields, frozen=True):
    """This client's registration at one authorization server.

    Attributes:
        issuer: the authorization server that knows the client; it is used with no other.
        auth_method: how the client authenticates at the token endpoint.
        redirect_uri: the only URL to which a browser may return; None for a configured client.
        secret_expires_at: unix seconds; None for never.
        is_configured: whether the settings name the client; its secret is then not stored with the tokens.
    """

    hidden: ClassVar = ("client_secret",)

    issuer: str
    client_id: str
    client_secret: str | None = None
    auth_method: str = NONE
    redirect_uri: str | None = None
    secret_expires_at: float | None = None
    is_configured: bool = False

    @property
    def redirect_port(self) -> int:
        """Returns the port of the redirect URI, needed to reuse this registration; 0 for any port."""
        return urlsplit(self.redirect_uri or "").port or 0

    def is_expired(self, now: float) -> bool:
        return self.secret_expires_at is not None and now >= self.secret_expires_at

    def fits(self, issuer: str, redirect_uri: str, now: float) -> bool:
        """Returns whether the registration can be reused for a sign-in with this issuer and redirect URI."""
        return (self.issuer, self.redirect_uri) == (issuer, redirect_uri) and not self.is_configured and not self.is_expired(now)

    def signed(self, form: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Returns a form with the client's authentication, and the headers for it (RFC 6749, section 2.3.1)."""
        secret = self.client_secret or ""
        identified = {**form, "client_id": self.client_id}  # with BASIC too: servers made with the MCP SDK expect it there
        if self.auth_method == BASIC:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(secret)}".encode()
            return identified, {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        return identified | ({"client_secret": secret} if self.auth_method == POST else {}), {}


def configured(server: str, metadata: ServerMetadata, client_id: str, secret: str | None) -> Registration:
    """Returns the registration of the client that the settings name.

    Raises:
        AuthorizationRefused: the authorization server supports no authentication method that Tooltray knows.
    """
    method = _first(_SECRET_METHODS, metadata.auth_methods, default=BASIC) if secret else NONE  # RFC 8414, section 2: basic
    if method is None:
        ways = ", ".join(map(sanitized, metadata.auth_methods or ()))
        message = f"{sanitized(metadata.issuer)} takes clients with a secret only by {ways or 'no way that it names'}"
        raise AuthorizationRefused(server, message, "Register a client that authenticates by client_secret_basic or client_secret_post.")
    return Registration(metadata.issuer, client_id, secret, method, is_configured=True)


async def register(server: str, web: WebClient, metadata: ServerMetadata, *, redirect_uri: str, scopes: tuple[str, ...]) -> Registration:
    """Registers this client dynamically.

    Raises:
        AuthorizationRefused: the authorization server allows no dynamic registration, or does not accept a client like this one.
        AuthorizationUnreachable: there was no response.
        NoAuthorizationServer: the endpoint was only assumed, and does not exist.
    """
    issuer, method = sanitized(metadata.issuer), _first(_METHODS, metadata.auth_methods, default=NONE)
    if not metadata.registration_endpoint:
        raise AuthorizationRefused(server, f"{issuer} lets no client register itself", BY_HAND)
    if method is None:
        raise AuthorizationRefused(server, f"{issuer} knows no way to authenticate that a client like this one has", BY_HAND)
    request = _registration_request(metadata, method, redirect_uri, scopes)
    try:
        answer = await web.post(metadata.registration_endpoint, document=request)
    except NoResponse as silent:
        raise AuthorizationUnreachable(server, silent.reason) from None
    if answer.is_overloaded:
        raise AuthorizationUnreachable(server, f"{issuer} could not register this client (HTTP {answer.status})")
    document = answer.document()
    if document is None and metadata.is_assumed:
        raise NoAuthorizationServer(server, "it wants a token, names no authorization server, and is none itself")
    if document is None or not answer.is_good:
        words = error_text(document or {}) or f"{issuer} answered HTTP {answer.status}"
        raise AuthorizationRefused(server, f"this client could not be registered: {words}", BY_HAND)
    return _read(server, metadata.issuer, document, method, redirect_uri)


def _registration_request(metadata: ServerMetadata, method: str, redirect_uri: str, scopes: tuple[str, ...]) -> dict[str, str | list[str]]:
    grants = ["authorization_code", *(["refresh_token"] if metadata.renews else [])]
    request: dict[str, str | list[str]] = {
        "client_name": PRODUCT,
        "application_type": "native",
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    }
    return {**request, "scope": " ".join(scopes)} if scopes else request


def _read(server: str, issuer: str, document: Mapping[str, Any], requested: str, redirect_uri: str) -> Registration:
    """Parses the registration, which may differ from the request (RFC 7591, section 3.2.1); `requested` is the auth method."""
    client_id, secret = _text(document.get("client_id")), _text(document.get("client_secret"))
    method, ends = document.get("token_endpoint_auth_method", requested), document.get("client_secret_expires_at")
    if not client_id or method not in _METHODS or (method != NONE and not secret):
        raise AuthorizationRefused(server, f"{sanitized(issuer)} registered this client in a way that it cannot use", BY_HAND)
    expires_at = float(ends) if secret and isinstance(ends, int) and 0 < ends < 2**53 else None
    return Registration(issuer, client_id, secret if method != NONE else None, method, redirect_uri, expires_at)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.isprintable() and value.isascii() and value else None


def _first(ours: tuple[str, ...], theirs: tuple[str, ...] | None, *, default: str) -> str | None:
    """Chooses an auth method: `none` if both sides support it, else the server's first that Tooltray supports, which is the best tested."""
    if theirs is None:
        return default
    if NONE in ours and NONE in theirs:
        return NONE
    return next((method for method in theirs if method in ours), None)
