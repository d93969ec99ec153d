"""The part of a sign-in that a browser carries: the page to open, and what comes back from it. Pure.

Above it: authorization_client. Knows nothing of how the browser comes back.
"""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from tooltray.sign_ins.oauth.addresses import with_query
from tooltray.sign_ins.oauth.discovery import Place
from tooltray.sign_ins.oauth.failures import AuthorizationFailed, AuthorizationRefused, SignInRefused, WrongIssuer, as_shown, words_of
from tooltray.sign_ins.oauth.metadata import OFFLINE, S256
from tooltray.sign_ins.oauth.registrations import Registration

_STATE_BYTES, _VERIFIER_BYTES = 32, 48  # 43 and 64 characters; RFC 7636 wants 43 to 128
_DENIED = "access_denied"


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in that has begun.

    Attributes:
        url: the page for the person's browser.
        state: what the browser has to bring back.
        verifier: what proves that the one who began is the one who ends (PKCE).
        scopes: what is asked for.
    """

    url: str = field(repr=False)
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str
    scopes: tuple[str, ...]
    place: Place
    registration: Registration


def begin_in_browser(place: Place, registration: Registration, redirect_uri: str, scopes: tuple[str, ...]) -> PendingSignIn:
    state, verifier = secrets.token_urlsafe(_STATE_BYTES), secrets.token_urlsafe(_VERIFIER_BYTES)
    parameters = {
        "response_type": "code",
        "client_id": registration.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": code_challenge(verifier),
        "code_challenge_method": S256,
        "resource": place.resource,
    }
    parameters |= {"scope": " ".join(scopes)} if scopes else {}
    parameters |= {"prompt": "consent"} if OFFLINE in scopes else {}  # OpenID Connect Core, section 11
    url = with_query(place.server.authorization_endpoint or "", parameters.items())
    return PendingSignIn(url, state, verifier, redirect_uri, scopes, place, registration)


def code_challenge(verifier: str) -> str:
    """What the page is told of a verifier (RFC 7636, section 4.2)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def check_sender(server: str, pending: PendingSignIn, params: Mapping[str, str]) -> None:
    """
    Args:
        server: the name of the MCP server, for errors.
        params: what the browser brought back.

    Raises:
        AuthorizationFailed: it belongs to another sign-in.
        WrongIssuer: it comes from another than was asked (RFC 9207, section 2.4).
    """
    if not hmac.compare_digest(params.get("state", "").encode(errors="replace"), pending.state.encode()):
        raise AuthorizationFailed(server, "the browser came back from another sign-in", "Sign in again.")
    told, metadata = params.get("iss"), pending.place.server
    if told is None and not metadata.names_itself:
        return
    if told != metadata.issuer:
        message = f"{as_shown(metadata.issuer)} was asked, and {as_shown(told) or 'nobody'} is said to have answered"
        raise WrongIssuer(server, message)


def code_in(server: str, pending: PendingSignIn, params: Mapping[str, str]) -> str:
    """The code that can be changed into tokens.

    Raises:
        SignInRefused: the person said no.
        AuthorizationRefused: the authorization server did, or there is no code.
    """
    hidden = (pending.state, pending.verifier, params.get("code", ""))
    if params.get("error") == _DENIED:
        raise SignInRefused(server, as_shown(params.get("error_description"), hidden))
    if words := words_of(params, hidden):
        raise AuthorizationRefused(server, words, code=as_shown(params["error"]))
    if not params.get("code"):
        raise AuthorizationRefused(server, "the browser came back without a code")
    return params["code"]
