"""What the answers of a token endpoint mean for what is held."""

import json
from typing import Any

import pytest
from tests.fakes.web_answers import WebAnswers

from tooltray.servers.sign_ins.oauth.failures import AuthorizationRefused, AuthorizationUnreachable, SignInExpired
from tooltray.servers.sign_ins.oauth.registrations import Registration
from tooltray.servers.sign_ins.oauth.token_requests import ask_for_tokens, end_token, renew_tokens
from tooltray.servers.sign_ins.oauth.tokens import Grant
from tooltray.servers.sign_ins.oauth.web_requests import Answer, NoResponse

AT = "https://a.example/token"
ME = Registration("https://a.example", "me", "hush-hush", "client_secret_post")
FORM = {"grant_type": "x", "code": "the-code", "code_verifier": "the-verifier", "refresh_token": "the-refresh"}


def said(status: int, **document: Any) -> Answer:
    return Answer(status, json.dumps(document).encode())


async def asked(answer: Any) -> Grant:
    return await ask_for_tokens("far", WebAnswers({AT: answer}), AT, FORM, ME, now=lambda: 100.0)


async def renewed(answer: Any) -> Grant:
    return await renew_tokens("far", WebAnswers({AT: answer}), AT, FORM, ME, now=lambda: 100.0)


@pytest.mark.parametrize("ask", [asked, renewed])
async def test_tokens_are_given(ask: Any) -> None:
    assert await ask(said(200, access_token="t", expires_in=5, error=None)) == Grant("t", None, 105.0, lifetime_s=5.0)


@pytest.mark.parametrize("ask", [asked, renewed])
@pytest.mark.parametrize(
    "answer",
    [NoResponse("nothing answers there"), 500, 502, 429, said(400, error="temporarily_unavailable"), said(400, error="server_error")],
)
async def test_no_answer_for_now_is_no_refusal(ask: Any, answer: Any) -> None:
    with pytest.raises(AuthorizationUnreachable):
        await ask(answer)


@pytest.mark.parametrize(
    "answer", [said(400, error="invalid_grant"), said(200, error="bad_verification_code", access_token="t"), 302, "<h1>", said(200)]
)
async def test_a_code_that_gives_no_token_is_refused(answer: Any) -> None:
    with pytest.raises(AuthorizationRefused):
        await asked(answer)


@pytest.mark.parametrize(
    "answer",
    [said(400, error="invalid_grant"), said(401, error="invalid_client"), said(200, error="expired"), said(400, message="gone")],
)
async def test_tokens_that_are_refused_are_at_their_end(answer: Any) -> None:
    with pytest.raises(SignInExpired):
        await renewed(answer)


@pytest.mark.parametrize(
    "answer", [302, "<h1>Please log in to the wireless network</h1>", Answer(400, b"<h1>"), Answer(403, b"{}"), 404, said(200)]
)
async def test_who_only_stands_in_the_way_ends_no_tokens(answer: Any) -> None:
    with pytest.raises(AuthorizationUnreachable):
        await renewed(answer)


@pytest.mark.parametrize("ask", [asked, renewed])
async def test_what_is_said_is_shown_without_the_secrets_that_it_repeats(ask: Any) -> None:
    secrets = ["the-code", "the-verifier", "the-refresh", "hush-hush"]
    with pytest.raises((AuthorizationRefused, SignInExpired)) as raised:
        await ask(said(400, error="invalid_grant", error_description=f"not good: {' '.join(secrets)}"))
    assert "'invalid_grant': not good: ••• ••• ••• •••" in str(raised.value)
    assert raised.value.code == "invalid_grant"
    assert not [secret for secret in secrets if secret in repr(raised.value)]


async def test_an_authorization_server_that_does_not_know_the_client_is_told_from_one_that_does_not_know_the_token() -> None:
    for error, is_about_client in (("invalid_client", True), ("unauthorized_client", True), ("invalid_grant", False)):
        with pytest.raises(SignInExpired) as raised:
            await renewed(said(400, error=error))
        assert raised.value.is_about_client is is_about_client


@pytest.mark.parametrize("answer", [200, 400, 503, NoResponse("nothing answers there")])
async def test_the_end_of_a_token_is_told_and_nobody_waits_for_more(answer: Any) -> None:
    web = WebAnswers({"https://a.example/revoke": answer})
    await end_token(web, "https://a.example/revoke", "t", "refresh_token", ME)
    assert web.posted[0].form == {"token": "t", "token_type_hint": "refresh_token", "client_id": "me", "client_secret": "hush-hush"}
