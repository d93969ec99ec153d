"""The part of a sign-in that runs in the browser: builds the URL to open and checks the parameters that come back. How the browser returns
is not known here."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import ClassVar

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.servers.sign_ins.oauth.addresses import with_query
from tooltray.servers.sign_ins.oauth.discovery import Place
from tooltray.servers.sign_ins.oauth.failures import (
    AuthorizationFailed,
    AuthorizationRefused,
    SignInRefused,
    WrongIssuer,
    error_text,
    other_issuer_hint,
    sanitized,
)
from tooltray.servers.sign_ins.oauth.metadata import OFFLINE, S256
from tooltray.servers.sign_ins.oauth.registrations import Registration

_STATE_BYTES, _VERIFIER_BYTES = 32, 48  # 43 and 64 characters; RFC 7636 wants 43 to 128
_DENIED = "access_denied"


class PendingSignIn(HidesFields, frozen=True):
    """A sign-in that has begun.

    Attributes:
        url: the page to open in the user's browser.
        state: the value that the browser must return (CSRF protection).
        verifier: the PKCE verifier, which proves that the same client ends the sign-in.
        scopes: the requested scopes.
    """

    hidden: ClassVar = ("url", "state", "verifier")

    url: str
    state: str
    verifier: str
    redirect_uri: str
    scopes: tuple[str, ...]
    place: Place
    registration: Registration


def begin_in_browser(place: Place, registration: Registration, redirect_uri: str, scopes: tuple[str, ...]) -> PendingSignIn:
    """Builds the authorization request with fresh random `state` and PKCE verifier."""
    state, verifier = secrets.token_urlsafe(_STATE_BYTES), secrets.token_urlsafe(_VERIFIER_BYTES)
    parameters = {
        "response_type": "code",
        "client_id": registration.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": code_challenge(verifier),
        "code_challenge_method": S256,
    }
    parameters |= {"resource": place.resource} if place.resource else {}
    parameters |= {"scope": " ".join(scopes)} if scopes else {}
    parameters |= {"prompt": "consent"} if OFFLINE in scopes else {}  # OpenID Connect Core, section 11
    url = with_query(place.server.authorization_endpoint or "", parameters.items())
    return PendingSignIn(url, state, verifier, redirect_uri, scopes, place, registration)


def code_challenge(verifier: str) -> str:
    """Returns the PKCE code challenge of a verifier (RFC 7636, section 4.2)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def check_sender(server: str, pending: PendingSignIn, params: Mapping[str, str]) -> None:
    """Checks that the browser's answer belongs to this sign-in and comes from the right issuer.

    Args:
        server: the name of the MCP server, for errors.
        params: the query parameters with which the browser returned.

    Raises:
        AuthorizationFailed: the answer belongs to another sign-in.
        WrongIssuer: another issuer sent the answer (RFC 9207, section 2.4).
    """
    if not hmac.compare_digest(params.get("state", "").encode(errors="replace"), pending.state.encode()):
        raise AuthorizationFailed(server, "the browser came back from another sign-in", "Sign in again.")
    received, metadata = params.get("iss"), pending.place.server
    if received is None and not metadata.sends_issuer:
        return
    if received != metadata.issuer:
        message = Phrase(
            "{issuer} was asked, and {value} is said to have answered",
            issuer=sanitized(metadata.issuer),
            value=sanitized(received) or "nobody",
        )
        raise WrongIssuer(server, message, other_issuer_hint(sanitized(received)) if received else "")


def code_in(server: str, pending: PendingSignIn, params: Mapping[str, str]) -> str:
    """Returns the authorization code, which can be exchanged for tokens.

    Raises:
        SignInRefused: the user declined.
        AuthorizationRefused: the authorization server refused, or the redirect has no code.
    """
    hidden = (pending.state, pending.verifier, params.get("code", ""))
    if words := error_text(params, hidden):
        refused = AuthorizationRefused(server, words, code=sanitized(params["error"]))
        if refused.code == _DENIED and not refused.is_about_resource:
            raise SignInRefused(server, sanitized(params.get("error_description"), hidden))
        raise refused
    if not params.get("code"):
        raise AuthorizationRefused(server, "the browser came back without a code")
    return params["code"]
