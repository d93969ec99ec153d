"""What is asked of a token endpoint, and what its answers mean.

Above it: authorization_client. Below it: Web, Registration, tokens. Says what an authorization server says, never what it was sent.
"""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from tooltray.sign_ins.oauth.failures import AuthorizationRefused, AuthorizationUnreachable, SignInExpired, as_shown, words_of
from tooltray.sign_ins.oauth.registrations import Registration
from tooltray.sign_ins.oauth.tokens import Grant, read_grant
from tooltray.sign_ins.oauth.web_requests import Answer, NoAnswer, Web

_FOR_NOW = ("temporarily_unavailable", "server_error", "slow_down")  # errors that say nothing about the tokens
_REFUSALS = (400, 401)  # the statuses of errors of OAuth (RFC 6749, section 5.2), also of those in another form
_SECRET_FIELDS = ("code", "code_verifier", "refresh_token")


async def ask_for_tokens(
    server: str, web: Web, endpoint: str, form: Mapping[str, str], registration: Registration, *, now: Callable[[], float]
) -> Grant:
    """
    Raises:
        AuthorizationRefused: it said no, or what it gave is no token that can be used.
        AuthorizationUnreachable: it said nothing.
    """
    answer = await _posted(server, web, endpoint, form, registration)
    document = answer.document() or {}
    grant = read_grant(document, now()) if answer.is_good and not document.get("error") else None
    if grant is None:
        raise AuthorizationRefused(server, _words(answer, document, form, registration), code=as_shown(document.get("error")))
    return grant


async def renew_tokens(
    server: str, web: Web, endpoint: str, form: Mapping[str, str], registration: Registration, *, now: Callable[[], float]
) -> Grant:
    """
    Raises:
        SignInExpired: it said no.
        AuthorizationUnreachable: it said nothing that is about the tokens, as a proxy or a page for people does.
    """
    answer = await _posted(server, web, endpoint, form, registration)
    document = answer.document() or {}
    words = _words(answer, document, form, registration)
    if document.get("error") or (document and answer.status in _REFUSALS):
        raise SignInExpired(server, words, code=as_shown(document.get("error")))
    grant = read_grant(document, now()) if answer.is_good else None
    if grant is None:
        raise AuthorizationUnreachable(server, words)
    return grant


async def end_token(web: Web, endpoint: str, token: str, kind: str, registration: Registration) -> None:
    """Best effort: who signs out need not wait for somebody else's server to be well."""
    form, headers = registration.signed({"token": token, "token_type_hint": kind})
    with contextlib.suppress(NoAnswer):
        await web.post(endpoint, form=form, headers=headers)


async def _posted(server: str, web: Web, endpoint: str, form: Mapping[str, str], registration: Registration) -> Answer:
    signed, headers = registration.signed(form)
    try:
        answer = await web.post(endpoint, form=signed, headers=headers)
    except NoAnswer as silent:
        raise AuthorizationUnreachable(server, silent.reason) from None
    if answer.is_overloaded or (answer.document() or {}).get("error") in _FOR_NOW:
        raise AuthorizationUnreachable(server, f"the authorization server has no answer now (HTTP {answer.status})")
    return answer


def _words(answer: Answer, document: Mapping[str, Any], form: Mapping[str, str], registration: Registration) -> str:
    hidden = [*(form.get(name, "") for name in _SECRET_FIELDS), registration.client_secret or ""]
    return words_of(document, hidden) or f"the authorization server answered (HTTP {answer.status}), but not with a token"
