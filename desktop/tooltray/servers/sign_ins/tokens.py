"""The tokens of a sign-in, with the registration of this client that they were issued to: configured, reused, or made by dynamic
registration (RFC 7591). The requests for them, and their store over restarts. Errors quote the authorization server, never Tooltray's
secrets.

The tokens are kept among the secrets as one text, with everything needed to refresh them without a new discovery. A file has an index of
the servers that have some: it lets a card show whether the user is signed in, and no keyring is opened for a server without tokens.
"""

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeGuard
from urllib.parse import quote_plus, urlsplit

import msgspec
from msgspec.structs import replace

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping
from tooltray.servers.sign_ins.addresses import resource_of
from tooltray.servers.sign_ins.authorization_servers import REFRESH, ServerMetadata, read_scopes
from tooltray.servers.sign_ins.web_requests import (
    Answer,
    AuthorizationRefused,
    AuthorizationUnreachable,
    NoAuthorizationServer,
    NoResponse,
    SignInExpired,
    error_text,
    sanitized,
)

if TYPE_CHECKING:
    from tooltray.servers.sign_ins.aiohttp_web import AiohttpWebClient

PRODUCT = "Tooltray"  # the client name on the authorization server's page
NONE, BASIC, POST = "none", "client_secret_basic", "client_secret_post"
_METHODS = (NONE, BASIC, POST)
_SECRET_METHODS = (BASIC, POST)
NEVER_AT = 2**53  # an expiry in unix seconds that is no time any more
BY_HAND = "Register a client there manually, and set oauth.clientId in the server's settings, and oauth.clientSecret if it has one."


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
        message = f"{sanitized(metadata.issuer)} authenticates clients with a secret only by {ways or 'no method in its metadata'}"
        raise AuthorizationRefused(server, message, "Register a client that authenticates by client_secret_basic or client_secret_post.")
    return Registration(metadata.issuer, client_id, secret, method, is_configured=True)


async def register(
    server: str, web: "AiohttpWebClient", metadata: ServerMetadata, *, redirect_uri: str, scopes: tuple[str, ...]
) -> Registration:
    """Registers this client dynamically.

    Raises:
        AuthorizationRefused: the authorization server allows no dynamic registration, or does not accept a client like this one.
        AuthorizationUnreachable: there was no response.
        NoAuthorizationServer: the endpoint was only assumed, and does not exist.
    """
    issuer, method = sanitized(metadata.issuer), _first(_METHODS, metadata.auth_methods, default=NONE)
    if not metadata.registration_endpoint:
        raise AuthorizationRefused(server, f"{issuer} does not support client registration", BY_HAND)
    if method is None:
        raise AuthorizationRefused(server, f"{issuer} supports no authentication method of this client", BY_HAND)
    request = _registration_request(metadata, method, redirect_uri, scopes)
    try:
        answer = await web.post(metadata.registration_endpoint, document=request)
    except NoResponse as silent:
        raise AuthorizationUnreachable(server, silent.reason) from None
    if answer.is_overloaded:
        raise AuthorizationUnreachable(server, f"{issuer} could not register this client (HTTP {answer.status})")
    document = answer.document()
    if document is None and metadata.is_assumed:
        raise NoAuthorizationServer(server, "it requires a token, but neither names an authorization server nor is one")
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


def _read(server: str, issuer: str, document: JsonMapping, requested: str, redirect_uri: str) -> Registration:
    """Parses the registration, which may differ from the request (RFC 7591, section 3.2.1); `requested` is the auth method."""
    client_id, secret = _text(document.get("client_id")), _text(document.get("client_secret"))
    method, ends = document.get("token_endpoint_auth_method", requested), document.get("client_secret_expires_at")
    if not client_id or method not in _METHODS or (method != NONE and not secret):
        raise AuthorizationRefused(server, f"{sanitized(issuer)} returned a registration that this client cannot use", BY_HAND)
    expires_at = float(ends) if secret and isinstance(ends, int) and 0 < ends < NEVER_AT else None
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


RENEWED_EARLY_S = 60.0  # before the expiry: clocks differ, and a token must not expire while a request is on its way
RENEWED_EARLY_SHARE = 0.1  # of the lifetime, at most: a token of one minute would otherwise be renewed with every request
LONGEST_LIFE_S = 10 * 365 * 86400.0  # longer lifetimes are reduced to this
_FOR_NOW = ("temporarily_unavailable", "server_error", "slow_down")  # errors that do not concern the tokens
_REFUSALS = (400, 401)  # the statuses of OAuth errors (RFC 6749, section 5.2), also if the body has no `error`
_SECRET_FIELDS = ("code", "code_verifier", "refresh_token")


