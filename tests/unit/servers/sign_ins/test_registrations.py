"""tokens.py: this client as authorization servers know it."""

import base64
from typing import Any

import msgspec
import pytest
from tests.fakes.web_answers import WebAnswers

from tooltray.servers.sign_ins.authorization_servers import ServerMetadata, assumed_metadata
from tooltray.servers.sign_ins.tokens import NEVER_AT, Registration, configured, register
from tooltray.servers.sign_ins.web_requests import Answer, AuthorizationRefused, AuthorizationUnreachable, NoAuthorizationServer, NoResponse

ISSUER, PLACE, BACK = "https://a.example", "https://a.example/register", "http://127.0.0.1:4321/callback"
THERE = ServerMetadata(issuer=ISSUER, token_endpoint="https://a.example/token", registration_endpoint=PLACE)
KNOWN = Registration(ISSUER, "me", redirect_uri=BACK)


async def registered(answer: Any, metadata: ServerMetadata = THERE, scopes: tuple[str, ...] = ()) -> tuple[Registration, Any]:
    web = WebAnswers({PLACE: answer})
    made = await register("far", web, metadata, redirect_uri=BACK, scopes=scopes)
    return made, web.posted[0].document


async def test_a_client_registers_as_a_program_on_a_persons_machine() -> None:
    made, wish = await registered({"client_id": "c1"}, scopes=("a", "b"))
    assert wish == {
        "client_name": "Tooltray",
        "application_type": "native",
        "redirect_uris": [BACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": "a b",
    }
    assert made == Registration(ISSUER, "c1", None, "none", BACK)


async def test_it_asks_for_what_the_authorization_server_can() -> None:
    there = msgspec.structs.replace(THERE, auth_methods=("private_key_jwt", "client_secret_post"), grants=("authorization_code",))
    made, wish = await registered({"client_id": "c1", "client_secret": "s"}, there)
    assert (wish["token_endpoint_auth_method"], wish["grant_types"]) == ("client_secret_post", ["authorization_code"])
    assert "scope" not in wish
    assert (made.auth_method, made.client_secret) == ("client_secret_post", "s")


async def test_what_was_registered_in_another_way_than_asked_for_counts() -> None:
    told = {"client_id": "c1", "client_secret": "s", "client_secret_expires_at": 2000, "token_endpoint_auth_method": "client_secret_basic"}
    made, _ = await registered(told)
    assert made == Registration(ISSUER, "c1", "s", "client_secret_basic", BACK, 2000.0)


async def test_a_secret_that_is_not_needed_is_not_kept() -> None:
    made, _ = await registered({"client_id": "c1", "client_secret": "s", "token_endpoint_auth_method": "none"})
    assert made.client_secret is None


@pytest.mark.parametrize("ends", [0, -1, None, "soon", NEVER_AT, 2**70])
async def test_a_secret_lives_for_ever_unless_it_is_said_when_it_ends(ends: Any) -> None:
    told = {"client_id": "c1", "client_secret": "s", "client_secret_expires_at": ends, "token_endpoint_auth_method": "client_secret_post"}
    assert not (await registered(told))[0].is_expired(1e12)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"client_id": ""},
        {"client_id": 5},
        {"client_id": "c\r\n1"},
        {"client_id": "c1", "token_endpoint_auth_method": "private_key_jwt"},
        {"client_id": "c1", "token_endpoint_auth_method": "client_secret_basic"},
        {"client_id": "c1", "token_endpoint_auth_method": ["none"]},
    ],
)
async def test_a_registration_that_cannot_be_used_is_refused_before_the_person_is_asked(told: Any) -> None:
    with pytest.raises(AuthorizationRefused, match="this client cannot use"):
        await registered(told)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(400, b'{"error": "invalid_redirect_uri", "error_description": "only\\nhttps"}'), "'invalid_redirect_uri': only https"),
        (Answer(403, b"<h1>no</h1>"), "https://a.example answered HTTP 403"),
        (Answer(200, b"<h1>welcome</h1>"), "https://a.example answered HTTP 200"),
    ],
)
async def test_who_is_not_registered_is_told_what_was_said_and_how_to_go_on(answer: Answer, words: str) -> None:
    with pytest.raises(AuthorizationRefused, match=words) as raised:
        await registered(answer)
    assert "clientId" in raised.value.problem.hint


