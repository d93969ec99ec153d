"""authorization_client.py: the page to open, and what comes back from it."""

import pytest
from tests.fakes.authorization_server import query_of

from tooltray.servers.sign_ins.authorization_client import PendingSignIn, begin_in_browser, check_sender, code_challenge, code_in
from tooltray.servers.sign_ins.authorization_servers import Place, ServerMetadata
from tooltray.servers.sign_ins.tokens import Registration
from tooltray.servers.sign_ins.web_requests import AuthorizationFailed, AuthorizationRefused, SignInRefused, WrongIssuer

ISSUER, BACK = "https://a.example", "http://127.0.0.1:1/callback"


def begun(*scopes: str, page: str = "https://a.example/authorize", sends_issuer: bool = False) -> PendingSignIn:
    server = ServerMetadata(issuer=ISSUER, authorization_endpoint=page, sends_issuer=sends_issuer)
    return begin_in_browser(Place("https://mcp.example", (), server), Registration(ISSUER, "me & you"), BACK, scopes)


def test_the_challenge_is_that_of_the_specification() -> None:
    assert code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, B


def test_the_page_keeps_what_it_needs_itself() -> None:
    wish = query_of(begun("a", "b", page="https://a.example/authorize?tenant=x&client_id=theirs").url)
    assert (wish["tenant"], wish["client_id"], wish["scope"], wish["redirect_uri"]) == ("x", "me & you", "a b", BACK)


def test_the_verifier_is_not_on_the_page_and_nothing_secret_in_a_repr() -> None:
    pending = begun()
    assert pending.verifier not in pending.url
    assert not [secret for secret in (pending.state, pending.verifier, pending.url) if secret in repr(pending)]


@pytest.mark.parametrize(
    ("sends_issuer", "iss", "is_right"),
    [
        (False, None, True),
        (False, ISSUER, True),
        (True, ISSUER, True),
        (True, None, False),
        (False, f"{ISSUER}/", False),
        (True, "https://b.example", False),
        (True, "", False),
    ],
)
def test_who_answers_has_to_be_who_was_asked_to_the_character(sends_issuer: bool, iss: str | None, is_right: bool) -> None:
    pending = begun(sends_issuer=sends_issuer)
    params = {"state": pending.state} | ({} if iss is None else {"iss": iss})
    if is_right:
        check_sender("far", pending, params)
    else:
        with pytest.raises(WrongIssuer):
            check_sender("far", pending, params)


@pytest.mark.parametrize("state", [{}, {"state": ""}, {"state": "another"}, {"state": "ä\ud800"}])
def test_the_state_is_looked_at_first(state: dict[str, str]) -> None:
    with pytest.raises(AuthorizationFailed, match="another sign-in"):
        check_sender("far", begun(sends_issuer=True), {**state, "iss": "https://b.example"})


def test_a_code_is_taken_only_where_nothing_was_refused() -> None:
    assert code_in("far", begun(), {"code": "c"}) == "c"
    with pytest.raises(SignInRefused):
        code_in("far", begun(), {"code": "c", "error": "access_denied"})
    with pytest.raises(AuthorizationRefused, match="'invalid_scope'") as raised:
        code_in("far", begun(), {"code": "c", "error": "invalid_scope"})
    assert raised.value.code == "invalid_scope"
    for params in ({}, {"code": ""}):
        with pytest.raises(AuthorizationRefused, match="without a code"):
            code_in("far", begun(), params)
