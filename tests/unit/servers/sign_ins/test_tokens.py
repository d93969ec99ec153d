"""tokens.py"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.web_answers import WebAnswers
from tests.unit.servers.sign_ins.test_server_access import GOOD

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.home.home import Home
from tooltray.servers.sign_ins.tokens import LONGEST_LIFE_S, Grant, Registration, Tokens, TokenStore, end_token, read_grant, request_tokens
from tooltray.servers.sign_ins.web_requests import Answer, AuthorizationRefused, AuthorizationUnreachable, NoResponse, SignInExpired

TOKENS = Tokens(
    access_token="access",
    refresh_token="renew",
    expires_at=1000.0,
    scopes=("a", "b"),
    url="https://mcp.example/mcp",
    resource="https://mcp.example",
    issuer="https://a.example",
    token_endpoint="https://a.example/token",
    revocation_endpoint=None,
    registration=Registration("https://a.example", "me", "hush", "client_secret_post", "http://127.0.0.1:1/callback", 5000.0),
)
AT = "https://a.example/token"
ME = Registration("https://a.example", "me", "hush-hush", "client_secret_post")
FORM = {"grant_type": "x", "code": "the-code", "code_verifier": "the-verifier", "refresh_token": "the-refresh"}


def test_tokens_come_back_from_the_keyring_as_they_were() -> None:
    assert Tokens.from_json(TOKENS.to_json()) == TOKENS


def test_a_secret_of_the_settings_is_not_kept_twice() -> None:
    tokens = msgspec.structs.replace(TOKENS, registration=msgspec.structs.replace(TOKENS.registration, is_configured=True))
    assert "hush" not in tokens.to_json()
    back = Tokens.from_json(tokens.to_json())
    assert back
    assert (back.registration.client_id, back.registration.client_secret, back.registration.is_configured) == ("me", None, True)


def test_what_another_version_added_is_passed_over() -> None:
    kept = json.loads(TOKENS.to_json())
    assert Tokens.from_json(json.dumps({**kept, "new": [1], "registration": {**kept["registration"], "newer": 2}})) == TOKENS


@pytest.mark.parametrize(
    "change", [{"access_token": 5}, {"access_token": ""}, {"access_token": "a\r\nb"}, {"registration": None}, {"scopes": "a"}]
)
def test_what_cannot_be_made_out_is_no_token(change: dict[str, Any]) -> None:
    assert Tokens.from_json(json.dumps({**json.loads(TOKENS.to_json()), **change})) is None


@given(st.text())
def test_no_text_in_the_keyring_is_too_odd(text: str) -> None:
    assert Tokens.from_json(text) is None


def test_a_text_that_is_no_text_is_no_token() -> None:
    assert Tokens.from_json("\ud800") is None
    assert Tokens.from_json("[" * 100_000) is None


def test_tokens_are_for_one_server_alone() -> None:
    for same in ("https://mcp.example/mcp", "https://MCP.example:443/mcp?key=x"):
        assert TOKENS.is_for(same)
    for other in (
        "https://mcp.example/mcp2",
        "https://mcp.example",
        "http://mcp.example/mcp",
        "https://evil.example/mcp",
        "",
        "https://a:b",
    ):
        assert not TOKENS.is_for(other)


def test_tokens_are_renewed_a_little_before_their_end() -> None:
    assert not TOKENS.is_expired(939.9)
    assert TOKENS.is_expired(940.0)
    assert not TOKENS.is_expired(999.9, early_s=0)
    assert not msgspec.structs.replace(TOKENS, expires_at=None).is_expired(1e12)


def test_no_token_is_in_a_repr() -> None:
    shown = repr(TOKENS) + repr(Grant("access", "renew"))
    assert not [secret for secret in ("access'", "renew", "hush") if secret in shown]


# what a token endpoint gives


def test_a_grant_is_read() -> None:
    document = {"access_token": "t", "token_type": "bearer", "expires_in": 60, "refresh_token": "r", "scope": "a b"}
    assert read_grant(document, 1000.0) == Grant("t", "r", 1060.0, ("a", "b"), 60.0)
    assert read_grant({"access_token": "t"}, 1000.0) == Grant("t")
    assert read_grant({"access_token": "t", "refresh_token": "", "scope": None, "token_type": "Bearer"}, 0) == Grant("t")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"access_token": ""},
        {"access_token": None},
        {"access_token": 5},
        {"access_token": "a b"},
        {"access_token": "a\r\nX-Evil: 1"},
        {"access_token": "ä"},
        {"access_token": "t", "token_type": "DPoP"},
        {"access_token": "t", "token_type": None},
    ],
)
def test_what_cannot_be_sent_as_a_bearer_token_is_none(document: dict[str, Any]) -> None:
    assert read_grant(document, 0) is None


@pytest.mark.parametrize(
    ("said", "lasts_s"),
    [
        (60, 60.0),
        ("60", 60.0),
        (59.5, 59.5),
        (-5, None),
        (0, None),
        (10**400, None),
        (1e300, LONGEST_LIFE_S),
        ("Infinity", LONGEST_LIFE_S),
        ("NaN", None),
        ("soon", None),
        (True, None),
        ([60], None),
        (None, None),
    ],
)
def test_a_life_is_a_number_of_seconds_also_as_a_text(said: Any, lasts_s: float | None) -> None:
    grant = read_grant({"access_token": "t", "expires_in": said}, 0.0)
    assert grant
    assert grant.expires_at == lasts_s


@given(
    st.dictionaries(
        st.sampled_from(["access_token", "token_type", "expires_in", "refresh_token", "scope"]),
        st.none() | st.text() | st.floats() | st.integers(),
    )
)
def test_no_answer_is_too_odd_to_be_read(document: dict[str, Any]) -> None:
    grant = read_grant(document, 0.0)
    assert grant is None or grant.access_token.isprintable()


@pytest.mark.parametrize("refresh", ["", 5, "line\nbreak", "\ud800", "ä", None])
def test_a_refresh_token_that_nobody_could_send_is_none(refresh: Any) -> None:
    grant = read_grant({"access_token": "t", "refresh_token": refresh}, 0.0)
    assert grant
    assert grant.refresh_token is None


@pytest.mark.parametrize(("lifetime_s", "early_s"), [(3600.0, 60.0), (600.0, 60.0), (60.0, 6.0), (10.0, 1.0)])
def test_tokens_of_a_short_life_are_not_renewed_with_every_request(lifetime_s: float, early_s: float) -> None:
    tokens = msgspec.structs.replace(TOKENS, expires_at=lifetime_s, lifetime_s=lifetime_s)
    assert not tokens.is_expired(lifetime_s - early_s - 0.5)
    assert tokens.is_expired(lifetime_s - early_s)


def said(status: int, **document: Any) -> Answer:
    return Answer(status, json.dumps(document).encode())


async def asked(answer: Any) -> Grant:
    return await request_tokens("far", WebAnswers({AT: answer}), AT, FORM, ME, now=lambda: 100.0)


async def renewed(answer: Any) -> Grant:
    return await request_tokens("far", WebAnswers({AT: answer}), AT, {**FORM, "grant_type": "refresh_token"}, ME, now=lambda: 100.0)


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


class CountedSecrets(SecretStore):
    """Notes what is asked of it.

    Attributes:
        error: raised by everything.
    """

    def __init__(self, home: Home) -> None:
        super().__init__(home, "memory")
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def _run(self, call: Any, **how: Any) -> Any:
        if self.error:
            raise self.error
        return await super()._run(call, **how)

    async def get(self, name: str) -> str:
        self.asked.append(name)
        return await super().get(name)


@pytest.fixture
async def secrets(tmp_path: Path) -> Any:
    store = CountedSecrets(Home(tmp_path))
    yield store
    await store.close()


async def test_tokens_come_back_under_their_binding_and_under_no_other(tmp_path: Path, secrets: CountedSecrets) -> None:
    path = tmp_path / "sign-ins.json"
    await TokenStore(path, secrets).save("far", "one", GOOD)
    store = TokenStore(path, secrets)
    assert store.kept == {"far": "one"}
    assert await store.load("far", "two") is None
    assert await store.load("near", "one") is None
    assert secrets.asked == []  # no keyring is opened for nothing
    assert await store.load("far", "one") == GOOD
    assert secrets.asked == ["oauth/far"]


async def test_the_list_holds_no_token(tmp_path: Path, secrets: CountedSecrets) -> None:
    path = tmp_path / "sign-ins.json"
    await TokenStore(path, secrets).save("far", "one", GOOD)
    assert json.loads(path.read_text()) == {"far": "one"}


async def test_what_is_forgotten_is_gone_from_both_and_forgetting_nothing_asks_nobody(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD)
    await store.forget("far")
    assert (store.kept, await secrets.names()) == ({}, [])
    secrets.error = SecretsLocked("The keyring is locked")
    await store.forget("far")


async def test_what_cannot_be_reached_stays_on_the_list(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD)
    secrets.error = SecretsLocked("The keyring is locked")
    for attempt in (store.forget("far"), store.load("far", "one"), store.save("far", "two", GOOD)):
        with pytest.raises(SecretsLocked):
            await attempt
    assert store.kept == {"far": "one"}


async def test_what_no_version_wrote_is_taken_off_the_list(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD)
    await secrets.set("oauth/far", "scribble")
    assert await store.load("far", "one") is None
    assert store.kept == {}


async def test_tokens_are_hidden_with_those_just_before_them_and_what_is_older_is_let_go(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    for number in range(5):
        await store.save("far", "one", replace(GOOD, access_token=f"token-{number}"))
    known = secrets.known_values()
    assert {"token-3", "token-4", "renewing"} <= known
    assert not {"token-1", "token-2"} & known
    assert len(known) < 10


async def test_what_is_not_wanted_any_more_when_its_turn_comes_is_not_stored(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD, is_wanted=lambda: False)
    assert (dict(store.kept), await secrets.names()) == ({}, [])


@pytest.mark.parametrize("content", ["no json", "[]", '{"far": 1}', None])
def test_a_list_that_cannot_be_read_is_empty(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "sign-ins.json"
    if content is None:
        path.mkdir()
    else:
        path.write_text(content)
    secrets: Any = None
    assert TokenStore(path, secrets).kept == {}