class Tokens(HidesFields, frozen=True):
    """The tokens of one server.

    Attributes:
        expires_at: expiry of the access token in unix seconds; None if unknown.
        scopes: the granted scopes.
        url: the MCP server's URL without user, query and fragment. The tokens are sent to no other.
        resource: the resource indicator of the MCP server (RFC 8707); empty: it is not sent.
        lifetime_s: lifetime of the access token when it was issued; None if unknown.
    """

    hidden: ClassVar = ("access_token", "refresh_token")

    access_token: str
    refresh_token: str | None
    expires_at: float | None
    scopes: tuple[str, ...]
    url: str
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str | None
    registration: Registration
    lifetime_s: float | None = None

    def is_for(self, url: str) -> bool:
        """Returns whether the tokens may be sent to a server's URL."""
        return self.url == resource_of(url)

    def is_expired(self, now: float, *, early_s: float = RENEWED_EARLY_S) -> bool:
        """Returns whether the access token has expired or will within `early_s`, which is reduced for a short lifetime."""
        early_s = early_s if self.lifetime_s is None else min(early_s, self.lifetime_s * RENEWED_EARLY_SHARE)
        return self.expires_at is not None and now >= self.expires_at - early_s

    def to_json(self) -> str:
        """Returns the text for the keyring, without the secret of a configured client."""
        kept = self if not self.registration.is_configured else replace(self, registration=replace(self.registration, client_secret=None))
        return msgspec.json.encode(kept).decode()

    @classmethod
    def from_json(cls, text: str) -> "Tokens | None":
        """Parses a text of `to_json`, of this version or another; None if that is impossible."""
        try:
            tokens = msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return tokens if is_token(tokens.access_token) else None


class Grant(HidesFields, frozen=True):
    """A successful response of a token endpoint (RFC 6749, section 5.1).

    Attributes:
        scopes: None if they are the requested ones.
    """

    hidden: ClassVar = ("access_token", "refresh_token")

    access_token: str
    refresh_token: str | None = None
    expires_at: float | None = None
    scopes: tuple[str, ...] | None = None
    lifetime_s: float | None = None


def read_grant(document: JsonMapping, now: float) -> Grant | None:
    """Parses a token response; None if it has no usable bearer token. `now` is in unix seconds."""
    access, refresh, scope = document.get("access_token"), document.get("refresh_token"), document.get("scope")
    kind = document.get("token_type", "bearer")
    if not is_token(access) or not isinstance(kind, str) or kind.lower() != "bearer":
        return None
    lasts_s = _seconds(document.get("expires_in"))
    return Grant(
        access_token=access,
        refresh_token=refresh if isinstance(refresh, str) and refresh and refresh.isascii() and refresh.isprintable() else None,
        expires_at=None if lasts_s is None else now + lasts_s,
        scopes=read_scopes(scope) if isinstance(scope, str) else None,
        lifetime_s=lasts_s,
    )


def is_token(value: object) -> TypeGuard[str]:
    """Returns whether a value can be sent in a header."""
    return isinstance(value, str) and bool(value) and value.isascii() and value.isprintable() and " " not in value


def _seconds(value: object) -> float | None:
    """Parses a lifetime in seconds; some servers write it as a string, and some send 0 for an unknown one, which gives None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return min(seconds, LONGEST_LIFE_S) if seconds > 0 else None  # also None for NaN


async def request_tokens(
    server: str, web: "AiohttpWebClient", endpoint: str, form: Mapping[str, str], registration: Registration, *, now: Callable[[], float]
) -> Grant:
    """Requests tokens by any grant; the grant `refresh_token` renews current ones.

    Raises:
        AuthorizationRefused: the authorization server refused, or sent no usable token.
        SignInExpired: the authorization server refused to renew the tokens.
        AuthorizationUnreachable: there was no response; or, on renewal, one that does not concern the tokens, as of a proxy.
    """
    answer = await _posted(server, web, endpoint, form, registration)
    document, renews = answer.document() or {}, form.get("grant_type") == REFRESH
    error, words = document.get("error"), _words(answer, document, form, registration)
    if renews and (error or (document and answer.status in _REFUSALS)):
        raise SignInExpired(server, words, code=sanitized(error))
    grant = read_grant(document, now()) if answer.is_good and not error else None
    if grant is None:
        raise AuthorizationUnreachable(server, words) if renews else AuthorizationRefused(server, words, code=sanitized(error))
    return grant


async def end_token(web: "AiohttpWebClient", endpoint: str, token: str, kind: str, registration: Registration) -> None:
    """Revokes a token, best effort: a sign-out must not depend on a foreign server's health."""
    form, headers = registration.signed({"token": token, "token_type_hint": kind})
    with contextlib.suppress(NoResponse):
        await web.post(endpoint, form=form, headers=headers)


