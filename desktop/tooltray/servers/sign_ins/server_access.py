"""Authorizes the requests to one remote server with the tokens of a sign-in, and renews the tokens. All instances of a server share one
ServerAccess, so that tokens are renewed once for all. Also decides whether a server can have a sign-in, and what its target is."""

import asyncio
import hashlib
import importlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import ResolvedServer, resolve
from tooltray.config.settings.server_config import MCPServerConfig, OAuthSettings
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn
from tooltray.servers.launch.login_shell import LoginShell
from tooltray.servers.sign_ins.addresses import Reach, is_safe, origin_of
from tooltray.servers.sign_ins.authorization_client import AuthorizationClient
from tooltray.servers.sign_ins.authorization_servers import reach_of_sign_in, read_challenge
from tooltray.servers.sign_ins.tokens import Registration, Tokens
from tooltray.servers.sign_ins.web_requests import AuthorizationUnreachable, sanitized
from tooltray.servers.transports.transport import FORBIDDEN, HEADER, NotAuthorized, Refusal

if TYPE_CHECKING:
    from tooltray.servers.sign_ins.aiohttp_web import AiohttpWebClient

_BEARER = lazy_pattern(r"(?:^|,)\s*bearer\b", re.IGNORECASE)


class Target(HidesFields, frozen=True):
    """The server, URL and settings of a sign-in.

    Attributes:
        binding: hash of the settings that decide where and as whom to sign in; tokens are bound to it (see `binding_of`).
        url: the server's URL with placeholders filled in.
        settings: `oauth` of the server's settings with placeholders filled in.
        environ: the user's login-shell environment.
    """

    hidden: ClassVar = ("url", "settings", "environ")

    server: str
    binding: str
    url: str
    settings: OAuthSettings
    environ: Mapping[str, str]

    @property
    def signs_in_itself(self) -> bool:
        """Reports whether the grant is `client_credentials`, which needs no user."""
        return self.settings.grant == "client_credentials"


def why_no_sign_in(server: str, config: MCPServerConfig, resolved: ResolvedServer) -> TooltrayError | None:
    """Returns why the user cannot sign in to a server; None if they can."""
    title, url = f"'{server}' has no sign-in", (resolved.url or "").strip()
    if config.transport not in ("http", "sse"):
        return TooltrayError(title, Phrase("it does not run elsewhere"))
    if config.oauth and not config.oauth.enabled:
        return TooltrayError(title, Phrase("`oauth` is false in its settings"), Phrase("Take that out of its settings first."))
    if any(name.lower() == HEADER.lower() for name in resolved.headers) or _has_user(url):
        hint = Phrase("Take the user or the Authorization header out of its settings first.")
        return TooltrayError(title, Phrase("its settings already contain credentials"), hint)
    if not is_safe(origin_of(url), within=Reach.COMPUTER):
        return TooltrayError(
            title, Phrase("its URL is not encrypted, and others could read the token"), Phrase("Give the server an https URL.")
        )
    return None


def target_of(server: str, config: MCPServerConfig, resolved: ResolvedServer, environ: Mapping[str, str]) -> Target:
    """Makes the target of a server.

    Args:
        environ: the user's login-shell environment.
    """
    return Target(server, binding_of(config), (resolved.url or "").strip(), resolved.oauth or OAuthSettings(), environ)


def binding_of(config: MCPServerConfig) -> str:
    """Hashes URL and `oauth` as written. Two configs have the same binding exactly if tokens of one may be used for the other."""
    usual = {"send_resource"} if config.oauth and config.oauth.send_resource else set()  # bindings of older versions lack it
    oauth = config.oauth.model_dump(exclude=usual) if config.oauth else None
    return hashlib.sha256(json.dumps([config.base_url, oauth], sort_keys=True).encode()).hexdigest()[:32]


def _has_user(url: str) -> bool:
    return "@" in re.split("[/?#]", url.partition("://")[2], maxsplit=1)[0]


