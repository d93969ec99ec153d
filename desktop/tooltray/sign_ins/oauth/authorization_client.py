"""One server's sign-in: where, as whom and for what; how it is renewed and how it ends.

Above it: presenter/sign_ins, which keeps the tokens and knows when each of these is needed. Below it: discovery, registrations, tokens.
Opens no browser, listens nowhere, stores nothing.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tooltray.settings.server_config import OAuthSettings
from tooltray.sign_ins.oauth.addresses import is_same_issuer, read_url, resource_of
from tooltray.sign_ins.oauth.browser_sign_in import PendingSignIn, begin_in_browser, check_sender, code_in
from tooltray.sign_ins.oauth.challenges import Challenge, read_challenge
from tooltray.sign_ins.oauth.discovery import Discovery, Place
from tooltray.sign_ins.oauth.failures import (
    AuthorizationRefused,
    NoAuthorizationServer,
    SignInExpired,
    WrongIssuer,
    as_shown,
)
from tooltray.sign_ins.oauth.metadata import OFFLINE, wanted_scopes, why_no_browser
from tooltray.sign_ins.oauth.registrations import Registration, configured, register
from tooltray.sign_ins.oauth.token_requests import ask_for_tokens, end_token, renew_tokens
from tooltray.sign_ins.oauth.tokens import Grant, Tokens
from tooltray.sign_ins.oauth.web_requests import Web


class AuthorizationClient:
    """
    Attributes:
        registration: how an authorization server knows this client; that of the last sign-in, to be kept for the next one.
    """

    def __init__(
        self,
        *,
        server: str,
        url: str,
        settings: OAuthSettings | None,
        http: Web,
        registration: Registration | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            server: its name, for errors.
            url: where it is.
            settings: with the client's secret filled in.
            registration: of an earlier sign-in; it serves again where it fits.
        """
        self._server, self._url, self._web, self._clock = server, url, http, clock
        self._settings = settings or OAuthSettings()
        self.registration = registration
        self._issuer = registration.issuer if registration and registration.is_configured else ""  # that knows the person's client
        self._is_doubted = False  # whether a sign-in with it has begun and never ended: they may have forgotten it there

    async def discover(self, challenge: str | None = None) -> None:
        """Whether there is a place to sign in at; registers nothing.

        Raises:
            AuthorizationFailed: there is none, or none that can be trusted or reached; says why.
        """
        await self._find(read_challenge(challenge))

    # a person signs in

    async def begin(self, *, redirect_uri: str, challenge: str | None = None, scopes: Iterable[str] = ()) -> PendingSignIn:
        """Finds out where to sign in, and makes this client known there if it is not yet.

        Args:
            redirect_uri: where the browser is to come back to.
            challenge: what the server said when it refused a request: its `WWW-Authenticate`, of several all, joined by commas.
            scopes: which are held already and are to be kept.

        Raises:
            AuthorizationFailed: of one kind or another; says what is wrong.
        """
        asked = read_challenge(challenge)
        place = await self._find(asked)
        if reason := why_no_browser(place.server, is_client_known=bool(self._settings.client_id)):
            raise NoAuthorizationServer(self._server, f"{as_shown(place.server.issuer)} {reason}", "Tell the makers of the server.")
        wanted = self._scopes(asked, place, scopes)
        if wanted and place.server.offers_offline:
            wanted = wanted_scopes(wanted, [OFFLINE])
        self.registration = await self._registered(place, redirect_uri, wanted)
        return begin_in_browser(place, self.registration, redirect_uri, wanted)

    async def finish(self, pending: PendingSignIn, callback_params: Mapping[str, str]) -> Tokens:
        """Gets the tokens for what the browser brought back.

        Raises:
            SignInRefused: the person said no.
            AuthorizationFailed: of another kind; says what is wrong.
        """
        check_sender(self._server, pending, callback_params)
        self._is_doubted = False
        try:
            grant = await self._exchange(pending, code_in(self._server, pending, callback_params))
        except AuthorizationRefused as refused:
            self._is_doubted = refused.is_about_client
            raise
        return self._tokens(grant, pending.place, pending.registration, pending.scopes)

    async def _exchange(self, pending: PendingSignIn, code: str) -> Grant:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": pending.redirect_uri,
            "code_verifier": pending.verifier,
            "resource": pending.place.resource,
        }
        endpoint = pending.place.server.token_endpoint
        return await ask_for_tokens(self._server, self._web, endpoint, form, pending.registration, now=self._clock)

    # nobody is needed

    async def client_credentials(self, challenge: str | None = None, scopes: Iterable[str] = ()) -> Tokens:
        """Tokens for this client itself, with the secret that the settings name.

        Raises:
            AuthorizationFailed: of one kind or another; says what is wrong.
        """
        asked = read_challenge(challenge)
        place = await self._find(asked)
        registration, wanted = self._configured(place), self._scopes(asked, place, scopes)
        form = {"grant_type": "client_credentials", "resource": place.resource} | ({"scope": " ".join(wanted)} if wanted else {})
        grant = await ask_for_tokens(self._server, self._web, place.server.token_endpoint, form, registration, now=self._clock)
        return self._tokens(replace(grant, refresh_token=None), place, registration, wanted)

    async def refresh(self, tokens: Tokens) -> Tokens:
        """New tokens for old ones, asked where the old ones came from.

        Raises:
            SignInExpired: they are good for nothing any more.
            AuthorizationUnreachable: nobody could say so; they may still be good.
        """
        registration = self._same_client(tokens.registration)
        if not tokens.refresh_token or not registration or registration.is_expired(self._clock()) or not tokens.is_for(self._url):
            raise SignInExpired(self._server, "it cannot be renewed without you")
        self.registration = self.registration or registration
        form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token, "resource": tokens.resource}
        try:
            grant = await renew_tokens(self._server, self._web, tokens.token_endpoint, form, registration, now=self._clock)
        except SignInExpired as expired:
            self._is_doubted = expired.is_about_client
            raise
        return replace(
            tokens,
            access_token=grant.access_token,
            refresh_token=grant.refresh_token or tokens.refresh_token,
            expires_at=grant.expires_at,
            lifetime_s=grant.lifetime_s,
            scopes=tokens.scopes if grant.scopes is None else grant.scopes,
            registration=registration,
        )

    async def revoke(self, tokens: Tokens) -> None:
        """Tells the authorization server that the tokens are not needed any more (RFC 7009), as far as it can be told."""
        registration = self._same_client(tokens.registration)
        if not tokens.revocation_endpoint or not registration:
            return
        for token, kind in ((tokens.refresh_token, "refresh_token"), (tokens.access_token, "access_token")):
            if token:
                await end_token(self._web, tokens.revocation_endpoint, token, kind, registration)

    # where, as whom, for what

    async def _find(self, asked: Challenge) -> Place:
        if not read_url(resource_of(self._url)):
            raise NoAuthorizationServer(self._server, "its URL cannot be used", "Correct the URL in the server's settings.")
        return await Discovery(server=self._server, url=self._url, web=self._web, issuer=self._settings.issuer).find(asked)

    def _scopes(self, asked: Challenge, place: Place, held: Iterable[str]) -> tuple[str, ...]:
        """What the person configured, else what the refused request needs, else what the server wants at all; and what is held."""
        usual = self._settings.scopes or asked.scopes or place.scopes
        return wanted_scopes(held, usual, asked.scopes if asked.needs_more else ())

    def _configured(self, place: Place) -> Registration:
        assert self._settings.client_id  # the settings see to it
        self._check_same_issuer(place.server.issuer)
        return configured(self._server, place.server, self._settings.client_id, self._settings.client_secret)

    def _check_same_issuer(self, issuer: str) -> None:
        """The person's secret goes to no other than it went to before, only because the MCP server names another now.

        Raises:
            WrongIssuer: it would; if that is right, the person can say so.
        """
        known = self._issuer
        if self._settings.client_secret and known and not self._settings.issuer and not is_same_issuer(issuer, known):
            message = f"it names {as_shown(issuer)} now, and its client's secret was given to {as_shown(known)} before"
            raise WrongIssuer(self._server, message, "If that is right, name the new one in the server's settings: oauth with issuer.")

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
        """The client that tokens belong to, with its secret; None if the settings name another one now."""
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