async def _posted(server: str, web: "AiohttpWebClient", endpoint: str, form: Mapping[str, str], registration: Registration) -> Answer:
    signed, headers = registration.signed(form)
    try:
        answer = await web.post(endpoint, form=signed, headers=headers)
    except NoResponse as silent:
        raise AuthorizationUnreachable(server, silent.reason) from None
    if answer.is_overloaded or (answer.document() or {}).get("error") in _FOR_NOW:
        raise AuthorizationUnreachable(server, f"the authorization server is unavailable (HTTP {answer.status})")
    return answer


def _words(answer: Answer, document: JsonMapping, form: Mapping[str, str], registration: Registration) -> str:
    hidden = [*(form.get(name, "") for name in _SECRET_FIELDS), registration.client_secret or ""]
    return error_text(document, hidden) or f"the authorization server answered (HTTP {answer.status}), but not with a token"


logger = logging.getLogger(__name__)
PREFIX = "oauth/"  # of a secret's name, before the server's name, which has no slash


class TokenStore:
    """The stored tokens. Belongs to one event loop. Tokens are stored with a binding (see `binding_of`) and returned only for the same
    one.

    Attributes:
        kept: the servers with tokens, each with the binding of its tokens.
    """

    def __init__(self, path: Path, secrets: SecretStore) -> None:
        """Reads the index, so it must not be called in the loop's thread.

        Args:
            path: the file of the index.
        """
        self._path, self._secrets = path, secrets
        self._lock = asyncio.Lock()
        self.kept = _read_index(path)

    def hide(self, server: str, tokens: Tokens) -> None:
        """Masks the secret parts of tokens in logs from now on."""
        self._secrets.hide(PREFIX + server, _parts(tokens))

    async def load(self, server: str, binding: str) -> Tokens | None:
        """Returns a server's tokens; None if there are none with this binding.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: there are tokens, but the secrets cannot be read.
        """
        if self.kept.get(server) != binding:
            return None
        async with self._lock:
            text = ""
            with contextlib.suppress(SecretMissing):
                text = await self._secrets.get(PREFIX + server)
            if tokens := Tokens.from_json(text):
                self.hide(server, tokens)
                return tokens
            await self._note(server, None)
            return None

    async def save(self, server: str, binding: str, tokens: Tokens, *, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Stores a server's tokens.

        Args:
            is_wanted: called just before the tokens are stored: the user may have signed out meanwhile.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: the tokens were not stored.
        """
        async with self._lock:
            if is_wanted():
                await self._secrets.set(PREFIX + server, tokens.to_json(), parts=_parts(tokens))
                await self._note(server, binding)

    async def copy(self, before: str, after: str) -> None:
        """Stores a server's tokens under another name, too.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: they cannot be read or stored.
        """
        binding = self.kept.get(before, "")
        if tokens := await self.load(before, binding):
            await self.save(after, binding, tokens)

    async def forget(self, server: str) -> None:
        """Deletes a server's tokens.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: the tokens were not deleted.
        """
        async with self._lock:
            if server in self.kept:
                with contextlib.suppress(SecretMissing):
                    await self._secrets.remove(PREFIX + server)
                await self._note(server, None)

    async def _note(self, server: str, binding: str | None) -> None:
        """Updates the index. If it cannot be written, a new sign-in is needed after the next start, which is only logged."""
        if self.kept.get(server) == binding:
            return
        others = {name: kept for name, kept in self.kept.items() if name != server}
        self.kept = others | ({server: binding} if binding else {})
        try:
            await finish_in_thread(write_atomically, self._path, json.dumps(self.kept, indent=2).encode())
        except OSError as error:
            logger.warning("%s could not be written: %s", self._path, error.strerror or error)


def _parts(tokens: Tokens) -> Collection[str]:
    parts = (tokens.access_token, tokens.refresh_token, tokens.registration.client_secret)
    return [part for part in parts if part]


def _read_index(path: Path) -> dict[str, str]:
    try:
        read = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        logger.info("the list of signed-in servers cannot be read: %s", error)
        return {}
    return {name: binding for name, binding in read.items() if isinstance(binding, str)} if isinstance(read, dict) else {}
