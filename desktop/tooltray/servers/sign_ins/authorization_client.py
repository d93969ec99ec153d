"""The OAuth client of one server: signs in, refreshes tokens and revokes them. Opens no browser and no port, stores nothing: it builds the
URL to open, and checks the parameters that come back."""

import contextlib
import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from tooltray.config.settings.server_config import OAuthSettings
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.servers.sign_ins.addresses import is_same_issuer, read_url, resource_of, with_query
from tooltray.servers.sign_ins.authorization_servers import (
    OFFLINE,
    REFRESH,
    S256,
    Challenge,
    Discovery,
    Place,
    read_challenge,
    wanted_scopes,
    why_no_browser,
)
from tooltray.servers.sign_ins.tokens import Grant, Registration, Tokens, configured, end_token, register, request_tokens
from tooltray.servers.sign_ins.web_requests import (
    AuthorizationFailed,
    AuthorizationRefused,
    NoAuthorizationServer,
    SignInExpired,
    SignInRefused,
    WrongIssuer,
    error_text,
    other_issuer_hint,
    resource_refused,
    sanitized,
)

if TYPE_CHECKING:
    from tooltray.servers.sign_ins.aiohttp_web import AiohttpWebClient

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
            "{issuer} was asked, but the answer names {value}",
            issuer=sanitized(metadata.issuer),
            value=sanitized(received) or "nobody",
        )
        raise WrongIssuer(server, message, other_issuer_hint(sanitized(received)) if received else "")


