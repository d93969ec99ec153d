"""This client as one authorization server knows it: given in the settings, kept from before, or registered by itself (RFC 7591).

Above it: authorization_client, and Tokens, which carry the registration that they were made for.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus, urlsplit

from tooltray.sign_ins.oauth.failures import AuthorizationRefused, AuthorizationUnreachable, NoAuthorizationServer, as_shown, words_of
from tooltray.sign_ins.oauth.metadata import ServerMetadata
from tooltray.sign_ins.oauth.web_requests import NoAnswer, Web

PRODUCT = "Tooltray"  # what the authorization server's page calls us
NONE, BASIC, POST = "none", "client_secret_basic", "client_secret_post"
_METHODS = (NONE, BASIC, POST)
_SECRET_METHODS = (BASIC, POST)
BY_HAND = "Register a client there by hand, and name it in the server's settings: oauth with clientId, and clientSecret if it has one."


@dataclass(frozen=True)
class Registration:
    """
    Attributes:
        issuer: of the authorization server that knows it; no other one is told of it.
        auth_method: how it says who it is at the token endpoint.
        redirect_uri: the only address that a browser may come back to, where it was registered by itself.
        secret_expires_at: unix seconds; None: never.
        is_configured: whether the person registered it and the settings name it; its secret then stays where it is.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    auth_method: str = NONE
    redirect_uri: str | None = None
    secret_expires_at: float | None = None
    is_configured: bool = False

    @property
    def redirect_port(self) -> int:
        """The port to come back to, if this registration is to serve again; 0 if any will do."""
        return urlsplit(self.redirect_uri or "").port or 0

    def is_expired(self, now: float) -> bool:
        return self.secret_expires_at is not None and now >= self.secret_expires_at

    def fits(self, issuer: str, redirect_uri: str, now: float) -> bool:
        """Whether it serves for a sign-in that comes back to this address."""
        return (self.issuer, self.redirect_uri) == (issuer, redirect_uri) and not self.is_configured and not self.is_expired(now)

    def signed(self, form: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """A form that says whose it is, and the headers that go with it (RFC 6749, section 2.3.1)."""
        secret = self.client_secret or ""
        whose = {**form, "client_id": self.client_id}  # with BASIC too: servers made with the MCP SDK look for it there
        if self.auth_method == BASIC:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(secret)}".encode()
            return whose, {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        return whose | ({"client_secret": secret} if self.auth_method == POST else {}), {}


def configured(server: str, metadata: ServerMetadata, client_id: str, secret: str | None) -> Registration:
    """The client that the settings name.

    Raises:
        AuthorizationRefused: the authorization server takes its secret in no way that we know.
    """
    method = _first(_SECRET_METHODS, metadata.auth_methods, default=BASIC) if secret else NONE  # RFC 8414, section 2: basic
    if method is None:
        ways = ", ".join(map(as_shown, metadata.auth_methods or ()))
        message = f"{as_shown(metadata.issuer)} takes clients with a secret only by {ways or 'no way that it names'}"
        raise AuthorizationRefused(server, message, "Register a client that authenticates by client_secret_basic or client_secret_post.")
    return Registration(metadata.issuer, client_id, secret, method, is_configured=True)


async def register(server: str, web: Web, metadata: ServerMetadata, *, redirect_uri: str, scopes: tuple[str, ...]) -> Registration:
    """Makes this client known.

    Raises:
        AuthorizationRefused: clients cannot register themselves there, or not as we can be.
        AuthorizationUnreachable: no answer.
        NoAuthorizationServer: there is nothing, where the server said nothing and it was worth a try.
    """
    issuer, method = as_shown(metadata.issuer), _first(_METHODS, metadata.auth_methods, default=NONE)
    if not metadata.registration_endpoint:
        raise AuthorizationRefused(server, f"{issuer} lets no client register itself", BY_HAND)
    if method is None:
        raise AuthorizationRefused(server, f"{issuer} knows no way to authenticate that a client like this one has", BY_HAND)
    wish = _wish(metadata, method, redirect_uri, scopes)
    try:
        answer = await web.post(metadata.registration_endpoint, document=wish)
    except NoAnswer as silent:
        raise AuthorizationUnreachable(server, silent.reason) from None
    if answer.is_overloaded:
        raise AuthorizationUnreachable(server, f"{issuer} could not register this client (HTTP {answer.status})")
    document = answer.document()
    if document is None and metadata.is_assumed:
        raise NoAuthorizationServer(server, "it wants a token, names no authorization server, and is none itself")
    if document is None or not answer.is_good:
        words = words_of(document or {}) or f"{issuer} answered HTTP {answer.status}"
        raise AuthorizationRefused(server, f"this client could not be registered: {words}", BY_HAND)
    return _read(server, metadata.issuer, document, method, redirect_uri)


def _wish(metadata: ServerMetadata, method: str, redirect_uri: str, scopes: tuple[str, ...]) -> dict[str, Any]:
    grants = ["authorization_code", *(["refresh_token"] if metadata.renews else [])]
    wish = {
        "client_name": PRODUCT,
        "application_type": "native",
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    }
    return wish | ({"scope": " ".join(scopes)} if scopes else {})


def _read(server: str, issuer: str, document: Mapping[str, Any], wished: str, redirect_uri: str) -> Registration:
    """What was registered; it may differ from what was wished (RFC 7591, section 3.2.1)."""
    client_id, secret = _text(document.get("client_id")), _text(document.get("client_secret"))
    method, ends = document.get("token_endpoint_auth_method", wished), document.get("client_secret_expires_at")
    if not client_id or method not in _METHODS or (method != NONE and not secret):
        raise AuthorizationRefused(server, f"{as_shown(issuer)} registered this client in a way that it cannot use", BY_HAND)
    expires_at = float(ends) if secret and isinstance(ends, int) and 0 < ends < 2**53 else None
    return Registration(issuer, client_id, secret if method != NONE else None, method, redirect_uri, expires_at)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.isprintable() and value.isascii() and value else None


def _first(ours: tuple[str, ...], theirs: tuple[str, ...] | None, *, default: str) -> str | None:
    """The way to authenticate: none, if that is one for both, else the first of theirs, which they have tried out most."""
    if theirs is None:
        return default
    if NONE in ours and NONE in theirs:
        return NONE
    return next((method for method in theirs if method in ours), None)
