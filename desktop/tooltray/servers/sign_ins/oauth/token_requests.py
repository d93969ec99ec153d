"""Sends requests to token and revocation endpoints, and turns error responses into Tooltray's errors. These quote the authorization server,
never Tooltray's secrets."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tooltray.servers.sign_ins.oauth.failures import AuthorizationRefused, AuthorizationUnreachable, SignInExpired, error_text, sanitized
from tooltray.servers.sign_ins.oauth.registrations import Registration
from tooltray.servers.sign_ins.oauth.tokens import Grant, read_grant
from tooltray.servers.sign_ins.oauth.web_requests import Answer, NoResponse, WebClient

_FOR_NOW = ("temporarily_unavailable", "server_error", "slow_down")  # errors that do not concern the tokens
_REFUSALS = (400, 401)  # the statuses of OAuth errors (RFC 6749, section 5.2), also if the body has no `error`
_SECRET_FIELDS = ("code", "code_verifier", "refresh_token")


class AskForTokens(Protocol):
    """A request to a token endpoint: `ask_for_tokens` or `renew_tokens`."""

    async def __call__(
        self,
        server: str,
        web: WebClient,
        endpoint: str,
        form: Mapping[str, str],
        registration: Registration,
        /,
        *,
        now: Callable[[], float],
    ) -> Grant: ...


async def ask_for_tokens(
    server: str, web: WebClient, endpoint: str, form: Mapping[str, str], registration: Registration, *, now: Callable[[], float]
) -> Grant:
    """Requests tokens by any grant except `refresh_token`.

    Raises:
        AuthorizationRefused: the authorization server refused, or sent no usable token.
        AuthorizationUnreachable: there was no response.
    """
    answer = await _posted(server, web, endpoint, form, registration)
    document = answer.document() or {}
    grant = read_grant(document, now()) if answer.is_good and not document.get("error") else None
    if grant is None:
        raise AuthorizationRefused(server, _words(answer, document, form, registration), code=sanitized(document.get("error")))
    return grant


async def renew_tokens(
    server: str, web: WebClient, endpoint: str, form: Mapping[str, str], registration: Registration, *, now: Callable[[], float]
) -> Grant:
    """Requests new tokens by the grant `refresh_token`.

    Raises:
        SignInExpired: the authorization server refused.
        AuthorizationUnreachable: the response does not concern the tokens, as one of a proxy or an HTML page.
    """
    answer = await _posted(server, web, endpoint, form, registration)
    document = answer.document() or {}
    words = _words(answer, document, form, registration)
    if document.get("error") or (document and answer.status in _REFUSALS):
        raise SignInExpired(server, words, code=sanitized(document.get("error")))
    grant = read_grant(document, now()) if answer.is_good else None
    if grant is None:
        raise AuthorizationUnreachable(server, words)
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
