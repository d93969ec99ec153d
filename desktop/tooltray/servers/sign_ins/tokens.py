"""The tokens of a sign-in, with everything needed to refresh them after a restart without a new discovery (the keyring stores them as one
text), and the requests to token and revocation endpoints. Errors quote the authorization server, never Tooltray's secrets."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeGuard

import msgspec
from msgspec.structs import replace

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.servers.sign_ins.addresses import resource_of
from tooltray.servers.sign_ins.discovery import REFRESH, read_scopes
from tooltray.servers.sign_ins.failures import AuthorizationRefused, AuthorizationUnreachable, SignInExpired, error_text, sanitized
from tooltray.servers.sign_ins.registrations import Registration
from tooltray.servers.sign_ins.web_requests import Answer, NoResponse, WebClient

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


def read_grant(document: Mapping[str, Any], now: float) -> Grant | None:
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
    server: str, web: WebClient, endpoint: str, form: Mapping[str, str], registration: Registration, *, now: Callable[[], float]
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


async def end_token(web: WebClient, endpoint: str, token: str, kind: str, registration: Registration) -> None:
    """Revokes a token, best effort: a sign-out must not depend on a foreign server's health."""
    form, headers = registration.signed({"token": token, "token_type_hint": kind})
    with contextlib.suppress(NoResponse):
        await web.post(endpoint, form=form, headers=headers)


async def _posted(server: str, web: WebClient, endpoint: str, form: Mapping[str, str], registration: Registration) -> Answer:
    signed, headers = registration.signed(form)
    try:
        answer = await web.post(endpoint, form=signed, headers=headers)
    except NoResponse as silent:
        raise AuthorizationUnreachable(server, silent.reason) from None
    if answer.is_overloaded or (answer.document() or {}).get("error") in _FOR_NOW:
        raise AuthorizationUnreachable(server, f"the authorization server has no answer now (HTTP {answer.status})")
    return answer


def _words(answer: Answer, document: Mapping[str, Any], form: Mapping[str, str], registration: Registration) -> str:
    hidden = [*(form.get(name, "") for name in _SECRET_FIELDS), registration.client_secret or ""]
    return error_text(document, hidden) or f"the authorization server answered (HTTP {answer.status}), but not with a token"