def code_in(server: str, pending: PendingSignIn, params: Mapping[str, str]) -> str:
    """Returns the authorization code, which can be exchanged for tokens.

    Raises:
        SignInRefused: the user declined.
        AuthorizationRefused: the authorization server refused, or the code is missing.
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


class AuthorizationClient:
    """A client of the authorization server of one MCP server.

    Attributes:
        registration: this client's registration of the last sign-in, to be reused by the next one.
    """

    def __init__(
        self,
        *,
        server: str,
        url: str,
        settings: OAuthSettings | None,
        http: "AiohttpWebClient",
        registration: Registration | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            server: the MCP server's name, for errors.
            url: the MCP server's URL.
            settings: `oauth` of the server's settings, with the client's secret filled in.
            http: sends the requests.
            registration: of an earlier sign-in, to be reused if it fits.
            clock: the time in unix seconds.
        """
        self._server, self._url, self._web, self._clock = server, url, http, clock
        self._settings = settings or OAuthSettings()
        self.registration = registration
        self._issuer = registration.issuer if registration and registration.is_configured else ""  # has the configured client's secret
        self._omits_resource = not self._settings.send_resource  # or the authorization server has refused the parameter
        self._is_doubted = False  # a sign-in with the registration began and never ended: the authorization server may have deleted it

    # with the user

    async def begin(self, *, redirect_uri: str, challenge: str | None = None, scopes: Iterable[str] = ()) -> PendingSignIn:
        """Finds the authorization server and registers this client there if needed.

        Args:
            redirect_uri: the URL to which the browser returns.
            challenge: the `WWW-Authenticate` headers of a refused request, joined by commas.
            scopes: the scopes of the current tokens, which are requested again.

        Raises:
            AuthorizationFailed: a subclass for each cause.
        """
        asked = read_challenge(challenge)
        place = await self._find(asked)
        if reason := why_no_browser(place.server, is_client_known=bool(self._settings.client_id)):
            message = f"{sanitized(place.server.issuer)} {reason}"
            raise NoAuthorizationServer(self._server, message, "Report this to the server's developers.")
        wanted = self._scopes(asked, place, scopes)
        if wanted and place.server.offers_offline:
            wanted = wanted_scopes(wanted, [OFFLINE])
        self.registration = await self._registered(place, redirect_uri, wanted)
        return begin_in_browser(place, self.registration, redirect_uri, wanted)

    async def finish(self, pending: PendingSignIn, callback_params: Mapping[str, str]) -> Tokens:
        """Exchanges the authorization code for tokens.

        Args:
            callback_params: the query parameters with which the browser returned.

        Raises:
            SignInRefused: the user declined.
            AuthorizationFailed: a subclass for each other cause.
        """
        check_sender(self._server, pending, callback_params)
        self._is_doubted = False
        place = pending.place
        try:
            form = {
                "grant_type": "authorization_code",
                "code": code_in(self._server, pending, callback_params),
                "redirect_uri": pending.redirect_uri,
                "code_verifier": pending.verifier,
            }
            grant, resource = await self._ask(place.server.token_endpoint, form, place.resource, pending.registration)
        except AuthorizationRefused as refused:
            self._is_doubted = refused.is_about_client
            if place.resource and refused.is_about_resource:
                self._omits_resource = True
                raise resource_refused(refused, self._server) from None
            raise
        return self._tokens(grant, replace(place, resource=resource), pending.registration, pending.scopes)

    async def _ask(self, endpoint: str, form: Mapping[str, str], resource: str, registration: Registration) -> tuple[Grant, str]:
        """Requests tokens, and once more without `resource` if the authorization server refuses this parameter.

        Returns:
            The tokens, and the resource that they were requested for; empty: they were requested without one.

        Raises:
            AuthorizationFailed: as `request_tokens` does; the first refusal if both requests were refused.
        """
        named = {**form, "resource": resource} if resource else form
        try:
            return await request_tokens(self._server, self._web, endpoint, named, registration, now=self._clock), resource
        except (AuthorizationRefused, SignInExpired) as refused:
            if not resource or not refused.is_about_resource:
                raise
            with contextlib.suppress(AuthorizationRefused, SignInExpired):
                return await request_tokens(self._server, self._web, endpoint, form, registration, now=self._clock), ""
            raise

    # without the user

    async def client_credentials(self, challenge: str | None = None, scopes: Iterable[str] = ()) -> Tokens:
        """Gets tokens by the grant `client_credentials`, with the secret of the settings.

        Raises:
            AuthorizationFailed: a subclass for each cause.
        """
        asked = read_challenge(challenge)
        place = await self._find(asked)
        registration, wanted = self._configured(place), self._scopes(asked, place, scopes)
        form = {"grant_type": "client_credentials"} | ({"scope": " ".join(wanted)} if wanted else {})
        try:
            grant, resource = await self._ask(place.server.token_endpoint, form, place.resource, registration)
        except AuthorizationRefused as refused:
            if place.resource and refused.is_about_resource:
                raise resource_refused(refused, self._server) from None
            raise
        return self._tokens(replace(grant, refresh_token=None), replace(place, resource=resource), registration, wanted)

    async def refresh(self, tokens: Tokens) -> Tokens:
        """Refreshes tokens at the token endpoint that issued them.

        Raises:
            SignInExpired: the tokens are no longer valid.
            AuthorizationUnreachable: there was no usable response; the tokens may still be valid.
        """
        registration = self._same_client(tokens.registration)
        if not tokens.refresh_token or not registration or registration.is_expired(self._clock()) or not tokens.is_for(self._url):
            raise SignInExpired(self._server, "it cannot be renewed without you")
        self.registration = self.registration or registration
        form = {"grant_type": REFRESH, "refresh_token": tokens.refresh_token}
        try:
            grant, resource = await self._ask(tokens.token_endpoint, form, tokens.resource, registration)
        except SignInExpired as expired:
            self._is_doubted = expired.is_about_client
            raise
        return replace(
            tokens,
            access_token=grant.access_token,
            refresh_token=grant.refresh_token or tokens.refresh_token,
            expires_at=grant.expires_at,
            lifetime_s=grant.lifetime_s,
            resource=resource,
            scopes=tokens.scopes if grant.scopes is None else grant.scopes,
            registration=registration,
        )

    async def revoke(self, tokens: Tokens) -> None:
        """Revokes tokens (RFC 7009) if the authorization server has a revocation endpoint; best effort."""
        registration = self._same_client(tokens.registration)
        if not tokens.revocation_endpoint or not registration:
            return
        for token, kind in ((tokens.refresh_token, "refresh_token"), (tokens.access_token, "access_token")):
            if token:
                await end_token(self._web, tokens.revocation_endpoint, token, kind, registration)

    # authorization server, scopes, registration

    async def _find(self, asked: Challenge) -> Place:
        if not read_url(resource_of(self._url)):
            raise NoAuthorizationServer(self._server, "its URL cannot be used", "Correct the URL in the server's settings.")
        place = await Discovery(server=self._server, url=self._url, web=self._web, issuer=self._settings.issuer).find(asked)
        return replace(place, resource="") if self._omits_resource else place

    def _scopes(self, asked: Challenge, place: Place, held: Iterable[str]) -> tuple[str, ...]:
        """Returns the scopes to request: from the settings, the challenge or the metadata; plus the scopes already granted."""
        usual = self._settings.scopes or asked.scopes or place.scopes
        return wanted_scopes(held, usual, asked.scopes if asked.needs_more else ())

    def _configured(self, place: Place) -> Registration:
        assert self._settings.client_id  # the settings ensure it
        self._check_same_issuer(place.server.issuer)
        return configured(self._server, place.server, self._settings.client_id, self._settings.client_secret)

    def _check_same_issuer(self, issuer: str) -> None:
        """Checks that the configured client secret is sent only to the issuer that has it already, even if the MCP server names another.

        Raises:
            WrongIssuer: the issuer is another one; the user can confirm it in the settings.
        """
        known = self._issuer
        if self._settings.client_secret and known and not self._settings.issuer and not is_same_issuer(issuer, known):
            message = f"it names {sanitized(issuer)} now, but the client secret was registered with {sanitized(known)}"
            raise WrongIssuer(self._server, message, "If that is right, set the new one as oauth.issuer in the server's settings.")

    async def _registered(self, place: Place, redirect_uri: str, scopes: tuple[str, ...]) -> Registration:
        if self._settings.client_id:
            return self._configured(place)
        known = self.registration
        if known and known.fits(place.server.issuer, redirect_uri, self._clock()) and not self._is_doubted:
            self._is_doubted = True
            return known
        made = await register(self._server, self._web, place.server, redirect_uri=redirect_uri, scopes=scopes)
        self._is_doubted = False
        return made

    def _same_client(self, held: Registration) -> Registration | None:
        """Returns the registration of held tokens with its secret filled in; None if the settings name another client now."""
        if not held.is_configured:
            return held if not self._settings.client_id else None
        return replace(held, client_secret=self._settings.client_secret) if held.client_id == self._settings.client_id else None

    def _tokens(self, grant: Grant, place: Place, registration: Registration, asked: tuple[str, ...]) -> Tokens:
        self._issuer = registration.issuer if registration.is_configured else ""
        return Tokens(
            access_token=grant.access_token,
            refresh_token=grant.refresh_token,
            expires_at=grant.expires_at,
            scopes=asked if grant.scopes is None else grant.scopes,
            url=resource_of(self._url),
            resource=place.resource,
            issuer=place.server.issuer,
            token_endpoint=place.server.token_endpoint,
            revocation_endpoint=place.server.revocation_endpoint,
            registration=registration,
            lifetime_s=grant.lifetime_s,
        )