@pytest.mark.parametrize("answer", [NoResponse("nothing answers there"), 503, 429])
async def test_no_answer_is_no_refusal(answer: Any) -> None:
    with pytest.raises(AuthorizationUnreachable):
        await registered(answer)


async def test_a_place_that_was_only_assumed_and_is_not_there_means_that_there_is_no_sign_in() -> None:
    with pytest.raises(NoAuthorizationServer, match="neither names an authorization server") as raised:
        await registered(404, assumed_metadata(ISSUER))
    assert "--bearer-secret" in raised.value.problem.hint


async def test_nothing_is_asked_where_it_is_known_to_be_in_vain() -> None:
    web = WebAnswers()
    for there in (
        msgspec.structs.replace(THERE, registration_endpoint=None),
        msgspec.structs.replace(THERE, auth_methods=("tls_client_auth",)),
    ):
        with pytest.raises(AuthorizationRefused, match=ISSUER) as raised:
            await register("far", web, there, redirect_uri=BACK, scopes=())
        assert "clientId" in raised.value.problem.hint
    assert web.posted == []


def test_a_registration_serves_again_at_the_same_place_and_address_while_its_secret_lives() -> None:
    assert KNOWN.fits(ISSUER, BACK, 0)
    assert not KNOWN.fits("https://b.example", BACK, 0)
    assert not KNOWN.fits(ISSUER, "http://127.0.0.1:4322/callback", 0)
    ending = msgspec.structs.replace(KNOWN, secret_expires_at=100.0)
    assert ending.fits(ISSUER, BACK, 99)
    assert not ending.fits(ISSUER, BACK, 100)
    assert not msgspec.structs.replace(KNOWN, is_configured=True).fits(ISSUER, BACK, 0)


def test_the_port_of_a_registration_is_known() -> None:
    assert KNOWN.redirect_port == 4321
    assert Registration(ISSUER, "me").redirect_port == 0


def test_a_client_says_who_it_is_in_the_way_that_it_was_registered_for() -> None:
    secret = Registration(ISSUER, "me:you", "p+ä s", "client_secret_basic")
    form, headers = secret.signed({"a": "b"})
    assert form == {"a": "b", "client_id": "me:you"}
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")) == b"me%3Ayou:p%2B%C3%A4+s"
    post = msgspec.structs.replace(secret, auth_method="client_secret_post")
    assert post.signed({"a": "b"}) == ({"a": "b", "client_id": "me:you", "client_secret": "p+ä s"}, {})
    assert KNOWN.signed({"a": "b"}) == ({"a": "b", "client_id": "me"}, {})


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (None, "client_secret_basic"),
        (("client_secret_post",), "client_secret_post"),
        (("none", "client_secret_post", "client_secret_basic"), "client_secret_post"),
    ],
)
def test_a_client_of_the_settings_authenticates_as_the_server_can(methods: Any, expected: str) -> None:
    made = configured("far", msgspec.structs.replace(THERE, auth_methods=methods), "me", "s")
    assert (made.auth_method, made.is_configured, made.client_secret) == (expected, True, "s")
    assert configured("far", msgspec.structs.replace(THERE, auth_methods=methods), "me", None).auth_method == "none"


def test_a_client_of_the_settings_that_cannot_authenticate_is_told_so() -> None:
    for methods, words in ((("private_key_jwt",), "private_key_jwt"), ((), "no method in its metadata")):
        with pytest.raises(AuthorizationRefused, match=words):
            configured("far", msgspec.structs.replace(THERE, auth_methods=methods), "me", "s")


def test_a_secret_is_in_no_repr() -> None:
    assert "hush" not in repr(Registration(ISSUER, "me", "hush"))