async def resolve_target(server: str, config: MCPServerConfig, *, secrets: SecretStore, login_shell: LoginShell) -> Target:
    """Makes the target of a sign-in by the user: fills in the placeholders of the server's settings.

    Raises:
        TooltrayError: the settings cannot be filled in, or the user cannot sign in to it.
    """
    environ = await login_shell.environ()
    resolved = await resolve(config, secrets=secrets, environ=environ, server=server)
    if reason := why_no_sign_in(server, config, resolved):
        raise reason
    target = target_of(server, config, resolved, environ)
    if target.signs_in_itself:
        message = Phrase("its grant is client_credentials: it needs no person")
        hint = Phrase("Start it: tooltray servers start {server}", server=server)
        raise TooltrayError(Phrase("'{server}' signs in automatically", server=server), message, hint)
    return target


MakeClient = Callable[[Target, Registration | None], Awaitable[AuthorizationClient]]


class ServerAccess:
    """The authorization of one server's requests. Belongs to the engine's loop.

    Attributes:
        tokens: the current tokens; None if there are none.
        is_loaded: whether the stored tokens were loaded; before, `tokens` is None in any case.
        challenge: the server's last challenge that requires a sign-in.
    """

    def __init__(
        self,
        target: Target,
        *,
        on_tokens: Callable[["ServerAccess", Tokens | None], None],
        on_sign_in_needed: Callable[["ServerAccess", Problem], None],
        make_client: MakeClient,
        spawn: Spawn,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            on_tokens: receives new tokens; None if there are none any more.
            on_sign_in_needed: called when the server refuses requests until the user signs in.
        """
        self.target, self._on_tokens, self._on_sign_in_needed = target, on_tokens, on_sign_in_needed
        self._make_client, self._spawn, self._clock = make_client, spawn, clock
        self.tokens: Tokens | None = None
        self.is_loaded = False
        self.challenge: str | None = None
        self._client: AuthorizationClient | None = None
        self._known: Registration | None = None  # the registration of the previous client
        self._renewal: asyncio.Task[TooltrayError | None] | None = None
        self._is_closed = False

    async def client(self) -> AuthorizationClient:
        """Returns the client for the authorization server; always the same one, since it keeps its registration."""
        while self._client is None:
            target = self.target
            client = await self._make_client(target, self.tokens.registration if self.tokens else self._known)
            if target is self.target:  # else its secrets have changed meanwhile
                self._client = self._client or client
        return self._client

    def rename(self, server: str) -> None:
        """Gives the access to the new name of its server."""
        self._aim_at(replace(self.target, server=server))

    def retarget(self, target: Target) -> None:
        """Replaces the target by one of the same server with other values of its placeholders."""
        if (target.settings, target.environ) != (self.target.settings, self.target.environ):
            self._aim_at(target)

    def _aim_at(self, target: Target) -> None:
        self._known = self._client.registration if self._client else self._known
        self.target, self._client = target, None

    @property
    def held(self) -> str | None:
        return f"Bearer {self.tokens.access_token}" if self.tokens else None

    async def header(self) -> str | None:
        tokens = self.tokens
        if tokens is None or not tokens.is_expired(self._clock()) or not self._can_renew:
            return self.held
        failed = await self._renew_shared(tokens)
        if failed and (self.tokens is None or tokens.is_expired(self._clock(), early_s=0.0)):
            raise _not_authorized(failed)
        return self.held

    async def renew(self, refusal: Refusal) -> bool:
        challenge = read_challenge(refusal.challenge)
        is_other = refusal.status == FORBIDDEN and not challenge.needs_more
        if is_other or (refusal.challenge and not _BEARER.search(refusal.challenge)):
            return False  # a sign-in with OAuth would not help
        if refusal.sent != self.held:  # the tokens were renewed meanwhile
            return not refusal.is_second
        if self.target.signs_in_itself:
            return not refusal.is_second and await self._renew_or_raise(refusal.challenge)
        self.challenge = refusal.challenge or None
        if refusal.status != FORBIDDEN and not refusal.is_second and self._can_renew:
            return await self._renew_or_raise()
        why = f"it requires more scopes: {sanitized(' '.join(challenge.scopes))}".removesuffix(": ") if challenge.needs_more else ""
        self._on_sign_in_needed(self, problem := sign_in_needed(self.target.server, why))
        raise NotAuthorized(str(problem), is_temporary=False)

    def load(self, tokens: Tokens | None) -> None:
        """Sets the tokens without a call of `on_tokens`, as when they come from the store."""
        self.tokens, self.is_loaded = tokens, True

    def take(self) -> Tokens | None:
        """Removes and returns the tokens without a call of `on_tokens`."""
        taken = self.tokens
        self.load(None)
        return taken

    def adopt(self, tokens: Tokens | None) -> None:
        """Sets new tokens, as after a sign-in, or none, and calls `on_tokens`."""
        self.load(tokens)
        if tokens:
            self.challenge = None
        self._on_tokens(self, tokens)

    async def finish_renewal(self) -> None:
        """Waits for a running renewal, since it may already have invalidated the old tokens; no renewal begins afterwards."""
        self._is_closed = True
        if self._renewal:
            await asyncio.wait({self._renewal})

    # renewing

    @property
    def _can_renew(self) -> bool:
        return self.target.signs_in_itself or (self.tokens is not None and self.tokens.refresh_token is not None)

    async def _renew_or_raise(self, challenge: str | None = None) -> bool:
        if failed := await self._renew_shared(self.tokens, challenge):
            raise _not_authorized(failed)
        return True

    async def _renew_shared(self, tokens: Tokens | None, challenge: str | None = None) -> TooltrayError | None:
        """Renews the tokens once for all concurrent callers; returns the error if that fails."""
        if self._is_closed:
            return AuthorizationUnreachable(self.target.server, "Tooltray is ending")
        if self._renewal is None:
            self._renewal = self._spawn(self._renew(tokens, challenge), name=f"renew the sign-in to '{self.target.server}'")
            self._renewal.add_done_callback(self._on_renewal_done)
        return await asyncio.shield(self._renewal)

    def _on_renewal_done(self, renewal: asyncio.Task[TooltrayError | None]) -> None:
        self._renewal = None

    async def _renew(self, old: Tokens | None, challenge: str | None) -> TooltrayError | None:
        try:
            client = await self.client()
            if self.target.signs_in_itself:
                new = await client.client_credentials(challenge, scopes=old.scopes if old else ())
            else:
                assert old
                new = await client.refresh(old)
        except TooltrayError as error:
            if self.tokens is old and not self.target.signs_in_itself and not isinstance(error, AuthorizationUnreachable):
                self._lose(error)
            return error
        if self.tokens is old:
            self.adopt(new)
        elif self.tokens is None:  # signed out meanwhile; after a new sign-in these tokens simply expire
            await client.revoke(new)
        return None

    def _lose(self, error: TooltrayError) -> None:
        """Drops invalid tokens and requires a sign-in."""
        self.adopt(None)
        problem = error.problem
        self._on_sign_in_needed(self, sign_in_needed(self.target.server, f"{problem.title}: {problem.message}".removesuffix(": ")))


def sign_in_needed(server: str, why: str) -> Problem:
    """Returns the problem shown on the server's card and to calls until the user signs in."""
    hint = Phrase("Press 'Sign in' on its card in Tooltray, or run: tooltray servers sign-in {name}", name=server)
    return Problem(Phrase("'{name}' wants you to sign in", name=server), why, hint)


def _not_authorized(error: TooltrayError) -> NotAuthorized:
    return NotAuthorized(str(error), is_temporary=isinstance(error, AuthorizationUnreachable))


async def make_client(target: Target, registration: Registration | None) -> AuthorizationClient:
    """Makes the client for one server's sign-in, which uses the user's proxies and certificate authorities.

    Args:
        registration: of an earlier sign-in, to be used again if it fits.
    """
    within = reach_of_sign_in(target.url, target.settings.issuer)
    web = await make_web_client(target.environ, within=within, own_host=urlsplit(target.url).hostname or "")
    return AuthorizationClient(server=target.server, url=target.url, settings=target.settings, http=web, registration=registration)


async def make_web_client(environ: Mapping[str, str], *, within: Reach = Reach.COMPUTER, own_host: str = "") -> "AiohttpWebClient":
    """Makes an HTTP client for small requests; opens nothing yet.

    Args:
        environ: the user's login-shell environment, for proxies and certificate authorities.
        within, own_host: see AiohttpWebClient.
    """
    for module in ("tooltray.servers.sign_ins.aiohttp_web", "tooltray.servers.transports.http.certificate_trust"):
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.servers.sign_ins.aiohttp_web import AiohttpWebClient
    from tooltray.servers.transports.http.certificate_trust import tls_context

    trust = await asyncio.to_thread(tls_context, environ)
    return AiohttpWebClient(environ=environ, trust=trust, within=within, own_host=own_host)
